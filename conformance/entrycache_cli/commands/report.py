"""`entrycache report`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from entrycache_cli.commands.options import ends_with_code, file_argument
from entrycache_cli.report.forms import FORMS
from entrycache_cli.report.results import read_results, table_of_all
from entrycache_cli.report.terminal import console, echo

TERMINAL: Final = "terminal"


@click.command("report")
@file_argument
@click.option("--to", "form", required=True, type=click.Choice([TERMINAL, *FORMS]), help="The form to print.")
@ends_with_code
def command(file: Path, form: str) -> int:
    """Print the results in FILE (what --json printed, one object a line, 16 MiB at most) in another form."""
    results = read_results(file)
    if form == TERMINAL:
        console().print(table_of_all(results))
    else:
        echo(FORMS[form](results), nl=False)
    return 0
