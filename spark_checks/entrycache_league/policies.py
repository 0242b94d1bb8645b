"""The policies by name, and one replay of requests through one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from entrycache_league import linked_policies
from entrycache_league.heap_policies import bound_hits, replay_belady, replay_expected_reads, replay_lfu
from entrycache_league.linked_policies import replay_arc, replay_s3fifo, replay_tinylfu
from entrycache_league.pulsar_legacy import replay_legacy
from entrycache_league.pulsar_pip430 import replay_pip430
from entrycache_league.pulsar_segmented import replay_segmented
from entrycache_league.requests import TOTALS, Requests
from entrycache_protocol.errors import UsageError
from entrycache_trace.jit import Array


@dataclass(frozen=True)
class BrokerSettings:
    """The settings of the systems of Pulsar; the defaults are the broker's. `segments` 0: one a GiB, at least two."""

    ttl_nanos: int = 1_000_000_000
    watermark: float = 0.9
    interval_nanos: int = 10_000_000
    max_requeues: int = 5
    segments: int = 0


class ReplayOutput(NamedTuple):
    """What a kernel wrote: a hit and the bytes held after it by request, and its counts (`totals`)."""

    hits: Array
    held: Array
    totals: Array


class HitBound(NamedTuple):
    """What no policy exceeds."""

    hits: int
    hit_bytes: int


ReplayPolicy = Callable[[Requests, int, BrokerSettings], ReplayOutput | HitBound]


def _empty_output(requests: Requests) -> ReplayOutput:
    count = len(requests.kinds)
    return ReplayOutput(np.zeros(count, np.bool_), np.zeros(count, np.int64), np.zeros(TOTALS, np.int64))


def _replay_generic(
    kernel: Callable[..., None], requests: Requests, capacity: int, broker: BrokerSettings
) -> ReplayOutput:
    out = _empty_output(requests)
    kernel(requests.kinds, requests.numbers, requests.sizes, capacity, *out)
    return out


def _replay_expected_reads(requests: Requests, capacity: int, broker: BrokerSettings) -> ReplayOutput:
    out = _empty_output(requests)
    replay_expected_reads(requests.kinds, requests.numbers, requests.counts, requests.sizes, capacity, *out)
    return out


def _replay_belady(requests: Requests, capacity: int, broker: BrokerSettings) -> ReplayOutput | HitBound:
    size = int(requests.sizes[0])
    if not requests.one_size or size == 0:
        # Systems of Pulsar look at the limit before or after an entry comes: they hold one entry more at most.
        return HitBound(*bound_hits(requests, capacity + int(requests.sizes.max())))
    out = _empty_output(requests)
    replay_belady(requests.kinds, requests.numbers, requests.next_reads, size, capacity // size, *out)
    return out


def _replay_pip430(flags: frozenset[str], requests: Requests, capacity: int, broker: BrokerSettings) -> ReplayOutput:
    out = _empty_output(requests)
    said = [
        *(flag in flags for flag in ("expected", "backlog", "extend", "split")),
        "task" not in flags,
        "5.0" in flags,
    ]
    thresholds = int(capacity * 0.98), int(capacity * broker.watermark)
    settings = (broker.ttl_nanos, broker.interval_nanos, broker.max_requeues, *said)
    replay_pip430(
        *(requests.kinds, requests.times, requests.numbers, requests.counts, requests.ends, requests.sizes),
        *(requests.topics, requests.starts, np.array((*settings, *thresholds), np.int64), *out),
    )
    return out


def _replay_legacy(fills: bool, requests: Requests, capacity: int, broker: BrokerSettings) -> ReplayOutput:
    out = _empty_output(requests)
    replay_legacy(
        *(requests.kinds, requests.times, requests.numbers, requests.counts, requests.ends, requests.sizes),
        *(requests.topics, requests.starts, capacity, broker.watermark, broker.ttl_nanos, broker.interval_nanos),
        *(fills, *out),
    )
    return out


def _replay_segmented(copies: bool, requests: Requests, capacity: int, broker: BrokerSettings) -> ReplayOutput:
    out = _empty_output(requests)
    segments = broker.segments or max(2, capacity >> 30)
    replay_segmented(requests.kinds, requests.numbers, requests.ends, requests.sizes, capacity, segments, copies, *out)
    return out


PIP430_FLAGS: Final = {
    "expected": "entries carry the reads that are expected, and a size pass spares those that have some",
    "extend": "what was read goes to the tail once more instead of leaving",
    "backlog": "without `expected`: what is read from storage is cached, as in a broker with backlog caching",
    "split": "being read does not use up the requeues that expected reads have",
    "5.0": "the readings of 5.0.1: a count stops at 0 and may begin there, and a size pass spares an entry once",
    "task": "size passes run in the periodic task alone, so bytes may pass the limit between them",
}
"""The flags of PIP-430's cache, and what is decided by them."""

PIP430_COMBINATIONS: Final = (
    *("expected+extend", "expected", "extend", "plain", "extend+backlog", "plain+backlog"),
    *("expected+extend+split", "expected+task", "expected+5.0", "expected+extend+5.0"),
)
"""Their combinations; `split` means something only where both flags before it are, `backlog` without the first, `5.0`
with it."""


POLICIES: Final[Mapping[str, ReplayPolicy]] = {
    **{f"pip430:{flags}": partial(_replay_pip430, frozenset(flags.split("+"))) for flags in PIP430_COMBINATIONS},
    "legacy": partial(_replay_legacy, False),
    "legacy:backlog": partial(_replay_legacy, True),
    "segmented:copy": partial(_replay_segmented, True),
    "segmented:reference": partial(_replay_segmented, False),
    "fifo": partial(_replay_generic, partial(linked_policies.replay_queue, linked_policies.FIFO)),
    "lru": partial(_replay_generic, partial(linked_policies.replay_queue, linked_policies.LRU)),
    "lfu": partial(_replay_generic, replay_lfu),
    "clock": partial(_replay_generic, partial(linked_policies.replay_queue, linked_policies.CLOCK)),
    "sieve": partial(_replay_generic, partial(linked_policies.replay_queue, linked_policies.SIEVE)),
    "s3fifo": partial(_replay_generic, replay_s3fifo),
    "arc": partial(_replay_generic, replay_arc),
    "w-tinylfu": partial(_replay_generic, replay_tinylfu),
    "expected-reads": _replay_expected_reads,
    "belady": _replay_belady,
}

ERA_DEFAULTS: Final = {"4.0": "legacy", "4.2": "pip430:expected+extend", "5.0": "pip430:expected+5.0"}
"""What a broker of each era has by default (docs/reference/settings.md)."""


def select_policies(names: tuple[str, ...]) -> tuple[str, ...]:
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
