"""The campaign of the containers of cursors: too many steps for a protocol, so it runs beside the released classes.

The Java program beside this file plays random operations and holds each rank and each slowest position to its
definition (R-CURSOR-7, R-CURSOR-9), members and removals too (R-CURSOR-5, R-CURSOR-10).
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_conformance.campaign.lane import Outer
from entrycache_conformance.subjects.jvm import JavaTestClasspath, java_test_classpath
from entrycache_conformance.systems.pulsar_pip430.limits import Limits
from entrycache_protocol.errors import MissingPrerequisite, UsageError

PROGRAM: Final = Path(__file__).with_name("ContainerCampaign.java")
RULES: Final = {
    "rank": "R-CURSOR-7",
    "slowest": "R-CURSOR-9",
    "remove": "R-CURSOR-5",
    "members": "R-CURSOR-10",
    "add": "R-CURSOR-1",
    "move": "R-CURSOR-3",
}
CHOICES: Final = 2_000
"""Random choices of one case; a choice is a step, or several where cursors are settled before a look."""


class Crowd(NamedTuple):
    """One setting of the program."""

    container: str
    cursors: int
    positions: int


CROWDS: Final = (
    Crowd("active", 6, 3),
    Crowd("active", 12, 8),
    Crowd("active", 40, 12),
    Crowd("heap", 3, 3),
    Crowd("heap", 5, 8),
    Crowd("heap", 40, 12),
)


def lifted(crowd: Crowd, limits: Limits) -> frozenset[str]:
    """What a subject with these limits takes in that container."""
    takes = {"nulls": limits.null_positions, "readd": limits.readd_members, "ties": limits.tail_ties}
    return frozenset(name for name, is_taken in takes.items() if is_taken)


def containers(names: Sequence[str], seed: int, cases: int) -> dict[str, Any]:
    """The record: every crowd on every subject, within the limits that it declares.

    Raises:
        UsageError: a subject is no released jar.
    """
    records: list[dict[str, Any]] = []
    for name in names:
        if not name.startswith("pulsar:"):
            raise UsageError(f"the containers of {name} are not released classes; give jars such as pulsar:4.2.4")
        version = name.removeprefix("pulsar:")
        lane = Outer(name)
        lane.close()
        limits = lane.declaration.limits
        runs = []
        with tempfile.TemporaryDirectory() as folder:
            program = compiled(version, Path(folder))
            for crowd in CROWDS:
                most = limits.heap_members if crowd.container == "heap" else None
                if most is None or crowd.cursors <= most:
                    runs.append(played(program, Path(folder), crowd, seed, cases, lifted(crowd, limits)))
        records.append({"name": name, "artifact": lane.artifact, "runs": runs})
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


def compiled(version: str, folder: Path) -> JavaTestClasspath:
    """The program, compiled for a release into a folder.

    Raises:
        MissingPrerequisite: it does not compile.
    """
    classpath = java_test_classpath(version)
    argv = [classpath.javac, "-nowarn", "-encoding", "UTF-8", "-cp", classpath.classpath, "-d", str(folder)]
    done = subprocess.run([*argv, str(PROGRAM)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingPrerequisite(f"{PROGRAM.name} does not compile for {version}: {done.stderr.splitlines()[0]}")
    return classpath


def played(
    program: JavaTestClasspath, folder: Path, crowd: Crowd, seed: int, cases: int, limits: frozenset[str]
) -> dict[str, Any]:
    """One run of the program; its limits are lifted where they are named."""
    argv = [program.java, "-XX:+UseSerialGC", "-cp", f"{folder}:{program.classpath}"]
    argv.append("org.apache.bookkeeper.mledger.impl.ContainerCampaign")
    argv += [crowd.container, str(seed), str(cases), str(CHOICES), str(crowd.cursors), str(crowd.positions)]
    argv.append(",".join(sorted(limits)) or "none")
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    return {
        "container": crowd.container,
        "cursors": crowd.cursors,
        "positions": crowd.positions,
        "lifted": sorted(limits),
        "steps": told["steps"],
        "ops": {op: told[op] for op in RULES},
        "cpu_seconds": told["cpu_millis"] / 1000,
        "differences": told["differences"],
        "first": told["first"],
    }
