"""The command `entrycache report`, and the options --junit and --html of other commands.

`command` prints a file of results in another format. `report_options` adds the options that write the same formats
during a run, and `ReportFiles` writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import click

from entrycache_cli.commands.options import exits_with_code, file_argument
from entrycache_cli.report.formats import FORMATS
from entrycache_cli.report.results import read_results, verdict_table
from entrycache_cli.report.terminal import echo, make_console
from entrycache_protocol.files import write_text

TERMINAL: Final = "terminal"


@click.command("report")
@file_argument
@click.option("--to", "form", required=True, type=click.Choice([TERMINAL, *FORMATS]), help="The format to print.")
@exits_with_code
def command(file: Path, form: str) -> int:
    """Print the results in FILE in another format.

    FILE holds what --json printed, one object a line, at most 16 MiB.
    """
    results = read_results(file)
    if form == TERMINAL:
        make_console().print(verdict_table(results))
    else:
        echo(FORMATS[form](results), nl=False)
    return 0


F = TypeVar("F", bound=Callable[..., Any])


class ReportFiles(NamedTuple):
    """The files to which results are written, by format; None for a format that is not requested."""

    paths: Mapping[str, Path | None]

    def write(self, results: list[dict[str, Any]]) -> None:
        """Write each form that was asked for.

        Raises:
            Unwritten: a file cannot be written.
        """
        for form, path in self.paths.items():
            if path is not None:
                write_text(path, FORMATS[form](results))


def report_options(function: F) -> F:
    """Add --junit and --html to a command."""
    kinds = {"html": "one page that needs no network", "junit": "JUnit XML, a test case for each rule and level"}
    for form, what in kinds.items():
        text = f"Also write the result to FILE, as {what}."
        function = click.option(f"--{form}", type=click.Path(path_type=Path), metavar="FILE", help=text)(function)
    return function
