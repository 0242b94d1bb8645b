"""Each planted fault of `kafka-streams` shows on its case, and the fast cache without it does not."""

from __future__ import annotations

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.kafka_streams.fast_cache import open_cache
from entrycache_conformance.systems.kafka_streams.system import write_outcome
from entrycache_faults.fast.kafka_streams import FAULTS
from entrycache_faults.fast.kafka_streams.planted import Planted
from entrycache_faults.seeded import load_catalogue
from entrycache_protocol.case import Case

CATALOGUE = {name: case for name, case in load_catalogue(SYSTEMS).items() if case.system.name == "kafka-streams"}


def answers(case: Case, planted: Planted) -> list[object]:
    """The answers to every step."""
    instance = open_cache(case.config, *planted)
    return [write_outcome(instance(op)) for op in case.steps]


def test_every_exhibit_has_a_case_and_every_case_an_exhibit() -> None:
    assert list(FAULTS) == sorted(CATALOGUE)
    assert len(CATALOGUE) >= 20


@pytest.mark.parametrize("name", FAULTS)
def test_the_case_is_the_references(name: str) -> None:
    case = CATALOGUE[name]
    state = case.system.model.initial(case.config)
    for op, outcome in zip(case.steps, case.outcomes, strict=True):
        done = case.system.model.step(state, op, case.config)
        state = done.state
        assert write_outcome(done.outcome) == outcome


@pytest.mark.parametrize("name", FAULTS)
def test_the_fast_cache_is_right_and_the_exhibit_wrong_at_the_last_step(name: str) -> None:
    case = CATALOGUE[name]
    assert answers(case, Planted()) == list(case.outcomes)
    wrong = answers(case, FAULTS[name])
    assert wrong[-1] != case.outcomes[-1]
    assert wrong[:-1] == list(case.outcomes)[:-1]


@pytest.mark.parametrize("name", FAULTS)
def test_one_type_is_wrong(name: str) -> None:
    right, planted = Planted(), FAULTS[name]
    assert (planted.cache_type is right.cache_type) is not (planted.store_type is right.store_type)


def test_each_exhibit_is_about_one_rule() -> None:
    assert all(len(case.rules) == 1 and case.note for case in CATALOGUE.values())
