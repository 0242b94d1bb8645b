"""The explorer: exact counts of small worlds, states told apart only where it matters, and planted errors found."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.core.models import FAULT_OF
from entrycache_evidence.core.scheduler import run_alone
from entrycache_evidence.model_checker.checker import breaks, explore
from entrycache_evidence.model_checker.evidence import exhaust, refute
from entrycache_evidence.pulsar_pip430 import bounded_models as later_worlds
from entrycache_evidence.pulsar_pip430 import bounded_models as worlds
from entrycache_evidence.pulsar_pip430.state_space import BoundedModel, Canon, EventModel, Events
from entrycache_protocol.case import case_from_json, format_case
from entrycache_reference import pulsar_pip430
from entrycache_reference.pulsar_pip430.laws import LAWS
from entrycache_reference.rules import Rule

LONG = pytest.mark.long
"""What `entrycache prove` shows too, in the same `make test`, and what takes many seconds here."""


@pytest.mark.parametrize(
    ("world", "states", "transitions", "depth"),
    [
        (worlds.CACHING_OFF, 2, 58, 2),
        (worlds.ACCESS_OFF, 1304, 10804, 13),
        (worlds.PAIR, 1804, 49768, 12),
    ],
    ids=lambda value: value.name if isinstance(value, BoundedModel) else "",
)
def test_a_small_world_closes_with_exactly_these_counts(
    world: BoundedModel, states: int, transitions: int, depth: int
) -> None:
    found = explore(world)
    assert found.counterexample is None
    assert (found.states, found.transitions, found.depth, found.closed) == (states, transitions, depth, True)


@pytest.mark.parametrize(
    ("world", "states", "transitions", "depth"),
    [(later_worlds.CURSORS, 3690, 84870, 11), (later_worlds.HEAP, 245, 4900, 7)],
    ids=lambda value: value.name if isinstance(value, EventModel) else "",
)
def test_a_world_of_events_closes_with_exactly_these_counts(
    world: EventModel, states: int, transitions: int, depth: int
) -> None:
    found = explore(world)
    assert found.counterexample is None
    assert (found.states, found.transitions, found.depth, found.closed) == (states, transitions, depth, True)


def test_a_step_that_leaves_the_bounds_is_judged_and_not_gone_on_from() -> None:
    world = replace(later_worlds.READS, events=later_worlds.READS.events[:1], slots=0)
    found = explore(world)
    assert (found.states, found.transitions, found.closed) == (1, 1, True)
    assert explore(world, model=FAULT_OF[Rule.INSERT_1].model).counterexample is not None


def test_a_depth_bounds_the_world_and_is_told() -> None:
    found = explore(replace(worlds.ALL, depth=2))
    assert (found.depth, found.closed) == (2, False)


@LONG
def test_the_worlds_fire_every_law() -> None:
    fired = {rule for world in worlds.CI for rule in explore(world).fired}
    assert {law.rule for law in LAWS} <= fired


@pytest.mark.parametrize(
    "world", [worlds.PAIR, worlds.WIDE, worlds.NO_BUDGET, worlds.VAST], ids=lambda world: world.name
)
def test_states_held_for_the_same_behave_the_same(world: BoundedModel) -> None:
    """A run from the empty state and one that is brought to its representative after each step keep equal keys."""
    events, canon, chance = Events(world), Canon(world), random.Random(7)
    for _ in range(60):
        real = pulsar_pip430.initial(world.config)
        settled = canon.settled(real)
        for _ in range(40):
            event = chance.choice(list(events.of(real)))
            assert event in list(events.of(settled))
            one = pulsar_pip430.step(real, event, world.config)
            two = pulsar_pip430.step(settled, event, world.config)
            assert canon.key(one.state) == canon.key(two.state)
            if event.name != "observe":
                assert one.outcome == two.outcome
            real, settled = one.state, canon.settled(two.state)
            assert canon.key(settled) == canon.key(real)


@pytest.mark.parametrize(
    ("rule", "steps"),
    [
        (Rule.STATE_1, 1),
        (Rule.STATE_2, 2),
        (Rule.READ_3, 2),
        (Rule.LIVENESS_1, 3),
        pytest.param(Rule.STATE_3, 5, marks=LONG),
        (Rule.EVICT_8, 2),
        pytest.param(Rule.REQUEUE_3, 4, marks=LONG),
        pytest.param(Rule.REQUEUE_6, 4, marks=LONG),
        (Rule.TRIGGER_2, 1),
        (Rule.TRIGGER_3, 3),
        (Rule.READ_10, 1),
        (Rule.COUNT_8, 2),
        (Rule.CURSOR_13, 2),
    ],
    ids=lambda value: value.value if isinstance(value, Rule) else "",
)
def test_a_mutant_is_refuted_by_a_shortest_case(rule: Rule, steps: int) -> None:
    found = refute(rule, worlds.CI)
    assert found is not None
    case = found.counterexample.case
    assert len(case.steps) == steps
    assert breaks(case) == (), "the reference itself keeps the law on this case"
    assert rule in breaks(case, FAULT_OF[rule].model)
    again = case_from_json(json.loads(format_case(case)), SYSTEMS)
    assert again.steps == case.steps
    assert format_case(again) == format_case(case)


def test_a_broken_reference_is_a_failure_and_no_evidence() -> None:
    evidence, failures = run_alone(exhaust((worlds.ACCESS_OFF,), FAULT_OF[Rule.EVICT_8].model))
    assert evidence == []
    assert len(failures) == 1
    assert failures[0].startswith("R-EVICT-8: broken in 5 steps of the world 'access extends nothing'")
