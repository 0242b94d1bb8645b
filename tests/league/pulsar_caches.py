"""Second implementations of Pulsar's policies: the fast cache for PIP-430, and references for the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from entrycache_fast import BrokerCache
from entrycache_fast.pulsar.results import StoredEntry
from entrycache_league.policies import BrokerSettings
from entrycache_league.requests import ADD, EXPECT, PASSED, READ, Requests
from entrycache_reference import pulsar_legacy, pulsar_pip430, pulsar_segmented
from entrycache_reference.pulsar_legacy import ops as legacy_ops
from entrycache_reference.pulsar_pip430 import ops as pip430_ops
from entrycache_reference.pulsar_segmented import ops as segmented_ops
from entrycache_reference.pulsar_segmented.state import Place
from entrycache_reference.vocabulary import CacheName, Position

Answers = tuple[list[bool], list[int]]
"""The answers of a policy: for each request a hit and the bytes held after it."""


def calls(requests: Requests) -> Iterator[tuple[int, range]]:
    """Yield the requests, with those of one read together."""
    at = 0
    while at < len(requests.kinds):
        end = int(requests.ends[at]) if requests.kinds[at] == READ else at + 1
        yield int(requests.kinds[at]), range(at, end)
        at = end


def ticks(requests: Requests, interval: int) -> Callable[[int], Iterator[int]]:
    """Return a function that yields the times of the periodic task up to a time."""
    tick = int(requests.times[0]) + interval

    def until(now: int) -> Iterator[int]:
        nonlocal tick
        while tick <= now:
            yield tick
            tick += interval

    return until


def pip430(
    requests: Requests,
    capacity: int,
    broker: BrokerSettings,
    by_count: bool,
    extend: bool,
    split: bool,
    fill_count: int = 1,
) -> Answers:
    """Return the answers of the fast cache. Without counts, fills carry `fill_count`; with 0, reads do not fill."""
    now = 0
    cache = BrokerCache(
        max_size_bytes=capacity,
        watermark=broker.watermark,
        ttl_nanos=broker.ttl_nanos,
        max_requeues=broker.max_requeues,
        evict_by_expected_reads=by_count,
        extend_recently_accessed=extend,
        requeue_budget="split" if split else "shared",
        clock=lambda: now,
        storage=lambda cache, ledger, entry: StoredEntry(int(requests.sizes[entry]), None),
    )
    hits, held = [False] * len(requests.kinds), [0] * len(requests.kinds)
    due = ticks(requests, broker.interval_nanos)
    for kind, call in calls(requests):
        for tick in due(int(requests.times[call[0]])):
            now = tick
            cache.cycle()
        now = int(requests.times[call[0]])
        for at in call:
            entry, count = int(requests.numbers[at]), int(requests.counts[at])
            topic = str(requests.topics[entry] if kind != PASSED else count)
            if kind == ADD:
                cache.insert(topic, 1, entry, int(requests.sizes[entry]), expected_reads=count if by_count else None)
            elif kind == EXPECT:
                cache.expect_read(topic, 1, entry)
            elif kind == PASSED and not by_count:
                cache.invalidate_before(topic, (1, entry))
        if kind == READ:
            first, last = int(requests.numbers[call[0]]), int(requests.numbers[call[-1]])
            expected = int(requests.counts[call[0]]) if by_count else fill_count
            served = cache.read(str(requests.topics[first]), (1, first), (1, last), expected)
            for position in served.hits:
                hits[call[0] + position.entry - first] = True
        held[call[0] : call[-1] + 1] = [cache.size_bytes] * len(call)
    return hits, held


def era_5(
    requests: Requests, capacity: int, broker: BrokerSettings, extend: bool, variants: pulsar_pip430.Variants
) -> Answers:
    """Return the answers of the reference of `pulsar-pip430` under these variants, for entries of one size."""
    config = pulsar_pip430.Config(
        max_size_bytes=capacity,
        watermark=broker.watermark,
        ttl_nanos=broker.ttl_nanos,
        max_requeues=broker.max_requeues,
        extend_recently_accessed=extend,
        storage_entry_size=int(requests.sizes[0]),
        variants=variants,
    )
    state = pulsar_pip430.initial(config)

    def do(op: Any) -> Any:
        nonlocal state
        result = pulsar_pip430.step(state, op, config)
        state = result.state
        return result.outcome

    hits, held = [False] * len(requests.kinds), [0] * len(requests.kinds)
    due = ticks(requests, broker.interval_nanos)
    for kind, call in calls(requests):
        now = int(requests.times[call[0]])
        for tick in due(now):
            do(pip430_ops.Advance(tick - state.now_nanos))
            do(pip430_ops.Cycle())
        do(pip430_ops.Advance(now - state.now_nanos))
        for at in call:
            entry, count = int(requests.numbers[at]), int(requests.counts[at])
            if kind == ADD:
                do(pip430_ops.Insert(*place_of(requests, entry), int(requests.sizes[entry]), count))
            elif kind == EXPECT:
                do(pip430_ops.ExpectRead(*place_of(requests, entry)))
        if kind == READ:
            first, last = (int(requests.numbers[at]) for at in (call[0], call[-1]))
            cache, count = name_of(int(requests.topics[first])), int(requests.counts[call[0]])
            served = do(pip430_ops.Read(cache, Position(1, first), Position(1, last), count))
            for position in served.hits:
                hits[call[0] + position.entry - first] = True
        held[call[0] : call[-1] + 1] = [state.size_bytes] * len(call)
    return hits, held


class Legacy:
    """The reference of the cache before PIP-430. A topic is a managed ledger, and an entry a position of one ledger."""

    def __init__(self, requests: Requests, capacity: int, broker: BrokerSettings) -> None:
        self.sizes = [int(size) for size in requests.sizes]
        self.topics = [int(topic) for topic in requests.topics]
        self.config = pulsar_legacy.Config(
            max_size_bytes=capacity, watermark=broker.watermark, ttl_nanos=broker.ttl_nanos
        )
        self.state = pulsar_legacy.initial(self.config)

    def do(self, op: Any) -> None:
        self.state = pulsar_legacy.step(self.state, op, self.config).state

    def has(self, entry: int) -> bool:
        cache = self.state.caches.get(name_of(self.topics[entry]))
        return cache is not None and Position(1, entry) in cache.entries

    def insert(self, entry: int) -> None:
        self.do(legacy_ops.Insert(name_of(self.topics[entry]), Position(1, entry), self.sizes[entry]))

    def go_to(self, now: int) -> None:
        self.do(legacy_ops.Advance(now - self.state.now_nanos))

    def expire(self) -> None:
        for cache in sorted(self.state.caches):
            self.do(legacy_ops.Expire(cache))


def name_of(topic: int) -> CacheName:
    """Return the name of a topic; names have the order of the topics."""
    return CacheName(f"{topic:06}")


def legacy(requests: Requests, capacity: int, broker: BrokerSettings, fills: bool) -> Answers:
    """Return the answers of the reference of `pulsar-legacy`."""
    cache = Legacy(requests, capacity, broker)
    hits, held = [False] * len(requests.kinds), [0] * len(requests.kinds)
    due = ticks(requests, broker.interval_nanos)
    for kind, call in calls(requests):
        now = int(requests.times[call[0]])
        for tick in due(now):
            cache.go_to(tick)
            cache.expire()
        cache.go_to(now)
        entries = [int(requests.numbers[at]) for at in call]
        whole = kind == READ and all(map(cache.has, entries))
        for at, entry in zip(call, entries, strict=True):
            hits[at] = whole
            if kind == PASSED:
                cache.do(legacy_ops.InvalidateBefore(name_of(int(requests.counts[at])), Position(1, entry)))
            elif kind == ADD or (kind == READ and fills and not whole):
                cache.insert(entry)
            held[at] = cache.state.size_bytes
    return hits, held


def segmented(requests: Requests, capacity: int, copies: bool, segments: int = 2) -> Answers:
    """Return the answers of the reference of `pulsar-segmented`."""
    mode = pulsar_segmented.Mode.COPY if copies else pulsar_segmented.Mode.REFERENCE
    config = pulsar_segmented.Config(max_size_bytes=capacity, segments=segments, mode=mode)
    state = pulsar_segmented.initial(config)
    hits, held = [False] * len(requests.kinds), [0] * len(requests.kinds)
    for kind, call in calls(requests):
        entries = [int(requests.numbers[at]) for at in call]
        cached = {entry.place for segment in state.segments.values() for entry in segment.entries}
        for at, entry in zip(call, entries, strict=True):
            hits[at] = kind == READ and all(place_of(requests, each) in cached for each in entries)
            if kind == ADD:
                insert = segmented_ops.Insert(*place_of(requests, entry), int(requests.sizes[entry]))
                state = pulsar_segmented.step(state, insert, config).state
            held[at] = sum(segment.offset for segment in state.segments.values())
    return hits, held


def place_of(requests: Requests, entry: int) -> Place:
    """Return the position of an entry in the caches."""
    return Place(name_of(int(requests.topics[entry])), Position(1, entry))
