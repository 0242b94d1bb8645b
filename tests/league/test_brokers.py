"""The kernels of Pulsar's caches against the fast cache and against the references: hits and bytes, one by one."""

from __future__ import annotations

from itertools import product

import pytest

from entrycache_league.policies import POLICIES, Broker, Replayed
from tests.league import brokers
from tests.league.drawn import seeded

BROKER = Broker(ttl_nanos=30_000_000, watermark=0.7, max_requeues=2)
SEEDS = range(12)


def played(policy: str, seed: int, broker: Broker = BROKER) -> brokers.Answers:
    out = POLICIES[policy](seeded(seed, 200, 1 + seed % 3 * 4, 30), capacity(seed), broker)
    assert isinstance(out, Replayed)
    return out.hits.tolist(), out.held.tolist()


def capacity(seed: int) -> int:
    return 5 + seed * 13 % 60


def pip430(seed: int, by_count: bool, extend: bool, split: bool) -> brokers.Answers:
    return brokers.pip430(seeded(seed, 200, 1 + seed % 3 * 4, 30), capacity(seed), BROKER, by_count, extend, split)


FLAGS = {
    "pip430:expected+extend": (True, True, False),
    "pip430:expected": (True, False, False),
    "pip430:extend+backlog": (False, True, False),
    "pip430:plain+backlog": (False, False, False),
    "pip430:expected+extend+split": (True, True, True),
}


@pytest.mark.parametrize("policy", FLAGS)
def test_pip430_answers_as_the_fast_cache(policy: str) -> None:
    for seed in SEEDS:
        assert played(policy, seed) == pip430(seed, *FLAGS[policy]), seed


@pytest.mark.parametrize(("policy", "other"), [each for each in product(FLAGS, FLAGS) if each[0] != each[1]])
def test_a_flag_that_is_not_followed_is_seen(policy: str, other: str) -> None:
    assert any(played(policy, seed) != pip430(seed, *FLAGS[other]) for seed in SEEDS)


@pytest.mark.parametrize("flags", ["extend", "plain"])
def test_without_backlog_caching_no_read_fills(flags: str) -> None:
    for seed in SEEDS:
        requests = seeded(seed, 200, 1 + seed % 3 * 4, 30)
        cold = Broker(ttl_nanos=BROKER.ttl_nanos, watermark=BROKER.watermark, max_requeues=2)
        own = brokers.pip430(requests, capacity(seed), cold, False, flags == "extend", False, fill_count=0)
        assert played(f"pip430:{flags}", seed) == own


def test_legacy_answers_as_its_reference() -> None:
    for seed in SEEDS:
        requests = seeded(seed, 200, 1 + seed % 3 * 4, 30)
        for fills, policy in ((False, "legacy"), (True, "legacy:backlog")):
            assert played(policy, seed) == brokers.legacy(requests, capacity(seed), BROKER, fills), seed


def test_another_time_to_live_of_legacy_is_seen() -> None:
    asked = {seed: seeded(seed, 200, 1 + seed % 3 * 4, 30) for seed in SEEDS}
    wrong = Broker(ttl_nanos=BROKER.ttl_nanos + 10_000_000, watermark=BROKER.watermark)
    assert any(played("legacy", seed) != brokers.legacy(asked[seed], capacity(seed), wrong, False) for seed in SEEDS)


@pytest.mark.parametrize("copies", [True, False])
def test_segmented_answers_as_its_reference(copies: bool) -> None:
    unlike = 0
    for seed in SEEDS:
        requests = seeded(seed, 200, 1 + seed % 3 * 40, 30)
        size = capacity(seed) * (64 if seed % 2 else 10)
        own = POLICIES["segmented:copy" if copies else "segmented:reference"](requests, size, BROKER)
        assert isinstance(own, Replayed)
        assert (own.hits.tolist(), own.held.tolist()) == brokers.segmented(requests, size, copies), seed
        unlike += (own.hits.tolist(), own.held.tolist()) != brokers.segmented(requests, size, not copies)
    assert unlike
