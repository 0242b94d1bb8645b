"""The options --junit and --html: results in other forms, written in the same run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from entrycache_cli.report.forms import FORMS
from entrycache_protocol.output import write_text

F = TypeVar("F", bound=Callable[..., Any])


class Files(NamedTuple):
    """Where results go beside the terminal, by form; None: nowhere."""

    paths: Mapping[str, Path | None]

    def write(self, results: list[dict[str, Any]]) -> None:
        """Write each form that was asked for.

        Raises:
            Unwritten: a file cannot be written.
        """
        for form, path in self.paths.items():
            if path is not None:
                write_text(path, FORMS[form](results))


def report_options(function: F) -> F:
    """--junit and --html."""
    kinds = {"html": "one page that needs no network", "junit": "JUnit XML, a test case a rule and level"}
    for form, what in kinds.items():
        text = f"Write the result into FILE too, as {what}."
        function = click.option(f"--{form}", type=click.Path(path_type=Path), metavar="FILE", help=text)(function)
    return function
