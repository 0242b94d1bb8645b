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
    ThreadCache,
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
