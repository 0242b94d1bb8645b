"""The fast cache as a library, as a service uses it."""

from __future__ import annotations

import ast
import doctest
import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

import entrycache_fast
from entrycache_fast import BrokerCache, CacheView, Position, Removal, Row, SlotView, StoredEntry, Usage
from entrycache_fast.pulsar.store import ORDER_SLACK


class Clock:
    def __init__(self) -> None:
        self.now_nanos = 0

    def __call__(self) -> int:
        return self.now_nanos


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(clock: Clock) -> BrokerCache:
    return BrokerCache(max_size_bytes=1_000, ttl_nanos=100, clock=clock)


def test_the_example_of_the_package_is_true() -> None:
    assert doctest.testmod(entrycache_fast).failed == 0


def test_it_imports_no_other_package() -> None:
    for path in Path(entrycache_fast.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [item.name for item in node.names]
                assert not any(name.startswith(("entrycache_reference", "entrycache_conformance")) for name in names)


def test_a_value_comes_back(cache: BrokerCache) -> None:
    payload = object()
    assert cache.insert("orders", 1, 0, 10, value=payload)
    assert cache.get("orders", 1, 0) is payload
    assert cache.get("orders", 1, 1) is None
    assert cache.get("orders", 2, 0, default="absent") == "absent"
    assert cache.get("returns", 1, 0, default="absent") == "absent"


def test_a_range_comes_back_in_order_whatever_the_order_of_inserts(cache: BrokerCache) -> None:
    for ledger, entry in ((2, 1), (1, 7), (1, 2), (2, 0), (1, 5), (3, 0)):
        cache.insert("orders", ledger, entry, 1, value=f"{ledger}:{entry}")
    assert cache.get_range("orders", (1, 5), (2, 0)) == [((1, 5), "1:5"), ((1, 7), "1:7"), ((2, 0), "2:0")]
    assert cache.get_range("orders", (2, 0), (1, 5)) == []
    cache.insert("orders", 1, 6, 1, value="1:6")
    assert [position for position, _ in cache.get_range("orders", (-1, -1), (2, -1))] == [
        (1, 2),
        (1, 5),
        (1, 6),
        (1, 7),
    ]


def test_a_consumed_prefix_leaves(cache: BrokerCache) -> None:
    for entry in range(10):
        cache.insert("orders", 1, entry, 10)
    assert cache.remove_range("orders", (-1, -1), (1, 4)) == Removal(4, 40)
    assert cache.remove_range("orders", (-1, -1), (1, 4), last_inclusive=True) == Removal(1, 10)
    assert cache.usage("orders") == Usage(5, 50)
    assert cache.tombstones == 5
    assert cache.clear("orders") == Removal(5, 50)
    assert cache.usage() == Usage(0, 0)


def test_the_cache_keeps_its_limit() -> None:
    cache = BrokerCache(max_size_bytes=100, watermark=0.5)
    largest = 0
    for entry in range(1_000):
        cache.insert("orders", 1, entry, 1)
        largest = max(largest, cache.size_bytes)
    assert largest == 98
    assert cache.get("orders", 1, 999, default=None) is None
    assert cache.exists("orders", 1, 999)
    assert not cache.exists("orders", 1, 0)


def test_recently_read_and_expected_entries_stay_longer(cache: BrokerCache, clock: Clock) -> None:
    cache.insert("orders", 1, 0, 10)
    cache.insert("orders", 1, 1, 10, expected_reads=1)
    cache.insert("orders", 1, 2, 10)
    cache.get("orders", 1, 0)
    clock.now_nanos = 101
    assert cache.expire() == Removal(1, 10)
    assert [slot.position for slot in cache.observe().queue] == [(1, 0), (1, 1)]
    assert cache.mark_read("orders", 1, 1) == 0
    assert cache.expect_read("orders", 1, 0) is None
    clock.now_nanos = 202
    assert cache.expire(older_than_nanos=101) == Removal(0, 0)
    assert cache.expire(older_than_nanos=100) == Removal(2, 20)


def test_the_snapshot_shows_everything(cache: BrokerCache, clock: Clock) -> None:
    cache.insert("orders", 1, 0, 10, expected_reads=2)
    cache.get("orders", 1, 0)
    cache.exists("returns", 1, 0)
    clock.now_nanos = 5
    view = cache.observe()
    assert view.now_nanos == 5
    assert view.size_bytes == 10
    assert view.caches == {"orders": CacheView(10, (Position(1, 0),))}
    assert view.queue == (SlotView("orders", Position(1, 0), 10, 5, 0, True, 2),)
    assert view.tombstones == 0


@pytest.mark.parametrize(
    "wrong",
    [
        lambda cache: cache.insert("new", 1, 0, -1),
        lambda cache: cache.expire(-1),
        lambda cache: cache.evict(0),
        lambda cache: cache.evict(-1),
    ],
)
def test_a_wrong_argument_changes_nothing(clock: Clock, wrong: Callable[[BrokerCache], object]) -> None:
    rows: list[Row] = []
    cache = BrokerCache(clock=clock, on_row=rows.append)
    cache.insert("orders", 1, 0, 10)
    before, rows_before = cache.observe(), len(rows)
    with pytest.raises(ValueError, match=r"size_bytes|older_than_nanos"):
        wrong(cache)
    assert cache.observe() == before
    assert len(rows) == rows_before


@pytest.mark.parametrize(
    "settings",
    [{"max_size_bytes": -1}, {"ttl_nanos": -1}, {"max_requeues": -1}, {"watermark": 1.1}, {"requeue_budget": "none"}],
)
def test_a_wrong_setting_is_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        BrokerCache(**settings)  # type: ignore[arg-type]


def test_a_limit_of_0_caches_nothing() -> None:
    cache = BrokerCache(max_size_bytes=0)
    assert not cache.insert("orders", 1, 0, 0)
    assert cache.usage() == Usage(0, 0)


def test_payloads_are_released_at_once(cache: BrokerCache) -> None:
    cache.insert("orders", 1, 0, 10, value="large")
    slot = cache._queue[0]
    cache.clear("orders")
    assert slot.value is None


def test_dead_slots_take_bounded_memory_and_still_count(clock: Clock) -> None:
    rows: list[Row] = []
    cache = BrokerCache(clock=clock, on_row=rows.append)
    cache.insert("orders", 1, 0, 10)
    for entry in range(1, 5_001):
        cache.insert("orders", 1, entry, 1)
        cache.remove_range("orders", (1, 1), (1, entry), last_inclusive=True)
        assert len(cache._queue) < 100
    cache._check()
    assert cache.tombstones == 5_000
    rows.clear()
    assert cache.evict(10) == Removal(1, 10)
    assert cache.evict(10) == Removal(0, 0)
    assert sum(row.op == "TOMBSTONE" for row in rows) == 5_000
    assert cache.tombstones == 0


def test_the_order_of_a_ledger_loses_entries_that_passes_removed(clock: Clock) -> None:
    cache = BrokerCache(clock=clock, extend_recently_accessed=False)
    for entry in range(5_000):
        cache.insert("orders", 1, entry, 1)
        if entry >= 10:
            cache.evict(1)
        assert len(cache.get_range("orders", (1, entry), (1, entry))) == 1
        clock.now_nanos += 1
    cache._check()
    home = cache._caches["orders"].ledgers[1]
    assert len(home.order) <= 2 * len(home) + ORDER_SLACK + 1


def test_an_empty_ledger_is_removed(cache: BrokerCache) -> None:
    for ledger in range(100):
        cache.insert("orders", ledger, 0, 1)
        cache.evict(1)
    assert cache._caches["orders"].ledgers == {}
    cache._check()


CALLS = [
    "clear",
    "configure",
    "cursor_add",
    "cursor_move",
    "cursor_rank",
    "cursor_remove",
    "cursors",
    "evict",
    "exists",
    "expect_read",
    "expire",
    "get",
    "get_range",
    "insert",
    "invalidate_before",
    "invalidate_ledger",
    "mark_read",
    "read",
    "read_one",
    "release",
    "release_one",
    "remove_cache",
    "remove_range",
    "should_cache",
    "slowest",
    "usage",
]
"""Every call with arguments; a test compares the list with the class."""

RIGHT = {
    "cache": "orders",
    "cursor": "reader",
    "first": (1, 0),
    "last": (1, 9),
    "position": (1, 0),
    "hold": "other",
    "expected_reads": 1,
    "last_inclusive": True,
}
"""A right argument for each name; for all others it is 1."""


def test_every_call_with_arguments_is_asked_with_wrong_types() -> None:
    members = inspect.getmembers(BrokerCache, inspect.isfunction)
    calls = [name for name, call in members if not name.startswith("_") and len(inspect.signature(call).parameters) > 1]
    assert calls == CALLS


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("wrong", ["one", 1.5, [], ("a", 1), object()], ids=["str", "float", "list", "tuple", "object"])
def test_a_wrong_type_is_named_and_changes_nothing(call: str, wrong: object) -> None:
    rows: list[Row] = []
    cache = BrokerCache(clock=lambda: 0, on_row=rows.append)
    cache.insert("orders", 1, 0, 10, expected_reads=2)
    cache.cursor_add("orders", "reader", (1, 0))
    cache.read("orders", (1, 0), (1, 0), 1, hold="open")
    before = (cache.observe(), cache.names, cache.holds, len(rows))
    parameters = inspect.signature(getattr(cache, call)).parameters
    for name in parameters.keys() - {"value", "default"}:
        if (name in {"cache", "cursor", "hold"} and wrong == "one") or (name == "watermark" and wrong == 1.5):
            continue
        given = {each: RIGHT.get(each, 1) for each in parameters if call != "configure"}
        with pytest.raises(TypeError, match=f"^{name} must be "):
            getattr(cache, call)(**{**given, name: wrong})
        assert (cache.observe(), cache.names, cache.holds, len(rows)) == before
    cache._check()


@pytest.mark.parametrize("name", inspect.signature(BrokerCache).parameters)
def test_a_setting_of_a_wrong_type_is_named(name: str) -> None:
    with pytest.raises(TypeError, match=f"^{name} must be "):
        BrokerCache(**{name: (1, 2)})  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [None, (5, b"x"), StoredEntry(1.5, b"x")])  # type: ignore[arg-type]
def test_a_wrong_entry_from_storage_is_named_and_changes_nothing(wrong: object) -> None:
    cache = BrokerCache(storage=lambda cache, ledger, entry: wrong)  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match="storage must return a StoredEntry"):
        cache.read("orders", (1, 0), (1, 1), 1)
    assert cache.usage() == Usage(0, 0)
    assert cache.metrics().miss_entries == 0
