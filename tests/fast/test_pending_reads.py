"""The table of pending reads, as a library."""

from __future__ import annotations

import doctest
from typing import Any

import pytest

from entrycache import Refuse, Subject, check
from entrycache_fast import pending_reads
from entrycache_fast.pending_reads import Ask, Ended, PendingReads


def test_the_example_of_the_module_is_true():
    assert doctest.testmod(pending_reads) == (0, 6)


def test_a_failed_ask_fails_who_waits_and_ends_the_joining_of_its_ledger():
    table = PendingReads()
    assert [*table.read("a", 1, 0, 1), *table.read("b", 1, 1, 3)] == [Ask(0, 1, 0, 1), Ask(1, 1, 2, 3)]
    assert table.fail(0) == [Ended("a", None)]
    assert table.read("c", 1, 2, 3) == [Ask(2, 1, 2, 3)]
    assert table.answer(1, "xy") == [Ended("b", None)]
    assert (table.reads, table.asks) == (["c"], [Ask(2, 1, 2, 3)])
    assert table.fail(2, is_busy=True) == [Ended("c", None)]


def test_a_busy_storage_leaves_the_other_asks_joinable():
    table = PendingReads()
    table.read("a", 1, 0, 1)
    table.read("b", 1, 2, 3)
    table.fail(0, is_busy=True)
    assert table.read("c", 1, 2, 2) == []


def test_wrong_calls_are_named():
    table = PendingReads()
    table.read("a", 1, 0, 1)
    with pytest.raises(ValueError, match="another name"):
        table.read("a", 1, 0, 1)
    with pytest.raises(ValueError, match="not above the last"):
        table.read("b", 1, 1, 0)
    with pytest.raises(ValueError, match="no ask 1 is open"):
        table.fail(1)
    with pytest.raises(ValueError, match="1 to 2 entries"):
        table.answer(0, "xyz")


class OnlyATable(Subject):
    """A table of pending reads, and nothing else of a cache."""

    system = "pulsar-pip430"
    settings = ()

    def __init__(self, config: Any) -> None:
        self._table = PendingReads()

    def fetch(self, read: str, first: Any, last: Any) -> Any:
        if first[0] != last[0]:
            raise Refuse
        try:
            return self._answer(self._table.read(read, *first, last[1]), [])
        except ValueError as error:
            raise Refuse from error

    def storage_answer(self, ask: int, answer: Any) -> Any:
        sent = {one.number: one for one in self._table.asks}.get(ask)
        if sent is None:
            raise Refuse
        if answer in ("fail", "busy"):
            return self._answer([], self._table.fail(ask, answer == "busy"))
        positions = [[sent.ledger, entry] for entry in range(sent.first, sent.last + 1)]
        if answer != "all" and not 0 < answer < len(positions):
            raise Refuse
        return self._answer([], self._table.answer(ask, positions if answer == "all" else positions[:answer]))

    def _answer(self, asks: list[Ask], ended: list[Ended]) -> Any:
        keys = ("ask", "ledger", "first", "last")
        done = [
            {"read": name, "error": "read-failed"}
            if entries is None
            else {"read": name, "entries": [position for _, position in entries]}
            for name, entries in sorted(ended)
        ]
        asks = [dict(zip(keys, ask, strict=True)) for ask in asks]
        return {key: value for key, value in (("asked", asks), ("done", done)) if value}


class SharesWholeRanges(OnlyATable):
    """A table that shares an ask only with a read that it covers whole."""

    def fetch(self, read: str, first: Any, last: Any) -> Any:
        joinable = self._table._joinable
        ledger = joinable.get(first[0])
        if (
            ledger
            and first <= last
            and not any(ask.first <= first[1] and last[1] <= ask.last for ask in ledger.covering(first[1], last[1]))
        ):
            joinable.pop(first[0])
        return super().fetch(read, first, last)


@pytest.mark.long
def test_a_subject_that_is_only_a_table_conforms():
    check(OnlyATable, examples=150)


def test_a_table_that_shares_whole_ranges_only_is_named_by_its_rule():
    with pytest.raises(AssertionError, match="R-INFLIGHT-2"):
        check(SharesWholeRanges, examples=150)
