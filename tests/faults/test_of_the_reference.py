"""Each planted fault of `pulsar-legacy` that is a subject shows on its case, and the reference does not."""

from __future__ import annotations

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.pulsar_legacy.faults import FAULTS
from entrycache_faults.seeded import load_catalogue
from entrycache_protocol.case import Case
from entrycache_protocol.system import Instance
from entrycache_reference.pulsar_legacy import NAME, step
from entrycache_reference.pulsar_legacy.state import initial

CATALOGUE = {name: case for name, case in load_catalogue(SYSTEMS).items() if case.system.name == NAME}


def answers(case: Case, instance: Instance) -> list[object]:
    """The answers to every step."""
    return [case.system.wire.write_outcome(instance(op)) for op in case.steps]


def of_the_reference(case: Case) -> list[object]:
    """The reference's answers."""
    state, told = initial(case.config), []
    for op in case.steps:
        done = step(state, op, case.config)
        state = done.state
        told.append(case.system.wire.write_outcome(done.outcome))
    return told


def test_every_exhibit_has_a_case_and_every_case_an_exhibit() -> None:
    assert sorted(FAULTS) == sorted(CATALOGUE)
    assert len(CATALOGUE) >= 18


@pytest.mark.parametrize("name", FAULTS)
def test_the_exhibit_is_wrong_at_the_last_step_only(name: str) -> None:
    case = CATALOGUE[name]
    assert len(case.rules) == 1
    assert case.note
    right, wrong = of_the_reference(case), answers(case, FAULTS[name].open(case.config))
    assert right == list(case.outcomes)
    assert (wrong[:-1], wrong[-1] == right[-1]) == (right[:-1], False)
