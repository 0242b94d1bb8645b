"""Play the programs of docs/campaigns/pulsar-jvm on the releases of Pulsar, and on seeded faults of one.

    python -m tests.support.jvm.pulsar_campaigns [--faults] [PROGRAM ...]

runs them on each release that has a driver and writes what they met into docs/campaigns/pulsar-jvm/results.json; with
``--faults`` it runs each seeded fault, a patch of the released sources, in front of the oldest.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_conformance.java.driver import JavaTestClasspath, java_test_classpath
from entrycache_conformance.java.releases import releases
from entrycache_protocol.files import write_text
from tests.support import ROOT
from tests.support.jvm.campaigns import run_program
from tests.support.jvm.fixes import fixed, sources_jar

CAMPAIGN: Final = ROOT / "docs" / "campaigns" / "pulsar-jvm"
RESULTS: Final = CAMPAIGN / "results.json"
FAULTS: Final = tuple(sorted((CAMPAIGN / "faults").glob("*.patch")))
EXAMPLE_MOST: Final = 1_500
"""Characters of a history that are kept."""


class Plan(NamedTuple):
    """The numbers of runs of a committed run of a program, and of a short one."""

    environments: int
    few: int
    each: tuple[tuple[str, ...], ...] = ((),)
    """Further arguments, a run for each."""


PLANS: Final = {
    "PendingReads": Plan(20_000, 1_500),
    "ReplayReads": Plan(10_000, 1_000),
    "Limiter": Plan(30_000, 1_500),
    "DamagedEntries": Plan(20_000, 1_500),
    "CacheThreads": Plan(10_000, 400),
    "ContainerThreads": Plan(8_000, 300, (("active",), ("heap",))),
}
_NULLS: Final = "short-answer-delivers-null"
_THROWN: Final = "thrown-read-keeps-permits"
_WAITS: Final = "replay-waits-for-itself"
_DAMAGED: Final = "damaged-entry-stops-a-pass"
_COUNTED: Final = "released-entry-keeps-bytes"
_UNLOCKED: Final = "slowest-position-under-read-lock"
THE_CALLBACK_HAS_THEM: Final = "by the contract: a callback that throws was handed its permits"
EXPLAINED: Final = {
    "PendingReads": {
        "short: answered never": _NULLS,
        "short: buffers": _NULLS,
        "short: entries: null": _NULLS,
        "short: permits": _NULLS,
        "short: entries: a hole": "short-answer-leaves-hole",
        "throwing processor: buffers": "failed-fill-leaks-entries",
        "throwing processor: counts": "failed-fill-leaks-entries",
        "throwing storage: answered never": _THROWN,
        "throwing storage: buffers": _THROWN,
        "throwing storage: permits": _THROWN,
    },
    "ReplayReads": {
        "late: answered never": _WAITS,
        "late: buffers": _WAITS,
        "late: permits": _WAITS,
        "throwing storage: answered never": _THROWN,
        "throwing storage: buffers": _THROWN,
        "throwing storage: permits": _THROWN,
    },
    "Limiter": {
        "plain: idle": "limiter-timeout-serves-nobody",
        "throwing callback: idle": "limiter-timeout-serves-nobody",
        "throwing callback: permits": THE_CALLBACK_HAS_THEM,
    },
    "DamagedEntries": {
        "buffer released: answered never": _DAMAGED,
        "buffer released: buffers": _DAMAGED,
        "buffer released: bytes of the cache": _DAMAGED,
        "buffer released: bytes of the manager": _DAMAGED,
        "buffer released: throws": _DAMAGED,
        "entry released: bytes of the cache": _COUNTED,
        "entry released: bytes of the manager": _COUNTED,
        "entry released and used again: bytes of the cache": _COUNTED,
        "entry released and used again: bytes of the manager": _COUNTED,
    },
    "CacheThreads": {},
    "ContainerThreads": {
        f"active: {what}": _UNLOCKED
        for what in (
            *("throws", "ends", "between"),
            *("at rest: member", "at rest: rank", "at rest: size", "at rest: slowest"),
        )
    },
}
"""The differences that each program may see, and the finding that explains each."""
HOLDS_ON: Final = {_UNLOCKED: ("pulsar:5.0.1",)}
"""Releases without a finding that others have: there nothing is put down to it."""
COUNTS: Final = ("worlds: ", "histories")
"""The beginning of the line that counts what was played."""


def differences(program: str, subject: str, counts: dict[str, int]) -> list[str]:
    """Return the differences of a run that no finding explains."""
    known = EXPLAINED[program]
    return [
        what
        for what in counts
        if not what.startswith(COUNTS) and (what not in known or subject in HOLDS_ON.get(known[what], ()))
    ]


def play(
    program: str, tools: JavaTestClasspath, environments: int, folder: Path, first_seed: int = 0
) -> dict[str, Any]:
    """Return the differences that a program saw in some environments, one run after the other."""
    source = CAMPAIGN / f"{program}.java"
    runs = []
    for more in PLANS[program].each:
        arguments = (str(first_seed), str(environments), *more)
        runs.append(_named(run_program(source, tools, folder, *arguments)[1], more))
    return {
        "runs": [{name: run[name] for name in run if name not in ("met", "examples")} for run in runs],
        "met": {what: count for run in runs for what, count in run["met"].items()},
        "examples": {what: text[:EXAMPLE_MOST] for run in runs for what, text in run["examples"].items()},
    }


def _named(run: dict[str, Any], more: Sequence[str]) -> dict[str, Any]:
    for part in ("met", "examples") if more else ():
        run[part] = {f"{more[0]}: {what}": results for what, results in run[part].items()}
    return run


def build_check(fault: Path) -> str:
    """Return the check that a seeded fault is for, as a program prints it: the end of the file's name."""
    return fault.stem.partition("--")[2].replace("at-rest-", "at rest: ").replace("-", " ")


def play_fault(fault: Path, folder: Path) -> dict[str, Any]:
    """Return what the program of a fault sees in few environments; the fault stands before the oldest release."""
    program, release = fault.stem.partition("--")[0], releases("pulsar")[0]
    front = fixed(release, [fault], sources_jar(release, folder), folder / "fault")
    tools = java_test_classpath(release.subject, str(front))
    return play(program, tools, PLANS[program].few, folder / "out")


def sees(fault: Path, counts: dict[str, int]) -> bool:
    """Return whether a run with a fault saw the check of the fault where no finding explains it."""
    program = fault.stem.partition("--")[0]
    return any(build_check(fault) in what for what in differences(program, "pulsar:5.0.1", counts))


def played(programs: Sequence[str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each program on each release."""
    for program in programs:
        for release in releases("pulsar"):
            print(program, release.subject, file=sys.stderr)
            with tempfile.TemporaryDirectory() as folder:
                tools = java_test_classpath(release.subject)
                yield program, release.subject, play(program, tools, PLANS[program].environments, Path(folder))


def main(arguments: Sequence[str]) -> None:
    """Play, and write the results; those of other programs stay."""
    results: dict[str, Any] = {"schema": 1, "programs": {}, "faults": {}}
    if RESULTS.exists():
        results = json.loads(RESULTS.read_text("utf-8"))
    wanted = [name for name in arguments if name != "--faults"]
    if "--faults" in arguments:
        for fault in FAULTS:
            if not wanted or fault.stem.partition("--")[0] in wanted:
                print(fault.stem, file=sys.stderr)
                with tempfile.TemporaryDirectory() as folder:
                    counts = play_fault(fault, Path(folder))["met"]
                results["faults"][fault.stem] = {"seen": sees(fault, counts), "met": counts}
                write_text(RESULTS, json.dumps(results, sort_keys=True) + "\n")
    else:
        for program, subject, run in played(wanted or list(PLANS)):
            results["programs"].setdefault(program, {})[subject] = run
    write_text(RESULTS, json.dumps(results, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
