"""How quick the suite itself is: steps judged in this process, and steps played through a child process."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from time import perf_counter

from entrycache_bench.measurement import Measurement, bare_rate, interleaved, seconds_of
from entrycache_conformance.generate import make_case
from entrycache_conformance.judge import Coverage
from entrycache_conformance.search import BATCH, bulk, search
from entrycache_conformance.subjects.child import Child
from entrycache_conformance.subjects.resolve import in_process

EXAMPLES = 150
BATCHES = 5
PLAYED_CASES = 1_000
LEVELS = ("queue", "cursors")
"""The levels whose cases are measured; a case of a level uses the operations of those before it too."""


def suite(rounds: int) -> Iterator[Measurement]:
    """Judged steps a second in a search and in bulk, and played steps a second through the protocol."""
    return (item for level in LEVELS for item in suite_at(level, rounds))


def suite_at(level: str, rounds: int) -> list[Measurement]:
    """The same for cases of one level."""
    fast = in_process("fast")
    assert fast is not None
    menu = fast.declaration.system.cases.menu(fast.declaration.system.ops_up_to(level), level)
    steps: dict[str, int] = {}

    def in_hypothesis() -> float:
        coverage = Coverage()
        seconds = seconds_of(lambda: search(fast, menu, EXAMPLES, 0, coverage))
        steps["hypothesis"] = coverage.steps
        return seconds

    def in_bulk() -> float:
        coverage = Coverage()
        batches = iter(range(BATCHES))
        seconds = seconds_of(lambda: bulk(fast, menu, 0, coverage, lambda: next(batches, None) is None))
        steps["bulk"] = coverage.steps
        return seconds

    source = random.Random(0)
    cases = [make_case(source.randint, fast.declaration, menu, Coverage()).case for _ in range(PLAYED_CASES)]
    steps["protocol"] = sum(len(case.steps) for case in cases)
    child = Child([sys.executable, "-m", "entrycache_cli", "serve", "fast"])

    def played() -> float:
        start = perf_counter()
        child.play(cases)
        return perf_counter() - start

    try:
        seconds = interleaved(rounds, {"hypothesis": in_hypothesis, "bulk": in_bulk, "protocol": played})
    finally:
        child.close()
    return [
        bare_rate(what, seconds, name, steps[name])
        for what, name in (
            (
                f"level {level}, judged steps of a search, a quarter in Hypothesis (goal 5,000)",
                "hypothesis",
            ),
            (f"level {level}, judged steps in bulk, {BATCH} cases a batch (goal 50,000)", "bulk"),
            (f"level {level}, steps played through a child process, wall time (goal 200,000)", "protocol"),
        )
    ]
