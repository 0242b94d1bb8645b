"""The command `entrycache findings`: list the behaviours that the suite found in releases, or print one of them.

A finding is a page with a Java test, and mostly a case, a patch and the text of an issue. The command prints each of
these files, so that a maintainer can post or run it without a clone. A Java test and a patch come as they stand, or in
the form that upstream takes.
"""

import json

import click
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands.options import exits_with_code, json_option
from entrycache_cli.report.terminal import echo, make_console
from entrycache_conformance.finding_pages import PAGE, FindingPage, read_finding_pages, read_part
from entrycache_protocol.errors import UsageError


@click.command("findings")
@click.argument("name", required=False)
@click.argument("file", required=False)
@click.option(
    "--upstream-form",
    is_flag=True,
    help="Print a test of upstream's suite, or a patch with context.",
)
@json_option
@exits_with_code
def command(name: str | None, file: str | None, upstream_form: bool, as_json: bool) -> int:
    """List the findings in released caches, or print the page of NAME, or one FILE of it.

    FILE is ISSUE.md, fix.patch, case.json or a Java test, as far as the finding has it. With --upstream-form a Java
    test is printed as a test of upstream's own suite, and fix.patch as a patch of upstream's repository with three
    lines of context, for which Maven brings the released sources. Exit 2: there is no such finding or file.
    """
    if as_json and name is not None:
        raise UsageError("--json lists the findings; expected no NAME")
    if name is not None:
        echo(read_part(name, file or PAGE, upstream_form), nl=False)
        return 0
    if upstream_form:
        raise UsageError("--upstream-form prints one file; expected NAME and the FILE of a Java test or fix.patch")
    pages = read_finding_pages()
    if as_json:
        echo(json.dumps({"schema": 1, "findings": [page._asdict() for page in pages]}))
    else:
        make_console().print(_make_table(pages))
    return 0


def _make_table(pages: list[FindingPage]) -> Table:
    table = Table(title="findings in releases: entrycache findings NAME", title_justify="left")
    for column in ("name", "tier", "fails on", "what happens"):
        table.add_column(column, overflow="fold")
    for page in pages:
        table.add_row(Text(page.name), Text(page.tier), Text(page.fails_on), Text(page.title))
    return table
