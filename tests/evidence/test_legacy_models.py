"""Test the bounded models of `pulsar-legacy`: exact counts, every law, equality of states, and seeded faults."""

from __future__ import annotations

import random

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.core.models import FAULT_OF, build_check
from entrycache_evidence.core.scheduler import run_alone
from entrycache_evidence.model_checker.checker import broken_rules, explore, state_after
from entrycache_evidence.model_checker.evidence import exhaust, refute
from entrycache_evidence.pulsar_legacy import bounded_models
from entrycache_evidence.pulsar_legacy.bounded_models import AgedStates, BoundedModel
from entrycache_reference.pulsar_legacy import State, ops, step
from entrycache_reference.pulsar_legacy.laws import LAWS
from entrycache_reference.rules import Rule

SYSTEM = SYSTEMS["pulsar-legacy"]
check = build_check(SYSTEM)


def test_a_model_closes_with_exactly_these_counts_and_meets_its_definitions() -> None:
    exploration = explore(bounded_models.MANUAL)
    assert exploration.counterexample is None
    assert (exploration.states, exploration.transitions, exploration.depth, exploration.closed) == (
        903,
        10836,
        12,
        True,
    )


@pytest.mark.long
def test_the_models_fire_every_law() -> None:
    fired = {rule for scope in bounded_models.CI for rule in explore(scope, whole=False).fired}
    assert {law.rule for law in LAWS} <= fired


@pytest.mark.parametrize("scope", bounded_models.NIGHTLY, ids=lambda scope: scope.name.replace(" ", "-"))
def test_states_held_for_the_same_behave_the_same(scope: BoundedModel) -> None:
    """A run and its copy after a long pause keep equal keys."""
    canon, chance, config = AgedStates(scope.oldest), random.Random(7), scope.config
    for _ in range(20):
        real = other = state_after(SYSTEM.model, config, ())
        for _ in range(25):
            other = later(other, scope.oldest, chance.randint(0, 9))
            assert canon.key(real) == canon.key(other)
            event = chance.choice(scope.events)
            one, two = step(real, event, config), step(other, event, config)
            fired: list[dict[Rule, int]] = [{}, {}]
            assert check(config, real, event, one, fired[0]) == check(config, other, event, two, fired[1]) == ()
            assert fired[0] == fired[1]
            if not isinstance(event, ops.Observe):
                assert one.outcome == two.outcome
            real, other = one.state, two.state


def later(state: State, oldest: int, nanos: int) -> State:
    """Return the same ages at a later time, with old entries older still."""
    caches = {
        name: cache._replace(
            entries={
                pos: entry._replace(
                    stamp_nanos=entry.stamp_nanos + (nanos if state.now_nanos - entry.stamp_nanos < oldest else 0)
                )
                for pos, entry in cache.entries.items()
            }
        )
        for name, cache in state.caches.items()
    }
    return state._replace(now_nanos=state.now_nanos + nanos, caches=caches)


@pytest.mark.parametrize(
    ("rule", "scope", "steps"),
    [
        (Rule.L_EVICT_5, bounded_models.SHARES, 5),
        (Rule.L_TRIGGER_5, bounded_models.MANUAL, 5),
        (Rule.L_READ_7, bounded_models.OBJECT, 2),
        (Rule.L_LIVENESS_2, bounded_models.EVERY, 1),
    ],
    ids=lambda value: value.value if isinstance(value, Rule) else "",
)
def test_a_seeded_fault_is_refuted_by_a_shortest_case(rule: Rule, scope: BoundedModel, steps: int) -> None:
    refutation = refute(rule, (scope,))
    assert refutation is not None
    case = refutation.counterexample.case
    assert len(case.steps) == steps
    assert broken_rules(case) == (), "the reference itself keeps the law on this case"
    assert rule in broken_rules(case, FAULT_OF[rule].model)


def test_a_broken_reference_is_a_failure_and_no_evidence() -> None:
    evidence, failures = run_alone(exhaust((bounded_models.MANUAL,), FAULT_OF[Rule.L_TRIGGER_4].model))
    assert evidence == []
    assert failures[0].startswith("L-TRIGGER-4: broken in 5 steps of the bounded model 'passes that wait'")
