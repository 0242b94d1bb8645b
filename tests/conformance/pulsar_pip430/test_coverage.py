"""A run counts how often it lands next to each threshold, and has checked nothing if it never does."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import pytest

from entrycache_conformance import generate
from entrycache_conformance.judge import Coverage, run_reference
from entrycache_conformance.levels import PROFILES, find_rare
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.pulsar_pip430.coverage import SIDE_CELLS
from entrycache_conformance.systems.pulsar_pip430.workload import WorkloadProfile, within_schema
from entrycache_conformance.systems.reference import reference_subject
from entrycache_protocol.case import case_from_json
from entrycache_protocol.declaration import Declaration
from entrycache_reference import pulsar_pip430, vocabulary
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Invalidation
from entrycache_reference.pulsar_pip430.outcomes import Refused, Removed, Served
from entrycache_reference.pulsar_pip430.state import RangeRequest

SYSTEM = SYSTEMS["pulsar-pip430"]


def sides(config: dict[str, object], *steps: dict[str, object]) -> dict[str, int]:
    coverage = Coverage()
    run_reference(case_from_json({"system": SYSTEM.name, "config": config, "steps": list(steps)}, SYSTEMS), coverage)
    return {cell: count for cell, count in coverage.cells.items() if cell in SIDE_CELLS}


def insert(entry: int, size: int) -> dict[str, object]:
    return {"op": "insert", "cache": "a", "pos": [1, entry], "size": size}


@pytest.mark.parametrize(("size", "side"), [(97, "BELOW"), (98, "AT"), (99, "ABOVE")])
def test_an_insert_lands_beside_the_trigger(size: int, side: str) -> None:
    reached = sides({"max_size_bytes": 100, "eviction": "manual"}, insert(0, size))
    assert reached == {f"TRIGGER/{side}": 1}


@pytest.mark.parametrize(("nanos", "side"), [(9, "BELOW"), (10, "AT"), (11, "ABOVE")])
def test_a_time_pass_lands_beside_its_cutoff(nanos: int, side: str) -> None:
    steps = (insert(0, 1), {"op": "advance", "nanos": nanos}, {"op": "expire", "older_than_nanos": 10})
    assert sides({}, *steps)[f"CUTOFF/{side}"] == 1


@pytest.mark.parametrize(("requested", "side"), [(3, "BELOW"), (2, "AT"), (1, "ABOVE")])
def test_a_size_pass_lands_beside_what_it_is_to_free(requested: int, side: str) -> None:
    assert sides({}, insert(0, 2), {"op": "evict", "bytes": requested})[f"NEED/{side}"] == 1


@pytest.mark.parametrize(("entries", "side"), [(1, "BELOW"), (2, "AT"), (3, "ABOVE")])
def test_a_check_lands_beside_the_bounds_of_backlogs(entries: int, side: str) -> None:
    backlogs = {"min_backlog_cursors": 1, "min_backlog_entries": 2, "max_backlog_between": 2}
    appends = [{"op": "append", "cache": "a", "pos": [1, entry], "size": 1} for entry in range(entries)]
    opened = [{"op": "cursor_open", "cache": "a", "cursor": name, "pos": [1, 0]} for name in ("s", "t")]
    away = {"op": "cursor_seek", "cache": "a", "cursor": "t", "pos": [1, entries]}
    steps = (*appends, *opened, away, {"op": "check_backlogs", "cache": "a"})
    reached = sides({"evict_by_expected_reads": False, **backlogs}, *steps)
    assert (reached[f"BACKLOG/{side}"], reached[f"BETWEEN/{side}"]) == (1, 1)


def test_a_refused_step_names_a_cache_first() -> None:
    reached = sides({}, insert(0, -1), insert(0, 1), insert(1, -1))
    assert reached == {"FIRST_USE/REFUSED": 1}


def test_the_ends_of_a_range_and_of_an_invalidation_are_met() -> None:
    get_range = {"op": "get_range", "cache": "a", "first": [1, 1], "last": [1, 1]}
    invalidate = {"op": "invalidate_before", "cache": "a", "pos": [1, 1]}
    reached = sides({}, *(insert(entry, 1) for entry in range(3)), get_range, invalidate)
    assert all(
        reached[f"{name}/{side}"] == 1 for name in ("FIRST", "LAST", "BOUND") for side in ("BELOW", "AT", "ABOVE")
    )


def test_a_run_that_never_lands_there_has_checked_nothing() -> None:
    declaration = reference_subject(SYSTEM).declaration
    coverage = Coverage(fired=dict.fromkeys(SYSTEM.laws.rules, 10_000), cells=dict.fromkeys(SYSTEM.laws.cells, 10_000))
    assert find_rare(declaration, SYSTEM.levels[-1], PROFILES["ci"], True, coverage) == []
    coverage.cells["TRIGGER/AT"] = 0
    assert find_rare(declaration, SYSTEM.levels[-1], PROFILES["ci"], True, coverage) == ["TRIGGER/AT"]


SEEDED_CASES = 120


def count_other_answers(level: str, wrong: Callable[[Any, Any, Any], Any]) -> int:
    """Return how many of the first seeded cases of a level a wrong step function answers otherwise."""
    declaration = reference_subject(SYSTEM).declaration
    menu = declaration.system.cases.menu(declaration.ops_up_to(level), level)
    number = 0
    for one in generate.make_seeded_cases(declaration, menu, SEEDED_CASES, 0):
        state = pulsar_pip430.initial(one.case.config)
        for op, known in zip(one.case.steps, one.steps, strict=True):
            done = wrong(state, op, one.case.config)
            if done.outcome != known.outcome:
                number += 1
                break
            state = done.state
    return number


@pytest.mark.rule("R-LEDGER-12")
def test_r_ledger_12__cases_show_a_backlog_that_is_wrong_by_one() -> None:
    def step(state: Any, op: Any, config: Any) -> Any:
        if isinstance(op, ops.CheckBacklogs):
            config = dataclasses.replace(config, min_backlog_entries=config.min_backlog_entries + 1)
        return pulsar_pip430.step(state, op, config)

    assert count_other_answers("ledger", step)


@pytest.mark.rule("R-STATE-9")
def test_r_state_9__cases_show_that_usage_opens_a_cache() -> None:
    def step(state: Any, op: Any, config: Any) -> Any:
        done = pulsar_pip430.step(state, op, config)
        if not isinstance(op, ops.Usage) or op.cache in {vocabulary.ABSENT, *state.caches}:
            return done
        caches = {name: cache for name, cache in done.state.caches.items() if name != op.cache}
        return done._replace(state=done.state._replace(caches=caches))

    assert count_other_answers("cursors", step)


@pytest.mark.parametrize("offers", [True, False])
def test_only_a_subject_that_runs_invalidations_gets_cases_that_hold_them_back(offers: bool) -> None:
    ops_offered = frozenset(SYSTEM.ops) - (frozenset() if offers else {"run_invalidations"})
    declaration = Declaration(SYSTEM, ops_offered)
    config = pulsar_pip430.Config(invalidation=Invalidation.MANUAL)
    assert (within_schema(config, declaration) == config) is offers
    assert ("run_invalidations" in declaration.unsupported_reason(config, ())) is not offers


StepCheck = Callable[[Any, Any, Any], bool]
"""A check of an operation, the state before it, and the step."""


def reads_over_an_end(op: Any, before: Any, done: Any) -> bool:
    """Return whether a cursor beside another one gets entries of two ledgers."""
    if not isinstance(op, ops.CursorRead) or not isinstance(done.outcome, Served):
        return False
    ledgers = {pos.ledger for pos in (*done.outcome.hits, *done.outcome.fills)}
    return len(ledgers) > 1 and len(before.managed[op.cache].cursors) > 1


def moves_during_a_read(op: Any, before: Any, done: Any) -> bool:
    """Return whether a cursor seeks or acknowledges one entry while a read of its own is open.

    A mark-delete does not count: every profile has rows of steps with one.
    """
    if not isinstance(op, ops.CursorSeek | ops.Ack) or isinstance(done.outcome, Refused):
        return False
    return any((read.cache, read.cursor) == (op.cache, op.cursor) for read in before.pending.of_cursors.values())


def deletes_what_is_expected(op: Any, before: Any, done: Any) -> bool:
    """Return whether a ledger is deleted of which a cached entry expects reads, or that of a cache with open reads."""
    if not isinstance(op, ops.DeleteLedger) or op.cache not in before.caches:
        return False
    slots = before.caches[op.cache].entries.items()
    expected = any(pos.ledger == op.ledger and (entry.expected_reads or 0) > 0 for pos, entry in slots)
    is_open = any(read.cache == op.cache for read in before.pending.of_cursors.values())
    return is_open or (expected and isinstance(done.outcome, Removed))


def cursors_wait_for_permits(op: Any, before: Any, done: Any) -> bool:
    """Return whether reads of two cursors wait for permits."""
    opened = done.state.pending.of_cursors
    names = [request.name.read for request in done.state.limiter.waiting if isinstance(request.name, RangeRequest)]
    return len({opened[name].cursor for name in names}) > 1


def count_steps(level: str, workload: WorkloadProfile | None, check: StepCheck) -> int:
    """Count the steps of 200 cases that pass the check."""
    declaration = Declaration(SYSTEM, frozenset(SYSTEM.ops) - {"acquire", "give_back", "fetch"})
    menu, source = SYSTEM.cases.menu(declaration.ops_up_to(level), level), random.Random(level)
    count = 0
    for _ in range(200):
        generated = generate.make_case(source.randint, declaration, menu, None, 60, workload)
        before = SYSTEM.model.initial(generated.case.config)
        for op, done in zip(generated.case.steps, generated.steps, strict=True):
            count += check(op, before, done)
            before = done.state
    return count


@pytest.mark.parametrize(
    ("level", "workload", "check", "times"),
    [
        ("ledger", WorkloadProfile.ROLLOVERS, reads_over_an_end, 3),
        ("inflight", WorkloadProfile.SEEKS_IN_READS, moves_during_a_read, 3),
        ("inflight", WorkloadProfile.LEDGER_DELETES, deletes_what_is_expected, 5),
        ("limits", WorkloadProfile.PERMITS_NEAR_LIMIT, cursors_wait_for_permits, 3),
    ],
)
def test_a_profile_of_levels_draws_more_of_what_it_is_named_for(
    level: str, workload: WorkloadProfile, check: StepCheck, times: int
) -> None:
    usual = count_steps(level, None, check)
    assert count_steps(level, workload, check) >= times * max(10, usual)
