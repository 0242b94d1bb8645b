"""Cases of pulsar-segmented reach the thresholds of a ring: its ends, alignments, turns, and ranges over segments."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pytest

from entrycache_conformance.generate import make_case
from entrycache_conformance.judge import Coverage, run_reference
from entrycache_conformance.levels import PROFILES, find_rare, find_reachable
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.reference import reference_subject
from entrycache_protocol.case import case_from_json, check_cost
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError
from entrycache_reference.pulsar_segmented.config import Variants
from entrycache_reference.rules import Rule

SYSTEM = SYSTEMS["pulsar-segmented"]


def sides(*sizes: int, **config: object) -> dict[str, int]:
    """Return the sides that inserts of these sizes reach, each of a new entry."""
    steps = [{"op": "insert", "cache": "a", "pos": [1, at], "size": size} for at, size in enumerate(sizes)]
    coverage = Coverage()
    run_reference(case_from_json({"system": SYSTEM.name, "config": config, "steps": steps}, SYSTEMS), coverage)
    return coverage.cells


@pytest.mark.parametrize(
    ("sizes", "reached"),
    [
        ((40, 59), {"ROOM/BELOW"}),
        ((40, 60), {"ROOM/AT"}),
        ((40, 61), {"ROOM/ABOVE", "RING/TURNED"}),
        ((99,), {"ROOM/BELOW", "LENGTH/BELOW"}),
        ((100,), {"ROOM/AT", "LENGTH/AT"}),
        ((101,), {"ROOM/ABOVE", "LENGTH/ABOVE"}),
        ((63,), {"ALIGNMENT/BELOW"}),
        ((64,), {"ALIGNMENT/AT"}),
        ((65,), {"ALIGNMENT/ABOVE"}),
        ((90, 90, 90), {"RING/TURNED", "RING/ROUND"}),
        ((1, 0), set()),
    ],
)
def test_an_insert_lands_beside_a_threshold(sizes: tuple[int, ...], reached: set[str]) -> None:
    assert sides(*sizes, max_size_bytes=200, segments=2, mode="reference").keys() == reached


def ranges_over_segments(cases: int) -> int:
    """Return how many ranges of that many cases are found in more than one segment."""
    source, count = random.Random(174), 0
    declaration = Declaration(SYSTEM, frozenset(SYSTEM.ops))
    for _ in range(cases):
        case = make_case(source.randint, declaration, SYSTEM.cases.menu(SYSTEM.ops), Coverage(), 40).case
        state = SYSTEM.model.initial(case.config)
        for op in case.steps:
            done = SYSTEM.model.step(state, op, case.config)
            hits = {(op.cache, pos) for pos in done.outcome.hits} if op.name == "get_range" else set()
            homes = [one for one in state.segments.values() if hits & {entry.place for entry in one.entries}]
            count += len(homes) > 1
            state = done.state
    return count


def test_ranges_over_segments_are_met_often() -> None:
    assert ranges_over_segments(100) >= 20


def test_what_never_lands_beside_a_threshold_has_checked_nothing() -> None:
    declaration = reference_subject(SYSTEM).declaration
    few = find_rare(declaration, "all", PROFILES["dev"], True, Coverage())
    assert set(SYSTEM.laws.cells) <= set(few)


def test_a_run_without_payload_needs_no_rule_of_payloads() -> None:
    """S-GET-3 is about payloads: a subject that carries none can never exercise it."""
    whole = reference_subject(SYSTEM).declaration
    for declaration in (whole, dataclasses.replace(whole, payload=False, introspection=frozenset())):
        rules, cells = find_reachable(declaration, "all", PROFILES["dev"])
        assert (Rule.S_GET_3 in rules) == declaration.payload
        assert {*SYSTEM.laws.rules} - SYSTEM.laws.of_variants - {Rule.S_GET_3} <= {*rules}
        assert cells == list(SYSTEM.laws.cells)


def test_a_case_with_more_segments_than_can_be_played_is_refused() -> None:
    steps = [{"op": "observe"}]
    value = {"system": SYSTEM.name, "config": {"segments": 10**12}, "steps": steps}
    with pytest.raises(UsageError, match="may copy 2000000000002 entries"):
        case_from_json(value, SYSTEMS)
    fine = case_from_json({**value, "config": {"segments": 2}}, SYSTEMS)
    check_cost(SYSTEM, fine.config, fine.steps)


def test_the_reference_keeps_its_laws_under_all_variants_at_once() -> None:
    """An insert that does not fit behind a cleared segment may find its own former entry there, with the same size."""
    kinds: list[Any] = [type(field.default) for field in dataclasses.fields(Variants)]
    variants = Variants(*([*kind][-1] for kind in kinds))
    declaration = Declaration(SYSTEM, frozenset(SYSTEM.ops), variants=variants)
    source, coverage = random.Random(5), Coverage()
    for _ in range(150):
        make_case(source.randint, declaration, SYSTEM.cases.menu(SYSTEM.ops), coverage)
    assert coverage.fired[Rule.S_RING_5] > 20
