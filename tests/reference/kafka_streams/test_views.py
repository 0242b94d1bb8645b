"""Views, queries, and the emptying, closing and opening of stores: each rule by a few steps worked out by hand."""

from __future__ import annotations

from typing import Any, Final

import pytest

from entrycache_reference.kafka_streams import Config, State, Step, Variants, initial, laws, ops, step
from entrycache_reference.kafka_streams.config import BackwardTombstone, RangeQuery
from entrycache_reference.kafka_streams.outcomes import Counted, Done, ErrorKind, Failed, Listing, Value
from entrycache_reference.kafka_streams.view_ops import (
    StoreClear,
    StoreClose,
    StoreCount,
    StoreOpen,
    StorePutAll,
    StorePutIfAbsent,
    StoreQuery,
    StoreQueryRange,
    StoreView,
)

REFUSED: Final = Failed(ErrorKind.ILLEGAL_STATE)
STORED: Final = (ops.StorePut("s", "x", "1"), ops.StorePut("s", "y", "2"), ops.StoreFlush("s"))
"""x and y, cached and in the underlying store."""


def play(*events: Any, config: Config | None = None) -> list[Step]:
    """Return the steps of a fresh reference; each keeps its laws."""
    config = config or Config()
    state, steps = initial(config), []
    for event in events:
        steps.append(step(state, event, config))
        assert laws.broken(config, state, event, steps[-1]) == ()
        state = steps[-1].state
    return steps


def last_answer(*events: Any, config: Config | None = None) -> Any:
    """Return the answer of the last operation."""
    return play(*events, config=config)[-1].outcome.answer


def released(**variants: Any) -> Config:
    """Return a configuration with these variants."""
    return Config(variants=Variants(**variants))


def recent(state: State) -> tuple[str, ...]:
    """Return the cached keys of the store, the most recent first."""
    return state.spaces["s"].recent


@pytest.mark.rule("K-VIEW-1")
@pytest.mark.parametrize(
    ("view", "keys"),
    [
        (StoreView("s"), "xz"),
        (StoreView("s", backward=True), "zx"),
        (StoreView("s", "y"), "z"),
        (StoreView("s", None, "y"), "x"),
        (StoreView("s", "z", "z", backward=True), "z"),
        (StoreView("s", "z", "x"), ""),
        (StoreView("s", prefix="z"), "z"),
        (StoreView("s", prefix="xx"), ""),
    ],
)
def test_k_view_1__a_view_shows_the_last_writes_in_either_direction(view: StoreView, keys: str) -> None:
    events = (*STORED, ops.StorePut("s", "y", None), ops.StorePut("s", "z", "3"))
    answer = last_answer(*events, view)
    assert isinstance(answer, Listing)
    assert [key for key, _ in answer.entries] == list(keys)


@pytest.mark.rule("K-VIEW-1")
def test_k_view_1__a_prefix_stands_alone() -> None:
    for view in (StoreView("s", "x", prefix="x"), StoreView("s", backward=True, prefix="x")):
        done = play(*STORED, view)[-1]
        assert done.outcome.answer == REFUSED
        assert not done.rows


@pytest.mark.rule("K-VIEW-2")
def test_k_view_2__a_view_uses_its_cached_keys_in_its_own_order() -> None:
    events = (*STORED, ops.StorePut("s", "z", None))
    assert recent(play(*events, StoreView("s"))[-1].state) == ("z", "y", "x")
    assert recent(play(*events, StoreView("s", backward=True))[-1].state) == ("x", "y", "z")
    assert recent(play(*events, StoreView("s", prefix="y"))[-1].state) == ("y", "z", "x")
    done = play(*STORED, StoreClear("s"), StoreView("s"))[-1]
    assert (recent(done.state), done.rows, done.outcome.forwarded) == ((), (), ())


@pytest.mark.rule("K-VIEW-3")
def test_k_view_3__every_key_begins_with_an_empty_prefix() -> None:
    assert last_answer(*STORED, StoreView("s", prefix="")) == Listing((("x", "1"), ("y", "2")))


@pytest.mark.rule("K-VIEW-4")
def test_k_view_4__a_count_leaves_out_what_is_cached_only() -> None:
    writes = (ops.StorePut("s", "z", "3"), ops.StorePut("s", "x", None))
    assert last_answer(*STORED, *writes, StoreCount("s")) == Counted(2)
    assert last_answer(StoreCount("s")) == Counted(0)


@pytest.mark.rule("K-VIEW-5")
def test_k_view_5__an_absent_key_is_written_and_a_present_one_is_cached() -> None:
    done = play(*STORED, StoreClear("s"), StorePutIfAbsent("s", "x", "9"))[-1]
    assert done.outcome.answer == Value("1")
    assert [(row.op, row.key, row.dirty) for row in done.rows] == [("MISS", "x", None), ("PUT", "x", False)]
    done = play(*STORED, ops.StorePut("s", "x", None), StorePutIfAbsent("s", "x", "9"))[-1]
    assert done.outcome.answer == Value(None)
    assert done.state.spaces["s"].nodes["x"].value == "9"


@pytest.mark.rule("K-VIEW-8")
def test_k_view_8__a_query_answers_like_a_read_and_caches_nothing() -> None:
    done = play(*STORED, StoreClear("s"), StoreQuery("s", "x"))[-1]
    assert (done.outcome.answer, recent(done.state), done.state.gets) == (Value("1"), (), 1)
    written = (*STORED, ops.StorePut("s", "x", "9"))
    assert last_answer(*written, StoreQuery("s", "x")) == Value("9")
    assert last_answer(*written, StoreQuery("s", "x", skip_cache=True)) == Value("1")
    assert last_answer(*written, StoreQueryRange("s", None, "x")) == Listing((("x", "9"),))


@pytest.mark.rule("K-VIEW-9")
def test_k_view_9__a_released_backward_view_shows_deleted_keys() -> None:
    config = released(backward_tombstone=BackwardTombstone.SHOWS)
    deleted = (*STORED, StoreClear("s"), ops.StorePut("s", "x", None), ops.StorePut("s", "z", None))
    expected = Listing((("z", None), ("y", "2"), ("x", "1")))
    assert last_answer(*deleted, StoreView("s", backward=True), config=config) == expected
    assert last_answer(*deleted, StoreView("s"), config=config) == Listing((("y", "2"),))


@pytest.mark.rule("K-VIEW-10")
def test_k_view_10__a_released_query_of_a_range_asks_the_underlying_store() -> None:
    config = released(range_query=RangeQuery.BELOW)
    events = (*STORED, ops.StorePut("s", "x", None), ops.StorePut("s", "z", "3"))
    assert last_answer(*events, StoreQueryRange("s"), config=config) == Listing((("x", "1"), ("y", "2")))


@pytest.mark.rule("K-CLEAR-1")
def test_k_clear_1__what_is_cached_is_dropped_unheard() -> None:
    done = play(*STORED, ops.StorePut("s", "x", "9"), StoreClear("s"), ops.StoreGet("s", "x"), ops.StoreFlush("s"))
    assert [each.outcome.answer for each in done[-2:]] == [Value("1"), Done()]
    assert not any(each.outcome.forwarded for each in done[-3:])


@pytest.mark.rule("K-CLOSE-3")
def test_k_close_3__a_closed_store_has_forwarded_everything_and_answers_nobody() -> None:
    done = play(*STORED, ops.StorePut("s", "x", "9"), StoreClose("s"), ops.StoreGet("s", "x"), StoreClose("s"))
    assert [(call.key, call.value) for call in done[-3].outcome.forwarded] == [("x", "9")]
    assert [each.outcome.answer for each in done[-2:]] == [REFUSED, Done()]
    assert (done[-1].state.spaces, done[-1].state.flushes) == ({}, 3)
    for op in (StoreView("s"), StorePutAll("s", (("x", "1"),)), ops.StoreInner("s"), ops.OnForward("s", "x", ())):
        assert last_answer(*STORED, StoreClose("s"), op) == REFUSED


@pytest.mark.rule("K-CLOSE-3")
def test_k_close_3__a_store_is_opened_empty_and_only_once() -> None:
    heeded = ops.OnForward("s", "x", (ops.StoreGet("s", "x"),))
    again = (*STORED, heeded, StoreClose("s"), StoreOpen("s"), StoreView("s"))
    assert last_answer(*again) == Listing(())
    done = play(*again, ops.StorePut("s", "x", "1"), ops.StoreFlush("s"))[-1]
    assert done.outcome.forwarded[0].inner == ()
    assert last_answer(*STORED, StoreOpen("s")) == REFUSED
    assert last_answer(StoreOpen("s"), StoreOpen("t"), StoreOpen("s")) == REFUSED


@pytest.mark.rule("K-STORE-1")
def test_k_store_1__values_are_written_one_by_one() -> None:
    entries = (("x", "9"), ("y", None), ("x", "8"))
    assert last_answer(*STORED, StorePutAll("s", entries), StoreView("s")) == Listing((("x", "8"),))
