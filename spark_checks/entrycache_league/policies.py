"""The policies by name.

`POLICIES` maps a name to a `ReplayPolicy`, a function of requests, capacity and `BrokerSettings`. It allocates the
arrays of the output, calls the compiled loop, and returns a `ReplayOutput`, or a `HitBound` if only a bound is known. A
name such as `pip430:expected+extend` is a family with flags; `select_policies` expands a family to its members.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from entrycache_league import heap_policies, linked_policies, pulsar_legacy, pulsar_pip430
from entrycache_league.linked_policies import replay_arc, replay_s3fifo, replay_tinylfu
from entrycache_league.requests import TOTALS, Requests
from entrycache_protocol.errors import UsageError
from entrycache_trace.jit import Array


@dataclass(frozen=True)
class BrokerSettings:
    """The settings of Pulsar's caches with the broker's defaults; `segments` 0 means one for each GiB, at least two."""

    ttl_nanos: int = 1_000_000_000
    watermark: float = 0.9
    interval_nanos: int = 10_000_000
    max_requeues: int = 5
    segments: int = 0


class ReplayOutput(NamedTuple):
    """The output of a replay: for each request a hit and the bytes held after it, and the totals."""

    hits: Array
    held_bytes: Array
    totals: Array


class HitBound(NamedTuple):
    """The hits and hit bytes that no policy exceeds."""

    hits: int
    hit_bytes: int


ReplayPolicy = Callable[[Requests, int, BrokerSettings], ReplayOutput | HitBound]


def _empty_output(requests: Requests) -> ReplayOutput:
    count = len(requests.kinds)
    return ReplayOutput(np.zeros(count, np.bool_), np.zeros(count, np.int64), np.zeros(TOTALS, np.int64))


def _replay_generic(
    loop: Callable[..., None], requests: Requests, capacity: int, broker: BrokerSettings
) -> ReplayOutput:
    out = _empty_output(requests)
    loop(requests.kinds, requests.numbers, requests.sizes, capacity, *out)
    return out


def _replay_expected_reads(requests: Requests, capacity: int, broker: BrokerSettings) -> ReplayOutput:
    out = _empty_output(requests)
    heap_policies.replay_expected_reads(
        requests.kinds, requests.numbers, requests.counts, requests.sizes, capacity, *out
    )
    return out


def _replay_belady(requests: Requests, capacity: int, broker: BrokerSettings) -> ReplayOutput | HitBound:
    size = int(requests.sizes[0])
    if not requests.one_size or size == 0:
        # Pulsar's caches check the limit before or after an entry comes, so they hold at most one entry more.
        return HitBound(*heap_policies.bound_hits(requests, capacity + int(requests.sizes.max())))
    out = _empty_output(requests)
    heap_policies.replay_belady(requests.kinds, requests.numbers, requests.next_reads, size, capacity // size, *out)
    return out


def _replay_pip430(flags: frozenset[str], requests: Requests, capacity: int, broker: BrokerSettings) -> ReplayOutput:
    out = _empty_output(requests)
    switches = [
        *(flag in flags for flag in ("expected", "backlog", "extend", "split")),
        "task" not in flags,
        "5.0" in flags,
    ]
    thresholds = int(capacity * 0.98), int(capacity * broker.watermark)
    settings = (broker.ttl_nanos, broker.interval_nanos, broker.max_requeues, *switches)
    pulsar_pip430.replay_pip430(
        *(requests.kinds, requests.times, requests.numbers, requests.counts, requests.ends, requests.sizes),
        *(requests.topics, requests.starts, np.array((*settings, *thresholds), np.int64), *out),
    )
    return out


def _replay_legacy(fills: bool, requests: Requests, capacity: int, broker: BrokerSettings) -> ReplayOutput:
    out = _empty_output(requests)
    pulsar_legacy.replay_legacy(
        *(requests.kinds, requests.times, requests.numbers, requests.counts, requests.ends, requests.sizes),
        *(requests.topics, requests.starts, capacity, broker.watermark, broker.ttl_nanos, broker.interval_nanos),
        *(fills, *out),
    )
    return out


def _replay_segmented(copies: bool, requests: Requests, capacity: int, broker: BrokerSettings) -> ReplayOutput:
    out = _empty_output(requests)
    segments = broker.segments or max(2, capacity >> 30)
    pulsar_legacy.replay_segmented(
        requests.kinds, requests.numbers, requests.ends, requests.sizes, capacity, segments, copies, *out
    )
    return out


PIP430_FLAGS: Final = {
    "expected": "entries carry their expected reads, and a size pass spares entries that have some",
    "extend": "an entry that was read goes to the tail once more instead of leaving",
    "backlog": "without `expected`: the broker caches what it reads from storage, as with backlog caching",
    "split": "a requeue because of access does not use up the requeues for expected reads",
    "5.0": "the behaviour of 5.0.1: a count stops at 0 and may begin there, and a size pass spares an entry once",
    "task": "size passes run only in the periodic task, so the bytes may exceed the limit between them",
}
"""The flags of PIP-430's cache, and their effects."""

PIP430_COMBINATIONS: Final = (
    *("expected+extend", "expected", "extend", "plain", "extend+backlog", "plain+backlog"),
    *("expected+extend+split", "expected+task", "expected+5.0", "expected+extend+5.0"),
)
"""The combinations of flags. `split` has an effect only with `expected` and `extend`, `backlog` only without
`expected`, and `5.0` only with it."""


POLICIES: Final[Mapping[str, ReplayPolicy]] = {
    **{f"pip430:{flags}": partial(_replay_pip430, frozenset(flags.split("+"))) for flags in PIP430_COMBINATIONS},
    "legacy": partial(_replay_legacy, False),
    "legacy:backlog": partial(_replay_legacy, True),
    "segmented:copy": partial(_replay_segmented, True),
    "segmented:reference": partial(_replay_segmented, False),
    "fifo": partial(_replay_generic, partial(linked_policies.replay_queue, linked_policies.FIFO)),
    "lru": partial(_replay_generic, partial(linked_policies.replay_queue, linked_policies.LRU)),
    "lfu": partial(_replay_generic, heap_policies.replay_lfu),
    "clock": partial(_replay_generic, partial(linked_policies.replay_queue, linked_policies.CLOCK)),
    "sieve": partial(_replay_generic, partial(linked_policies.replay_queue, linked_policies.SIEVE)),
    "s3fifo": partial(_replay_generic, replay_s3fifo),
    "arc": partial(_replay_generic, replay_arc),
    "w-tinylfu": partial(_replay_generic, replay_tinylfu),
    "expected-reads": _replay_expected_reads,
    "belady": _replay_belady,
}

ERA_DEFAULTS: Final = {"4.0": "legacy", "4.2": "pip430:expected+extend", "5.0": "pip430:expected+5.0"}
"""The policy of a broker of each era by default (docs/reference/settings.md)."""


def select_policies(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the policies of these names, or all without names; `pip430` stands for each of its combinations.

    Raises:
        UsageError: there is no such policy.
    """
    selected: dict[str, None] = {}
    for name in names or tuple(POLICIES):
        members = [policy for policy in POLICIES if policy == name or policy.startswith(f"{name}:")]
        if not members:
            families = dict.fromkeys(policy.partition(":")[0] for policy in POLICIES)
            raise UsageError(f"unknown policy {name!r}; there are {', '.join(families)}")
        selected |= dict.fromkeys(members)
    return tuple(selected)
