"""Test the refinement of fast caches: a fault is detected, and an undetected fault is a failure."""

from __future__ import annotations

from typing import Any

import pytest

from entrycache_evidence.core.scheduler import run_alone
from entrycache_evidence.kafka_streams import bounded_models as kafka_models
from entrycache_evidence.kafka_streams import refinement as kafka_streams
from entrycache_evidence.kafka_streams.refinement import negative_control
from entrycache_evidence.model_checker.checker import AnyBoundedModel, explore
from entrycache_evidence.model_checker.refinement import FastCache, RefinementTask, refine_all, walk
from entrycache_evidence.pulsar_pip430 import bounded_models
from entrycache_evidence.pulsar_pip430 import refinement as pulsar_pip430
from entrycache_evidence.systems import PROFILES, SYSTEM_EVIDENCE, list_refinements
from entrycache_fast import BrokerCache
from entrycache_fast.pulsar.store import Entry

PULSAR = pulsar_pip430.fast_cache()
KAFKA = kafka_streams.fast_cache()


@pytest.mark.parametrize(
    ("scope", "fast", "depth"),
    [
        (bounded_models.CACHING_OFF, PULSAR, None),
        (bounded_models.NO_BUDGET, PULSAR, None),
        (bounded_models.HEAP, PULSAR, None),
        (bounded_models.READS, PULSAR, 3),
        (kafka_models.STORE, KAFKA, 3),
        (kafka_models.TWO, KAFKA, 2),
    ],
    ids=["off", "no budget", "heap", "reads", "store", "two namespaces"],
)
def test_the_walk_has_the_states_and_steps_of_the_model_checker(scope: Any, fast: FastCache, depth: int | None) -> None:
    walked = walk(scope, fast, depth)
    bounded = scope if depth is None else type(scope)(**{**_fields(scope), "depth": depth})
    explored = explore(bounded, whole=False)
    assert (walked.states, walked.steps, walked.difference) == (explored.states, explored.transitions, None)


def _fields(scope: Any) -> dict[str, Any]:
    return {name: getattr(scope, name) for name in scope.__dataclass_fields__}


class CountsTwice(BrokerCache):
    """A fast cache that counts a requeue twice, which no answer shows."""

    def _put_back(self, entry: Entry, now_nanos: int, uses: int) -> None:
        super()._put_back(entry, now_nanos, uses)
        entry.requeues += 1


def test_a_difference_that_no_answer_shows_yet_is_detected() -> None:
    difference = walk(bounded_models.NO_BUDGET, pulsar_pip430.fast_cache(CountsTwice)).difference
    assert difference is not None
    assert difference.what.startswith("caches: ")
    counted = walk(kafka_models.EVERY, negative_control("streams-evict-call-counts")[0], 1).difference
    assert counted is not None
    assert counted.what == "evicts: 1, expected 0"


def test_an_answer_that_changes_nothing_is_compared_too() -> None:
    difference = walk(kafka_models.EVERY, negative_control("streams-share-without-global")[0], 1).difference
    assert difference is not None
    assert difference.what.startswith("the answer: ")


class Forgets(BrokerCache):
    """A fast cache with a wrong counter."""

    def exists(self, cache: str, ledger: int, entry: int) -> bool:
        """Count a dead slot."""
        self.tombstones += 1
        return super().exists(cache, ledger, entry)


def test_an_invariant_of_the_fast_cache_is_checked() -> None:
    difference = walk(bounded_models.PAIR, pulsar_pip430.fast_cache(Forgets), 2).difference
    assert difference is not None
    assert difference.what.startswith("an invariant of its own: ")


def test_a_cache_that_leaves_the_reference_is_a_failure_with_its_steps() -> None:
    wrong = negative_control("streams-read-cached-dirty")[0]
    refinements, failures = run_alone(
        refine_all([RefinementTask(kafka_models.STORE, wrong, wrong, "It is not detected.")])
    )
    assert not refinements
    assert failures[0].startswith(
        "kafka-streams: the fast cache differs from the reference after 3 steps of 'a store, nothing"
    )
    assert "StorePut" in failures[0]


def test_an_undetected_seeded_fault_is_a_failure() -> None:
    assert run_alone(refine_all([RefinementTask(bounded_models.CACHING_OFF, PULSAR, PULSAR, "None at all.")])) == (
        [],
        ["pulsar-pip430: the seeded fault is not detected in 'caching switched off': None at all."],
    )


WITHOUT_FAST_CACHE = {"pulsar-legacy"}


def test_each_profile_refines_each_system() -> None:
    for profile in PROFILES:
        tasks = list_refinements(profile)
        assert {one.scope.parts().system.name for one in tasks} == set(SYSTEM_EVIDENCE) - WITHOUT_FAST_CACHE
        assert len({one.scope.name for one in tasks}) == len(tasks)
    assert len(list_refinements("ci")) < len(list_refinements("long"))


def names(scopes: tuple[AnyBoundedModel, ...]) -> set[str]:
    return {scope.name for scope in scopes}


def test_the_refined_models_are_exhausted_ones() -> None:
    for entry in SYSTEM_EVIDENCE.values():
        assert names(tuple(one.scope for one in entry.refined)) <= names(entry.nightly)
