"""The caches of Pulsar once more: PIP-430's is the fast cache, the others are the rules of the protocol as lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from entrycache_fast import BrokerCache
from entrycache_fast.pulsar.views import Stored
from entrycache_league.policies import Broker
from entrycache_league.requests import ADD, EXPECT, PASSED, READ, Requests

Answers = tuple[list[bool], list[int]]
"""Whether each request was a hit, and the bytes held after it."""


def calls(requests: Requests) -> Iterator[tuple[int, range]]:
    """The requests, those of one read together."""
    at = 0
    while at < len(requests.kinds):
        end = int(requests.ends[at]) if requests.kinds[at] == READ else at + 1
        yield int(requests.kinds[at]), range(at, end)
        at = end


def ticks(requests: Requests, interval: int) -> Callable[[int], Iterator[int]]:
    """The moments of the periodic task up to a time."""
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
    broker: Broker,
    by_count: bool,
    extend: bool,
    split: bool,
    fill_count: int = 1,
) -> Answers:
    """What the fast cache answers; where nothing counts, fills carry `fill_count`, and 0 means there are none."""
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
        storage=lambda cache, ledger, entry: Stored(int(requests.sizes[entry]), None),
    )
    hits, held = [False] * len(requests.kinds), [0] * len(requests.kinds)
    due = ticks(requests, broker.interval_nanos)
    for kind, together in calls(requests):
        for tick in due(int(requests.times[together[0]])):
            now = tick
            cache.cycle()
        now = int(requests.times[together[0]])
        for at in together:
            entry, count = int(requests.numbers[at]), int(requests.counts[at])
            topic = str(requests.topics[entry] if kind != PASSED else count)
            if kind == ADD:
                cache.insert(topic, 1, entry, int(requests.sizes[entry]), expected_reads=count if by_count else None)
            elif kind == EXPECT:
                cache.expect_read(topic, 1, entry)
            elif kind == PASSED and not by_count:
                cache.invalidate_before(topic, (1, entry))
        if kind == READ:
            first, last = int(requests.numbers[together[0]]), int(requests.numbers[together[-1]])
            expected = int(requests.counts[together[0]]) if by_count else fill_count
            served = cache.read(str(requests.topics[first]), (1, first), (1, last), expected)
            for position in served.hits:
                hits[together[0] + position.entry - first] = True
        held[together[0] : together[-1] + 1] = [cache.size_bytes] * len(together)
    return hits, held


class Legacy:
    """The cache of 4.0: entries of each topic by position, with their stamps."""

    def __init__(self, requests: Requests, capacity: int, broker: Broker) -> None:
        self.sizes = [int(size) for size in requests.sizes]
        self.topics = [int(topic) for topic in requests.topics]
        self.caches: dict[int, dict[int, int]] = {topic: {} for topic in range(len(requests.starts) - 1)}
        self.capacity = capacity
        self.goal = int(capacity * broker.watermark)

    def total(self, topic: int | None = None) -> int:
        caches = self.caches.values() if topic is None else [self.caches[topic]]
        return sum(self.sizes[entry] for cache in caches for entry in cache)

    def insert(self, entry: int, now: int) -> None:
        before = self.total()
        if before > int(self.capacity * 0.98) and before > self.goal:
            self.evict(before - self.goal)
        cache = self.caches[self.topics[entry]]
        if before < self.capacity and entry not in cache:
            cache[entry] = now

    def evict(self, need: int) -> None:
        order = sorted(self.caches, key=lambda topic: (-self.total(topic), topic))
        quota = int(self.total() * 0.5)
        taken: list[int] = []
        while sum(map(self.total, taken)) < quota:
            taken.append(order[len(taken)])
        together = sum(map(self.total, taken))
        for topic in taken:
            share = int(need * (self.total(topic) / together))
            freed = 0
            while freed < share and self.caches[topic]:
                entry = min(self.caches[topic])
                del self.caches[topic][entry]
                freed += self.sizes[entry]

    def expire(self, before: int) -> None:
        for cache in self.caches.values():
            while cache and cache[min(cache)] <= before:
                del cache[min(cache)]


def legacy(requests: Requests, capacity: int, broker: Broker, fills: bool) -> Answers:
    """What the rules of `pulsar-legacy` answer."""
    cache = Legacy(requests, capacity, broker)
    hits, held = [False] * len(requests.kinds), [0] * len(requests.kinds)
    due = ticks(requests, broker.interval_nanos)
    for kind, together in calls(requests):
        now = int(requests.times[together[0]])
        for tick in due(now):
            cache.expire(tick - broker.ttl_nanos)
        entries = [int(requests.numbers[at]) for at in together]
        whole = kind == READ and all(entry in cache.caches[cache.topics[entry]] for entry in entries)
        for at, entry in zip(together, entries, strict=True):
            hits[at] = whole
            if kind == PASSED:
                passed = cache.caches[int(requests.counts[at])]
                for gone in [each for each in passed if each < entry]:
                    del passed[gone]
            elif kind == ADD or (kind == READ and fills and not whole):
                cache.insert(entry, now)
            held[at] = cache.total()
    return hits, held


def segmented(requests: Requests, capacity: int, copies: bool, segments: int = 2) -> Answers:
    """What the rules of `pulsar-segmented` answer."""
    room = capacity // segments
    ring: list[list[int]] = [[] for _ in range(segments)]
    current = 0

    def taken(entry: int) -> int:
        size = int(requests.sizes[entry])
        return -(-size // 64) * 64 if copies else size

    hits, held = [False] * len(requests.kinds), [0] * len(requests.kinds)
    for kind, together in calls(requests):
        entries = [int(requests.numbers[at]) for at in together]
        cached = [entry for segment in ring for entry in segment]
        for at, entry in zip(together, entries, strict=True):
            hits[at] = kind == READ and all(each in cached for each in entries)
            size = int(requests.sizes[entry]) if kind != PASSED else 0
            if kind == ADD and entry not in cached and size <= room:
                if sum(map(taken, ring[current])) + size > room:
                    current = (current + 1) % segments
                    ring[current] = []
                ring[current].append(entry)
            held[at] = sum(taken(each) for segment in ring for each in segment)
    return hits, held
