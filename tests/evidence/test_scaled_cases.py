"""Test scaled cases: every field has a kind, and they detect a bound that plain cases do not reach."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from itertools import islice
from typing import Any

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.core import stress
from entrycache_evidence.core.stress import PLAIN_CASES, find_broken_law, generate_cases, generate_scaled_cases
from entrycache_protocol.system import AnySystem
from entrycache_reference.pulsar_pip430.ops import Usage
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


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_same_cases_are_made_each_time(name: str) -> None:
    assert tuple(islice(generate_scaled_cases(SYSTEMS[name]), 20)) == cases(name)[:20]


@pytest.mark.parametrize("name", SYSTEMS)
def test_they_reach_what_drawn_cases_do_not(name: str) -> None:
    """Some reach large sizes, times and ids, and many entries; together they use each operation."""
    steps = [step for _, made in cases(name) for step in made]
    assert {type(step) for step in steps} == set(SYSTEMS[name].ops.values())
    assert max(len(made) for _, made in cases(name)) >= 700
    if name == "kafka-streams":
        assert max(len(getattr(step, "value", None) or "") for step in steps) > 400
        assert max(len(getattr(step, "key", None) or "") for step in steps) > 20
        assert any(len({getattr(step, "key", None) for step in made}) > 130 for _, made in cases(name))
        return
    places = [step.pos for step in steps if isinstance(getattr(step, "pos", None), Position)]
    assert max(place.ledger for place in places) > 2**40
    assert max(place.entry for place in places) > 2**33
    assert max(getattr(step, "size", 0) for step in steps) > 2**31
    assert any(len({getattr(step, "pos", None) for step in made}) > 130 for _, made in cases(name))
    if name != "pulsar-segmented":
        assert max(getattr(step, "nanos", 0) for step in steps) > 3_600 * 10**9


def alike(text: str) -> str:
    return text


AS_IT_WAS: dict[str, Any] = {
    "FACTORS": 1,
    "LEDGER_BITS": 0,
    "ENTRY_SHIFTS": 0,
    "NUMBER_SHIFTS": 0,
    "COUNT_SHIFTS": 0,
    "LENGTHS": 1,
    "COPIES": 1,
    "NAME_CHANGES": alike,
}
"""What each of the ways to stretch a case is where it does nothing."""

OF_VALUES = ("LENGTHS",)


@pytest.mark.parametrize("way", AS_IT_WAS)
def test_each_way_to_stretch_a_case_makes_another_one(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same cases are generated without this way of stretching."""
    name = "kafka-streams" if way in OF_VALUES else PULSAR.name
    kept: tuple[Any, ...] = getattr(stress, way)
    monkeypatch.setattr(stress, way, (AS_IT_WAS[way],) * len(kept))
    assert tuple(islice(generate_scaled_cases(SYSTEMS[name]), 40)) != cases(name)[:40]


def test_a_bound_that_no_drawn_case_meets_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A faulty model confuses a ligature in the name of a cache with its letters."""

    class Mistaken:
        initial = staticmethod(PULSAR.model.initial)

        @staticmethod
        def step(state: Any, op: Any, config: Any) -> Any:
            named = isinstance(op, Usage) and isinstance(op.cache, str)
            return PULSAR.model.step(
                state, replace(op, cache=op.cache.replace("\ufb00", "ff")) if named else op, config
            )

    faulty = PULSAR._replace(model=Mistaken)
    as_drawn = ((made.case.config, made.case.steps) for _, made in generate_cases(PULSAR, PLAIN_CASES, None))
    assert find_broken_law(faulty, as_drawn) == ""
    assert "(usage)" in find_broken_law(faulty, cases(PULSAR.name))
    monkeypatch.setattr(stress, "NAME_CHANGES", (alike,) * len(stress.NAME_CHANGES))
    assert find_broken_law(faulty, islice(generate_scaled_cases(PULSAR), 60)) == ""
