"""A broker's requests made up at once, as arrays: who adds, who reads how far behind, who is away and comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from entrycache_league.requests import ADD, EXPECT, PASSED, READ, Requests, numbered
from entrycache_trace.compiled import Array

SECOND: Final = 1_000_000_000
MILLI: Final = 1_000_000

Outages = tuple[tuple[int, int], ...]
"""When a subscription is away, in nanoseconds from the start: it reads nothing, and is no active cursor."""


@dataclass(frozen=True)
class Shape:
    """A broker's topics, what is added to them, and who reads.

    Topics get their share of `rate` (entries a second) by Zipf's law with `skew`. `lags` are those of tailing
    subscriptions, behind the add; what was added while one was `away` it reads in batches afterwards, `speed` entries
    a second of each topic. A share `replayed` of what the first subscription reads cannot be dispatched, and is read
    once more after a time within `replay_nanos`, as in a Key_Shared subscription.
    """

    topics: int = 10
    skew: float = 0.0
    rate: int = 10_000
    sizes: tuple[int, int] = (1_024, 1_024)
    lags: tuple[int, ...] = (2 * MILLI,)
    away: Mapping[int, Outages] = field(default_factory=dict)
    speed: int = 2_000
    batch: int = 100
    replayed: float = 0.0
    replay_nanos: tuple[int, int] = (MILLI, 500 * MILLI)


@dataclass(frozen=True)
class _Part:
    """Some of the requests, with what decides the order of those of one moment."""

    kind: int
    times: Array
    adds: Array
    counts: Array
    who: int = 0
    calls: Array | None = None


def shaped(name: str, shape: Shape, adds: int, seed: int = 1) -> Requests:
    """The requests of a broker to which so many entries are added."""
    chance = np.random.default_rng(seed)
    times = np.sort(chance.integers(0, max(1, adds * SECOND // shape.rate), adds))
    shares = 1 / np.arange(1, shape.topics + 1) ** shape.skew
    topics = chance.choice(shape.topics, adds, p=shares / shares.sum())
    low, high = shape.sizes
    sizes = chance.integers(low, high + 1, adds)
    places = _ranks(topics)
    reads = [_read_times(shape, who, times, topics) for who in range(len(shape.lags))]
    parts = [_Part(ADD, times, np.arange(adds), _active(shape, times))]
    for who in range(len(shape.lags)):
        parts.append(_reads(shape, who, reads, topics, places))
    parts += _replays(shape, reads[0], chance)
    parts.append(_passed(shape, times, reads))
    return _joined(name, parts, topics, places, sizes)


def _ranks(topics: Array) -> Array:
    """The number of each entry within its topic."""
    order = np.argsort(topics, kind="stable")
    first = np.searchsorted(topics[order], topics[order])
    ranks = np.empty(len(topics), np.int64)
    ranks[order] = np.arange(len(topics)) - first
    return ranks


def _read_times(shape: Shape, who: int, times: Array, topics: Array) -> Array:
    """When a subscription reads each entry: in order, and after an outage not sooner than its speed allows."""
    reads = times + shape.lags[who]
    for begin, end in shape.away.get(who, ()):
        missed = np.flatnonzero((reads >= begin) & (reads < end))
        batches = _ranks(topics[missed]) // shape.batch
        reads[missed] = end + batches * (shape.batch * SECOND // shape.speed)
    order = np.lexsort((np.arange(len(topics)), topics))
    starts = np.flatnonzero(np.diff(topics[order], prepend=-1))
    # Times of one topic never fall: each topic is lifted above the one before, and lowered again.
    lift = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order))) * (int(reads.max(initial=0)) + 1)
    risen = np.empty_like(reads)
    risen[order] = np.maximum.accumulate(reads[order] + lift) - lift
    return risen


def _connected(shape: Shape, who: int, times: Array) -> Array:
    there = np.ones(len(times), np.bool_)
    for begin, end in shape.away.get(who, ()):
        there &= (times < begin) | (times >= end)
    return there


def _active(shape: Shape, times: Array) -> Array:
    """How many cursors are active at these times."""
    active = np.zeros(len(times), np.int32)
    for who in range(len(shape.lags)):
        active += _connected(shape, who, times)
    return active


def _reads(shape: Shape, who: int, reads: list[Array], topics: Array, places: Array) -> _Part:
    """What a subscription reads; a fill expects the reads of those who are there and have not read it yet."""
    own = reads[who]
    counts = np.zeros(len(own), np.int32)
    for other, theirs in enumerate(reads):
        counts += _connected(shape, other, own) & (theirs >= own)
    calls = np.full(len(own), -1, np.int64)
    for begin, end in shape.away.get(who, ()):
        behind = (own >= end) & (own > begin)
        calls[behind] = topics[behind] * (1 << 40) + places[behind] // shape.batch * len(reads) + who
    return _Part(READ, own, np.arange(len(own)), np.maximum(1, counts), who + 1, calls)


def _replays(shape: Shape, reads: Array, chance: np.random.Generator) -> list[_Part]:
    if not shape.replayed:
        return []
    adds = np.flatnonzero(chance.random(len(reads)) < shape.replayed)
    late = reads[adds] + chance.integers(*shape.replay_nanos, len(adds))
    none = np.zeros(len(adds), np.int32)
    after = len(shape.lags) + 1
    return [_Part(EXPECT, reads[adds], adds, none, after), _Part(READ, late, adds, none, after)]


def _passed(shape: Shape, times: Array, reads: list[Array]) -> _Part:
    """When the slowest of the active cursors is past each entry; where none was active, the slowest of all."""
    slowest = np.zeros(len(times), np.int64)
    for who, own in enumerate(reads):
        slowest = np.maximum(slowest, np.where(_connected(shape, who, times), own, 0))
    nobody = slowest == 0
    slowest[nobody] = np.max(np.array(reads)[:, nobody], axis=0, initial=0)
    slowest = np.maximum.accumulate(slowest)
    return _Part(PASSED, slowest, np.arange(len(times)), np.zeros(len(times), np.int32), len(reads) + 2)


def _joined(name: str, parts: list[_Part], topics: Array, places: Array, sizes: Array) -> Requests:
    kinds = np.concatenate([np.full(len(part.times), part.kind, np.uint8) for part in parts])
    who = np.concatenate([np.full(len(part.times), part.who, np.int64) for part in parts])
    times = np.concatenate([part.times for part in parts])
    adds = np.concatenate([part.adds for part in parts])
    counts = np.concatenate([part.counts for part in parts]).astype(np.int32)
    calls = np.concatenate([np.full(len(p.times), -1, np.int64) if p.calls is None else p.calls for p in parts])
    order = np.lexsort((places[adds], topics[adds], who, times))
    adds, kinds = adds[order], kinds[order]
    return numbered(
        name,
        kinds=kinds,
        times=times[order],
        topics=topics[adds],
        places=places[adds] + (kinds == PASSED),
        sizes=sizes[adds],
        counts=counts[order],
        calls=calls[order],
    )
