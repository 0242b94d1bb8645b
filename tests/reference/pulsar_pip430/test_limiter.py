"""Level `limits`: permits for the bytes of reads in flight."""

from __future__ import annotations

from typing import Any

import pytest

from entrycache_evidence.pulsar_pip430.runs import play
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import (
    DisabledLimit,
    LimiterOrder,
    LimiterTimeout,
    Replay,
    Storage,
    Variants,
)
from entrycache_reference.pulsar_pip430.ops import Acquire, Advance, GiveBack, LimiterState
from entrycache_reference.pulsar_pip430.outcomes import (
    Decided,
    EndedRead,
    InFlight,
    Permits,
    Permitted,
    ReadError,
    Refused,
    Released,
    SentAsk,
)
from entrycache_reference.vocabulary import CacheName, CursorName, HoldName, Position, ReadName, RequestName

MILLISECOND = 1_000_000
A, B, C, D, E = map(RequestName, "abcde")
WAITS = Permitted(None)
NOTHING = Decided()


def answers(*events: Any, **settings: Any) -> list[Any]:
    """Play events on a limiter of 10 permits that waits for 2 ms, and return the answers."""
    variants = {name: settings.pop(name) for name in ("limiter_order", "limiter_timeout") if name in settings}
    defaults = {"max_reads_in_flight_bytes": 10, "acquire_timeout_millis": 2}
    return list(play(*events, **{**defaults, **settings}, variants=Variants(**variants)).outcomes)


@pytest.mark.rule("R-LIMIT-2")
def test_r_limit_2__a_request_that_fits_waits_behind_others():
    events = (Acquire(A, 6), Acquire(B, 8), Acquire(C, 4))
    assert answers(*events) == [Permitted(6), WAITS, WAITS]
    assert answers(*events, limiter_order=LimiterOrder.OVERTAKING) == [Permitted(6), WAITS, Permitted(4)]
    assert answers(Acquire(A, 10)) == [Permitted(10)]


@pytest.mark.rule("R-LIMIT-3")
def test_r_limit_3__a_request_above_the_limit_takes_all_of_it():
    assert answers(Acquire(A, 11), LimiterState()) == [Permitted(10), Permits(0, 0)]
    assert answers(Acquire(A, 1), Acquire(B, 11), GiveBack(A)) == [Permitted(1), WAITS, Decided(((B, 10),))]


@pytest.mark.rule("R-LIMIT-4")
def test_r_limit_4__a_full_queue_refuses_and_a_later_request_comes_later():
    events = (Acquire(A, 10), Acquire(B, 5), Acquire(C, 4), Acquire(D, 1))
    assert answers(*events, acquire_queue=2) == [Permitted(10), WAITS, WAITS, Permitted(0)]
    assert answers(*events[:3], GiveBack(A))[-1] == Decided(((B, 5), (C, 4)))


@pytest.mark.rule("R-LIMIT-5")
def test_r_limit_5__the_queue_is_served_from_the_head_and_nobody_is_passed_over():
    waiting = (Acquire(B, 4), Acquire(C, 3), Acquire(D, 5), Acquire(E, 1))
    assert answers(Acquire(A, 10), *waiting, GiveBack(A), GiveBack(B))[-2:] == [
        Decided(((B, 4), (C, 3))),
        Decided(((D, 5), (E, 1))),
    ]


@pytest.mark.rule("R-LIMIT-6")
def test_r_limit_6__who_waits_too_long_fails_and_the_next_ones_are_served():
    events = (Acquire(A, 4), Acquire(B, 8), Advance(MILLISECOND), Acquire(C, 5), Advance(MILLISECOND))
    assert answers(*events)[-1] == Decided(((B, 0), (C, 5)))
    assert answers(*events, limiter_timeout=LimiterTimeout.LEAVES)[-1] == Decided(((B, 0),))
    assert answers(*events, acquire_timeout_millis=0)[-1] == NOTHING


@pytest.mark.rule("R-LIMIT-6")
def test_r_limit_6__the_age_is_the_difference_of_whole_milliseconds():
    late = (Advance(MILLISECOND - 1), Acquire(A, 10), Acquire(B, 1))
    assert answers(*late, Advance(MILLISECOND))[-1] == NOTHING
    assert answers(*late, Advance(MILLISECOND + 1))[-1] == Decided(((B, 0),))


@pytest.mark.rule("R-LIMIT-7")
def test_r_limit_7__free_and_given_permits_are_the_limit():
    events = (Acquire(A, 6), LimiterState(), Acquire(B, 8), LimiterState(), GiveBack(A), LimiterState())
    assert [answer for answer in answers(*events) if isinstance(answer, Permits)] == [
        Permits(4, 0),
        Permits(4, 1),
        Permits(2, 0),
    ]


def test_wrong_requests_are_refused():
    refused = (Acquire(A, 0), Acquire(A, -1), GiveBack(A))
    assert all(isinstance(answer, Refused) for answer in answers(*refused))
    taken = answers(Acquire(A, 10), Acquire(B, 1), Acquire(A, 1), Acquire(B, 1), GiveBack(B))
    assert [isinstance(answer, Refused) for answer in taken] == [False, False, True, True, True]
    assert isinstance(answers(Acquire(A, 1), max_reads_in_flight_bytes=0)[0], Refused)


# Permits of reads by cursors.

M, X, Y = CacheName("m"), CursorName("x"), CursorName("y")
F, G = ReadName("f"), ReadName("g")
ALL = ops.StorageAnswerKind.ALL


def reads(*events: Any, **settings: Any) -> list[Any]:
    """Play events after two ledgers of two entries with 10 bytes each, and return the answers; an entry takes 74."""
    variants = Variants(**{name: settings.pop(name) for name in ("disabled_limit",) if name in settings})
    places = [Position(ledger, entry) for ledger in (1, 2) for entry in (0, 1)]
    appends = [ops.Append(M, pos, 10) for pos in places]
    opened = [ops.CursorOpen(M, cursor, places[0]) for cursor in (X, Y)]
    config = {"storage": Storage.HELD, "grace_millis": 0, "acquire_timeout_millis": 2, **settings}
    return list(play(*appends, *opened, *events, **config, variants=variants).outcomes)[len(appends) + len(opened) :]


def read(cursor: CursorName, name: ReadName, most: int) -> Any:
    return ops.ReadBegin(M, cursor, name, most)


def one_ask(number: int, ledger: int, first: int, last: int) -> Any:
    return InFlight((SentAsk(number, ledger, first, last, M),))


@pytest.mark.rule("R-LIMIT-1")
def test_r_limit_1__a_range_takes_its_estimate_before_it_looks_at_the_cache():
    events = (read(X, F, 2), LimiterState(), read(Y, G, 1), LimiterState())
    assert reads(*events, max_reads_in_flight_bytes=150) == [
        one_ask(0, 1, 0, 1),
        Permits(2, 0),
        InFlight(),
        Permits(2, 1),
    ]
    assert reads(*events[:2], max_reads_in_flight_bytes=100) == [one_ask(0, 1, 0, 1), Permits(0, 0)]
    replayed = (ops.ReplayBegin(M, X, F, (Position(1, 0), Position(2, 0))), LimiterState())
    assert reads(*replayed, max_reads_in_flight_bytes=100) == [one_ask(0, 1, 0, 0), Permits(26, 1)]


@pytest.mark.rule("R-LIMIT-1")
def test_r_limit_1__a_disabled_cache_takes_permits_but_for_a_variant():
    events = (read(X, F, 2), LimiterState())
    config = {"max_reads_in_flight_bytes": 150, "max_size_bytes": 0}
    assert reads(*events, **config)[-1] == Permits(2, 0)
    assert reads(*events, **config, disabled_limit=DisabledLimit.IGNORED)[-1] == Permits(150, 0)


@pytest.mark.rule("R-LIMIT-1")
def test_r_limit_1__an_entry_of_unknown_size_takes_at_least_10_304_permits():
    empty = [ops.Append(M, Position(3, entry), 0) for entry in (0, 1)]
    great = [ops.Append(M, Position(4, 0), 30_000)]
    events = (*empty, ops.CursorSeek(M, X, Position(3, 0)), read(X, F, 1), LimiterState())
    assert reads(*events, max_reads_in_flight_bytes=20_000)[-1] == Permits(20_000 - 10_304, 0)
    taken = [*great, ops.Append(M, Position(5, 0), 0), ops.CursorSeek(M, X, Position(5, 0)), read(X, F, 1)]
    average = 30_000 // 2
    assert reads(*taken, LimiterState(), max_reads_in_flight_bytes=20_000)[-1] == Permits(20_000 - average - 64, 0)


@pytest.mark.rule("R-LIMIT-1")
@pytest.mark.parametrize(("last_bytes", "asks"), [(10, [(0, 2)]), (0, [(0, 0), (2, 2)])])
def test_r_limit_1__a_grouped_replay_from_a_ledger_without_bytes_reads_nothing_beside_its_positions(last_bytes, asks):
    sizes = [*((Position(1, entry), 10) for entry in (0, 1, 2)), (Position(2, 0), last_bytes)]
    appends = [ops.Append(M, pos, size) for pos, size in sizes]
    replay = ops.ReplayBegin(M, X, F, (Position(2, 0), Position(1, 2), Position(1, 0)))
    config = {"storage": Storage.HELD, "grace_millis": 0, "max_reads_in_flight_bytes": 20_000}
    grouped = Variants(replay=Replay.GROUPED)
    answer = play(*appends, ops.CursorOpen(M, X, Position(1, 0)), replay, **config, variants=grouped).last
    assert [(ask.first, ask.last) for ask in answer.sent_asks if ask.ledger == 1] == asks


@pytest.mark.rule("R-LIMIT-4")
def test_r_limit_4__a_range_that_finds_the_queue_full_fails():
    events = (read(X, F, 2), read(Y, G, 1), ops.ReplayBegin(M, X, ReadName("h"), (Position(1, 0), Position(2, 0))))
    answers_of = reads(*events, max_reads_in_flight_bytes=150, acquire_queue=1)
    assert answers_of[-1] == InFlight(None, (EndedRead(ReadName("h"), None, ReadError.READ_FAILED),))


@pytest.mark.rule("R-LIMIT-5")
def test_r_limit_5__permits_of_a_range_go_back_with_its_last_entry():
    started = (read(X, F, 2), read(Y, G, 2), ops.StorageAnswer(0, ALL), LimiterState())
    one = ops.ReplayAdd(HoldName("f"), Position(1, 0), ops.Dispatcher.SHARED)
    *_, before, added, released = reads(*started, one, ops.Release(HoldName("f")), max_reads_in_flight_bytes=150)
    both = EndedRead(G, (Position(1, 0), Position(1, 1)))
    assert (before, added, released) == (Permits(2, 1), InFlight(), Released(1, None, (both,)))
    failed = reads(*started[:2], ops.StorageAnswer(0, ops.StorageAnswerKind.FAIL), max_reads_in_flight_bytes=150)[-1]
    assert failed == InFlight((SentAsk(1, 1, 0, 1, M),), (EndedRead(F, None, ReadError.READ_FAILED),))


@pytest.mark.rule("R-LIMIT-6")
def test_r_limit_6__a_range_that_waits_too_long_fails_and_the_next_one_begins():
    events = (
        read(X, F, 1),
        read(Y, G, 2),
        Advance(MILLISECOND),
        ops.ReplayBegin(M, X, ReadName("h"), (Position(2, 0),)),
    )
    ended = reads(*events, Advance(MILLISECOND), max_reads_in_flight_bytes=150)[-1]
    failed = (EndedRead(G, None, ReadError.READ_FAILED),)
    assert ended == Decided(None, (SentAsk(1, 2, 0, 0, M),), failed)


@pytest.mark.rule("R-LIMIT-8")
def test_r_limit_8__a_later_chunk_takes_permits_of_its_own():
    events = (read(X, F, 4), ops.StorageAnswer(0, ALL), LimiterState())
    assert reads(*events, max_reads_in_flight_bytes=400)[1:] == [one_ask(1, 2, 0, 1), Permits(400 - 4 * 74, 0)]
    assert reads(*events, max_reads_in_flight_bytes=200)[1:] == [InFlight(), Permits(200 - 2 * 74, 1)]
    late = reads(*events, Advance(2 * MILLISECOND), max_reads_in_flight_bytes=200)[-1]
    assert late == Decided(None, None, (EndedRead(F, (Position(1, 0), Position(1, 1))),))
