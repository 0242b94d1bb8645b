"""Each planted fault shows on its case, and the fast cache without it does not."""

from __future__ import annotations

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.pulsar_pip430.fast_cache import BrokerCache, open_cache
from entrycache_faults.fast.pulsar_pip430 import FAULTS, passes
from entrycache_faults.seeded import load_catalogue
from entrycache_protocol.case import Case, encode_outcome
from entrycache_reference.pulsar_pip430 import initial, step

CATALOGUE = {name: case for name, case in load_catalogue(SYSTEMS).items() if case.system.name == "pulsar-pip430"}


def answers(case: Case, cache_type: type[BrokerCache]) -> list[object]:
    """The answers up to the first one that did not come."""
    instance = open_cache(case.config, cache_type)
    found: list[object] = []
    for op in case.steps:
        try:
            found.append(encode_outcome(instance(op)))
        except RuntimeError as error:
            assert "does not end" in str(error)
            break
    return found


def leaks(case: Case, cache_type: type[BrokerCache]) -> int:
    """The payloads that are lost."""
    instance = open_cache(case.config, cache_type)
    for op in case.steps:
        instance(op)
    return instance.leaked()


def test_every_exhibit_has_a_case_and_every_case_an_exhibit() -> None:
    assert list(FAULTS) == sorted(CATALOGUE)


@pytest.mark.parametrize("name", FAULTS)
def test_the_case_is_the_references(name: str) -> None:
    case = CATALOGUE[name]
    state = initial(case.config)
    expected = []
    for op in case.steps:
        done = step(state, op, case.config)
        state = done.state
        expected.append(encode_outcome(done.outcome))
    assert list(case.outcomes) == expected


@pytest.fixture(autouse=True)
def soon_impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "PATIENCE", 1_000)


@pytest.mark.parametrize("name", FAULTS)
def test_the_fast_cache_is_right_and_the_exhibit_wrong_at_the_last_step(name: str) -> None:
    case = CATALOGUE[name]
    assert answers(case, BrokerCache) == list(case.outcomes)
    wrong = answers(case, FAULTS[name])
    assert wrong != list(case.outcomes) or leaks(case, FAULTS[name]) > leaks(case, BrokerCache) == 0
    assert wrong[: len(case.steps) - 1] == list(case.outcomes)[:-1]


def test_each_exhibit_is_about_one_rule() -> None:
    assert all(len(case.rules) == 1 and case.note for case in CATALOGUE.values())
