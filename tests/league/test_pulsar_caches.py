"""Compare Pulsar's policies with the fast cache and with the references: hits and bytes, request by request."""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import Final

import pytest

from entrycache_league.policies import POLICIES, BrokerSettings, ReplayOutput
from entrycache_reference import pulsar_pip430
from entrycache_reference.pulsar_pip430.config import CountFloor, DuplicateCount, SizePassRounds, ZeroReads
from tests.league import pulsar_caches
from tests.league.random_requests import seeded_requests

BROKER = BrokerSettings(ttl_nanos=30_000_000, watermark=0.7, max_requeues=2)
SEEDS = range(12)


def replay(policy: str, seed: int, broker: BrokerSettings = BROKER) -> pulsar_caches.Answers:
    out = POLICIES[policy](seeded_requests(seed, 200, 1 + seed % 3 * 4, 30), capacity(seed), broker)
    assert isinstance(out, ReplayOutput)
    return out.hits.tolist(), out.held_bytes.tolist()


def capacity(seed: int) -> int:
    return 5 + seed * 13 % 60


def pip430(seed: int, by_count: bool, extend: bool, split: bool) -> pulsar_caches.Answers:
    return pulsar_caches.pip430(
        seeded_requests(seed, 200, 1 + seed % 3 * 4, 30), capacity(seed), BROKER, by_count, extend, split
    )


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
        assert replay(policy, seed) == pip430(seed, *FLAGS[policy]), seed


@pytest.mark.parametrize(("policy", "other"), [each for each in product(FLAGS, FLAGS) if each[0] != each[1]])
def test_ignoring_a_flag_changes_an_answer(policy: str, other: str) -> None:
    assert any(replay(policy, seed) != pip430(seed, *FLAGS[other]) for seed in SEEDS)


@pytest.mark.parametrize("flags", ["extend", "plain"])
def test_without_backlog_caching_no_read_fills(flags: str) -> None:
    for seed in SEEDS:
        requests = seeded_requests(seed, 200, 1 + seed % 3 * 4, 30)
        cold = BrokerSettings(ttl_nanos=BROKER.ttl_nanos, watermark=BROKER.watermark, max_requeues=2)
        own = pulsar_caches.pip430(requests, capacity(seed), cold, False, flags == "extend", False, fill_count=0)
        assert replay(f"pip430:{flags}", seed) == own


VARIANTS_OF_5: Final = pulsar_pip430.Variants(
    count_floor=CountFloor.ZERO,
    zero_reads=ZeroReads.COUNTED,
    duplicate_count=DuplicateCount.REPLACED,
    size_pass_rounds=SizePassRounds.ONE,
)


@pytest.mark.parametrize("extend", [True, False])
def test_the_variants_of_5_answer_as_the_reference(extend: bool) -> None:
    policy = "pip430:expected+extend+5.0" if extend else "pip430:expected+5.0"
    for seed in SEEDS:
        requests = seeded_requests(seed, 200, 1, 30)
        out = POLICIES[policy](requests, capacity(seed), BROKER)
        assert isinstance(out, ReplayOutput)
        expected = pulsar_caches.era_5(requests, capacity(seed), BROKER, extend, VARIANTS_OF_5)
        assert (out.hits.tolist(), out.held_bytes.tolist()) == expected, seed


@pytest.mark.parametrize("variant", ["count_floor", "zero_reads", "duplicate_count", "size_pass_rounds"])
def test_ignoring_a_variant_of_5_changes_an_answer(variant: str) -> None:
    default = {variant: getattr(pulsar_pip430.Variants(), variant)}
    other = dataclasses.replace(VARIANTS_OF_5, **default)
    samples = [(seeded_requests(seed, 200, 1, 30), small) for seed in SEEDS for small in (3, 5, 8, 20)]
    assert any(
        pulsar_caches.era_5(requests, small, BROKER, True, other)
        != pulsar_caches.era_5(requests, small, BROKER, True, VARIANTS_OF_5)
        for requests, small in samples
    )


def test_legacy_answers_as_its_reference() -> None:
    for seed in SEEDS:
        requests = seeded_requests(seed, 200, 1 + seed % 3 * 4, 30)
        for fills, policy in ((False, "legacy"), (True, "legacy:backlog")):
            assert replay(policy, seed) == pulsar_caches.legacy(requests, capacity(seed), BROKER, fills), seed


def test_another_time_to_live_changes_an_answer_of_legacy() -> None:
    samples = {seed: seeded_requests(seed, 200, 1 + seed % 3 * 4, 30) for seed in SEEDS}
    wrong = BrokerSettings(ttl_nanos=BROKER.ttl_nanos + 10_000_000, watermark=BROKER.watermark)
    assert any(
        replay("legacy", seed) != pulsar_caches.legacy(samples[seed], capacity(seed), wrong, False) for seed in SEEDS
    )


@pytest.mark.parametrize("copies", [True, False])
def test_segmented_answers_as_its_reference(copies: bool) -> None:
    differences = 0
    for seed in SEEDS:
        requests = seeded_requests(seed, 200, 1 + seed % 3 * 40, 30)
        size = capacity(seed) * (64 if seed % 2 else 10)
        own = POLICIES["segmented:copy" if copies else "segmented:reference"](requests, size, BROKER)
        assert isinstance(own, ReplayOutput)
        assert (own.hits.tolist(), own.held_bytes.tolist()) == pulsar_caches.segmented(requests, size, copies), seed
        differences += (own.hits.tolist(), own.held_bytes.tolist()) != pulsar_caches.segmented(
            requests, size, not copies
        )
    assert differences
