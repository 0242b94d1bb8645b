"""Compare policies over the same requests: replay them, measure hits and bytes, and measure the cost of a request.

`replay_policy` replays requests through one policy at one capacity and returns a `PolicyResult`. `compare_policies`
does so for several policies, for a table at one capacity and for curves over a range of capacities. `measure_costs`
measures how the processor time of a request and the entries that eviction examines grow with the number of topics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_changes
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
    """The results of policies over the same requests: a table at one capacity, and curves policy by policy."""

    name: str
    requests: int
    reads: int
    entries: int
    entry_bytes: int
    seconds: float
    table: tuple[PolicyResult, ...]
    curve: tuple[PolicyResult, ...]


def capacities(requests: Requests, shares: Sequence[float] = CURVE_SHARES) -> list[int]:
    """Return capacities that are these shares of all bytes, as whole entries if these have one size."""
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
    """Replay the requests through each policy. The default capacity is a twentieth of all bytes."""
    capacity = capacity_bytes or capacities(requests, (TABLE_SHARE,))[0]
    table: list[PolicyResult] = []
    points: list[PolicyResult] = []
    for policy in policies:
        progress(f"{requests.name}: {policy}")
        table.append(replay_policy(requests, policy, capacity, broker))
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


WARM_UP = 64
"""The requests of the first replay, which compiles the policy and is not measured."""


@dataclass(frozen=True)
class PolicyResult:
    """The result of one policy at one capacity; of a bound only reads and hits are known.

    Attributes:
        policy: The name of the policy.
        capacity_bytes: The capacity.
        reads: The number of reads.
        hits: The reads that hit.
        read_bytes: The bytes of all reads.
        hit_bytes: The bytes of the hits.
        entries: The number of different entries that were read.
        bound: Whether the result is an upper bound.
        seconds: The processor time.
        requests: The number of requests.
        peak_bytes: The most bytes held at any moment.
        mean_bytes: The mean of the held bytes, weighted by time.
        examined: The entries that eviction examined.
        evicted: The entries that eviction removed.
        overshoot_bytes: The most bytes that one pass freed beyond its need.
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
    examined: int = 0
    evicted: int = 0
    overshoot_bytes: int = 0

    @property
    def misses(self) -> int:
        """The reads that missed, which come from storage."""
        return self.reads - self.hits

    @property
    def hit_ratio(self) -> float:
        """The share of reads that hit."""
        return self.hits / self.reads

    @property
    def byte_hit_ratio(self) -> float:
        """The share of read bytes that hit; 1 if only empty entries were read."""
        return self.hit_bytes / self.read_bytes if self.read_bytes else 1.0

    @property
    def storage_reads_an_entry(self) -> float:
        """The storage reads for each different entry."""
        return self.misses / self.entries

    @property
    def examined_an_eviction(self) -> float | None:
        """The entries examined for each evicted one; None without evictions."""
        return self.examined / self.evicted if self.evicted else None

    @property
    def over_bytes(self) -> int:
        """The most bytes above the capacity."""
        return max(0, self.peak_bytes - self.capacity_bytes)

    @property
    def nanos_a_request(self) -> float:
        """The processor time of a request in nanoseconds."""
        return self.seconds / self.requests * 1e9


def replay_policy(
    requests: Requests,
    policy: str,
    capacity_bytes: int,
    broker: BrokerSettings = BrokerSettings(),  # noqa: B008
) -> PolicyResult:
    """Replay the requests through a policy and measure it."""
    play = POLICIES[policy]
    play(requests.head(WARM_UP), capacity_bytes, broker)
    start = process_time()
    played = play(requests, capacity_bytes, broker)
    return measure_replay(requests, policy, capacity_bytes, played, process_time() - start)


def measure_replay(
    requests: Requests, policy: str, capacity_bytes: int, played: ReplayOutput | HitBound, seconds: float
) -> PolicyResult:
    """Measure the output of a replay that took `seconds`."""
    read = requests.kinds == READ
    numbers = requests.numbers[read]
    sizes = requests.sizes[numbers]
    if isinstance(played, HitBound):
        hits, hit_bytes = played
    else:
        hits, hit_bytes = int(played.hits[read].sum()), int(sizes[played.hits[read]].sum())
    result = PolicyResult(
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
    return result if isinstance(played, HitBound) else _with_bytes(result, requests, played)


def _with_bytes(result: PolicyResult, requests: Requests, played: ReplayOutput) -> PolicyResult:
    """Add the bytes that the cache held; their mean is weighted by the time to the next request."""
    lengths = np.diff(requests.times)
    weighted = lengths.sum() > 0
    mean = np.average(played.held_bytes[:-1], weights=lengths) if weighted else played.held_bytes.mean()
    totals = played.totals
    return with_changes(
        result,
        peak_bytes=int(max(played.held_bytes.max(), totals[PEAK])),
        mean_bytes=float(mean),
        examined=int(totals[EXAMINED]),
        evicted=int(totals[EVICTED]),
        overshoot_bytes=int(totals[OVERSHOOT]),
    )


TOPIC_COUNTS = (10, 1_000, 100_000)
COST_ADDS = 40_000
COST_ROUNDS = 3


@dataclass(frozen=True)
class RequestCost:
    """The cost of a request of one policy: processor time, and the entries examined to find a victim."""

    policy: str
    topics: int
    nanos: float
    examined: float


def measure_costs(policies: Sequence[str], progress: Callable[[str], None] = lambda text: None) -> list[RequestCost]:
    """Measure 10,000 adds a second over 10, 1,000 and 100,000 topics, each entry read twice, as medians of rounds.

    The entries of a second take twice the capacity.
    """
    request_costs = []
    for topics in TOPIC_COUNTS:
        shape = WorkloadShape(topics=topics, skew=0.5, lags=(2 * MILLI, 300 * MILLI))
        requests = shape_requests(f"{topics} topics", shape, COST_ADDS)
        capacity = capacities(requests, (0.125,))[0]
        for policy in policies:
            progress(f"{topics} topics: {policy}")
            rounds = [replay_policy(requests, policy, capacity) for _ in range(COST_ROUNDS)]
            nanos = median(measured.nanos_a_request for measured in rounds)
            request_costs.append(RequestCost(policy, topics, nanos, rounds[0].examined / len(requests.kinds)))
    return request_costs
