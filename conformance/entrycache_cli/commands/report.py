"""`entrycache report`."""

from __future__ import annotations

from pathlib import Path

import click

from entrycache_cli.commands.options import ends_with_code, file_argument
from entrycache_cli.report.results import FORMS, read_results
from entrycache_protocol.errors import UsageError


@click.command("report")
@file_argument
@click.option("--to", "form", required=True, type=click.Choice([*FORMS, "html"]), help="The form to print.")
@ends_with_code
def command(file: Path, form: str) -> int:
    """Print the results in FILE (what --json printed, one object a line) in another form."""
    if form == "html":
        raise UsageError("the HTML report is not built yet; expected one of: " + ", ".join(FORMS))
    click.echo(FORMS[form](read_results(file)), nl=False)
    return 0
