"""Windows and sessions of kafka-streams: order, expiry, reads, forwards, and views that stay open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from entrycache_reference.kafka_streams import Config, Variants, initial, laws, ops, step, views
from entrycache_reference.kafka_streams.config import CloseCheck, ExpiredWindows
from entrycache_reference.kafka_streams.laws.windows import name_entry
from entrycache_reference.kafka_streams.outcomes import Done, Failed, NextEntry, Outcome, Value, WindowListing
from entrycache_reference.kafka_streams.state import State
from entrycache_reference.kafka_streams.view_ops import (
    SessionGet,
    SessionPut,
    SessionRemove,
    SessionView,
    StoreClear,
    StoreClose,
    StoreKind,
    StoreOpen,
    Underlying,
    ViewNext,
    ViewOpen,
    WindowGet,
    WindowPut,
    WindowView,
)
from entrycache_reference.rules import Rule

RELEASED = Config(variants=Variants(expired_windows=ExpiredWindows.CACHED, close_check=CloseCheck.KEY_VALUE))
DEFAULT = Config()
OPENED = StoreOpen("s", kind=StoreKind.WINDOW, retention=10)
SESSIONS = StoreOpen("s", kind=StoreKind.SESSION, retention=10)
SEGMENTS = StoreOpen("s", kind=StoreKind.WINDOW, below=Underlying.SEGMENTS, segment_interval=10)
FLUSH = ops.StoreFlush("s")


def play(*events: Any, config: Config = DEFAULT) -> tuple[State, list[Any]]:
    """Play these events; return the last state and the outcomes."""
    state, done = initial(config), []
    for event in events:
        taken = step(state, event, config)
        state = taken.state
        done.append(taken.outcome)
    return state, done


def last(*events: Any, config: Config = DEFAULT) -> Any:
    """Return the answer of the last of these events."""
    return play(*events, config=config)[1][-1].answer


VIEW_RULES = {Rule.K_WINDOW_1, Rule.K_WINDOW_2}
VIEWS = [
    WindowView("s", from_=None),
    WindowView("s", from_=None, backward=True),
    WindowView("s", key="b"),
    SessionView("s", from_=None),
    SessionView("s", key="b", backward=True),
]
"""Views of three windows or sessions; the middle one was written twice."""

ALTERATIONS: dict[str, Callable[[tuple[Any, ...]], tuple[Any, ...]]] = {
    "left out": lambda entries: (entries[0], entries[2]),
    "doubled": lambda entries: (entries[0], entries[1], *entries[1:]),
    "null": lambda entries: (entries[0], (*entries[1][:-1], None), entries[2]),
    "out of order": lambda entries: (entries[1], entries[0], entries[2]),
    "stale": lambda entries: (entries[0], (*entries[1][:-1], "old"), entries[2]),
}


def written_for(view: Any) -> list[Any]:
    """Return the steps that fill the store of a view: one write below, two that are cached, one that overwrites."""
    is_window = isinstance(view, WindowView)

    def put(at: int, value: str) -> Any:
        return WindowPut("s", "b", at, value) if is_window else SessionPut("s", "b", at, at, value)

    return [OPENED if is_window else SESSIONS, put(2, "old"), FLUSH, put(1, "1"), put(2, "2"), put(3, "3")]


@pytest.mark.rule("K-WINDOW-1")
@pytest.mark.parametrize("is_flushed", [False, True])
def test_k_window_1__segments_order_by_segment_then_key_then_time(is_flushed):
    puts = [WindowPut("s", *place, "1") for place in (("b", 3), ("a", 12), ("a", 5))]
    events = [SEGMENTS, *puts, *([FLUSH] if is_flushed else [])]
    assert last(*events, WindowView("s")) == WindowListing((("a", 5, "1"), ("b", 3, "1"), ("a", 12, "1")))
    assert last(*events, WindowView("s", backward=True)).entries == (("a", 12, "1"), ("b", 3, "1"), ("a", 5, "1"))


@pytest.mark.rule("K-WINDOW-2")
def test_k_window_2__sessions_that_overlap_the_times_come_and_no_others():
    puts = [SessionPut("s", "x", start, end, f"{end}") for start, end in ((1, 4), (3, 5), (6, 8))]
    view = SessionView("s", key="x", earliest_end=5, latest_start=5)
    assert last(SESSIONS, *puts, view) == WindowListing((("x", 3, 5, "5"),))
    assert last(SESSIONS, *puts, SessionView("s", from_="y", to="x")) == WindowListing(())


@pytest.mark.rule("K-WINDOW-3")
def test_k_window_3__sessions_of_one_end_are_two_and_a_key_value_read_is_refused():
    puts = SessionPut("s", "x", 1, 5, "1"), SessionPut("s", "x", 3, 5, "2"), SessionRemove("s", "x", 3, 5)
    assert last(SESSIONS, *puts, SessionGet("s", "x", 1, 5)) == Value("1")
    assert last(SESSIONS, *puts, SessionGet("s", "x", 3, 5)) == Value(None)
    for refused in (ops.StoreGet("s", "x"), WindowGet("s", "x", 1), SessionGet("s", "x", 5, 1), SessionView("s")):
        assert isinstance(last(SESSIONS, refused), Failed)
    assert isinstance(last(WindowGet("u", "x", 1)), Failed)


@pytest.mark.rule("K-WINDOW-4")
@pytest.mark.parametrize(("time", "value"), [(10, None), (11, "1")])
def test_k_window_4__a_deletion_makes_the_time_and_the_bound_is_expired(time, value):
    assert last(OPENED, WindowPut("s", "x", time, "1"), WindowPut("s", "y", 20, None), WindowGet("s", "x", time)) == (
        Value(value)
    )


@pytest.mark.rule("K-WINDOW-5")
def test_k_window_5__a_late_record_changes_nothing():
    before, _ = play(OPENED, WindowPut("s", "x", 20, "1"))
    after, _ = play(OPENED, WindowPut("s", "x", 20, "1"), WindowPut("s", "y", 10, "2"))
    assert after == before


@pytest.mark.rule("K-WINDOW-6")
def test_k_window_6__what_expires_while_it_is_cached_is_neither_written_nor_forwarded():
    state, done = play(OPENED, WindowPut("s", "x", 5, "1"), WindowPut("s", "x", 20, "2"), FLUSH)
    assert dict(state.stores["s"].inner) == {"x@20": "2"}
    assert [(call.key, call.start) for call in done[-1].forwarded] == [("x", 20)]
    gone, _ = play(OPENED, WindowPut("s", "x", 5, "1"), FLUSH, WindowPut("s", "x", 20, "2"))
    assert dict(gone.stores["s"].inner) == {}


@pytest.mark.rule("K-WINDOW-7")
def test_k_window_7__a_read_from_below_is_not_cached():
    read = WindowGet("s", "x", 5)
    state, done = play(OPENED, WindowPut("s", "x", 5, "1"), FLUSH, StoreClear("s"), read)
    assert (done[-1].answer, dict(state.spaces["s"].nodes), state.spaces["s"].misses) == (Value("1"), {}, 1)


@pytest.mark.rule("K-WINDOW-8")
@pytest.mark.parametrize(
    ("opened", "put", "size"),
    [
        (OPENED, WindowPut("s", "x", 5, "1"), 67),
        (SESSIONS, SessionPut("s", "x", 5, 7, "1"), 71),
    ],
)
def test_k_window_8__times_count_as_bytes_and_an_eviction_takes_everything_dirty(opened, put, size):
    assert last(opened, put, ops.Usage("s")).bytes == size
    state, done = play(
        opened,
        put,
        WindowPut("s", "y", 6, "2") if size == 67 else SessionPut("s", "y", 6, 6, "2"),
        config=Config(max_size_bytes=size),
    )
    assert [call.key for call in done[-1].forwarded] == ["x", "y"]
    assert {name[0] for name in state.stores["s"].inner} == {"x", "y"}


@pytest.mark.rule("K-WINDOW-9")
def test_k_window_9__a_forward_reads_the_window_whose_put_brought_it_about():
    reads = (WindowGet("s", "x", 6), WindowView("s", key="x"))
    events = (OPENED, ops.OnForward("s", "x", reads), WindowPut("s", "x", 5, "1"), WindowPut("s", "x", 6, "2"))
    _, done = play(*events, config=Config(max_size_bytes=67))
    assert done[-1].forwarded[0].inner == (Value("2"), WindowListing(((5, "1"), (6, "2"))))
    again = ops.OnForward("s", "x", (WindowPut("s", "x", 5, "3"), WindowGet("s", "x", 5)))
    assert play(OPENED, again, WindowPut("s", "x", 5, "1"), FLUSH)[1][-1].forwarded[0].inner == (Done(), Value("3"))


@pytest.mark.rule("K-WINDOW-10")
def test_k_window_10__a_deletion_of_what_was_never_written_goes_nowhere():
    _, done = play(OPENED, WindowPut("s", "x", 5, "1"), WindowPut("s", "x", 5, None), FLUSH)
    assert done[-1].forwarded == ()
    unheard = StoreOpen("s", kind=StoreKind.WINDOW, listens=False)
    state, done = play(unheard, WindowPut("s", "x", 5, "1"), FLUSH)
    assert (done[-1].forwarded, dict(state.stores["s"].inner)) == ((), {"x@5": "1"})


@pytest.mark.rule("K-WINDOW-11")
def test_k_window_11__a_view_caches_nothing_and_leaves_the_order_of_use_open():
    state, _ = play(OPENED, WindowPut("s", "x", 5, "1"), FLUSH, StoreClear("s"), WindowView("s"))
    assert (dict(state.spaces["s"].nodes), state.spaces["s"].is_loose) == ({}, True)


@pytest.mark.rule("K-WINDOW-12")
def test_k_window_12__an_open_view_shows_each_session_once_in_order():
    puts = [SessionPut("s", "x", start, 5, f"{start}") for start in (1, 3)]
    opened = ViewOpen("v", "s", from_=None, backward=True)
    answers = [each.answer.entry for each in play(SESSIONS, *puts, opened, *[ViewNext("v")] * 3)[1][-3:]]
    assert sorted(answers[:2]) == [("x", 1, 5, "1"), ("x", 3, 5, "3")]
    assert answers[2] is None


@pytest.mark.rule("K-WINDOW-2")
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("alteration", ALTERATIONS)
def test_k_window_2__the_laws_refuse_an_altered_view(view, alteration):
    state, _ = play(*written_for(view))
    done = step(state, view, DEFAULT)
    entries = done.outcome.answer.entries
    assert not VIEW_RULES & set(laws.broken(DEFAULT, state, view, done))
    altered = done._replace(outcome=Outcome(WindowListing(ALTERATIONS[alteration](entries))))
    assert VIEW_RULES & set(laws.broken(DEFAULT, state, view, altered))


@pytest.mark.rule("K-WINDOW-12")
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("alteration", ALTERATIONS)
def test_k_window_12__the_promise_refuses_an_altered_open_view(view, alteration):
    arguments = {name: getattr(view, name) for name in ("key", "from_", "backward")}
    state, _ = play(*written_for(view), ViewOpen("v", "s", **arguments))
    entries = last(*written_for(view), view).entries
    assert list(refusals(state, entries)) == [False] * 4
    assert any(refusals(state, ALTERATIONS[alteration](entries)))


def refusals(state: State, entries: tuple[Any, ...]) -> Iterator[bool]:
    """Read an open view to its end; yield for each answer whether both the guide and the law of K-WINDOW-12 refuse it.

    The reading ends behind an answer that is refused.
    """
    for entry in (*entries, None):
        own = step(state, ViewNext("v"), DEFAULT)
        guided = views.follow(state, ViewNext("v"), DEFAULT, own, Outcome(NextEntry(entry)))
        is_followed = guided is not None or own.outcome.answer == NextEntry(entry)
        pair = None if entry is None else (name_entry(state, state.views["v"].range, entry), entry[-1])
        after = views.show(state, "v", pair)
        done = own._replace(state=after, outcome=Outcome(NextEntry(entry)))
        is_kept = Rule.K_WINDOW_12 not in laws.broken(DEFAULT, state, ViewNext("v"), done)
        assert is_followed == is_kept
        yield not is_kept
        if not is_kept:
            return
        state = after


@pytest.mark.rule("K-WINDOW-13")
def test_k_window_13__a_view_of_a_far_range_ends():
    view = WindowView("s", key="x", time_from=0, time_to=2**40)
    assert last(SEGMENTS, WindowPut("s", "x", 5, "1"), view) == WindowListing(((5, "1"),))


@pytest.mark.rule("K-WINDOW-14")
def test_k_window_14__closing_leaves_what_others_have_cached():
    state, _ = play(OPENED, ops.StorePut("t", "x", "1"), WindowPut("s", "x", 5, "1"), StoreClose("s"))
    assert list(state.spaces["t"].nodes) == ["x"]


@pytest.mark.rule("K-WINDOW-15")
def test_k_window_15__a_release_answers_what_is_cached_whatever_its_age():
    events = (OPENED, WindowPut("s", "x", 20, "1"), FLUSH, WindowPut("s", "x", 5, "2"))
    assert last(*events, WindowGet("s", "x", 5), config=RELEASED) == Value("2")
    state, done = play(*events, FLUSH, config=RELEASED)
    assert dict(state.stores["s"].inner) == {"x@20": "1"}
    assert [call.start for call in done[-1].forwarded] == [5]


@pytest.mark.rule("K-WINDOW-16")
def test_k_window_16__a_release_flushes_a_closed_store_of_windows():
    assert last(OPENED, StoreClose("s"), FLUSH, config=RELEASED) == Done()
    assert isinstance(last(OPENED, StoreClose("s"), FLUSH), Failed)
