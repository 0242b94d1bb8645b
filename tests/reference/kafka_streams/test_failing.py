"""Forwards that throw: each rule by a few steps worked out by hand."""

from __future__ import annotations

from typing import Any, Final

import pytest

from entrycache_reference.kafka_streams import Config, Step, Variants, initial, laws, ops, step
from entrycache_reference.kafka_streams.config import Delivery, FailedFlush, UndeliveredEviction
from entrycache_reference.kafka_streams.outcomes import ErrorKind, Failed, Listing, NamespaceCounters, Value
from entrycache_reference.kafka_streams.view_ops import FailForward, StoreClear, StoreClose

FAILED: Final = Failed(ErrorKind.LISTENER_FAILED)
FLUSH: Final = ops.StoreFlush("s")
RELEASED: Final = Config(
    variants=Variants(UndeliveredEviction.LOST, failed_flush=FailedFlush.CLEAN, delivery=Delivery.ONE_BY_ONE)
)


def play(*events: Any, config: Config | None = None) -> list[Step]:
    """Return the steps of a fresh reference; each keeps its laws."""
    config = config or Config()
    state, steps = initial(config), []
    for event in events:
        steps.append(step(state, event, config))
        assert laws.broken(config, state, event, steps[-1]) == ()
        state = steps[-1].state
    return steps


def put(key: str, value: str | None = "1") -> ops.StorePut:
    """Return a write to the store."""
    return ops.StorePut("s", key, value)


def forwarded(done: Step) -> list[tuple[str, str | None]]:
    """Return what a step forwarded, key by key."""
    return [(call.key, call.value) for call in done.outcome.forwarded]


def order(*events: Any, config: Config | None = None) -> tuple[str, str]:
    """Return the dirty keys in their order and the keys in their order of use, after these operations."""
    counters = play(*events, ops.Metrics("s"), config=config)[-1].outcome.answer
    assert isinstance(counters, NamespaceCounters)
    return "".join(counters.dirty), "".join(counters.lru)


@pytest.mark.rule("K-FAIL-1")
def test_k_fail_1__a_flush_ends_at_the_forward_that_throws_and_all_is_dirty_again() -> None:
    events = (put("x"), put("y"), put("z"), ops.StoreGet("s", "x"), FailForward("s", "y", 1), FLUSH)
    done = play(*events)[-1]
    assert (done.outcome.answer, forwarded(done)) == (FAILED, [("x", "1"), ("y", "1")])
    assert order(*events) == ("xyz", "xzy")
    assert [row.cause for row in done.rows if row.op == "FLUSH"] == ["CALL"] * 3 + ["FAILED"] * 3


@pytest.mark.rule("K-FAIL-1")
def test_k_fail_1__an_evicted_entry_is_back_in_its_place() -> None:
    assert order(put("x"), put("y"), FailForward("s", "x", 1), ops.Evict("s")) == ("xy", "yx")


@pytest.mark.rule("K-FAIL-1")
def test_k_fail_1__a_key_that_was_written_meanwhile_keeps_the_later_write() -> None:
    again = ops.OnForward("s", "x", (put("x", "2"), put("w", "3")))
    events = (again, put("x"), put("y"), FailForward("s", "y", 1), FLUSH)
    assert order(*events) == ("yxw", "wxy")
    assert forwarded(play(*events, FailForward("s", "x", 0), FLUSH)[-1])[:2] == [("y", "1"), ("x", "2")]


@pytest.mark.rule("K-FAIL-1")
def test_k_fail_1__what_was_evicted_during_the_call_is_cached_again_even_over_a_copy() -> None:
    steps = (ops.Evict("s"), ops.Evict("s"), ops.StoreGet("s", "z"))
    events = (ops.OnForward("s", "x", steps), put("x"), put("y"), put("z"), FailForward("s", "y", 1), FLUSH)
    assert order(*events) == ("xyz", "zyx")
    done = play(*events)[-1]
    assert [(row.op, row.key) for row in done.rows if row.op in {"EVICT", "PUT"}] == [
        ("EVICT", "x"),
        ("EVICT", "y"),
        ("PUT", "y"),
        ("PUT", "x"),
    ]


@pytest.mark.rule("K-FAIL-1")
def test_k_fail_1__what_was_removed_during_the_call_stays_away() -> None:
    for removal, left in ((ops.Delete("s", "x"), "y"), (StoreClear("s"), ""), (ops.Close("s"), "")):
        events = (ops.OnForward("s", "x", (removal,)), put("x"), put("y"), FailForward("s", "y", 1), FLUSH)
        assert order(*events)[0] == left


@pytest.mark.rule("K-FAIL-1")
def test_k_fail_1__each_forward_of_the_key_throws_as_often_as_was_said() -> None:
    done = play(FailForward("s", "x", 2), put("x"), FLUSH, FLUSH, FLUSH)
    assert [one.outcome.answer == FAILED for one in done[2:]] == [True, True, False]
    assert play(FailForward("s", "x", 2), FailForward("s", "x", 0), put("x"), FLUSH)[-1].outcome.answer != FAILED


@pytest.mark.rule("K-FLUSH-7")
@pytest.mark.rule("K-FLUSH-8")
def test_k_flush_8__a_release_loses_what_a_forward_that_throws_leaves() -> None:
    writes = (put("x"), put("y"), put("z"), FailForward("s", "y", 1))
    assert order(*writes, FLUSH, config=RELEASED) == ("", "zyx")
    assert order(*writes, ops.Evict("s"), config=RELEASED) == ("", "zy")


@pytest.mark.rule("K-FAIL-2")
def test_k_fail_2__the_next_flush_forwards_everything_again_deletions_too() -> None:
    stored = (put("x"), put("y"), FLUSH, put("x", None), put("y", "2"), FailForward("s", "y", 1), FLUSH, FLUSH, FLUSH)
    done = play(*stored)
    assert forwarded(done[-3]) == forwarded(done[-2]) == [("x", None), ("y", "2")]
    assert forwarded(done[-1]) == []


@pytest.mark.rule("K-FAIL-2")
def test_k_fail_2__an_older_write_stays_overtaken() -> None:
    again = ops.OnForward("s", "x", (put("y", "2"), FLUSH))
    done = play(again, put("x"), put("y"), FailForward("s", "y", 1), FLUSH, FLUSH)
    assert forwarded(done[-2]) == [("x", "1"), ("y", "2")]
    assert forwarded(done[-1]) == [("y", "2")]


@pytest.mark.rule("K-FAIL-3")
def test_k_fail_3__a_failure_inside_a_forward_does_not_end_it() -> None:
    again = ops.OnForward("s", "x", (put("y", "2"), FLUSH, ops.StoreGet("s", "y")))
    done = play(again, FailForward("s", "y", 1), put("x"), put("z"), FLUSH)[-1]
    assert done.outcome.answer != FAILED
    assert done.outcome.forwarded[0].inner[1:] == (FAILED, Value("2"))
    assert forwarded(done) == [("x", "1"), ("y", "2"), ("z", "1")]


@pytest.mark.rule("K-FAIL-4")
@pytest.mark.parametrize(("config", "below"), [(Config(), "xyz"), (RELEASED, "xy")])
def test_k_fail_4__what_was_written_below_stays_written(config: Config, below: str) -> None:
    events = (put("x"), put("y"), put("z"), FailForward("s", "y", 1), FLUSH, ops.StoreInner("s"))
    answer = play(*events, config=config)[-1].outcome.answer
    assert answer == Listing(tuple((key, "1") for key in below))


@pytest.mark.rule("K-CLOSE-4")
def test_k_close_4__a_store_closes_even_if_a_forward_throws() -> None:
    done = play(put("x"), put("y"), FailForward("s", "x", 1), StoreClose("s"), ops.StoreGet("s", "x"), ops.Usage())
    assert (done[3].outcome.answer, forwarded(done[3])) == (FAILED, [("x", "1")])
    assert done[4].outcome.answer == Failed(ErrorKind.ILLEGAL_STATE)
    assert done[5].state.spaces == {}
