"""Test scaled cases: every field has a kind, and they detect a bound that plain cases do not reach."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from functools import cache
from itertools import islice
from typing import Any

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.core import stress
from entrycache_evidence.core.stress import PLAIN_CASES, find_broken_law, generate_cases, generate_scaled_cases
from entrycache_protocol.system import AnySystem
from entrycache_reference.pulsar_pip430.ops import Exists, Get, Usage
from entrycache_reference.vocabulary import Position

KINDS = (
    stress.SIZES,
    stress.TIMES,
    stress.POSITIONS,
    stress.LEDGERS,
    stress.NAMES,
    stress.KEYS,
    stress.TEXTS,
    stress.NUMBERS,
    stress.NESTED,
    stress.COUNTS,
    stress.AS_THEY_ARE,
)
PULSAR = SYSTEMS["pulsar-pip430"]


@cache
def cases(name: str) -> tuple[tuple[Any, tuple[Any, ...]], ...]:
    return tuple(generate_scaled_cases(SYSTEMS[name]))


def named(system: AnySystem) -> set[str]:
    config = system.cases.plan(
        lambda least, _: least, next(generate_cases(system, 1, None))[0], tuple(system.ops), None
    ).config
    return {field.name for record in (type(config), *system.ops.values()) for field in fields(record)}


def test_every_field_is_of_one_kind() -> None:
    every = set().union(*map(named, SYSTEMS.values()))
    assert every == set().union(*KINDS)
    assert len(every) == sum(map(len, KINDS))


@pytest.mark.long
@pytest.mark.parametrize("name", SYSTEMS)
def test_the_same_cases_are_generated_each_time(name: str) -> None:
    assert tuple(islice(generate_scaled_cases(SYSTEMS[name]), 20)) == cases(name)[:20]


@pytest.mark.parametrize("name", SYSTEMS)
def test_scaled_cases_reach_values_that_plain_cases_do_not(name: str) -> None:
    """Some reach large sizes, times and ids, and many entries; together they use each operation."""
    steps = [step for _, steps_of_case in cases(name) for step in steps_of_case]
    assert {type(step) for step in steps} == set(SYSTEMS[name].ops.values())
    assert max(len(steps_of_case) for _, steps_of_case in cases(name)) >= 700
    if name == "kafka-streams":
        assert max(len(getattr(step, "value", None) or "") for step in steps) > 400
        keys = [{key for step in case if isinstance(key := getattr(step, "key", None), str)} for _, case in cases(name)]
        assert max(len(key) for each in keys for key in each) > 20
        assert max(map(len, keys)) > 130
        return
    places = [step.pos for step in steps if isinstance(getattr(step, "pos", None), Position)]
    assert max(place.ledger for place in places) > 2**40
    assert max(place.entry for place in places) > 2**33
    assert max(getattr(step, "size", 0) for step in steps) > 2**31
    assert any(len({getattr(step, "pos", None) for step in steps_of_case}) > 130 for _, steps_of_case in cases(name))
    if name != "pulsar-segmented":
        assert max(getattr(step, "nanos", 0) for step in steps) > 3_600 * 10**9


def same_name(text: str) -> str:
    return text


WITHOUT_EFFECT: dict[str, Any] = {
    "FACTORS": 1,
    "LEDGER_BITS": 0,
    "ENTRY_SHIFTS": 0,
    "NUMBER_SHIFTS": 0,
    "COUNT_SHIFTS": 0,
    "LENGTHS": 1,
    "COPIES": 1,
    "NAME_CHANGES": same_name,
}
"""The value of each way to scale a case with which it has no effect."""

OF_VALUES = ("LENGTHS",)


@pytest.mark.parametrize("way", WITHOUT_EFFECT)
def test_each_way_to_scale_a_case_changes_it(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same cases are generated without this way of scaling."""
    name = "kafka-streams" if way in OF_VALUES else PULSAR.name
    kept: tuple[Any, ...] = getattr(stress, way)
    monkeypatch.setattr(stress, way, (WITHOUT_EFFECT[way],) * len(kept))
    assert tuple(islice(generate_scaled_cases(SYSTEMS[name]), 40)) != cases(name)[:40]


@pytest.mark.long
def test_a_bound_that_no_plain_case_reaches_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A faulty model confuses a ligature in the name of a cache with its letters."""

    class Mistaken:
        initial = staticmethod(PULSAR.model.initial)

        @staticmethod
        def step(state: Any, op: Any, config: Any) -> Any:
            named = isinstance(op, Usage | Exists | Get) and isinstance(op.cache, str)
            return PULSAR.model.step(
                state, replace(op, cache=op.cache.replace("\ufb00", "ff")) if named else op, config
            )

    faulty = PULSAR._replace(model=Mistaken)
    plain_cases = (
        (generated.case.config, generated.case.steps) for _, generated in generate_cases(PULSAR, PLAIN_CASES, None)
    )
    assert find_broken_law(faulty, plain_cases) == ""
    assert re.search(r"\((usage|exists|get)\)", find_broken_law(faulty, cases(PULSAR.name)))
    monkeypatch.setattr(stress, "NAME_CHANGES", (same_name,) * len(stress.NAME_CHANGES))
    assert find_broken_law(faulty, islice(generate_scaled_cases(PULSAR), 60)) == ""
