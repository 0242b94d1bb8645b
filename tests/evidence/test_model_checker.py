"""Test the model checker: exact counts, equality of states, and the detection of seeded faults."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.core.models import FAULT_OF, OTHER_FAULTS
from entrycache_evidence.core.scheduler import run_alone
from entrycache_evidence.model_checker.checker import broken_rules, explore, find_shortest
from entrycache_evidence.model_checker.evidence import exhaust, load_first_sightings, refute
from entrycache_evidence.pulsar_pip430 import bounded_models
from entrycache_evidence.pulsar_pip430.state_space import BoundedModel, Events, ListedModel, SaturatedStates
from entrycache_faults.model import Fault
from entrycache_protocol.case import case_from_json, format_case
from entrycache_reference import pulsar_pip430
from entrycache_reference.pulsar_pip430.laws import LAWS
from entrycache_reference.rules import Rule

LONG = pytest.mark.long
"""The mark of tests that take many seconds and repeat a part of `entrycache prove`."""


@pytest.mark.parametrize(
    ("scope", "states", "transitions", "depth"),
    [
        (bounded_models.CACHING_OFF, 2, 58, 2),
        (bounded_models.ACCESS_OFF, 1304, 10804, 13),
        pytest.param(bounded_models.PAIR, 1804, 49768, 12, marks=LONG),
    ],
    ids=lambda value: value.name if isinstance(value, BoundedModel) else "",
)
def test_a_small_model_closes_with_exactly_these_counts(
    scope: BoundedModel, states: int, transitions: int, depth: int
) -> None:
    exploration = explore(scope)
    assert exploration.counterexample is None
    assert (exploration.states, exploration.transitions, exploration.depth, exploration.closed) == (
        states,
        transitions,
        depth,
        True,
    )


@pytest.mark.parametrize(
    ("scope", "states", "transitions", "depth"),
    [pytest.param(bounded_models.CURSORS, 3690, 84870, 11, marks=LONG), (bounded_models.HEAP, 245, 4900, 7)],
    ids=lambda value: value.name if isinstance(value, ListedModel) else "",
)
def test_a_model_of_events_closes_with_exactly_these_counts(
    scope: ListedModel, states: int, transitions: int, depth: int
) -> None:
    exploration = explore(scope)
    assert exploration.counterexample is None
    assert (exploration.states, exploration.transitions, exploration.depth, exploration.closed) == (
        states,
        transitions,
        depth,
        True,
    )


def test_a_step_that_leaves_the_bounds_is_judged_and_not_followed() -> None:
    scope = replace(bounded_models.READS, events=bounded_models.READS.events[:1], slots=0)
    exploration = explore(scope)
    assert (exploration.states, exploration.transitions, exploration.closed) == (1, 1, True)
    assert explore(scope, model=FAULT_OF[Rule.INSERT_1].model).counterexample is not None


def test_a_depth_bounds_the_model_and_is_reported() -> None:
    exploration = explore(replace(bounded_models.ALL, depth=2))
    assert (exploration.depth, exploration.closed) == (2, False)


@LONG
def test_the_models_fire_every_law() -> None:
    fired = {rule for scope in bounded_models.CI for rule in explore(scope).fired}
    assert {law.rule for law in LAWS} <= fired


@pytest.mark.parametrize(
    "scope",
    [bounded_models.PAIR, bounded_models.WIDE, bounded_models.NO_BUDGET, bounded_models.VAST],
    ids=lambda scope: scope.name,
)
def test_states_held_for_the_same_behave_the_same(scope: BoundedModel) -> None:
    """A run and its copy through representatives keep equal keys."""
    events, canon, chance = Events(scope), SaturatedStates(scope), random.Random(7)
    for _ in range(60):
        real = pulsar_pip430.initial(scope.config)
        representative = canon.representative(real)
        for _ in range(40):
            event = chance.choice(list(events.of(real)))
            assert event in list(events.of(representative))
            one = pulsar_pip430.step(real, event, scope.config)
            two = pulsar_pip430.step(representative, event, scope.config)
            assert canon.key(one.state) == canon.key(two.state)
            if event.name != "observe":
                assert one.outcome == two.outcome
            real, representative = one.state, canon.representative(two.state)
            assert canon.key(representative) == canon.key(real)


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
    refutation = refute(rule, bounded_models.CI)
    assert refutation is not None
    case = refutation.counterexample.case
    assert len(case.steps) == steps
    assert broken_rules(case) == (), "the reference itself keeps the law on this case"
    assert rule in broken_rules(case, FAULT_OF[rule].model)
    again = case_from_json(json.loads(format_case(case)), SYSTEMS)
    assert again.steps == case.steps
    assert format_case(again) == format_case(case)


OF_INVALIDATIONS = (FAULT_OF[Rule.LEDGER_14], *(fault for fault in OTHER_FAULTS if fault.rule is Rule.LEDGER_14))


@pytest.mark.parametrize("fault", OF_INVALIDATIONS, ids=lambda fault: fault.note)
def test_r_ledger_14__the_model_of_waiting_invalidations_refutes_each_fault(fault: Fault) -> None:
    refutation = find_shortest(fault, [bounded_models.INVALIDATIONS])
    assert refutation is not None
    assert broken_rules(refutation.counterexample.case) == ()


def test_each_rule_of_level_ledger_that_fires_is_refuted_in_a_model() -> None:
    ledger = [rule for rule in Rule if rule.name.startswith("LEDGER_")]
    assert [rule for rule in ledger if refute(rule, bounded_models.CI, load_first_sightings()[rule]) is None] == []


def test_a_broken_reference_is_a_failure_and_no_evidence() -> None:
    evidence, failures = run_alone(exhaust((bounded_models.ACCESS_OFF,), FAULT_OF[Rule.EVICT_8].model))
    assert evidence == []
    assert len(failures) == 1
    assert failures[0].startswith("R-EVICT-8: broken in 5 steps of the bounded model 'access extends nothing'")
