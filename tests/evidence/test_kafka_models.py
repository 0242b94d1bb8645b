"""Test the bounded models of `kafka-streams`: exact counts, equality of states, and seeded faults."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.core.models import FAULT_OF, build_check
from entrycache_evidence.core.scheduler import run_alone
from entrycache_evidence.kafka_streams import bounded_models
from entrycache_evidence.kafka_streams.bounded_models import BoundedModel, RelativeStates
from entrycache_evidence.model_checker import checker as refuting
from entrycache_evidence.model_checker import evidence as model_evidence
from entrycache_evidence.model_checker.checker import broken_rules, explore, state_after
from entrycache_evidence.model_checker.evidence import exhaust, refute
from entrycache_protocol.case import case_from_json, format_case
from entrycache_reference.kafka_streams import ops, step
from entrycache_reference.kafka_streams.laws import LAWS, broken
from entrycache_reference.kafka_streams.outcomes import Unanswered
from entrycache_reference.kafka_streams.state import Space, State, Store
from entrycache_reference.rules import Rule

SYSTEM = SYSTEMS["kafka-streams"]
check = build_check(SYSTEM)


@pytest.mark.parametrize(
    ("scope", "states", "transitions", "depth"),
    [
        pytest.param(bounded_models.EVERY, 796, 32636, 10, marks=pytest.mark.long),
        (bounded_models.STORE, 686, 14406, 7),
        pytest.param(bounded_models.VIEWS, 1058, 23276, 9, marks=pytest.mark.long),
        pytest.param(bounded_models.SEGMENT_WINDOWS, 834, 13344, 10, marks=pytest.mark.long),
        pytest.param(bounded_models.LOST_EVICTION, 1045, 29260, 6, marks=pytest.mark.long),
    ],
    ids=lambda value: value.name if isinstance(value, BoundedModel) else "",
)
def test_a_model_closes_with_exactly_these_counts(
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


@pytest.mark.long
def test_the_models_fire_every_law() -> None:
    fired = {
        rule for scope in bounded_models.CI for rule in explore(replace(scope, depth=4 if scope.depth else 3)).fired
    }
    assert {law.rule for law in LAWS} <= fired


def test_a_case_of_a_model_begins_with_its_first_steps() -> None:
    model = FAULT_OF[Rule.K_FLUSH_5].model
    counterexample = explore(replace(bounded_models.WIDE, depth=2), only=Rule.K_FLUSH_5, model=model).counterexample
    assert counterexample is not None
    assert counterexample.case.steps[:1] == bounded_models.WIDE.start
    assert len(counterexample.case.steps) == 3
    assert Rule.K_FLUSH_5 in broken_rules(counterexample.case, model)


def renewed(state: State, chance: random.Random) -> State:
    """Return the state with other counters and renumbered writes."""
    more = chance.randint(1, 9)
    spaces = {
        ns: space._replace(
            nodes={key: node._replace(write=more * node.write + 3) for key, node in space.nodes.items()},
            hits=space.hits + chance.randint(0, 5),
            misses=space.misses + chance.randint(0, 5),
            overwrites=space.overwrites + chance.randint(0, 5),
            flushes=space.flushes + chance.randint(0, 5),
        )
        for ns, space in state.spaces.items()
    }
    stores = {
        name: store._replace(forwarded_writes=overtaking(store, state.spaces.get(name, Space()), more))
        for name, store in state.stores.items()
    }
    return state._replace(
        spaces=spaces,
        stores=stores,
        puts=state.puts + chance.randint(0, 5),
        gets=state.gets + chance.randint(0, 5),
        evicts=state.evicts + chance.randint(0, 5),
        flushes=state.flushes + chance.randint(0, 5),
        writes=more * state.writes + 3,
    )


def overtaking(store: Store, space: Space, more: int) -> dict[str, int]:
    """Return the forwarded writes that the entry is not later than."""
    return {
        key: more * write + 3
        for key, write in store.forwarded_writes.items()
        if key in space.nodes and write >= space.nodes[key].write
    }


MODELS = pytest.mark.parametrize(
    "scope", [*bounded_models.CI, bounded_models.VAST], ids=lambda scope: scope.name.replace(" ", "-")
)


@MODELS
def test_states_held_for_the_same_behave_the_same(scope: BoundedModel) -> None:
    """A run and its copy with renewed states keep equal keys, answers and verdicts."""
    config, canon, chance = scope.config, RelativeStates(scope), random.Random(7)
    for _ in range(25):
        real = state_after(SYSTEM.model, config, scope.start)
        other = renewed(real, chance)
        for _ in range(20):
            event = chance.choice(scope.events)
            one, two = step(real, event, config), step(other, event, config)
            assert canon.key(one.state) == canon.key(two.state)
            fired: list[dict[Rule, int]] = [{}, {}]
            assert check(config, real, event, one, fired[0]) == check(config, other, event, two, fired[1]) == ()
            assert fired[0] == fired[1]
            if not isinstance(event, ops.Metrics):
                assert one.outcome == two.outcome
            if canon.follows(one):
                real, other = one.state, renewed(two.state, chance)


class Tally:
    """A counter that only reveals its growth."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, of: str, grown: int = 0) -> None:
        self.of, self.grown = of, grown

    def __add__(self, more: int) -> Tally:
        return Tally(self.of, self.grown + more)

    def __sub__(self, other: Tally | int) -> Tally | int:
        if isinstance(other, int):
            return Tally(self.of, self.grown - other)
        assert self.of == other.of
        return self.grown - other.grown

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Tally)
        assert self.of == other.of
        return self.grown == other.grown

    def __bool__(self) -> bool:
        raise TypeError("a counter was asked for its value")


def tallied(state: State) -> State:
    """Return the state with sealed counters."""
    counters = ("hits", "misses", "overwrites", "flushes")
    sealed: Callable[..., Any] = Space._replace
    spaces = {ns: sealed(space, **{name: Tally(name) for name in counters}) for ns, space in state.spaces.items()}
    thread: Callable[..., Any] = state._replace
    own = {name: Tally(f"thread {name}") for name in ("puts", "gets", "evicts", "flushes")}
    done: State = thread(spaces=spaces, **own)
    return done


@MODELS
def test_no_function_depends_on_the_value_of_a_counter(scope: BoundedModel) -> None:
    """A result for one state therefore holds for all that differ in counters only."""
    config, canon, chance = scope.config, RelativeStates(scope), random.Random(8)
    for _ in range(25):
        state = tallied(state_after(SYSTEM.model, config, scope.start))
        for _ in range(20):
            event = chance.choice(scope.events)
            done = step(state, event, config)
            assert broken(config, state, event, done) == ()
            if canon.follows(done):
                state = tallied(done.state)


def test_nothing_follows_a_step_without_an_answer() -> None:
    scope = bounded_models.RUNNING
    steps = (
        ops.Put("a", "x", "1", True),
        ops.Listen("a", (ops.Put("a", "y", None, True), ops.Get("a", "x"))),
        ops.Flush("a"),
        ops.Clear("a"),
    )
    assert set(steps) <= set(scope.events)
    state = state_after(SYSTEM.model, scope.config, steps)
    done = step(state, ops.Resize(0), scope.config)
    assert isinstance(done.outcome.answer, Unanswered)
    canon = RelativeStates(scope)
    assert not canon.follows(done)
    assert canon.follows(step(state, ops.Usage(), scope.config))
    assert not RelativeStates(replace(scope, drift_bytes=1)).follows(step(state, ops.Usage(), scope.config))


@pytest.mark.parametrize(
    ("rule", "scope", "steps"),
    [
        (Rule.K_SIZE_1, bounded_models.EVERY, 1),
        (Rule.K_PUT_3, bounded_models.EVERY, 3),
        (Rule.K_FLUSH_1, bounded_models.EVERY, 4),
        (Rule.K_METRICS_2, bounded_models.EVERY, 2),
        (Rule.K_EVICT_3, bounded_models.LISTENERS, 3),
        (Rule.K_LISTEN_2, bounded_models.TWO, 3),
        (Rule.K_RESIZE_2, bounded_models.TWO, 5),
        (Rule.K_LISTEN_3, bounded_models.SILENT, 3),
        (Rule.K_STORE_2, bounded_models.STORE, 4),
        (Rule.K_STORE_4, bounded_models.FORWARDS, 4),
        (Rule.K_FLUSH_7, bounded_models.LOST_EVICTION, 2),
        (Rule.K_METRICS_4, bounded_models.RUNNING, 2),
        (Rule.K_STORE_9, bounded_models.ONE_BY_ONE, 4),
        (Rule.K_STORE_10, bounded_models.CACHED_DELETE, 3),
        (Rule.K_VIEW_6, bounded_models.OPEN_VIEW, 5),
        (Rule.K_VIEW_7, bounded_models.OPEN_VIEW, 6),
        (Rule.K_VIEW_5, bounded_models.VIEWED_STORE, 4),
        (Rule.K_WINDOW_6, bounded_models.SEGMENT_WINDOWS, 4),
        (Rule.K_WINDOW_12, bounded_models.VIEWED_SESSIONS, 5),
    ],
    ids=lambda value: value.value if isinstance(value, Rule) else "",
)
def test_a_mutant_is_refuted_by_a_shortest_case(rule: Rule, scope: BoundedModel, steps: int) -> None:
    refutation = refute(rule, (scope,))
    assert refutation is not None
    assert refutation.scope is scope
    case = refutation.counterexample.case
    assert len(case.steps) == steps
    assert broken_rules(case) == (), "the reference itself keeps the law on this case"
    assert rule in broken_rules(case, FAULT_OF[rule].model)
    again = case_from_json(json.loads(format_case(case)), SYSTEMS)
    assert (again.steps, again.config) == (case.steps, case.config)


def test_a_broken_reference_is_a_failure_and_no_evidence() -> None:
    evidence, failures = run_alone(exhaust((bounded_models.STORE,), FAULT_OF[Rule.K_STORE_8].model))
    assert evidence == []
    assert len(failures) == 1
    assert failures[0].startswith(
        "K-STORE-8: broken in 4 steps of the bounded model 'a store, nothing done downstream'"
    )


def test_a_law_whose_mutant_is_not_refuted_gives_no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    scope = replace(bounded_models.EVERY, depth=1)
    harmless = replace(FAULT_OF[Rule.K_SHARE_1], replaced={})
    own = {Rule.K_SHARE_1: harmless, Rule.K_GET_3: FAULT_OF[Rule.K_GET_3]}
    monkeypatch.setattr(model_evidence.models, "FAULT_OF", own)
    monkeypatch.setattr(refuting, "DEPTH_OF_FAULTS", 1)
    evidence, failures = run_alone(exhaust((scope,)))
    assert [item.rule for item in evidence] == [Rule.K_GET_3]
    assert failures == ["K-SHARE-1: no bounded model detects its seeded fault, so nothing is shown about it"]
