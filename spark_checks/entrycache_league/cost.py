"""What a request costs with many topics: processor time and looks, all policies in one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from entrycache_league.league import capacities
from entrycache_league.replay import replay
from entrycache_league.shape import MILLI, Shape, shaped

TOPICS = (10, 1_000, 100_000)
ADDS = 40_000
ROUNDS = 3


@dataclass(frozen=True)
class Cost:
    """One policy with so many topics: processor time a request, and looks a request to find what leaves."""

    policy: str
    topics: int
    nanos: float
    looks: float


def costs(policies: Sequence[str], progress: Callable[[str], None] = lambda text: None) -> list[Cost]:
    """The same 10,000 adds a second over 10, 1,000 and 100,000 topics, each read twice; medians of rounds.

    The entries of a second take twice the capacity.
    """
    found = []
    for topics in TOPICS:
        shape = Shape(topics=topics, skew=0.5, lags=(2 * MILLI, 300 * MILLI))
        requests = shaped(f"{topics} topics", shape, ADDS)
        capacity = capacities(requests, (0.125,))[0]
        for policy in policies:
            progress(f"{topics} topics: {policy}")
            rounds = [replay(requests, policy, capacity) for _ in range(ROUNDS)]
            nanos = median(measured.nanos_a_request for measured in rounds)
            found.append(Cost(policy, topics, nanos, rounds[0].looked / len(requests.kinds)))
    return found
