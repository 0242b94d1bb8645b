"""Each kernel against a second implementation on the same requests, hit by hit."""

from __future__ import annotations

import pytest

from entrycache_league.policies import POLICIES, BrokerSettings, ReplayOutput
from entrycache_league.requests import Requests
from tests.league import naive
from tests.league.drawn import seeded

SECOND = {
    "fifo": naive.fifo,
    "lru": naive.lru,
    "lfu": naive.lfu,
    "clock": naive.clock,
    "sieve": naive.sieve,
    "s3fifo": naive.s3fifo,
    "arc": naive.arc,
    "w-tinylfu": naive.tinylfu,
    "expected-reads": naive.expected_reads,
}
SEEDS = range(12)


def unlike(policy: str, other: str, seed: int) -> bool:
    """Whether a kernel and a second implementation differ in a hit; sizes and capacity follow the seed."""
    requests = seeded(seed, 150, sizes=1 + seed % 3 * 4)
    capacity = (3 + seed * 5 % 40) * (100 if other == "w-tinylfu" and seed % 2 else 1)
    played = POLICIES[policy](requests, capacity, BrokerSettings())
    assert isinstance(played, ReplayOutput)
    period = max(10, 10 * capacity * len(requests.sizes) // int(requests.sizes.sum()))
    second = naive.tinylfu(capacity, period) if other == "w-tinylfu" else SECOND[other](capacity)
    return played.hits.tolist() != naive.hits_of(second, requests)


@pytest.mark.parametrize("policy", SECOND)
def test_a_kernel_hits_where_the_second_implementation_does(policy: str) -> None:
    assert [seed for seed in SEEDS if unlike(policy, policy, seed)] == []


@pytest.mark.parametrize(("policy", "other"), list(zip(SECOND, [*list(SECOND)[1:], "fifo"], strict=True)))
def test_a_policy_in_the_place_of_another_is_seen(policy: str, other: str) -> None:
    assert any(unlike(policy, other, seed) for seed in SEEDS)


def test_belady_has_as_many_hits_as_the_best_of_all_choices() -> None:
    for seed in range(30):
        requests, slots = seeded(seed, 14, entries=6), 1 + seed % 4
        assert hits("belady", requests, slots) == naive.most_hits(requests, slots)


def test_less_than_the_best_of_all_choices_is_seen() -> None:
    asked = [(seeded(seed, 14, entries=6), 1 + seed % 4) for seed in range(30)]
    assert any(hits("lru", requests, slots) < naive.most_hits(requests, slots) for requests, slots in asked)


def hits(policy: str, requests: Requests, capacity: int) -> int:
    played = POLICIES[policy](requests, capacity, BrokerSettings())
    assert isinstance(played, ReplayOutput)
    return int(played.hits.sum())
