"""Level `limits`: permits for the bytes of reads in flight."""

from __future__ import annotations

from typing import Any

import pytest

from entrycache_evidence.pulsar_pip430.runs import play
from entrycache_reference.pulsar_pip430.config import LimiterOrder, LimiterTimeout, Variants
from entrycache_reference.pulsar_pip430.ops import Acquire, Advance, GiveBack, LimiterState
from entrycache_reference.pulsar_pip430.outcomes import Decided, Permits, Permitted, Refused
from entrycache_reference.vocabulary import RequestName

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
