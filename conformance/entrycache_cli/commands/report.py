"""The command `entrycache report`, which prints a file of results in another format."""

from pathlib import Path
from typing import Final

import click

from entrycache_cli.commands.options import exits_with_code, file_argument
from entrycache_cli.report import formats, terminal
from entrycache_cli.report.results import read_results, verdict_table

TERMINAL: Final = "terminal"


@click.command("report")
@file_argument
@click.option(
    "--to", "form", required=True, type=click.Choice([TERMINAL, *formats.FORMATS]), help="The format to print."
)
@exits_with_code
def command(file: Path, form: str) -> int:
    """Print the results in FILE in another format.

    FILE holds what --json printed, one object a line, at most 16 MiB.
    """
    results = read_results(file)
    if form == TERMINAL:
        terminal.make_console().print(verdict_table(results))
    else:
        terminal.echo(formats.FORMATS[form](results), nl=False)
    return 0
