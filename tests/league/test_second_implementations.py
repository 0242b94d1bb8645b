"""Compare each policy with a second implementation on the same requests, hit by hit."""

from __future__ import annotations

import pytest

from entrycache_league.policies import POLICIES, BrokerSettings, ReplayOutput
from entrycache_league.requests import Requests
from tests.league import second_implementations
from tests.league.random_requests import seeded_requests

SECOND = {
    "fifo": second_implementations.fifo,
    "lru": second_implementations.lru,
    "lfu": second_implementations.lfu,
    "clock": second_implementations.clock,
    "sieve": second_implementations.sieve,
    "s3fifo": second_implementations.s3fifo,
    "arc": second_implementations.arc,
    "w-tinylfu": second_implementations.tinylfu,
    "expected-reads": second_implementations.expected_reads,
}
SEEDS = range(12)


def differ(policy: str, other: str, seed: int) -> bool:
    """Return whether a policy and a second implementation differ in a hit; sizes and capacity follow the seed."""
    requests = seeded_requests(seed, 150, sizes=1 + seed % 3 * 4)
    capacity = (3 + seed * 5 % 40) * (100 if other == "w-tinylfu" and seed % 2 else 1)
    output = POLICIES[policy](requests, capacity, BrokerSettings())
    assert isinstance(output, ReplayOutput)
    period = max(10, 10 * capacity * len(requests.sizes) // int(requests.sizes.sum()))
    second = second_implementations.tinylfu(capacity, period) if other == "w-tinylfu" else SECOND[other](capacity)
    return output.hits.tolist() != second_implementations.hits_of(second, requests)


@pytest.mark.parametrize("policy", SECOND)
def test_a_policy_hits_where_the_second_implementation_does(policy: str) -> None:
    assert [seed for seed in SEEDS if differ(policy, policy, seed)] == []


@pytest.mark.parametrize(("policy", "other"), list(zip(SECOND, [*list(SECOND)[1:], "fifo"], strict=True)))
def test_another_policy_differs(policy: str, other: str) -> None:
    assert any(differ(policy, other, seed) for seed in SEEDS)


def test_belady_has_as_many_hits_as_the_best_of_all_choices() -> None:
    for seed in range(30):
        requests, slots = seeded_requests(seed, 14, entries=6), 1 + seed % 4
        assert hits("belady", requests, slots) == second_implementations.most_hits(requests, slots)


def test_lru_has_fewer_hits_than_the_best_of_all_choices() -> None:
    samples = [(seeded_requests(seed, 14, entries=6), 1 + seed % 4) for seed in range(30)]
    assert any(
        hits("lru", requests, slots) < second_implementations.most_hits(requests, slots) for requests, slots in samples
    )


def hits(policy: str, requests: Requests, capacity: int) -> int:
    output = POLICIES[policy](requests, capacity, BrokerSettings())
    assert isinstance(output, ReplayOutput)
    return int(output.hits.sum())
