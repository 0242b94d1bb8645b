"""`entrycache prove`."""

from __future__ import annotations

import json

import click
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands.options import ends_with_code, json_option
from entrycache_cli.report.terminal import console, echo


@click.command("prove")
@click.option(
    "--profile",
    type=click.Choice(["ci", "long", "nightly"]),
    default="ci",
    show_default=True,
    help="How far to go: minutes, a quarter of an hour, hours.",
)
@json_option
@ends_with_code
def command(profile: str, as_json: bool) -> int:
    """Prove, exhaust and confirm the rules for the model; each line is printed with its bounds.

    Exit 1 where a proof fails, where a planted fault is not refuted, or where less was obtained than before.
    """
    from entrycache_evidence import compare, prove  # noqa: PLC0415 - slow to import

    result = prove(profile)
    problems = compare(result)
    evidence = [
        {"rule": item.rule.value, "grade": item.grade, "bounds": item.bounds, "refuted_mutant": item.refuted_mutant}
        for item in result.evidence
    ]
    if as_json:
        skipped = [{"what": what, "reason": reason} for what, reason in result.skipped]
        shown = {"schema": 1, "verdict": "violates" if problems else "conforms", "evidence": evidence}
        echo(json.dumps({**shown, "problems": problems, "skipped": skipped}))
        return 1 if problems else 4 if skipped and not evidence else 0
    table = Table(title=f"evidence, profile {profile}", title_justify="left")
    for column in ("rule", "grade", "bounds", "refutes"):
        table.add_column(column, overflow="fold")
    for line in evidence:
        table.add_row(*(Text(str(line[key])) for key in ("rule", "grade", "bounds", "refuted_mutant")))
    console().print(table)
    for what, reason in result.skipped:
        echo(f"skipped: {what}: {reason}")
    for problem in problems:
        echo(problem)
    return 1 if problems else 4 if result.skipped and not evidence else 0
