"""Cursors and the grace period, as a service uses them."""

from __future__ import annotations

import pytest

from entrycache_fast import BrokerCache, Position

MILLI = 1_000_000


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
    return BrokerCache(clock=clock, grace_millis=2)


def test_the_rank_counts_readers_that_will_still_come_by(cache: BrokerCache) -> None:
    names = ("slow", "middle", "twin", "fast")
    for cursor, entry in zip(names, (3, 5, 5, 9), strict=True):
        cache.cursor_add("orders", cursor, (1, entry))
    assert [cache.cursor_rank("orders", name) for name in names] == [1, 3, 3, 4]
    assert cache.cursor_rank("orders", "unknown") == 0
    cache.cursor_move("orders", "slow", (2, -1))
    assert cache.slowest("orders") == Position(1, 5)
    cache.cursor_move("orders", "middle", None)
    assert [cache.cursor_rank("orders", name) for name in names] == [3, 0, 1, 2]
    assert cache.cursors("orders") == 4
    assert cache.slowest("returns") is None


@pytest.mark.parametrize("position", [(-1, -1), (0, 0), (7, -1), (2**53 - 1, 2**53 - 1)])
def test_a_position_survives_its_number(cache: BrokerCache, position: tuple[int, int]) -> None:
    cache.cursor_add("orders", "one", position)
    assert cache.slowest("orders") == position


def test_the_grace_period_counts_whole_milliseconds(cache: BrokerCache, clock: Clock) -> None:
    clock.now_nanos = MILLI - 1
    assert cache.should_cache("orders")
    clock.now_nanos = 2 * MILLI - 1
    assert cache.should_cache("orders")
    clock.now_nanos = 2 * MILLI
    assert not cache.should_cache("orders")
    cache.cursor_add("orders", "one", None)
    assert cache.should_cache("orders")
    cache.remove_cache("orders")
    assert cache.cursor_remove("orders", "one")
    assert not cache.cursor_remove("orders", "one")
    clock.now_nanos += 2 * MILLI - 1
    cache.remove_cache("orders")
    assert cache.should_cache("orders")
    clock.now_nanos += 1
    assert not cache.should_cache("orders")


def test_without_expected_reads_there_are_no_ranks_and_no_grace(clock: Clock) -> None:
    cache = BrokerCache(clock=clock, evict_by_expected_reads=False)
    assert not cache.should_cache("orders")
    with pytest.raises(ValueError, match="evict_by_expected_reads"):
        cache.cursor_rank("returns", "one")
    assert cache.names == ("orders",)
    cache.cursor_add("orders", "one", None)
    cache.cursor_move("orders", "one", (1, 1))
    assert cache.slowest("orders") is None
    cache.cursor_add("orders", "one", (1, 1))
    cache.cursor_move("orders", "one", (1, 2))
    assert cache.slowest("orders") == (1, 2)
    assert cache.should_cache("orders")
