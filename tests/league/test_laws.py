"""What holds for every policy on any requests, and that each check sees a policy that breaks it."""

from __future__ import annotations

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from entrycache_league.comparison import measure_replay
from entrycache_league.policies import POLICIES, BrokerSettings, HitBound, ReplayOutput
from entrycache_league.pulsar_segmented import LINE_BYTES
from entrycache_league.requests import READ, Requests
from tests.league import drawn

QUICK = settings(max_examples=40, deadline=None, derandomize=True, database=None)
BROKER = BrokerSettings(ttl_nanos=15_000_000, max_requeues=2)
GENERIC = ("fifo", "lru", "lfu", "clock", "sieve", "s3fifo", "arc", "w-tinylfu", "expected-reads")
WITHIN = (*GENERIC, "segmented:reference")
"""Policies that never hold more than the capacity."""


def played(policy: str, requests: Requests, capacity: int) -> ReplayOutput:
    out = POLICIES[policy](requests, capacity, BROKER)
    assert isinstance(out, ReplayOutput)
    return out


def optimum(requests: Requests, capacity: int) -> int:
    out = POLICIES["belady"](requests, capacity, BROKER)
    return out.hits if isinstance(out, HitBound) else int(out.hits.sum())


def beaten(requests: Requests, capacity: int, most: int) -> list[str]:
    """The policies with more hits than `most`."""
    others = [policy for policy in POLICIES if policy not in ("belady", "pip430:expected+task")]
    return [policy for policy in others if played(policy, requests, capacity).hits.sum() > most]


@QUICK
@given(drawn.requests(), st.integers(1, 7))
def test_belady_is_never_beaten_with_entries_of_one_size(requests: Requests, capacity: int) -> None:
    assert beaten(requests, capacity, optimum(requests, capacity)) == []


@QUICK
@given(drawn.requests(sizes=5), st.integers(1, 20))
def test_the_bound_is_never_beaten_with_entries_of_several_sizes(requests: Requests, capacity: int) -> None:
    assert beaten(requests, capacity, optimum(requests, capacity)) == []


def test_an_optimum_that_is_none_is_beaten() -> None:
    find(drawn.requests(), lambda asked: bool(beaten(asked, 2, int(played("fifo", asked, 2).hits.sum()))))


def test_the_bytes_of_hits_stay_below_their_bound() -> None:
    for seed in range(20):
        requests, capacity = drawn.seeded(seed, 200, sizes=30), 10 + 7 * seed
        bound = POLICIES["belady"](requests, capacity, BROKER)
        assert isinstance(bound, HitBound)
        for policy in WITHIN:
            told = measure_replay(requests, policy, capacity, played(policy, requests, capacity), 1.0)
            assert told.hit_bytes <= bound.hit_bytes
            assert told.hits <= bound.hits


def over(requests: Requests, policy: str, capacity: int) -> int:
    """The bytes above the capacity that a policy ever holds."""
    return measure_replay(requests, policy, capacity, played(policy, requests, capacity), 1.0).over_bytes


@QUICK
@given(drawn.requests(sizes=5), st.integers(1, 20))
def test_no_policy_of_the_field_exceeds_its_capacity(requests: Requests, capacity: int) -> None:
    assert [policy for policy in WITHIN if over(requests, policy, capacity)] == []


@QUICK
@given(drawn.requests(sizes=5), st.integers(1, 20))
def test_those_of_pulsar_exceed_it_by_one_entry_or_what_copies_are_rounded_up_by(
    requests: Requests, capacity: int
) -> None:
    largest = int(requests.sizes.max())
    inline = [policy for policy in POLICIES if policy.startswith(("pip430", "legacy")) and "task" not in policy]
    assert [policy for policy in inline if over(requests, policy, capacity) > largest] == []
    assert over(requests, "segmented:copy", capacity) < 2 * LINE_BYTES


def test_bytes_above_the_capacity_are_seen() -> None:
    find(drawn.requests(sizes=5), lambda asked: over(asked, "pip430:expected+task", 5) > 5)


@QUICK
@given(drawn.requests(sizes=3), st.integers(1, 12))
def test_hits_and_misses_are_the_reads(requests: Requests, capacity: int) -> None:
    for policy in POLICIES:
        out = POLICIES[policy](requests, capacity, BROKER)
        told = measure_replay(requests, policy, capacity, out, 1.0)
        assert told.hits + told.misses == told.reads == int((requests.kinds == READ).sum())
        assert isinstance(out, HitBound) or not out.hits[requests.kinds != READ].any()


def not_included(policy: str, requests: Requests, capacity: int) -> bool:
    """Whether a hit is lost with more capacity."""
    small, large = (played(policy, requests, size).hits for size in (capacity, capacity + 1))
    return bool((small & ~large).any())


@QUICK
@given(drawn.requests(), st.integers(1, 6))
def test_lru_hits_with_more_capacity_where_it_did_with_less(requests: Requests, capacity: int) -> None:
    assert not not_included("lru", requests, capacity)


def test_fifo_does_not() -> None:
    """Belady's anomaly: with four frames instead of three it misses a page that it had."""
    numbers = [drawn.number_of(entry) for entry in (1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5)]
    requests = drawn.decoded(numbers, kinds=(READ,))
    assert not_included("fifo", requests, 3)
    assert not not_included("lru", requests, 3)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_same_requests_give_the_same_counts(policy: str) -> None:
    requests = drawn.seeded(3, 300, sizes=4)
    one, two = (POLICIES[policy](requests, 30, BROKER) for _ in range(2))
    told = [measure_replay(requests, policy, 30, each, 1.0) for each in (one, two)]
    assert told[0] == told[1]
