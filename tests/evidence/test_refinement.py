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
def test_the_walk_meets_the_states_and_steps_of_the_explorer(scope: Any, fast: FastCache, depth: int | None) -> None:
    found = walk(scope, fast, depth)
    bounded = scope if depth is None else type(scope)(**{**_fields(scope), "depth": depth})
    explored = explore(bounded, whole=False)
    assert (found.states, found.steps, found.difference) == (explored.states, explored.transitions, None)


def _fields(scope: Any) -> dict[str, Any]:
    return {name: getattr(scope, name) for name in scope.__dataclass_fields__}


class CountsTwice(BrokerCache):
    """A fast cache that counts a requeue twice, which no answer shows."""

    def _put_back(self, entry: Entry, now_nanos: int, uses: int) -> None:
        super()._put_back(entry, now_nanos, uses)
        entry.requeues += 1


def test_what_no_answer_shows_yet_is_told_apart() -> None:
    found = walk(bounded_models.NO_BUDGET, pulsar_pip430.fast_cache(CountsTwice)).difference
    assert found is not None
    assert found.what.startswith("caches: ")
    counted = walk(kafka_models.EVERY, negative_control("streams-evict-call-counts")[0], 1).difference
    assert counted is not None
    assert counted.what == "evicts: 1, expected 0"


def test_an_answer_that_changes_nothing_is_compared_too() -> None:
    found = walk(kafka_models.EVERY, negative_control("streams-share-without-global")[0], 1).difference
    assert found is not None
    assert found.what.startswith("the answer: ")


class Forgets(BrokerCache):
    """A fast cache with a wrong counter."""

    def exists(self, cache: str, ledger: int, entry: int) -> bool:
        """Count a dead slot."""
        self.tombstones += 1
        return super().exists(cache, ledger, entry)


def test_an_invariant_of_its_own_is_asked() -> None:
    found = walk(bounded_models.PAIR, pulsar_pip430.fast_cache(Forgets), 2).difference
    assert found is not None
    assert found.what.startswith("an invariant of its own: ")


def test_a_cache_that_leaves_the_reference_is_a_failure_with_its_steps() -> None:
    wrong = negative_control("streams-read-cached-dirty")[0]
    shown, failures = run_alone(refine_all([RefinementTask(kafka_models.STORE, wrong, wrong, "It is not told.")]))
    assert not shown
    assert failures[0].startswith(
        "kafka-streams: the fast cache differs from the reference after 3 steps of 'a store, nothing"
    )
    assert "StorePut" in failures[0]


def test_a_planted_fault_that_is_not_told_apart_is_a_failure() -> None:
    assert run_alone(refine_all([RefinementTask(bounded_models.CACHING_OFF, PULSAR, PULSAR, "None at all.")])) == (
        [],
        ["pulsar-pip430: the seeded fault is not detected in 'caching switched off': None at all."],
    )


WITHOUT_FAST_CACHE = {"pulsar-legacy"}


def test_each_system_is_held_so_in_each_profile() -> None:
    for profile in PROFILES:
        asked = list_refinements(profile)
        assert {one.scope.parts().system.name for one in asked} == set(SYSTEM_EVIDENCE) - WITHOUT_FAST_CACHE
        assert len({one.scope.name for one in asked}) == len(asked)
    assert len(list_refinements("ci")) < len(list_refinements("long"))


def names(scopes: tuple[AnyBoundedModel, ...]) -> set[str]:
    return {scope.name for scope in scopes}


def test_the_worlds_are_those_that_are_exhausted() -> None:
    for shown in SYSTEM_EVIDENCE.values():
        assert names(tuple(one.scope for one in shown.refined)) <= names(shown.nightly)
