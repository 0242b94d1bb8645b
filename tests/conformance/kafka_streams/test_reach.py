"""The cases of a short run reach entries that go together, calls beyond the budget, and queries at the end."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

import pytest

from entrycache_conformance.generate import GeneratedCase, make_case
from entrycache_conformance.judge import Coverage
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.kafka_streams.workload import WorkloadProfile
from entrycache_evidence.kafka_streams.runs import RELEASED
from entrycache_protocol.declaration import Declaration
from entrycache_reference.kafka_streams import Variants, ops
from entrycache_reference.kafka_streams.config import Total, UndeliveredEviction
from entrycache_reference.kafka_streams.outcomes import Failed, Outcome

CASES: Final = 400
"""The number of cases of profile `dev` at a level."""

EVICTING: Final = frozenset({"put", "put_all", "put_if_absent", "evict"})


def _cases(level: str, variants: Variants, workload: WorkloadProfile | None = None) -> Iterator[GeneratedCase]:
    system = SYSTEMS["kafka-streams"]
    declaration = Declaration(system, frozenset(system.ops), variants=variants)
    menu = system.cases.menu(system.ops_up_to(level), level)
    source = random.Random(f"reach {level}")
    return (make_case(source.randint, declaration, menu, Coverage(), workload=workload) for _ in range(CASES))


def _evicts_with_a_tombstone(op: object, outcome: Outcome) -> bool:
    """Return whether a tombstone leaves with an evicted entry and a listener takes both."""
    if type(op).name not in EVICTING or isinstance(outcome.answer, Failed):  # type: ignore[attr-defined]
        return False
    return any(entry.value is None for call in outcome.flushed for entry in call.entries[1:])


@pytest.mark.long
@pytest.mark.parametrize("variants", [Variants(), RELEASED], ids=["default", "released"])
def test_tombstones_go_along_with_evicted_entries(variants: Variants) -> None:
    reached = sum(
        any(
            _evicts_with_a_tombstone(op, done.outcome)
            for op, done in zip(generated.case.steps, generated.steps, strict=True)
        )
        for generated in _cases("cache", variants)
    )
    assert reached >= 10


def test_a_call_that_throws_is_followed_by_one_that_is_over_the_budget() -> None:
    reached = 0
    for generated in _cases("cache", Variants()):
        for done in generated.steps:
            calls = done.outcome.flushed
            threw = sum(isinstance(answer, Failed) for call in calls for answer in call.inner)
            reached += threw > 0 and len(calls) > generated.case.config.reentry_budget > threw
    assert reached >= 3


@pytest.mark.long
def test_keys_that_lie_below_alone_begin_ranges() -> None:
    reached = 0
    for generated in _cases("store", RELEASED):
        for op, before in zip(generated.case.steps[1:], generated.steps, strict=False):
            if isinstance(op, ops.StoreRange) and op.store in before.state.stores:
                below = before.state.stores[op.store].inner.keys() - before.state.spaces[op.store].nodes.keys()
                first, last = op.from_, op.to
                reached += first is not None and last is not None and first in below and first <= last
    assert reached >= 5


def test_a_handing_over_ends_at_a_key_that_is_lost_behind_one_that_is_not() -> None:
    reached = 0
    for generated in _cases("cache", Variants(undelivered_eviction=UndeliveredEviction.LOST), WorkloadProfile.LONE):
        for op, done in zip(generated.case.steps, generated.steps, strict=True):
            if isinstance(op, ops.Flush) and isinstance(done.outcome.answer, Failed):
                space = done.state.spaces[op.ns]
                there = [key in space.nodes for key in space.dirty]
                reached += there[:1] == [True] and not all(there)
    assert reached >= 20


@pytest.mark.long
def test_a_limit_is_lowered_while_a_listener_closes_its_namespace_and_writes_to_it_again() -> None:
    """The closed namespace has another turn, which counts and takes nothing."""
    reached = 0
    for generated in _cases("cache", Variants(total=Total.RUNNING), WorkloadProfile.LONE):
        for op, before, done in zip(generated.case.steps[1:], generated.steps, generated.steps[1:], strict=False):
            if isinstance(op, ops.Resize):
                taken = sum(row.op == "EVICT" for row in done.rows)
                reached += done.state.evicts - before.state.evicts > taken > 0
    assert reached >= 20


@pytest.mark.long
@pytest.mark.parametrize("level", ["cache", "store"])
def test_a_case_ends_with_queries_of_all_that_is_left(level: str) -> None:
    for generated in _cases(level, Variants()):
        if not generated.steps or len(generated.steps) >= 40:
            continue
        state = generated.steps[-1].state
        wanted = [ops.Metrics(), ops.Usage(), *(ops.Metrics(name) for name in sorted(state.spaces))]
        wanted += [ops.StoreInner(name) for name in sorted(state.stores)]
        assert list(generated.case.steps[-len(wanted) :]) == wanted
