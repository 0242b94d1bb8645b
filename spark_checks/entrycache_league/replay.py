"""One policy over all requests, and what is measured of it."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace as changed
from time import process_time

import numpy as np

from entrycache_league.policies import POLICIES, Bound, Broker, Replayed
from entrycache_league.requests import READ, Requests
from entrycache_league.totals import EVICTED, LOOKED, OVERSHOOT, PEAK

WARM_UP = 64
"""Requests that a kernel is compiled with, out of the time that is measured."""


@dataclass(frozen=True)
class Measured:
    """One policy at one capacity. Of a bound only reads and hits are known, and it is named so.

    `entries` are the different ones that were read. `over_bytes` is by how much the capacity was exceeded at the most;
    `overshoot_bytes` the most that one pass freed beyond what it had to. `seconds` is processor time.
    """

    policy: str
    capacity_bytes: int
    reads: int
    hits: int
    read_bytes: int
    hit_bytes: int
    entries: int
    bound: bool
    seconds: float
    requests: int
    peak_bytes: int = 0
    mean_bytes: float = 0.0
    looked: int = 0
    evicted: int = 0
    overshoot_bytes: int = 0

    @property
    def misses(self) -> int:
        """Entries that were read from storage."""
        return self.reads - self.hits

    @property
    def hit_ratio(self) -> float:
        """Hits a read."""
        return self.hits / self.reads

    @property
    def byte_hit_ratio(self) -> float:
        """Bytes of hits a byte read; 1 where nothing but empty entries was read."""
        return self.hit_bytes / self.read_bytes if self.read_bytes else 1.0

    @property
    def storage_reads_an_entry(self) -> float:
        """How often an entry that was delivered was read from storage."""
        return self.misses / self.entries

    @property
    def looked_an_evicted(self) -> float | None:
        """What was looked at for each entry evicted; None where none was."""
        return self.looked / self.evicted if self.evicted else None

    @property
    def over_bytes(self) -> int:
        """By how much the capacity was exceeded."""
        return max(0, self.peak_bytes - self.capacity_bytes)

    @property
    def nanos_a_request(self) -> float:
        """Processor time of a request."""
        return self.seconds / self.requests * 1e9


def replay(requests: Requests, policy: str, capacity_bytes: int, broker: Broker = Broker()) -> Measured:  # noqa: B008
    """Replay the requests through a policy."""
    play = POLICIES[policy]
    play(requests.head(WARM_UP), capacity_bytes, broker)
    start = process_time()
    played = play(requests, capacity_bytes, broker)
    return measure(requests, policy, capacity_bytes, played, process_time() - start)


def measure(requests: Requests, policy: str, capacity_bytes: int, played: Replayed | Bound, seconds: float) -> Measured:
    """What is told of a replay that took so long."""
    read = requests.kinds == READ
    numbers = requests.numbers[read]
    sizes = requests.sizes[numbers]
    if isinstance(played, Bound):
        hits, hit_bytes = played
    else:
        hits, hit_bytes = int(played.hits[read].sum()), int(sizes[played.hits[read]].sum())
    told = Measured(
        policy=policy,
        capacity_bytes=capacity_bytes,
        reads=len(numbers),
        hits=hits,
        read_bytes=int(sizes.sum()),
        hit_bytes=hit_bytes,
        entries=len(np.unique(numbers)),
        bound=isinstance(played, Bound),
        seconds=seconds,
        requests=len(requests.kinds),
    )
    return told if isinstance(played, Bound) else _with_bytes(told, requests, played)


def _with_bytes(told: Measured, requests: Requests, played: Replayed) -> Measured:
    """The same with what the cache held, its mean weighted by the time to the next request."""
    lengths = np.diff(requests.times)
    weighted = lengths.sum() > 0
    mean = np.average(played.held[:-1], weights=lengths) if weighted else played.held.mean()
    totals = played.totals
    return changed(
        told,
        peak_bytes=int(max(played.held.max(), totals[PEAK])),
        mean_bytes=float(mean),
        looked=int(totals[LOOKED]),
        evicted=int(totals[EVICTED]),
        overshoot_bytes=int(totals[OVERSHOOT]),
    )
