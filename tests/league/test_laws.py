"""Laws that hold for every policy on any requests, each with a policy that breaks it."""

from __future__ import annotations

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from entrycache_league.comparison import measure_replay
from entrycache_league.policies import POLICIES, BrokerSettings, HitBound, ReplayOutput
from entrycache_league.pulsar_legacy import LINE_BYTES
from entrycache_league.requests import READ, Requests
from tests.league import random_requests

QUICK = settings(max_examples=40, deadline=None, derandomize=True, database=None)
BROKER = BrokerSettings(ttl_nanos=15_000_000, max_requeues=2)
GENERAL = ("fifo", "lru", "lfu", "clock", "sieve", "s3fifo", "arc", "w-tinylfu", "expected-reads")
BOUNDED = (*GENERAL, "segmented:reference")
"""The policies that never hold more than the capacity."""


def replay(policy: str, requests: Requests, capacity: int) -> ReplayOutput:
    out = POLICIES[policy](requests, capacity, BROKER)
    assert isinstance(out, ReplayOutput)
    return out


def optimum(requests: Requests, capacity: int) -> int:
    out = POLICIES["belady"](requests, capacity, BROKER)
    return out.hits if isinstance(out, HitBound) else int(out.hits.sum())


def better_policies(requests: Requests, capacity: int, most: int) -> list[str]:
    """Return the policies with more hits than `most`."""
    others = [policy for policy in POLICIES if policy not in ("belady", "pip430:expected+task")]
    return [policy for policy in others if replay(policy, requests, capacity).hits.sum() > most]


@QUICK
@given(random_requests.requests(), st.integers(1, 7))
def test_belady_is_never_beaten_with_entries_of_one_size(requests: Requests, capacity: int) -> None:
    assert better_policies(requests, capacity, optimum(requests, capacity)) == []


@QUICK
@given(random_requests.requests(sizes=5), st.integers(1, 20))
def test_the_bound_is_never_beaten_with_entries_of_several_sizes(requests: Requests, capacity: int) -> None:
    assert better_policies(requests, capacity, optimum(requests, capacity)) == []


def test_fifo_is_beaten() -> None:
    find(
        random_requests.requests(),
        lambda requests: bool(better_policies(requests, 2, int(replay("fifo", requests, 2).hits.sum()))),
    )


def test_the_bytes_of_hits_stay_below_their_bound() -> None:
    for seed in range(20):
        requests, capacity = random_requests.seeded_requests(seed, 200, sizes=30), 10 + 7 * seed
        bound = POLICIES["belady"](requests, capacity, BROKER)
        assert isinstance(bound, HitBound)
        for policy in BOUNDED:
            result = measure_replay(requests, policy, capacity, replay(policy, requests, capacity), 1.0)
            assert result.hit_bytes <= bound.hit_bytes
            assert result.hits <= bound.hits


def excess_bytes(requests: Requests, policy: str, capacity: int) -> int:
    """Return the most bytes that a policy holds above the capacity."""
    return measure_replay(requests, policy, capacity, replay(policy, requests, capacity), 1.0).over_bytes


@QUICK
@given(random_requests.requests(sizes=5), st.integers(1, 20))
def test_no_general_policy_exceeds_its_capacity(requests: Requests, capacity: int) -> None:
    assert [policy for policy in BOUNDED if excess_bytes(requests, policy, capacity)] == []


@QUICK
@given(random_requests.requests(sizes=5), st.integers(1, 20))
def test_pulsars_policies_exceed_the_capacity_by_one_entry_or_the_rounding_of_copies(
    requests: Requests, capacity: int
) -> None:
    largest = int(requests.sizes.max())
    inline = [policy for policy in POLICIES if policy.startswith(("pip430", "legacy")) and "task" not in policy]
    assert [policy for policy in inline if excess_bytes(requests, policy, capacity) > largest] == []
    assert excess_bytes(requests, "segmented:copy", capacity) < 2 * LINE_BYTES


def test_size_passes_in_the_task_exceed_the_capacity() -> None:
    find(random_requests.requests(sizes=5), lambda requests: excess_bytes(requests, "pip430:expected+task", 5) > 5)


@QUICK
@given(random_requests.requests(sizes=3), st.integers(1, 12))
def test_hits_and_misses_are_the_reads(requests: Requests, capacity: int) -> None:
    for policy in POLICIES:
        out = POLICIES[policy](requests, capacity, BROKER)
        result = measure_replay(requests, policy, capacity, out, 1.0)
        assert result.hits + result.misses == result.reads == int((requests.kinds == READ).sum())
        assert isinstance(out, HitBound) or not out.hits[requests.kinds != READ].any()


def loses_a_hit(policy: str, requests: Requests, capacity: int) -> bool:
    """Return whether more capacity loses a hit."""
    small, large = (replay(policy, requests, size).hits for size in (capacity, capacity + 1))
    return bool((small & ~large).any())


@QUICK
@given(random_requests.requests(), st.integers(1, 6))
def test_lru_hits_with_more_capacity_where_it_did_with_less(requests: Requests, capacity: int) -> None:
    assert not loses_a_hit("lru", requests, capacity)


def test_fifo_does_not() -> None:
    """Belady's anomaly: with four frames instead of three it misses a page that it had."""
    numbers = [random_requests.number_of(entry) for entry in (1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5)]
    requests = random_requests.decode_requests(numbers, kinds=(READ,))
    assert loses_a_hit("fifo", requests, 3)
    assert not loses_a_hit("lru", requests, 3)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_same_requests_give_the_same_counts(policy: str) -> None:
    requests = random_requests.seeded_requests(3, 300, sizes=4)
    one, two = (POLICIES[policy](requests, 30, BROKER) for _ in range(2))
    result = [measure_replay(requests, policy, 30, each, 1.0) for each in (one, two)]
    assert result[0] == result[1]
