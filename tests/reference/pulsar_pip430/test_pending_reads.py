"""Level `pending`: which entries are asked of storage, who waits for which answer, and what each read gets."""

from __future__ import annotations

from typing import Any

import pytest

from entrycache_evidence.pulsar_pip430.runs import REFUSED, at, play
from entrycache_reference.pulsar_pip430.ops import Fetch, StorageAnswer, StorageAnswerKind
from entrycache_reference.pulsar_pip430.outcomes import EndedRead, InFlight, ReadError, SentAsk
from entrycache_reference.vocabulary import ReadName

A, B, C = map(ReadName, "abc")
ALL, FAIL, BUSY = StorageAnswerKind.ALL, StorageAnswerKind.FAIL, StorageAnswerKind.BUSY
NOTHING = InFlight()


def fetch(name: ReadName, first: int, last: int) -> Fetch:
    """Return a fetch of a range of ledger 1."""
    return Fetch(name, at(first), at(last))


def answers(*events: Any) -> list[Any]:
    """Play events and return the answers."""
    return list(play(*events).outcomes)


def sent(*asks: tuple[int, int, int]) -> InFlight:
    """Return the answer of a step that asks for these ranges of ledger 1."""
    return InFlight(tuple(SentAsk(number, 1, first, last) for number, first, last in asks))


def ended(**reads: Any) -> InFlight:
    """Return the answer of a step that ends these reads with the given entries; None: without."""
    return InFlight(
        done=tuple(
            EndedRead(ReadName(name), error=ReadError.READ_FAILED)
            if entries is None
            else EndedRead(ReadName(name), tuple(map(at, entries)))
            for name, entries in reads.items()
        )
    )


@pytest.mark.rule("R-INFLIGHT-1")
def test_r_inflight_1__an_ask_is_open_until_it_is_answered():
    events = (fetch(A, 0, 2), StorageAnswer(0, ALL), StorageAnswer(0, ALL), StorageAnswer(1, ALL), fetch(B, 0, 2))
    assert answers(*events) == [sent((0, 0, 2)), ended(a=(0, 1, 2)), REFUSED, REFUSED, sent((1, 0, 2))]


@pytest.mark.rule("R-INFLIGHT-2")
@pytest.mark.parametrize(
    ("first", "last", "asks"),
    [
        (2, 3, ()),
        (3, 3, ()),
        (0, 1, ((2, 0, 1),)),
        (1, 2, ((2, 1, 1),)),
        (0, 9, ((2, 0, 1), (3, 4, 5), (4, 8, 9))),
        (3, 6, ((2, 4, 5),)),
    ],
)
def test_r_inflight_2__a_read_asks_only_for_what_is_not_on_its_way(first, last, asks):
    before = (fetch(A, 2, 3), fetch(B, 6, 7))
    assert answers(*before, fetch(C, first, last))[-1] == (sent(*asks) if asks else NOTHING)


@pytest.mark.rule("R-INFLIGHT-2")
def test_r_inflight_2__ledgers_share_nothing():
    assert answers(fetch(A, 2, 3), Fetch(B, at(2, 2), at(3, 2)))[-1] == InFlight((SentAsk(1, 2, 2, 3),))


@pytest.mark.rule("R-INFLIGHT-3")
def test_r_inflight_3__everybody_is_given_his_part():
    events = (fetch(B, 0, 3), fetch(A, 1, 2), fetch(C, 2, 5))
    assert answers(*events, StorageAnswer(0, ALL), StorageAnswer(1, ALL))[-2:] == [
        ended(a=(1, 2), b=(0, 1, 2, 3)),
        ended(c=(2, 3, 4, 5)),
    ]
    assert answers(*events, StorageAnswer(0, 2))[-1] == ended(a=(1,), b=(0, 1))
    assert answers(*events, StorageAnswer(0, 4))[-1] == REFUSED
    assert answers(*events, StorageAnswer(0, 0))[-1] == REFUSED


@pytest.mark.rule("R-INFLIGHT-6")
@pytest.mark.parametrize(("answer", "after"), [(FAIL, sent((2, 2, 3))), (BUSY, NOTHING)])
def test_r_inflight_6__only_a_read_error_ends_the_joining_of_other_asks(answer, after):
    events = (fetch(A, 0, 1), fetch(B, 2, 3), StorageAnswer(0, answer), fetch(C, 2, 3))
    assert answers(*events)[-2:] == [ended(a=None), after]
    other = (fetch(A, 0, 1), Fetch(B, at(2, 2), at(3, 2)), StorageAnswer(0, answer), Fetch(C, at(2, 2), at(3, 2)))
    assert answers(*other)[-1] == NOTHING


@pytest.mark.rule("R-INFLIGHT-8")
def test_r_inflight_8__a_read_fails_when_the_last_of_its_parts_is_answered():
    events = (fetch(A, 0, 1), fetch(B, 0, 3), StorageAnswer(0, BUSY), StorageAnswer(1, ALL))
    assert answers(*events)[-2:] == [ended(a=None), ended(b=None)]


@pytest.mark.rule("R-INFLIGHT-13")
def test_r_inflight_13__when_all_is_answered_everybody_has_ended():
    run = play(fetch(A, 0, 1), fetch(B, 1, 2), fetch(C, 0, 2), StorageAnswer(1, FAIL), StorageAnswer(0, ALL))
    assert run.outcomes[-2:] == (NOTHING, ended(a=(0, 1), b=None, c=None))
    assert not run.after.pending.reads


def test_a_fetch_needs_a_free_name_and_a_range_of_one_ledger():
    wrong = (fetch(A, 5, 6), fetch(B, 2, 1), Fetch(B, at(0), at(1, 2)))
    assert answers(fetch(A, 0, 1), *wrong)[1:] == [REFUSED] * 3
