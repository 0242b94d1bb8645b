"""The campaign of the containers of cursors.

It has too many steps for the protocol, so a Java program runs it inside the JVM of the released classes. The program
plays random operations. It checks each rank and each slowest position against its definition (R-CURSOR-7, R-CURSOR-9),
and members and removals too (R-CURSOR-5, R-CURSOR-10).
"""

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from entrycache_conformance.campaign.run import Program, artifact_of, open_subject
from entrycache_conformance.java.program import Program as JavaProgram
from entrycache_conformance.java.program import build_program
from entrycache_conformance.java.releases import example_release, releases
from entrycache_conformance.systems.pulsar_pip430.workload import Limits
from entrycache_protocol.errors import UsageError, keep_partial_result

FAMILY: Final = "pulsar"
MODULE: Final = "campaign"
MAIN: Final = "org.apache.bookkeeper.mledger.impl.ContainerCampaign"
"""The program, in that module of the Maven project."""

RULES: Final = {
    "rank": "R-CURSOR-7",
    "slowest": "R-CURSOR-9",
    "remove": "R-CURSOR-5",
    "members": "R-CURSOR-10",
    "add": "R-CURSOR-1",
    "move": "R-CURSOR-3",
}
CHOICES: Final = 2_000
"""The random choices of one case. A choice is one step, or several if ties of cursors must be broken before a query."""


class ContainerSetting(NamedTuple):
    """One setting of the program."""

    container: str
    cursors: int
    positions: int


CONTAINER_SETTINGS: Final = (
    ContainerSetting("active", 6, 3),
    ContainerSetting("active", 12, 8),
    ContainerSetting("active", 40, 12),
    ContainerSetting("heap", 3, 3),
    ContainerSetting("heap", 5, 8),
    ContainerSetting("heap", 40, 12),
)


def lifted_limits(setting: ContainerSetting, limits: Limits) -> frozenset[str]:
    """Return what a subject with these limits takes in that container."""
    takes = {"nulls": limits.null_positions, "readd": limits.readd_members, "ties": limits.tail_ties}
    return frozenset(name for name, is_taken in takes.items() if is_taken)


def run_container_campaign(names: Sequence[str], seed: int, cases: int) -> dict[str, Any]:
    """Run every setting on every subject, within the limits that it declares, and return the record.

    Raises:
        UsageError: a subject is no released jar.
        Interrupted: with the record of the subjects that were over.
    """
    records: list[dict[str, Any]] = []
    with keep_partial_result(lambda: {**_container_record(records, seed, cases), "stopped": True}):
        for name in names:
            records.append(_run_on_subject(name, seed, cases))
        return _container_record(records, seed, cases)


def _run_on_subject(name: str, seed: int, cases: int) -> dict[str, Any]:
    """Return the record of one subject."""
    if name not in {release.subject for release in releases(FAMILY)}:
        example = example_release(FAMILY).subject
        raise UsageError(f"the containers of {name} are not played; give a pinned release such as {example}")
    limits = _declared_limits(name)
    program = build_program(name, MODULE)
    runs = []
    for setting in CONTAINER_SETTINGS:
        most = limits.heap_members if setting.container == "heap" else None
        if most is None or setting.cursors <= most:
            runs.append(run_program(program, setting, seed, cases, lifted_limits(setting, limits)))
    return {"name": name, "artifact": artifact_of(name), "runs": runs}


def _container_record(records: list[dict[str, Any]], seed: int, cases: int) -> dict[str, Any]:
    """Return the record of these subjects."""
    every = [run for record in records for run in record["runs"]]
    return {
        "schema": 1,
        "system": "pulsar-pip430",
        "theme": "containers",
        "seed": seed,
        "cases": cases,
        "choices_a_case": CHOICES,
        "cpu_seconds": round(sum(run["cpu_seconds"] for run in every), 1),
        "judged_steps": sum(run["steps"] for run in every),
        "judged": "each rank, slowest position, removal and number of members against its definition, "
        "by a program that runs in the JVM of the released classes, not through the protocol",
        "subjects": records,
        "laws": {"rules": {rule: sum(run["ops"][op] for run in every) for op, rule in RULES.items()}},
        "differences": [run["first"] for run in every if run["differences"]],
    }


def _declared_limits(name: str) -> Limits:
    subject = open_subject(name)
    subject.close()
    limits = subject.declaration.limits
    assert isinstance(limits, Limits)
    return limits


def run_program(
    program: JavaProgram, setting: ContainerSetting, seed: int, cases: int, limits: frozenset[str]
) -> dict[str, Any]:
    """Run the program once with the named limits lifted."""
    lifted_limits = ",".join(sorted(limits)) or "none"
    done = program.run(MAIN, setting.container, seed, cases, CHOICES, setting.cursors, setting.positions, lifted_limits)
    done.check_returncode()
    output = json.loads(done.stdout)
    return {
        "container": setting.container,
        "cursors": setting.cursors,
        "positions": setting.positions,
        "lifted": sorted(limits),
        "steps": output["steps"],
        "ops": {op: output[op] for op in RULES},
        "cpu_seconds": output["cpu_millis"] / 1000,
        "differences": output["differences"],
        "first": output["first"],
    }


PROGRAM: Final = Program(run_container_campaign)
"""The campaign as `load_program` returns it."""
