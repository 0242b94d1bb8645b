"""A subject may fix a setting to any value: cases under it are made in time, or it is refused in one line."""

import dataclasses
import random
import time
from typing import Any, Final

import pytest

from entrycache_conformance.generate import make_case
from entrycache_conformance.judge import Coverage
from entrycache_conformance.levels import check_cost
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.reference import reference_offer
from entrycache_protocol.declaration import Declaration, read_declaration
from entrycache_protocol.errors import EntrycacheError

EXTREMES: Final = (-1, 0, 1, 2**31 - 1, 2**53 - 1, 2**63 - 1)
SETTINGS: Final = [
    (name, field.name)
    for name, system in SYSTEMS.items()
    for field in dataclasses.fields(system.model.config)
    if field.name != "variants"
]
CASES: Final = 1
MAX_SECONDS: Final = 10


def declared(name: str, fixed: dict[str, Any]) -> Declaration:
    offer = {**reference_offer(SYSTEMS[name]), "fixed": fixed}
    declaration = read_declaration({"version": 1, "systems": {name: offer}}, SYSTEMS)
    check_cost(declaration, "it")
    return declaration


@pytest.mark.long
@pytest.mark.parametrize(("name", "setting"), SETTINGS)
def test_cases_under_an_extreme_setting_are_made_in_time(name: str, setting: str) -> None:
    for value in EXTREMES:
        try:
            declaration = declared(name, {setting: value})
        except EntrycacheError as error:
            assert setting in str(error)
            assert "\n" not in str(error)
            continue
        cases, started_at = declaration.system.cases, time.process_time()
        for level in declaration.system.levels:
            menu = cases.menu(declaration.system.ops_up_to(level), level)
            for workload in (None, *cases.extra_workloads):
                for number in range(CASES):
                    make_case(random.Random(number).randint, declaration, menu, Coverage(), workload=workload)
        assert time.process_time() - started_at < MAX_SECONDS


def test_an_endless_requeue_budget_is_refused_with_one_that_ends() -> None:
    with pytest.raises(EntrycacheError, match=r"fixes max_requeues to 2147483647.*such as 127"):
        declared("pulsar-pip430", {"max_requeues": 2**31 - 1})
    declared("pulsar-pip430", {"max_requeues": 127})
