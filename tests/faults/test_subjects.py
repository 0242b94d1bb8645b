"""Every seeded fault that is a subject shows on its case: right up to the last step, and wrong at the last one."""

from __future__ import annotations

from typing import Any

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_faults import fast
from entrycache_faults.fast import kafka_streams, pulsar_pip430, pulsar_segmented
from entrycache_faults.model import load_catalogue
from entrycache_protocol.case import Case
from entrycache_protocol.system import AnySystem, Instance

CATALOGUE = load_catalogue(SYSTEMS)
SUBJECTS = {name: system for system in SYSTEMS.values() for name in system.faults}
IMPLEMENTATION_FAULTS = {**pulsar_pip430.FAULTS, **kafka_streams.FAULTS, **pulsar_segmented.FAULTS}
LEAKS = {"count-hold-forgotten"}
"""The faults that answer every step rightly and leave a payload behind."""


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the endless pass give up soon."""
    monkeypatch.setattr(pulsar_pip430, "PATIENCE", 1_000)


def play(case: Case, instance: Instance) -> list[Any]:
    """Return the answers up to the first step that does not end."""
    answers: list[Any] = []
    for op in case.steps:
        try:
            answers.append(case.system.wire.write_outcome(instance(op)))
        except RuntimeError as error:
            assert "does not end" in str(error)
            break
    return answers


def count_leaks(case: Case, instance: Any) -> int:
    """Return the payloads that are left when the case has ended."""
    for op in case.steps:
        instance(op)
    leaked: int = instance.leaked()
    return leaked


def test_each_case_has_a_subject_and_each_subject_a_case() -> None:
    assert SUBJECTS.keys() == CATALOGUE.keys()
    assert all(CATALOGUE[name].system is system for name, system in SUBJECTS.items())


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=lambda system: system.name)
def test_each_system_has_subjects_in_order_of_their_names(system: AnySystem) -> None:
    assert len(system.faults) >= 18
    assert list(system.faults) == sorted(system.faults) or system.name == "pulsar-legacy"


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_case_is_about_one_rule_and_holds_the_answers_of_the_reference(name: str) -> None:
    case = CATALOGUE[name]
    assert len(case.rules) == 1
    assert case.note
    state, expected = case.system.model.initial(case.config), []
    for op in case.steps:
        done = case.system.model.step(state, op, case.config)
        state = done.state
        expected.append(case.system.wire.write_outcome(done.outcome))
    assert list(case.outcomes) == expected


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_subject_is_wrong_at_the_last_step_only(name: str) -> None:
    case, subject = CATALOGUE[name], SUBJECTS[name].faults[name]
    right = list(case.outcomes)
    wrong = play(case, subject.open(case.config))
    assert wrong[: len(right) - 1] == right[:-1]
    assert (wrong != right) is (name not in LEAKS)


@pytest.mark.parametrize("name", IMPLEMENTATION_FAULTS)
def test_the_fast_cache_without_the_fault_is_right(name: str) -> None:
    case = CATALOGUE[name]
    assert case.system.fast is not None
    assert play(case, case.system.fast.open(case.config)) == list(case.outcomes)


@pytest.mark.parametrize("name", sorted(LEAKS))
def test_a_leak_is_counted(name: str) -> None:
    case, system = CATALOGUE[name], SUBJECTS[name]
    assert system.fast is not None
    leaks = [count_leaks(case, own.open(case.config)) for own in (system.fast, system.faults[name])]
    assert leaks[0] == 0 < leaks[1]


def test_the_fast_caches_have_only_faults_that_no_model_has() -> None:
    assert fast.__doc__ is not None and "only an implementation" in fast.__doc__
    assert len(IMPLEMENTATION_FAULTS) == 15
