"""The policies by name, and one replay of requests through one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from entrycache_league import queues
from entrycache_league.arc import arc
from entrycache_league.belady import belady, most_hits
from entrycache_league.expected import expected_reads
from entrycache_league.legacy import legacy
from entrycache_league.lfu import lfu
from entrycache_league.pip430 import pip430
from entrycache_league.requests import Requests
from entrycache_league.s3fifo import s3fifo
from entrycache_league.segmented import segmented
from entrycache_league.tinylfu import tinylfu
from entrycache_league.totals import KINDS
from entrycache_protocol.errors import UsageError
from entrycache_trace.compiled import Array


@dataclass(frozen=True)
class Broker:
    """The settings of the systems of Pulsar; the defaults are the broker's. `segments` 0: one a GiB, at least two."""

    ttl_nanos: int = 1_000_000_000
    watermark: float = 0.9
    interval_nanos: int = 10_000_000
    max_requeues: int = 5
    segments: int = 0


class Replayed(NamedTuple):
    """What a kernel wrote: a hit and the bytes held after it by request, and its counts (`totals`)."""

    hits: Array
    held: Array
    totals: Array


class Bound(NamedTuple):
    """What no policy exceeds."""

    hits: int
    hit_bytes: int


Play = Callable[[Requests, int, Broker], Replayed | Bound]


def _empty(requests: Requests) -> Replayed:
    count = len(requests.kinds)
    return Replayed(np.zeros(count, np.bool_), np.zeros(count, np.int64), np.zeros(KINDS, np.int64))


def _generic(kernel: Callable[..., None], requests: Requests, capacity: int, broker: Broker) -> Replayed:
    out = _empty(requests)
    kernel(requests.kinds, requests.numbers, requests.sizes, capacity, *out)
    return out


def _expected(requests: Requests, capacity: int, broker: Broker) -> Replayed:
    out = _empty(requests)
    expected_reads(requests.kinds, requests.numbers, requests.counts, requests.sizes, capacity, *out)
    return out


def _belady(requests: Requests, capacity: int, broker: Broker) -> Replayed | Bound:
    size = int(requests.sizes[0])
    if not requests.one_size or size == 0:
        # Systems of Pulsar look at the limit before or after an entry comes: they hold one entry more at most.
        return Bound(*most_hits(requests, capacity + int(requests.sizes.max())))
    out = _empty(requests)
    belady(requests.kinds, requests.numbers, requests.next_reads, size, capacity // size, *out)
    return out


def _pip430(flags: frozenset[str], requests: Requests, capacity: int, broker: Broker) -> Replayed:
    out = _empty(requests)
    said = [
        *(flag in flags for flag in ("expected", "backlog", "extend", "split")),
        "task" not in flags,
        "5.0" in flags,
    ]
    thresholds = int(capacity * 0.98), int(capacity * broker.watermark)
    settings = (broker.ttl_nanos, broker.interval_nanos, broker.max_requeues, *said)
    pip430(
        *(requests.kinds, requests.times, requests.numbers, requests.counts, requests.ends, requests.sizes),
        *(requests.topics, requests.starts, np.array((*settings, *thresholds), np.int64), *out),
    )
    return out


def _legacy(fills: bool, requests: Requests, capacity: int, broker: Broker) -> Replayed:
    out = _empty(requests)
    legacy(
        *(requests.kinds, requests.times, requests.numbers, requests.counts, requests.ends, requests.sizes),
        *(requests.topics, requests.starts, capacity, broker.watermark, broker.ttl_nanos, broker.interval_nanos),
        *(fills, *out),
    )
    return out


def _segmented(copies: bool, requests: Requests, capacity: int, broker: Broker) -> Replayed:
    out = _empty(requests)
    segments = broker.segments or max(2, capacity >> 30)
    segmented(requests.kinds, requests.numbers, requests.ends, requests.sizes, capacity, segments, copies, *out)
    return out


FLAGS: Final = {
    "expected": "entries carry the reads that are expected, and a size pass spares those that have some",
    "extend": "what was read goes to the tail once more instead of leaving",
    "backlog": "without `expected`: what is read from storage is cached, as in a broker with backlog caching",
    "split": "being read does not use up the requeues that expected reads have",
    "5.0": "the readings of 5.0.1: a count stops at 0 and may begin there, and a size pass spares an entry once",
    "task": "size passes run in the periodic task alone, so bytes may pass the limit between them",
}
"""The flags of PIP-430's cache, and what is decided by them."""

COMBINED: Final = (
    *("expected+extend", "expected", "extend", "plain", "extend+backlog", "plain+backlog"),
    *("expected+extend+split", "expected+task", "expected+5.0", "expected+extend+5.0"),
)
"""Their combinations; `split` means something only where both flags before it are, `backlog` without the first, `5.0`
with it."""


POLICIES: Final[Mapping[str, Play]] = {
    **{f"pip430:{flags}": partial(_pip430, frozenset(flags.split("+"))) for flags in COMBINED},
    "legacy": partial(_legacy, False),
    "legacy:backlog": partial(_legacy, True),
    "segmented:copy": partial(_segmented, True),
    "segmented:reference": partial(_segmented, False),
    "fifo": partial(_generic, partial(queues.queue, queues.FIFO)),
    "lru": partial(_generic, partial(queues.queue, queues.LRU)),
    "lfu": partial(_generic, lfu),
    "clock": partial(_generic, partial(queues.queue, queues.CLOCK)),
    "sieve": partial(_generic, partial(queues.queue, queues.SIEVE)),
    "s3fifo": partial(_generic, s3fifo),
    "arc": partial(_generic, arc),
    "w-tinylfu": partial(_generic, tinylfu),
    "expected-reads": _expected,
    "belady": _belady,
}

ERAS: Final = {"4.0": "legacy", "4.2": "pip430:expected+extend", "5.0": "pip430:expected+5.0"}
"""What a broker of each era has by default (docs/reference/settings.md)."""


def named(names: tuple[str, ...]) -> tuple[str, ...]:
    """The policies of these names, all where there are none; `pip430` stands for each of its combinations.

    Raises:
        UsageError: there is no such policy.
    """
    found: dict[str, None] = {}
    for name in names or tuple(POLICIES):
        fits = [policy for policy in POLICIES if policy == name or policy.startswith(f"{name}:")]
        if not fits:
            families = dict.fromkeys(policy.partition(":")[0] for policy in POLICIES)
            raise UsageError(f"unknown policy {name!r}; there are {', '.join(families)}")
        found |= dict.fromkeys(fits)
    return tuple(found)
