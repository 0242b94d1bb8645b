"""The fast cache of `kafka-streams` as a library, as a stream processor uses it."""

from __future__ import annotations

import ast
import doctest
from pathlib import Path

import pytest

from entrycache_fast import kafka as streams
from entrycache_fast.kafka import (
    CachingStore,
    Context,
    DirtyEntry,
    DirtyKeyError,
    NoListenerError,
    Row,
    SessionStore,
    ThreadCache,
    Window,
    WindowStore,
    Write,
    share_bytes,
)

ONE = 47
"""The size of an entry with a one-byte key and a one-byte value."""


def test_the_example_of_the_package_is_true() -> None:
    assert doctest.testmod(streams).failed == 0


def test_it_imports_no_other_package() -> None:
    for path in Path(streams.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [item.name for item in node.names]
                assert not any(name.startswith(("entrycache_reference", "entrycache_conformance")) for name in names)


def test_sizes_are_those_of_kafka_streams() -> None:
    cache = ThreadCache(1_000)
    cache.put("a", b"k", b"v")
    assert cache.usage() == (1, ONE)
    cache.put("a", b"k", b"v", topic="\U0001d11e", headers=[("\u00e9", "\u00e9".encode())])
    assert cache.usage("a") == (1, ONE + 2 + 1 + 2)
    cache.put("a", b"k", None)
    assert cache.usage("a") == (1, ONE - 1)


@pytest.mark.parametrize("limit", [-1, -100])
def test_a_negative_limit_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match="expected 0 or more"):
        ThreadCache(limit)
    cache = ThreadCache(10)
    with pytest.raises(ValueError, match="expected 0 or more"):
        cache.resize(limit)
    assert cache.max_size_bytes == 10


def test_a_clean_write_over_a_dirty_one_is_refused() -> None:
    cache = ThreadCache(1_000)
    with pytest.raises(DirtyKeyError, match="dirty key b'k' of namespace 'a'"):
        cache.put_all("a", [Write(b"k", b"1", dirty=True), Write(b"k", b"2")])
    entry = cache.get("a", b"k")
    assert entry is not None and entry.value == b"1" and entry.dirty


def test_a_listener_that_throws_after_it_has_written_loses_nothing() -> None:
    cache = ThreadCache(1_000)
    for key in (b"x", b"y", b"z"):
        cache.put("a", key, b"1", dirty=True)

    def listener(handed: list[DirtyEntry]) -> None:
        assert [one.key for one in handed] == [b"x", b"y", b"z"]
        cache.put("a", b"y", b"2", dirty=True)
        raise OSError("no room")

    cache.listen("a", listener)
    with pytest.raises(OSError, match="no room"):
        cache.evict("a")
    cache.check()
    assert cache.counters("a").dirty == (b"x", b"z", b"y")
    assert cache.counters("a").recent == (b"y", b"z", b"x")
    assert cache.usage() == (3, 3 * ONE)


def test_a_namespace_that_is_closed_under_a_call_that_throws_stays_closed() -> None:
    cache = ThreadCache(1_000)
    cache.put("a", b"x", b"1", dirty=True)

    def listener(handed: list[DirtyEntry]) -> None:
        cache.close("a")
        raise OSError

    cache.listen("a", listener)
    with pytest.raises(OSError):
        cache.evict("a")
    assert cache.usage() == (0, 0)
    cache.check()


def test_rows_report_events_in_their_order() -> None:
    rows: list[Row] = []
    cache = ThreadCache(1_000, rows.append)
    cache.put("a", b"x", None, dirty=True)
    with pytest.raises(NoListenerError):
        cache.evict("a")
    cache.listen("a", lambda handed: cache.put("b", b"y", b"1"))
    cache.evict("a")
    assert [(row.op, row.cause, row.ns, row.bytes_after) for row in rows] == [
        ("PUT", None, "a", ONE - 1),
        ("FLUSH", "FAILED", "a", ONE - 1),
        ("EVICT", None, "a", 0),
        ("FLUSH", "EVICT", "a", 0),
        ("PUT", None, "b", ONE),
    ]


def test_the_context_of_a_write_reaches_the_listener() -> None:
    cache = ThreadCache(1_000)
    contexts: list[Context] = []
    cache.listen("a", lambda handed: contexts.extend(one.entry.context for one in handed))
    cache.put("a", b"x", b"1", dirty=True, context=Context(timestamp=7))
    cache.flush("a")
    assert contexts == [(7, None, None)]


def test_a_store_without_a_forward_function() -> None:
    below: dict[bytes, bytes] = {}
    store = CachingStore(ThreadCache(ONE), "s", below)
    store.put(b"x", b"1")
    store.put(b"y", b"1")
    assert below == {b"x": b"1", b"y": b"1"}
    assert store.delete(b"x") == b"1"
    assert store.range() == [(b"y", b"1")]
    store.flush()
    assert below == {b"y": b"1"}


def test_shares_of_threads() -> None:
    assert share_bytes(100, 2, True) == 33
    assert share_bytes(100, 0, True) == 100


def window(key: bytes, start: int) -> Window:
    return Window(key, start, start)


@pytest.mark.rule("K-WINDOW-5")
def test_k_window_5__an_expired_window_is_read_by_nothing_and_handed_to_nobody() -> None:
    forwarded: list[Window] = []
    store = WindowStore(ThreadCache(1_000), "w", {}, 100, forward=lambda of, value: forwarded.append(of))
    store.put(b"k", 5, b"1")
    store.put(b"k", 105, b"2")
    assert (store.get(b"k", 5), store.fetch(b"k")) == (None, [(window(b"k", 105), b"2")])
    store.put(b"k", 4, b"3")
    store.flush()
    assert forwarded == [window(b"k", 105)]
    assert store.list_underlying() == [(window(b"k", 105), b"2")]


@pytest.mark.rule("K-WINDOW-6")
def test_k_window_6__what_expires_leaves_the_underlying_store_and_the_old_values() -> None:
    below: dict[bytes, bytes] = {}
    old: list[bytes | None] = []
    store = SessionStore(ThreadCache(1_000), "s", below, 10, forward_with_old=lambda of, value, was: old.append(was))
    store.put(b"k", 1, 2, b"1")
    store.flush()
    store.put(b"k", 5, 12, b"2")
    store.flush()
    assert old == [None, None]
    assert [store.unpack(key) for key in below] == [Window(b"k", 5, 12)]


@pytest.mark.rule("K-WINDOW-1")
def test_k_window_1__segments_come_one_by_one_and_in_each_the_keys() -> None:
    by_time, segments = (WindowStore(ThreadCache(9_999), "w", {}, 9_999, interval) for interval in (1, 60))
    for store in (by_time, segments):
        for key, start in ((b"b", 5), (b"a", 59), (b"a", 60), (b"c", 7)):
            store.put(key, start, b"1")
    names = [[(of.key, of.start) for of, _ in store.fetch()] for store in (by_time, segments)]
    assert names[0] == [(b"b", 5), (b"c", 7), (b"a", 59), (b"a", 60)]
    assert names[1] == [(b"a", 59), (b"b", 5), (b"c", 7), (b"a", 60)]
    assert [of.start for of, _ in segments.fetch(b"a", backward=True)] == [60, 59]


@pytest.mark.rule("K-WINDOW-13")
def test_k_window_13__a_fetch_of_one_key_meets_its_windows_alone() -> None:
    store = WindowStore(ThreadCache(10**9), "w", {}, 2**50, 60)
    for start in range(500):
        store.put(b"other", start, b"1")
    store.put(b"k", 2**40, b"1")
    peeked: list[Window] = []
    peek = store.peek_window
    store.peek_window = lambda of: (peeked.append(of), peek(of))[1]  # type: ignore[method-assign]
    assert len(store.fetch(b"k")) == len(peeked) == 1


def test_a_view_of_windows_is_read_while_others_write() -> None:
    store = WindowStore(ThreadCache(1_000), "w", {}, 100)
    for start in (1, 2, 3):
        store.put(b"k", start, b"1")
    view = store.open_view(b"k")
    assert view.next() == (window(b"k", 1), b"1")
    store.put(b"k", 2, None)
    store.put(b"k", 3, b"9")
    assert (view.next(), view.next()) == ((window(b"k", 3), b"9"), None)


@pytest.mark.rule("K-WINDOW-6")
def test_k_window_6__what_a_tombstone_hides_leaves_the_underlying_store_too() -> None:
    store = WindowStore(ThreadCache(1_000), "w", {}, 1)
    store.put(b"k", 0, b"1")
    store.flush()
    store.put(b"k", 0, None)
    assert store.fetch() == []
    store.put(b"k", 1, b"1")
    assert store.list_underlying() == []


def test_windows_without_a_value_leave_the_index_when_they_are_met() -> None:
    store = WindowStore(ThreadCache(1_000), "w", {}, 100)
    store.put(b"k", 1, b"1")
    store.clear()
    assert store.fetch() == []
    assert (store._by_key, list(store._by_time)) == ({}, [])


@pytest.mark.parametrize(("retention", "interval"), [(0, 1), (1, 0)])
def test_a_store_of_windows_needs_a_retention_and_an_interval(retention: int, interval: int) -> None:
    with pytest.raises(ValueError, match="1 ms or more"):
        WindowStore(ThreadCache(10), "w", {}, retention, interval)


def test_a_session_does_not_end_before_it_starts() -> None:
    with pytest.raises(ValueError, match="before its start"):
        SessionStore(ThreadCache(10), "s", {}, 10).put(b"k", 2, 1, b"1")


def test_a_store_of_windows_begins_with_what_lies_below() -> None:
    first = WindowStore(ThreadCache(1_000), "w", {}, 100)
    below = {first.pack(window(b"k", start)): b"1" for start in (1, 50, 120)}
    store = WindowStore(ThreadCache(1_000), "w", below, 100)
    assert [of.start for of, _ in store.fetch()] == [50, 120]
    assert (store.stream_time, len(below)) == (120, 2)
