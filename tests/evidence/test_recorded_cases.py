"""Test that only steps without an effect of the change are skipped."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache, partial
from itertools import islice, repeat
from types import SimpleNamespace
from typing import Any

import pytest

from entrycache_conformance.levels import Profile
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.reference import reference_subject
from entrycache_dev.matrix import process, seeded_search
from entrycache_dev.matrix.generate import Change
from entrycache_dev.matrix.mutants import generate_all_changes, sample_changes
from entrycache_dev.matrix.probes import EVERYWHERE, Probes
from entrycache_dev.matrix.process import ProcessDied, run_in_child
from entrycache_dev.matrix.seeded_search import (
    RecordedCase,
    cases_of,
    is_in_outcomes,
    is_in_rows,
    record_cases,
    select_guards,
)
from entrycache_reference import kafka_streams
from entrycache_reference.kafka_streams import entries

KAFKA = SYSTEMS["kafka-streams"]


@cache
def guards() -> list[Change]:
    """Return the changes that these tests are about: a sample, and those of functions that they name."""
    every = select_guards(generate_all_changes(), KAFKA)
    named = [
        one
        for one in every
        if one.function == "flush_dirty"
        or (one.module.endswith(".entries") and one.function == "get")
        or (one.module.endswith(".config") and not one.function)
    ]
    return list({one.id: one for one in (*sample_changes(every, 60, 1), *named)}.values())


@cache
def probes() -> Probes:
    return Probes(kafka_streams.__name__, guards())


def some_cases() -> list[RecordedCase]:
    cases = cases_of(reference_subject(KAFKA).declaration, Profile(20, 0, 0), 0)
    return record_cases(islice(cases, 40), probes())


def detect_change(change: Change, places: Sequence[int], cases: Sequence[RecordedCase]) -> list[tuple[bool, bool]]:
    """Return whether outcomes, and whether rows, show a change at each of these places."""

    def detect_in_child() -> list[tuple[bool, bool]]:
        process.apply_change(change)
        return [(is_in_outcomes(cases, place, False), is_in_rows(cases, place)) for place in places]

    results: list[tuple[bool, bool]] = run_in_child(detect_in_child)
    return results


@pytest.mark.long
def test_a_change_is_detected_in_the_steps_that_reach_it_as_in_all_steps() -> None:
    cases = some_cases()
    swapped = [one for one in guards()[:60] if process.changed_code(one)]
    results = [detect_change(one, (probes().place(one), EVERYWHERE), cases) for one in swapped]
    assert [at for at, _ in results] == [all_ for _, all_ in results]
    assert {result for result, _ in results} >= {(True, True), (False, False)}


def test_a_change_is_not_detected_at_a_place_that_no_step_reaches() -> None:
    """The check above detects a wrong place."""
    change = next(one for one in guards() if one.function == "flush_dirty")
    assert detect_change(change, (1 << 5000, EVERYWHERE), some_cases()) == [(False, False), (True, True)]


def test_probes_record_the_branch_that_is_taken_and_leave_the_code_unchanged() -> None:
    before = entries.get.__code__
    config = KAFKA.model.config()
    with probes().listening() as places:
        KAFKA.model.step(KAFKA.model.initial(config), KAFKA.ops["get"](ns="a", key=None), config)
    assert entries.get.__code__ is before
    of_get = [change for change in guards() if change.module.endswith(".entries") and change.function == "get"]
    assert {probes().place(change) in places for change in of_get} == {True, False}


def test_code_outside_of_statements_is_recorded_everywhere() -> None:
    constant = next(change for change in guards() if change.module.endswith(".config") and not change.function)
    assert probes().place(constant) == EVERYWHERE


def slow(seconds: float, outcome: int) -> RecordedCase:
    """Return a case of one step whose model is slow."""

    def step(state: Any, op: Any, config: Any) -> Any:
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass
        return SimpleNamespace(outcome=outcome, state=state)

    model = SimpleNamespace(initial=lambda config: 0, step=step)
    case: Any = SimpleNamespace(system=SimpleNamespace(model=model), config=None, steps=[None])
    return RecordedCase(case, 0, [SimpleNamespace(outcome=0, state=0)], [EVERYWHERE] * 2)


def test_a_case_that_takes_too_long_is_detected_and_many_slow_ones_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeded_search, "SECONDS", 0.3)
    monkeypatch.setattr(seeded_search, "SECONDS_AT_ONCE", 0.2)
    is_detected = partial(is_in_outcomes, place=EVERYWHERE, again=False)
    assert is_detected([slow(10, 0)])
    assert is_detected([slow(0.15, 0), slow(0, 1)])
    assert not is_detected([slow(0.15, 0), slow(0.15, 0), slow(0, 1)])


def test_a_fork_that_ignores_signals_is_killed() -> None:
    with pytest.raises(ProcessDied):
        run_in_child(lambda: sum(repeat(0)), 1)
    assert run_in_child(lambda: sum(repeat(1, 3)), 1) == 3
