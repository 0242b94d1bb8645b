"""Test the page of predecessors, and the runs that break promises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from entrycache_conformance.judge import Coverage, judge, run_reference
from entrycache_conformance.systems import SYSTEMS
from entrycache_dev.predecessors.caches import (
    CACHES,
    Add,
    Clear,
    Deliver,
    LatePass,
    Postpone,
    Range,
    Task,
    Wait,
    legacy_config,
    ops_of_legacy,
)
from entrycache_dev.predecessors.promises import (
    PROMISES,
    Promise,
    find_shortest_trace,
    play_trace,
    render_page,
    search_random,
)
from entrycache_protocol.case import Case
from entrycache_protocol.subject import TestedSubject
from entrycache_reference.pulsar_legacy.ops import Observe
from tests.support import ROOT

PIP430, LEGACY, SEGMENTED = CACHES


def named(part: str) -> Promise:
    return next(promise for promise in PROMISES if part in promise.title)


@pytest.mark.long
def test_the_page_is_that_of_the_references() -> None:
    assert (ROOT / "docs" / "explanation/predecessors.md").read_text("utf-8") == render_page()


ROUNDS: Final = "what readers still expect stays longer"
UNFITTING: Final = "an entry larger than the limit pushes nothing out"
BROKEN: Final = {ROUNDS, UNFITTING}
"""The promises that the cache of PIP-430 breaks: earlier passes use up the rounds of an expected entry, and a pass for
an entry that cannot fit frees all."""


def test_earlier_passes_use_up_the_rounds_of_an_expected_entry() -> None:
    trace = find_shortest_trace(PIP430, named(ROUNDS)).trace
    assert trace == (Add("a", 0, 5, 1), Add("a", 1, 5, 1), Add("a", 2, 3), Add("a", 3, 3))


def test_before_pip_430_more_leaves_than_has_to() -> None:
    trace = find_shortest_trace(LEGACY, named("no more")).trace
    assert trace is not None
    assert [(word.cache, word.size_bytes) for word in trace if isinstance(word, Add)] == [
        (ledger, 5) for ledger in "abcda"
    ]
    after = play_trace(LEGACY, trace, named("no more").limits)
    assert len(after[-2].kept) - len(after[-1].kept) == 2


@pytest.mark.long
@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.title)
@pytest.mark.parametrize("traces", [40, pytest.param(5_000, marks=pytest.mark.long)])
def test_random_traces_break_nothing_that_short_ones_keep(promise: Promise, traces: int) -> None:
    for cache in CACHES:
        if find_shortest_trace(cache, promise).trace is None:
            assert search_random(cache, promise, traces).trace is None, cache.system


@pytest.mark.parametrize(
    "promise", [promise for promise in PROMISES if promise.title not in BROKEN], ids=lambda promise: promise.title
)
def test_the_cache_of_pip_430_keeps_every_other_promise(promise: Promise) -> None:
    search = find_shortest_trace(PIP430, promise)
    assert search.trace is None
    assert search.attempts == sum(len(promise.words) ** length for length in range(1, promise.most + 1))


def test_an_old_entry_stays_behind_a_younger_one_before_pip_430() -> None:
    trace = find_shortest_trace(LEGACY, named("outlives")).trace
    assert trace == (Add("a", 1), Wait(), Wait(), Add("a", 0), Task())


def test_a_newer_entry_of_a_large_cache_leaves_first_before_pip_430() -> None:
    trace = find_shortest_trace(LEGACY, named("oldest first")).trace
    assert trace is not None
    assert len(trace) == 4


def test_the_periodic_task_visits_every_ledger_before_pip_430() -> None:
    promise = named("number of ledgers")
    trace = find_shortest_trace(LEGACY, promise).trace
    assert trace == (Add("a", 0), Add("b", 0), Task())
    assert [play_trace(cache, trace, promise.limits)[-1].visits for cache in CACHES] == [1, 2, 0]


def test_entries_kept_for_a_replay_leave_before_delivered_ones() -> None:
    trace = find_shortest_trace(LEGACY, named("replay")).trace
    assert trace is not None
    assert {Postpone("a", 0), Deliver("a", 1)} < set(trace)
    assert len(trace) == 5


def test_an_entry_that_cannot_fit_pushes_the_others_out() -> None:
    promise = named(UNFITTING)
    trace = find_shortest_trace(PIP430, promise).trace
    assert trace == (Add("a", 0, 1), Add("a", 1, 11))
    assert play_trace(PIP430, trace, promise.limits)[-1].kept == {}
    late = find_shortest_trace(LEGACY, promise).trace
    assert late == (*trace, Add("a", 2, 1))


def test_before_pip_430_a_write_is_refused_although_its_own_pass_makes_room() -> None:
    promise = named("that fits")
    trace = find_shortest_trace(LEGACY, promise).trace
    assert trace is not None
    before, after = play_trace(LEGACY, trace, promise.limits)[-2:]
    assert sum(before.kept.values()) >= promise.limits.max_size_bytes > sum(after.kept.values())
    assert not after.inserted


def test_before_pip_430_a_write_of_a_cached_entry_removes_another() -> None:
    promise = named("cached entry removes")
    trace = find_shortest_trace(LEGACY, promise).trace
    assert trace is not None
    before, after = play_trace(LEGACY, trace, promise.limits)[-2:]
    assert trace[-1] in trace[:-1]
    assert len(after.kept) < len(before.kept)


def test_before_pip_430_shares_round_down_to_nothing() -> None:
    promise = named("reaches the watermark")
    trace = find_shortest_trace(LEGACY, promise).trace
    assert trace is not None
    before, after = play_trace(LEGACY, trace, promise.limits)[-2:]
    assert before.kept == after.kept
    assert sum(after.kept.values()) == promise.limits.max_size_bytes


def test_before_pip_430_a_late_pass_frees_by_the_bytes_of_its_asking() -> None:
    promise = named("late pass")
    trace = find_shortest_trace(LEGACY, promise).trace
    assert trace is not None
    assert trace[-2:] == (Clear("a"), LatePass())
    assert play_trace(LEGACY, trace, promise.limits)[-1].kept == {}


def test_a_ring_serves_a_range_whole_or_not_at_all() -> None:
    assert find_shortest_trace(SEGMENTED, named("in part")).trace == (Add("a", 0), Range("a", 0, 1))


def test_a_promise_that_nothing_keeps_is_broken_at_once() -> None:
    never = named("oldest first")._replace(keeps=lambda moment: False)
    assert [find_shortest_trace(cache, never).attempts for cache in CACHES] == [1, 1, 1]


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.title)
def test_the_released_jar_breaks_a_promise_as_its_reference_does(
    promise: Promise, released_subject: Callable[[str], TestedSubject]
) -> None:
    trace = find_shortest_trace(LEGACY, promise).trace
    assert trace is not None
    states = [LEGACY.start(promise.limits), *(answer.state for answer in play_trace(LEGACY, trace, promise.limits))]
    steps = [op for state, word in zip(states, trace, strict=False) for op in (*ops_of_legacy(state, word), Observe())]
    case = Case(SYSTEMS["pulsar-legacy"], legacy_config(promise.limits), tuple(steps))
    subject = released_subject("pulsar:4.0.8")
    reference = run_reference(case, Coverage())
    assert [type(op) for op in case.steps].count(Observe) == len(trace)
    assert judge(case, reference, subject.play([case])[0], subject.declaration) is None
