"""The laws of pulsar-segmented over fixed random runs; each law alone detects the fault of its rule."""

from __future__ import annotations

import dataclasses
from typing import Final

import pytest

from entrycache_conformance.systems import system_named
from entrycache_evidence.core.models import build_check
from entrycache_evidence.pulsar_segmented.definitions import Aspect, changes, changes_outside
from entrycache_evidence.rulebook.corpus import Run, first_break, list_runs
from entrycache_faults.model import Fault
from entrycache_faults.reference.pulsar_segmented import SEEDED_FAULTS
from entrycache_reference.pulsar_segmented.config import Config, Duplicate, Mode, RangeWalk, Variants
from entrycache_reference.pulsar_segmented.laws import LAWS
from entrycache_reference.pulsar_segmented.ops import GetRange, Insert
from entrycache_reference.pulsar_segmented.outcomes import Hits
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, Position

SAMPLE: Final = SEEDED_FAULTS.own[::5]
"""A share of the seeded faults; `entrycache rules --check` tries all of them."""

SYSTEM = system_named("pulsar-segmented")


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return list(list_runs(SYSTEM))


def test_the_reference_keeps_its_laws_and_every_law_fires(runs: list[Run]) -> None:
    fired: dict[Rule, int] = {}
    assert [(run.events, rules) for run in runs if (rules := first_break(run, fired))] == []
    assert {law.rule for law in LAWS} == fired.keys() == {rule for rule in Rule if rule.value.startswith("S-")}


@pytest.mark.parametrize("fault", SAMPLE, ids=lambda fault: fault.rule.value)
def test_only_the_law_of_its_rule_detects_a_fault(fault: Fault, runs: list[Run]) -> None:
    broken = {rule for run in runs for rule in first_break(run, {}, fault.model, of_rules=True)}
    assert broken == {fault.rule}


@pytest.mark.parametrize("fault", SEEDED_FAULTS.others, ids=lambda fault: fault.note)
def test_every_variant_and_every_other_fault_breaks_its_rule(fault: Fault, runs: list[Run]) -> None:
    default_runs = [run for run in runs if run.config.variants == SYSTEM.model.variants()]
    assert any(fault.rule in first_break(run, {}, fault.model, of_rules=True) for run in default_runs)


def test_every_rule_has_a_seeded_fault() -> None:
    assert [fault.rule for fault in SEEDED_FAULTS.own] == list(SYSTEM.laws.rules)


def test_only_an_insert_changes_the_state(runs: list[Run]) -> None:
    changed = set()
    for run in runs[:40]:
        state = SYSTEM.model.initial(run.config)
        for event in run.events:
            done = SYSTEM.model.step(state, event, run.config)
            differences = changes(state, done.state)
            changed |= {aspect for aspect, _ in differences}
            assert not differences or event.name == "insert"
            assert changes_outside(state, event, done) == []
            state = done.state
    assert changed == {Aspect.ENTRIES, Aspect.OFFSET, Aspect.CURRENT}


def test_an_undeclared_change_is_detected(runs: list[Run]) -> None:
    run = next(run for run in runs if run.config.max_size_bytes)
    state = SYSTEM.model.initial(run.config)
    for event in (next(each for each in run.events if each.name == name) for name in ("insert", "observe")):
        done = SYSTEM.model.step(state, event, run.config)
        wrong = done._replace(state=done.state._replace(segment_bytes=state.segment_bytes + 1))
        assert changes_outside(state, event, wrong) == [(Aspect.SEGMENT_BYTES, ())]
        assert build_check(SYSTEM)(run.config, state, event, wrong, {}) != ()


@pytest.mark.rule("S-GET-3")
def test_s_get_3__a_one_pass_walk_returns_the_first_copy_it_finds_of_a_place() -> None:
    """The older copy of the second position follows the first one; alone, the newest copy is differences."""
    variants = Variants(duplicate=Duplicate.ROTATING, range_walk=RangeWalk.ONE_PASS)
    config = Config(300, 3, Mode.REFERENCE, variants)
    a, (first, second) = CacheName("a"), (Position(1, 0), Position(1, 1))
    state = SYSTEM.model.initial(config)
    for event in (Insert(a, first, 9, 1), Insert(a, second, 9, 2), Insert(a, second, 9, 3)):
        state = SYSTEM.model.step(state, event, config).state
    both, alone = GetRange(a, first, second), GetRange(a, second, second)
    for event, tokens, wrong in ((both, (1, 2), (1, 3)), (alone, (3,), (2,))):
        done = SYSTEM.model.step(state, event, config)
        assert done.outcome == Hits(tuple(pos for pos in (first, second) if event.first <= pos), tokens)
        assert build_check(SYSTEM)(config, state, event, done, {}) == ()
        broken = done._replace(outcome=dataclasses.replace(done.outcome, tokens=wrong))
        assert SYSTEM.laws.broken(config, state, event, broken) == (Rule.S_GET_3,)
