"""All policies over the same requests: a table at one capacity, and miss ratios over a range of capacities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from statistics import median
from time import process_time

import numpy as np

from entrycache_league.policies import POLICIES, BrokerSettings, HitBound, ReplayOutput
from entrycache_league.requests import EVICTED, EXAMINED, OVERSHOOT, PEAK, READ, Requests
from entrycache_league.sources import MILLI, WorkloadShape, shape_requests

CURVE_SHARES = (0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
"""The capacities of a curve, as shares of the bytes of all entries."""

TABLE_SHARE = 0.05


@dataclass(frozen=True)
class PolicyComparison:
    """The policies over some requests; `curve` has those of the table at other capacities, policy by policy."""

    name: str
    requests: int
    reads: int
    entries: int
    entry_bytes: int
    seconds: float
    table: tuple[PolicyResult, ...]
    curve: tuple[PolicyResult, ...]


def capacities(requests: Requests, shares: Sequence[float] = CURVE_SHARES) -> list[int]:
    """Capacities that are so large a share of all bytes: whole entries where these have one size."""
    size = max(1, int(requests.sizes[0])) if requests.one_size else 1
    return [max(1, int(requests.entry_bytes * share) // size) * size for share in shares]


def compare_policies(
    requests: Requests,
    policies: Sequence[str],
    capacity_bytes: int | None = None,
    curve: bool = True,
    broker: BrokerSettings = BrokerSettings(),  # noqa: B008
    progress: Callable[[str], None] = lambda text: None,
) -> PolicyComparison:
    """Replay the requests through each of the policies; `capacity_bytes` None: a twentieth of all bytes."""
    asked = capacity_bytes or capacities(requests, (TABLE_SHARE,))[0]
    table: list[PolicyResult] = []
    points: list[PolicyResult] = []
    for policy in policies:
        progress(f"{requests.name}: {policy}")
        table.append(replay_policy(requests, policy, asked, broker))
        if curve:
            points += [replay_policy(requests, policy, size, broker) for size in capacities(requests)]
    return PolicyComparison(
        name=requests.name,
        requests=len(requests.kinds),
        reads=requests.reads,
        entries=len(requests.sizes),
        entry_bytes=requests.entry_bytes,
        seconds=float(requests.times[-1] - requests.times[0]) / 1e9,
        table=tuple(table),
        curve=tuple(points),
    )


# --- replay
# One policy over all requests, and what is measured of it.

WARM_UP = 64
"""Requests that a kernel is compiled with, out of the time that is measured."""


@dataclass(frozen=True)
class PolicyResult:
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


def replay_policy(
    requests: Requests, policy: str, capacity_bytes: int, broker: BrokerSettings = BrokerSettings()
) -> PolicyResult:  # noqa: B008
    """Replay the requests through a policy."""
    play = POLICIES[policy]
    play(requests.head(WARM_UP), capacity_bytes, broker)
    start = process_time()
    played = play(requests, capacity_bytes, broker)
    return measure_replay(requests, policy, capacity_bytes, played, process_time() - start)


def measure_replay(
    requests: Requests, policy: str, capacity_bytes: int, played: ReplayOutput | HitBound, seconds: float
) -> PolicyResult:
    """What is told of a replay that took so long."""
    read = requests.kinds == READ
    numbers = requests.numbers[read]
    sizes = requests.sizes[numbers]
    if isinstance(played, HitBound):
        hits, hit_bytes = played
    else:
        hits, hit_bytes = int(played.hits[read].sum()), int(sizes[played.hits[read]].sum())
    told = PolicyResult(
        policy=policy,
        capacity_bytes=capacity_bytes,
        reads=len(numbers),
        hits=hits,
        read_bytes=int(sizes.sum()),
        hit_bytes=hit_bytes,
        entries=len(np.unique(numbers)),
        bound=isinstance(played, HitBound),
        seconds=seconds,
        requests=len(requests.kinds),
    )
    return told if isinstance(played, HitBound) else _with_bytes(told, requests, played)


def _with_bytes(told: PolicyResult, requests: Requests, played: ReplayOutput) -> PolicyResult:
    """The same with what the cache held, its mean weighted by the time to the next request."""
    lengths = np.diff(requests.times)
    weighted = lengths.sum() > 0
    mean = np.average(played.held[:-1], weights=lengths) if weighted else played.held.mean()
    totals = played.totals
    return changed(
        told,
        peak_bytes=int(max(played.held.max(), totals[PEAK])),
        mean_bytes=float(mean),
        looked=int(totals[EXAMINED]),
        evicted=int(totals[EVICTED]),
        overshoot_bytes=int(totals[OVERSHOOT]),
    )


# --- cost
# What a request costs with many topics: processor time and looks, all policies in one run.

TOPIC_COUNTS = (10, 1_000, 100_000)
COST_ADDS = 40_000
COST_ROUNDS = 3


@dataclass(frozen=True)
class RequestCost:
    """One policy with so many topics: processor time a request, and looks a request to find what leaves."""

    policy: str
    topics: int
    nanos: float
    looks: float


def measure_costs(policies: Sequence[str], progress: Callable[[str], None] = lambda text: None) -> list[RequestCost]:
    """The same 10,000 adds a second over 10, 1,000 and 100,000 topics, each read twice; medians of rounds.

    The entries of a second take twice the capacity.
    """
    found = []
    for topics in TOPIC_COUNTS:
        shape = WorkloadShape(topics=topics, skew=0.5, lags=(2 * MILLI, 300 * MILLI))
        requests = shape_requests(f"{topics} topics", shape, COST_ADDS)
        capacity = capacities(requests, (0.125,))[0]
        for policy in policies:
            progress(f"{topics} topics: {policy}")
            rounds = [replay_policy(requests, policy, capacity) for _ in range(COST_ROUNDS)]
            nanos = median(measured.nanos_a_request for measured in rounds)
            found.append(RequestCost(policy, topics, nanos, rounds[0].looked / len(requests.kinds)))
    return found
