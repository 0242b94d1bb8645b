"""Test that large states are large: every collection of a state holds thousands of items, every integer is great."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.core.stress import ITEM_COUNT, find_broken_law
from entrycache_evidence.systems import SYSTEM_EVIDENCE
from entrycache_faults.model import Model
from entrycache_reference.pulsar_pip430.outcomes import Served

SEVERAL = 110
"""The number of items in the states of these tests; the runs of `prove` hold `ITEM_COUNT`."""
GREAT_FROM = 2**53

FEW: Mapping[str, str] = {
    "StepInProgress": "it exists only while a step runs",
    "current": "it is the index of a segment",
    "segments key": "it is the index of a segment",
    "rests": "a gap has one rest before the part that it waits for, and one behind it",
}
"""The records and the fields that are neither large nor great between steps, with the reason."""


def plain(hint: Any) -> Any:
    """Return a type without its name or its annotation."""
    while hasattr(hint, "__supertype__") or hasattr(hint, "__metadata__"):
        hint = getattr(hint, "__supertype__", None) or hint.__origin__
    return hint


def parts_of_type(hint: Any) -> Iterator[Any]:
    """Yield the alternatives of a union."""
    hint = plain(hint)
    if get_origin(hint) in {Union, UnionType}:
        yield from (part for one in get_args(hint) for part in parts_of_type(one))
    else:
        yield hint


def is_collection(hint: Any) -> bool:
    origin = get_origin(hint)
    return origin in {frozenset, dict} or origin is Mapping or (origin is tuple and get_args(hint)[-1] is Ellipsis)


def fields_of(of: type[Any], visited: set[Any]) -> Iterator[tuple[str, str]]:
    """Yield the collections and the integers of a record and of all records in it, each with its place."""
    if of in visited or of.__name__ in FEW or not hasattr(of, "_fields"):
        return
    visited.add(of)
    for name, hint in get_type_hints(of).items():
        yield from places_of(f"{of.__name__}.{name}", hint, visited)


def places_of(place: str, hint: Any, visited: set[Any]) -> Iterator[tuple[str, str]]:
    for part in parts_of_type(hint):
        if is_collection(part):
            yield "collection", place
            inner = [one for one in get_args(part) if one is not Ellipsis]
            names = (f"{place} key", f"{place} value")[-len(inner) :]
            for inside, one in zip(names, inner, strict=True):
                yield from places_of(inside, one, visited)
        elif part is int:
            yield "integer", place
        elif isinstance(part, type) and part.__module__.endswith((".state", ".vocabulary", ".config", ".outcomes")):
            yield from fields_of(part, visited)


def measure(value: Any, place: str, most: dict[str, int], visited: set[int]) -> None:
    """Note the length of every collection and the value of every integer, by its place."""
    if type(value) is int:
        most[place] = max(most.get(place, 0), value)
    elif id(value) not in visited and isinstance(value, tuple | frozenset | dict):
        visited.add(id(value))
        if hasattr(value, "_fields"):
            for name, one in zip(value._fields, value, strict=True):
                measure(one, f"{type(value).__name__}.{name}", most, visited)
            return
        most[place] = max(most.get(place, 0), len(value))
        items = value.items() if isinstance(value, dict) else [(None, one) for one in value]
        for key, one in items:
            measure(key, f"{place} key", most, visited)
            measure(one, f"{place} value", most, visited)


@cache
def runs_of(name: str) -> tuple[Any, ...]:
    return tuple(SYSTEM_EVIDENCE[name].large_states(SEVERAL))


@cache
def measured(name: str) -> Mapping[str, int]:
    """Return the greatest length and number in the states that runs begin in, by place."""
    most: dict[str, int] = {}
    for _, steps in runs_of(name):
        for step in steps:
            if hasattr(step, "_fields"):
                measure(step, "State", most, set())
    return most


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_collection_is_large_and_every_integer_great_in_a_state_that_a_run_begins_in(name: str) -> None:
    """A new field of the state needs a state of `generate_runs_from_large_states` in which it is large or great."""
    state = type(SYSTEMS[name].model.initial(next(iter(runs_of(name)))[0]))
    places = {*fields_of(state, set())}
    least = {"collection": SEVERAL - 10, "integer": GREAT_FROM}
    small = {
        f"{place}: {kind} of at most {measured(name).get(place, 0)}; add a state in which it is at least {least[kind]}"
        for kind, place in places
        if measured(name).get(place, 0) < least[kind] and place.partition(".")[2] not in FEW
    }
    assert small == set()


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_operation_is_played_in_a_large_state_and_on_great_numbers(name: str) -> None:
    """A new operation needs a step after a large state and after one with great numbers."""
    played: dict[bool, set[str]] = {False: set(), True: set()}
    for _, steps in runs_of(name):
        is_great = False
        for step in steps:
            if hasattr(step, "_fields"):
                most: dict[str, int] = {}
                measure(step, "State", most, set())
                is_great = any(value >= GREAT_FROM for value in most.values())
            else:
                played[is_great].add(step.name)
    every = {op.name for op in SYSTEMS[name].ops.values()}
    assert {False: every - played[False], True: every - played[True]} == {False: set(), True: set()}


def test_the_states_of_prove_hold_more_than_5000_items() -> None:
    assert ITEM_COUNT > 5_000


def test_a_bound_that_only_a_large_state_reaches_is_reported() -> None:
    """A read that looks at 1,000 positions at most passes all other runs of its length."""
    pulsar = SYSTEMS["pulsar-pip430"]

    class Bounded(Model):
        def step(self, state: Any, op: Any, config: Any) -> Any:
            done = pulsar.model.step(state, op, config)
            if isinstance(done.outcome, Served):
                done = done._replace(outcome=replace(done.outcome, fills=done.outcome.fills[:1_000]))
            return done

    runs = [run for run in SYSTEM_EVIDENCE[pulsar.name].large_states(1_010) if run[0].max_size_bytes == 0]
    assert find_broken_law(pulsar, runs) == ""
    assert "R-READ" in find_broken_law(pulsar._replace(model=Bounded("entrycache_reference.pulsar_pip430")), runs)
