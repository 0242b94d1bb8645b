"""The command `entrycache report`, which prints a file of results in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from entrycache_cli.commands.options import exits_with_code, file_argument
from entrycache_cli.report.formats import FORMATS
from entrycache_cli.report.results import read_results, verdict_table
from entrycache_cli.report.terminal import echo, make_console

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
