"""Each planted fault of `pulsar-segmented` shows on its case, and the fast cache without it does not."""

from __future__ import annotations

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.pulsar_segmented.fast_cache import open_cache
from entrycache_fast.segmented import SegmentedCache
from entrycache_faults.fast.pulsar_segmented import FAULTS
from entrycache_faults.seeded import load_catalogue
from entrycache_protocol.case import Case, encode_outcome

SYSTEM = SYSTEMS["pulsar-segmented"]
CATALOGUE = {name: case for name, case in load_catalogue(SYSTEMS).items() if case.system is SYSTEM}


def answers(case: Case, kind: type[SegmentedCache]) -> list[object]:
    instance = open_cache(case.config, kind)
    return [encode_outcome(instance(op)) for op in case.steps]


def test_every_exhibit_has_a_case_of_one_rule_and_every_case_an_exhibit() -> None:
    assert list(FAULTS) == sorted(CATALOGUE)
    assert all(len(case.rules) == 1 and case.note == FAULTS[name].__doc__ for name, case in CATALOGUE.items())
    assert max(len(case.steps) for case in CATALOGUE.values()) <= 8


@pytest.mark.parametrize("name", FAULTS)
def test_the_case_is_the_references(name: str) -> None:
    case = CATALOGUE[name]
    state = SYSTEM.model.initial(case.config)
    for op, outcome in zip(case.steps, case.outcomes, strict=True):
        done = SYSTEM.model.step(state, op, case.config)
        state = done.state
        assert encode_outcome(done.outcome) == outcome


@pytest.mark.parametrize("name", FAULTS)
def test_the_fast_cache_is_right_and_the_exhibit_wrong_at_the_last_step(name: str) -> None:
    case = CATALOGUE[name]
    assert answers(case, SegmentedCache) == list(case.outcomes)
    wrong = answers(case, FAULTS[name])
    assert wrong[-1] != case.outcomes[-1]
    assert wrong[:-1] == list(case.outcomes)[:-1]
