"""The command `entrycache versions`: show which rules were checked on which subject in which version, and the results.

The records of campaigns and of `conform --json` are read by `report.version_records` and joined to a table by
`report.version_table`, which also renders the page docs/reference/versions.md.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands import exit_codes, options
from entrycache_cli.report import terminal, version_records, version_table
from entrycache_protocol import files, system

CHECKED_ONE_IN = 50
"""A campaign checks the laws in one of this many cases."""


@click.command("versions")
@click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("docs/campaigns"),
    show_default=True,
    help="The folder of records of campaigns and of conform --json.",
)
@click.option(
    "--findings",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("docs/findings"),
    show_default=True,
    help="The folder of findings.",
)
@click.option("--write", type=click.Path(path_type=Path, dir_okay=False), help="Write the page to this file.")
@click.option(
    "--resolve", is_flag=True, help="Ask Maven whether the releases that are not run can be downloaded today."
)
@options.json_option
@options.exits_with_code
def command(results: Path, findings: Path, write: Path | None, resolve: bool, as_json: bool) -> int:
    """Show which rules were checked on which subject in which version, with the results.

    Exit 1: a record is of a jar that is not pinned, or with --resolve a release is available against the list.
    """
    if resolve:
        return check_resolves(version_records.ABSENT, version_records.resolves_in_maven)
    table = version_table.build_version_table(
        version_records.read_records(results), version_table.rules_of_findings(findings), version_records.find_pinned
    )
    if as_json:
        terminal.echo(json.dumps(version_table.versions_json(table)))
    else:
        terminal.make_console().print(_versions_table(table))
    if write is not None:
        files.write_text(write, version_table.render_version_page(table, CHECKED_ONE_IN))
    for line in table.stale:
        exit_codes.print_error(line)
    return 1 if table.stale else 0


def _versions_table(table: version_table.VersionTable) -> Table:
    result_table = Table(title="Versions", title_justify="left")
    for name in ("subject", "artifact", "seeds", "cases", "judged steps", "rules met", "result"):
        result_table.add_column(name, overflow="fold")
    for version in table.versions:
        rules_met = str(sum(count > 0 for count in version.fired.values()))
        counts = (str(version.examples), str(version.steps), rules_met)
        cells = (version.subject, version.artifact, version_table.number_spans(version.seeds), *counts, version.verdict)
        result_table.add_row(*map(Text, cells))
    for absent in table.absent:
        result_table.add_row(*map(Text, (absent.subject, absent.coordinates, "", "", "", "", absent.reason)))
    return result_table


def check_resolves(releases: Sequence[system.AbsentRelease], resolves: Callable[[system.AbsentRelease], bool]) -> int:
    """Print for each release whether it resolves; return 1 if the registry says otherwise of one."""
    wrong = 0
    for release in releases:
        resolves_now = resolves(release)
        terminal.echo(f"{release.coordinates}: {'resolves' if resolves_now else 'does not resolve'}")
        if resolves_now is not release.resolves:
            wrong += 1
            terminal.echo(f"entrycache: {release.coordinates} is listed otherwise; correct the list", err=True)
    return 1 if wrong else 0
