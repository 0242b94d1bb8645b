"""Views, queries, and the emptying, closing and opening of stores: each rule by a few steps worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from entrycache_reference.kafka_streams import Config, State, Step, Variants, initial, laws, ops, step, views
from entrycache_reference.kafka_streams.config import BackwardTombstone, Delivery, RangeQuery, ViewTombstone
from entrycache_reference.kafka_streams.outcomes import (
    Counted,
    Done,
    ErrorKind,
    Failed,
    Listing,
    NamespaceCounters,
    NextEntry,
    Outcome,
    Unanswered,
    Value,
)
from entrycache_reference.kafka_streams.view_ops import (
    Isolation,
    StoreClear,
    StoreClose,
    StoreCount,
    StoreOpen,
    StorePutAll,
    StorePutIfAbsent,
    StoreQuery,
    StoreQueryRange,
    StoreView,
    ViewClose,
    ViewNext,
    ViewOpen,
)
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

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


@pytest.mark.rule("K-STORE-11")
def test_k_store_11__a_view_before_3_9_1_shows_a_deleted_key_behind_one_that_is_not_cached() -> None:
    config = released(view_tombstone=ViewTombstone.DROPPED)
    deleted = (*STORED, StoreClear("s"), ops.StorePut("s", "y", None))
    for view in (ops.StoreAll("s"), ops.StoreRange("s", "x", "y"), StoreView("s"), StoreQueryRange("s")):
        assert last_answer(*deleted, view, config=config) == Listing((("x", "1"), ("y", "2")))
        assert last_answer(*deleted, view) == Listing((("x", "1"),))
        assert last_answer(*deleted, ops.StoreGet("s", "x"), view, config=config) == Listing((("x", "1"),))
    assert last_answer(*deleted, StoreView("s", backward=True), config=config) == Listing((("x", "1"),))
    other = (*STORED, StoreClear("s"), ops.StorePut("s", "x", None), ops.StorePut("s", "z", None))
    expected = Listing((("y", "2"), ("x", "1")))
    assert last_answer(*other, StoreView("s", backward=True), config=config) == expected
    assert last_answer(*other, ops.StoreAll("s"), config=config) == Listing((("y", "2"),))


@pytest.mark.rule("K-VIEW-10")
def test_k_view_10__a_released_query_of_a_range_asks_the_underlying_store() -> None:
    config = released(range_query=RangeQuery.BELOW)
    events = (*STORED, ops.StorePut("s", "x", None), ops.StorePut("s", "z", "3"))
    assert last_answer(*events, StoreQueryRange("s"), config=config) == Listing((("x", "1"), ("y", "2")))


@pytest.mark.rule("K-VIEW-11")
def test_k_view_11__a_view_of_committed_data_passes_the_cache_by() -> None:
    unflushed = (*STORED, ops.StorePut("s", "x", None), ops.StorePut("s", "z", "3"))
    done = play(*unflushed, ops.Metrics("s"), StoreView("s", isolation=Isolation.COMMITTED), ops.Metrics("s"))
    assert done[-2].outcome.answer == Listing((("x", "1"), ("y", "2")))
    assert done[-1].outcome.answer == done[-3].outcome.answer
    committed = {"isolation": Isolation.COMMITTED}
    assert last_answer(*unflushed, StoreView("s", None, "x", **committed)) == Listing((("x", "1"),))
    assert last_answer(*unflushed, StoreView("s", prefix="", **committed)) == Listing((("x", "1"), ("y", "2")))
    assert last_answer(*unflushed, StoreView("s", backward=True, **committed)) == Listing((("y", "2"), ("x", "1")))
    merged = StoreView("s", isolation=Isolation.UNCOMMITTED)
    assert (
        last_answer(*unflushed, merged) == Listing((("y", "2"), ("z", "3"))) == last_answer(*unflushed, StoreView("s"))
    )


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


# Open views.

THREE: Final = (*STORED, ops.StorePut("s", "z", "3"))
NEXT: Final = ViewNext("v")


def entries_of(*events: Any) -> list[Any]:
    """Return the answers of the reads of open views."""
    answers = [done.outcome.answer for done in play(*events)]
    return [answer.entry for answer in answers if isinstance(answer, NextEntry)]


@pytest.mark.rule("K-VIEW-6")
def test_k_view_6__an_open_view_comes_in_its_order_and_ends_for_good() -> None:
    forward = [("x", "1"), ("y", "2"), ("z", "3"), None, None]
    assert entries_of(*THREE, ViewOpen("v", "s"), *[NEXT] * 5) == forward
    assert entries_of(*THREE, ViewOpen("v", "s", backward=True), *[NEXT] * 4) == [*forward[2::-1], None]
    assert entries_of(*THREE, ViewOpen("v", "s", prefix="y"), *[NEXT] * 2) == [("y", "2"), None]
    ended = (*THREE, ViewOpen("v", "s", "z"), *[NEXT] * 2)
    assert entries_of(*ended, ops.StorePut("s", "zz", "4"), NEXT) == [("z", "3"), None, None]


@pytest.mark.rule("K-VIEW-6")
def test_k_view_6__an_open_view_goes_on_over_writes_flushes_and_evictions() -> None:
    for between in (ops.StoreFlush("s"), ops.Resize(0), ops.Evict("s")):
        events = (*THREE, ViewOpen("v", "s"), NEXT, ops.Metrics("s"), between, NEXT, NEXT, NEXT)
        assert entries_of(*events) == [("x", "1"), ("y", "2"), ("z", "3"), None]
    written = (ops.StorePut("s", "y", None), ops.StorePut("s", "z", "9"), ops.StorePut("s", "zz", "4"))
    assert entries_of(*THREE, ViewOpen("v", "s"), NEXT, *written, NEXT, NEXT) == [("x", "1"), ("z", "9"), None]


@pytest.mark.rule("K-VIEW-6")
def test_k_view_6__a_view_has_a_name_until_it_or_its_store_is_closed() -> None:
    opened = (*THREE, ViewOpen("v", "s"))
    for op in (ViewOpen("v", "t"), ViewNext("w"), ViewClose("w"), ViewOpen("w", "s", "x", prefix="x")):
        assert last_answer(*opened, op) == REFUSED
    assert last_answer(*opened, ViewClose("v"), NEXT) == REFUSED
    assert last_answer(*opened, ViewClose("v"), ViewOpen("v", "s")) == Done()
    assert last_answer(*opened, StoreClose("s"), NEXT) == REFUSED
    assert last_answer(*opened, StoreClose("s"), StoreOpen("s"), NEXT) == REFUSED


CHANGED: Final = (ops.StorePut("s", "x", None), ops.StorePut("s", "y", "9"), ops.StorePut("s", "zz", "4"))
"""After the opening x is deleted, y is overwritten and zz is new; z stays."""


@pytest.mark.rule("K-VIEW-6")
@pytest.mark.parametrize(
    ("answers", "at"),
    [
        ([("y", "9"), ("z", "3"), None], None),
        ([("x", "1"), ("y", "2"), ("z", "3"), ("zz", "4"), None, None], None),
        ([("y", "2"), ("z", "3"), ("zz", "4"), None], None),
        ([("x", None)], 0),
        ([("x", "9")], 0),
        ([("z", "3")], 0),
        ([None], 0),
        ([("y", "9"), ("y", "9")], 1),
        ([("y", "9"), ("x", "1")], 1),
        ([("y", "9"), ("zz", "4")], 1),
        ([("y", "9"), None], 1),
        ([("y", "8")], 0),
        ([("y", None)], 0),
        ([("y", "9"), ("z", "1")], 1),
        ([("y", "9"), ("z", "3"), None, ("zz", "4")], 3),
        ([("y", "9"), ("z", "3"), ("zzz", "4")], 2),
    ],
)
def test_k_view_6__the_promise_refuses_entries_left_out_doubled_null_out_of_order_or_stale(
    answers: list[Any], at: int | None
) -> None:
    config = Config()
    state = play(*THREE, ViewOpen("v", "s"), *CHANGED)[-1].state
    for index, entry in enumerate(answers):
        own = step(state, NEXT, config)
        got = own.outcome.answer if own.outcome.answer == NextEntry(entry) else None
        guided = views.follow(state, NEXT, config, own, Outcome(NextEntry(entry)))
        assert (guided is not None or got is not None) == (at != index)
        assert is_kept(config, state, own, entry) == (at != index)
        if at == index:
            return
        state = (guided or own).state
    assert at is None


@pytest.mark.rule("K-VIEW-6")
def test_k_view_6__a_view_goes_on_behind_an_entry_that_the_reference_itself_would_not_have_answered():
    """The keys are deleted after the opening: the reference ends there, and a subject may still answer both."""
    config = Config()
    state = play(*STORED, ViewOpen("v", "s"), ops.StoreDelete("s", "x"), ops.StoreDelete("s", "y"))[-1].state
    for entry in (("x", "1"), ("y", "2")):
        own = step(state, NEXT, config)
        assert own.outcome.answer == NextEntry(None)
        guided = views.follow(state, NEXT, config, own, Outcome(NextEntry(entry)))
        assert guided is not None
        assert (guided.state.views["v"].last, guided.state.views["v"].has_ended) == (entry[0], False)
        state = guided.state


def is_kept(config: Config, state: State, own: Step, entry: Any) -> bool:
    """Return whether the law of K-VIEW-6 accepts a step that answers this entry and goes on behind it."""
    after = views.show(own.state, "v", entry)
    if not state.views["v"].has_ended and entry is not None:
        after = after._replace(views={"v": after.views["v"]._replace(has_ended=False)})
    done = own._replace(state=after, outcome=Outcome(NextEntry(entry)))
    return Rule.K_VIEW_6 not in laws.broken(config, state, NEXT, done)


@pytest.mark.rule("K-VIEW-6")
def test_k_view_6__a_view_may_show_each_value_of_a_batch_and_what_a_clear_brings_back() -> None:
    config = Config()
    batch = StorePutAll("s", (("y", "7"), ("y", "8")))
    state = play(*THREE, ViewOpen("v", "s", "y"), batch)[-1].state
    assert [value for value in "123789" if may_show(state, ("y", value), config)] == ["2", "7", "8"]
    cleared = play(*STORED, ops.StorePut("s", "y", "7"), ViewOpen("v", "s", "y"), StoreClear("s"))[-1].state
    assert [value for value in "1278" if may_show(cleared, ("y", value), config)] == ["2", "7"]


def may_show(state: State, entry: tuple[str, str | None], config: Config) -> bool:
    return views.may_come_next(state.views["v"], state.stores["s"], entry, config)


@pytest.mark.rule("K-VIEW-6")
def test_k_view_6__a_released_backward_view_may_show_deleted_keys() -> None:
    config = released(backward_tombstone=BackwardTombstone.SHOWS)
    deleted = (*STORED, ops.StorePut("s", "y", None), ViewOpen("v", "s", backward=True))
    state = play(*deleted, config=config)[-1].state
    assert [entry for entry in (("y", "2"), ("y", None), ("x", "1")) if not may_show(state, entry, config)] == []
    assert not may_show(state, ("x", None), config)
    assert [entry for entry in (("y", "2"), ("y", None)) if may_show(state, entry, Config())] == []


@pytest.mark.rule("K-VIEW-6")
def test_k_view_6__a_view_before_3_9_1_may_show_deleted_keys_but_never_null() -> None:
    config = released(view_tombstone=ViewTombstone.DROPPED)
    state = play(*STORED, ops.StorePut("s", "x", None), ViewOpen("v", "s"), config=config)[-1].state
    assert may_show(state, ("x", "1"), config)
    assert not may_show(state, ("x", None), config)
    assert not may_show(state, ("x", "1"), Config())


@pytest.mark.rule("K-VIEW-7")
def test_k_view_7__reading_a_view_caches_nothing() -> None:
    done = play(*STORED, StoreClear("s"), ViewOpen("v", "s"), NEXT)[-1]
    assert (recent(done.state), done.rows, done.state.gets) == ((), (), 0)


@pytest.mark.rule("K-VIEW-7")
def test_k_view_7__metrics_answer_an_order_of_use_and_guide_the_next_eviction() -> None:
    config, opened = Config(), (*THREE, ViewOpen("v", "s"), NEXT)
    state = play(*opened)[-1].state
    metrics = ops.Metrics("s")
    own = step(state, metrics, config)
    counted = own.outcome.answer
    assert isinstance(counted, NamespaceCounters)
    other = replace(counted, lru=("x", "z", "y"), hits=counted.hits + 3)
    guided = views.follow(state, metrics, config, own, Outcome(other))
    assert guided is not None
    evicted = step(guided.state, ops.Evict("s"), config)
    assert [row.key for row in evicted.rows if row.op == "EVICT"] == ["y"]
    for wrong in (replace(other, lru=("x", "z")), replace(other, hits=counted.hits - 1), replace(other, flushes=9)):
        followed = views.follow(state, metrics, config, own, Outcome(wrong))
        assert followed is None or followed.outcome.answer != wrong
    assert views.follow(guided.state, metrics, config, step(guided.state, metrics, config), Outcome(counted)) is None


@pytest.mark.rule("K-VIEW-7")
def test_k_view_7__an_eviction_by_an_open_order_is_not_judged() -> None:
    opened = (*THREE, ViewOpen("v", "s"), NEXT)
    done = play(*opened, ops.Evict("s"))[-1]
    assert isinstance(done.outcome.answer, Unanswered)
    got = Outcome(Done())
    followed = views.follow(play(*opened)[-1].state, ops.Evict("s"), Config(), done, got)
    assert followed is not None
    assert followed.outcome == got
    later = step(followed.state, ops.Usage(), Config())
    assert views.follow(followed.state, ops.Usage(), Config(), later, got) is not None
    inside = (ops.OnForward("s", "x", (NEXT, ops.Metrics("s"))), ops.StorePut("s", "x", "5"), ops.StoreFlush("s"))
    assert isinstance(last_answer(*THREE, ViewOpen("v", "s"), *inside), Unanswered)


def old_values(*events: Any, **config: Any) -> list[tuple[str, str | None, Any]]:
    """Return what a store with old values forwards: each key with its value and the one before."""
    steps = play(StoreOpen("s", old_values=True), *events, config=Config(**config))
    return [(call.key, call.value, call.old) for done in steps for call in done.outcome.forwarded]


@pytest.mark.rule("K-OLD-1")
def test_k_old_1__the_first_forward_of_a_key_has_what_lay_below() -> None:
    writes = (ops.StorePut("s", "x", value) for value in ("1", "2", None, "3"))
    steps = (event for write in writes for event in (write, ops.StoreFlush("s")))
    assert old_values(*steps) == [("x", "1", None), ("x", "2", "1"), ("x", None, "2"), ("x", "3", None)]


@pytest.mark.rule("K-OLD-1")
def test_k_old_1__a_store_without_old_values_forwards_none() -> None:
    for opened in ((), (StoreOpen("s"),)):
        (call,) = play(*opened, *STORED[:1], ops.StoreFlush("s"))[-1].outcome.forwarded
        assert call.old is ABSENT
    reopened = (StoreClose("s"), StoreOpen("s"), *STORED[:1], ops.StoreFlush("s"))
    assert old_values(*reopened) == [("x", "1", ABSENT)]


@pytest.mark.rule("K-OLD-2")
@pytest.mark.parametrize("delivery", [Delivery.BELOW_FIRST, Delivery.ONE_BY_ONE])
def test_k_old_2__the_forwards_of_a_key_form_a_chain(delivery: Delivery) -> None:
    """X waits behind y, and the work of y writes x again: by default a value lies below that nobody was forwarded."""
    again = ops.OnForward("s", "y", (ops.StorePut("s", "x", "3"), ops.StoreFlush("s")))
    events = (*STORED, again, ops.StorePut("s", "y", "5"), ops.StorePut("s", "x", "2"), ops.StoreFlush("s"))
    forwards = old_values(*events, variants=Variants(delivery=delivery))
    chain = [(value, old) for key, value, old in forwards if key == "x"]
    overtaken = [] if delivery is Delivery.BELOW_FIRST else [("2", "3")]
    assert chain == [("1", None), ("3", "1"), *overtaken]


@pytest.mark.rule("K-OLD-2")
def test_k_old_2__a_second_forward_has_the_value_of_the_first() -> None:
    again = ops.OnForward("s", "x", (ops.StorePut("s", "x", "3"), ops.StoreFlush("s")))
    events = (again, ops.StorePut("s", "x", "2"), ops.StoreFlush("s"))
    assert old_values(*events, reentry_budget=1) == [("x", "2", None), ("x", "3", "2")]
