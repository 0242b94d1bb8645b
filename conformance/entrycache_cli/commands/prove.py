"""The command `entrycache prove`: prove the rules for the reference, or check them in bounded models.

`entrycache_evidence` does the work. Each line of evidence names a rule, a grade, its bounds, and a seeded fault that
the same method refutes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import click
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands.options import exits_with_code, json_option
from entrycache_cli.report.terminal import echo, make_console
from entrycache_protocol.errors import Interrupted, Verdict
from entrycache_protocol.strict_json import seal_json
from entrycache_reference.rules import SYSTEM_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from entrycache_evidence.core.results import Proof, Refinement


PROOF_TOOLS: Final = "z3, CrossHair and our explicit-state model checker; at profile long TLC"
"""The tools that produce the evidence; none of them draws random numbers, so there is no seed."""


@click.command("prove")
@click.option(
    "--profile",
    type=click.Choice(["ci", "long", "nightly"]),
    default="ci",
    show_default=True,
    help="The cost bound: some minutes, a quarter of an hour, or the largest bounded models too.",
)
@click.option(
    "--system",
    "systems",
    type=click.Choice(list(SYSTEM_NAMES)),
    multiple=True,
    help="Prove the rules of this system only; may be repeated.",
)
@json_option
@exits_with_code
def command(profile: str, systems: tuple[str, ...], as_json: bool) -> int:
    """Prove the rules for the reference or check them in bounded models; print each line with its bounds.

    Exit 1: a proof fails, a seeded fault is not refuted, or there is less evidence than before. A run that is stopped
    prints the evidence of its finished parts.
    """
    from entrycache_conformance.systems import SYSTEMS  # noqa: PLC0415 - slow to import
    from entrycache_evidence.core.results import compare  # noqa: PLC0415 - slow to import
    from entrycache_evidence.run import prove  # noqa: PLC0415 - slow to import

    about = systems or SYSTEM_NAMES
    try:
        result = prove(profile, about)
    except Interrupted as stopped:
        if stopped.partial_result.evidence or stopped.partial_result.failures:
            _say(
                stopped.partial_result,
                stopped.partial_result.failures,
                Verdict.NOTHING_CHECKED,
                f"{profile}, stopped",
                as_json,
            )
        raise
    problems = compare(result, {rule.value for name in about for rule in SYSTEMS[name].laws.rules})
    _say(result, problems, Verdict.CONFORMS, profile, as_json)
    return 1 if problems else 4 if result.skipped and not result.evidence else 0


def _say(result: Proof, problems: list[str], without: Verdict, profile: str, as_json: bool) -> None:
    """Print the evidence, and the verdict that applies if there are no problems."""
    evidence = [item.as_json() for item in result.evidence]
    if as_json:
        from entrycache_cli.report.content import tool_versions_with  # noqa: PLC0415 - for this form alone

        skipped = [{"what": what, "reason": reason} for what, reason in result.skipped]
        verdict_json = {"schema": 1, "verdict": (Verdict.VIOLATES if problems else without).value, "evidence": evidence}
        refinements = [refinement._asdict() for refinement in result.refinements]
        versions = tool_versions_with("crosshair-tool", "z3-solver")
        metadata = {
            "subject": "reference",
            "profile": profile.partition(",")[0],
            "engine": PROOF_TOOLS,
            "versions": versions,
        }
        echo(
            json.dumps(
                seal_json(
                    {**verdict_json, "refinements": refinements, "problems": problems, "skipped": skipped, **metadata}
                )
            )
        )
        return
    table = Table(title=f"evidence, profile {profile}", title_justify="left")
    for column in ("rule", "grade", "covers", "bounds", "refutes"):
        table.add_column(column, overflow="fold")
    for line in evidence:
        table.add_row(*(Text(line.get(key, "")) for key in ("rule", "grade", "covers", "bounds", "refuted_mutant")))
    make_console().print(table)
    if result.refinements:
        make_console().print(_refinements(result.refinements))
    for what, reason in result.skipped:
        echo(f"skipped: {what}: {reason}")
    for problem in problems:
        echo(problem)


def _refinements(refinements: Sequence[Refinement]) -> Table:
    table = Table(title="the fast caches are where the reference is, in all states of", title_justify="left")
    for column in ("system", "world", "refutes"):
        table.add_column(column, overflow="fold")
    for refinement in refinements:
        table.add_row(*map(Text, refinement))
    return table
