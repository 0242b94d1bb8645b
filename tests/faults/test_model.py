"""A model is the reference with some functions replaced; the reference itself does not change."""

from __future__ import annotations

import dataclasses
import random
import sys
from collections.abc import Iterator
from functools import partial
from types import ModuleType
from typing import Any

import pytest

from entrycache_conformance.generate import make_case
from entrycache_conformance.judge import Coverage
from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.core.models import FAULT_OF
from entrycache_faults.model import Model
from entrycache_faults.reference import kafka_streams, pulsar_pip430
from entrycache_protocol.declaration import Declaration
from entrycache_reference.pulsar_pip430 import Config, change, initial, manager, ops, step
from entrycache_reference.pulsar_pip430.outcomes import Hit
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, Position

PULSAR = pulsar_pip430.SEEDED_FAULTS.package
KAFKA = kafka_streams.SEEDED_FAULTS.package
A = CacheName("a")
AT = Position(1, 0)
CASES = 25


def cases(name: str) -> Iterator[Any]:
    system = SYSTEMS[name]
    source = random.Random(11)
    declaration = Declaration(system, frozenset(system.ops), payload=True)
    for _ in range(CASES):
        menu = system.cases.menu(system.ops)
        case = make_case(source.randint, declaration, menu, Coverage(), 25).case
        if name == "kafka-streams":  # the outcome of nested re-entries doubles with each of them
            case = dataclasses.replace(case, config=dataclasses.replace(case.config, reentry_budget=2))
        yield case


@pytest.mark.long
@pytest.mark.parametrize(("name", "package"), [("pulsar-pip430", PULSAR), ("kafka-streams", KAFKA)])
def test_a_model_without_replacements_equals_the_reference(name: str, package: str) -> None:
    model = Model(package)
    for case in cases(name):
        reference = case.system.model
        state = reference.initial(case.config)
        assert model.initial(case.config) == state
        for op in case.steps:  # from one state, so that large parts of both next states are the same object
            done = reference.step(state, op, case.config)
            assert model.step(state, op, case.config) == done
            state = done.state


def contents() -> dict[str, Any]:
    """Return the contents of all modules of the references."""
    return {
        f"{name}.{key}": value
        for name, module in sys.modules.items()
        if name.startswith("entrycache_reference.") and isinstance(module, ModuleType)
        for key, value in vars(module).items()
    }


def test_the_reference_does_not_change() -> None:
    before = contents()
    for fault in (
        *pulsar_pip430.SEEDED_FAULTS,
        *pulsar_pip430.decision_flips(),
        *kafka_streams.SEEDED_FAULTS,
        *kafka_streams.SEEDED_THREAD_FAULTS,
    ):
        assert fault.model.step is not None
    after = contents()
    assert before.keys() == after.keys()
    assert [name for name, value in before.items() if after[name] is not value] == []


def test_two_models_do_not_disturb_each_other() -> None:
    steps = (ops.Insert(A, AT, 0), ops.Get(A, AT), ops.Observe())
    one, other = FAULT_OF[Rule.READ_1].model, FAULT_OF[Rule.READ_2].model
    states = [model.initial(Config()) for model in (one, other)]
    answers = []
    for op in steps:  # in turn, step by step
        done = [model.step(state, op, Config()) for model, state in zip((one, other), states, strict=True)]
        states = [each.state for each in done]
        answers.append([each.outcome for each in done])
    assert answers[1] == [Hit(False), Hit(True)]
    assert [state.caches[A].entries[AT].accessed for state in states] == [True, False]


def test_a_defined_function_is_replaced_everywhere_and_an_imported_one_in_its_module() -> None:
    def nothing(*args: Any) -> None:
        return None

    everywhere = Model(PULSAR, {"change.entry_at": nothing})
    assert everywhere["entries.entry_at"] is everywhere["storage_reads.entry_at"] is nothing
    there = Model(PULSAR, {"entries.entry_at": nothing})
    assert there["entries.entry_at"] is nothing
    assert there["storage_reads.entry_at"] is there["change.entry_at"] is not change.entry_at


def test_an_operation_is_replaced_where_steps_are_dispatched_only() -> None:
    def refuse(state: Any, event: Any, config: Any) -> Any:
        raise AssertionError

    model = Model(PULSAR, {ops.Insert: refuse})
    with pytest.raises(AssertionError):
        model.step(model.initial(Config()), ops.Insert(A, AT, 1), Config())
    fills = ops.Read(A, AT, AT, 2)
    assert model.step(model.initial(Config()), fills, Config()) == step(initial(Config()), fills, Config())


def test_an_unknown_place_is_an_error() -> None:
    with pytest.raises(KeyError, match="gone"):
        Model(PULSAR, {"entries.gone": 1})


def test_functions_in_tables_closures_and_partials_are_the_models_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def offering() -> Any:
        offer = manager.offer

        def inner(*args: Any) -> Any:
            return offer(*args)

        inner.__module__ = manager.__name__
        return inner

    held = {"closure": offering(), "partial": partial(manager.offer, 1), "tuple": (1, [manager.offer])}
    monkeypatch.setattr(manager, "HELD", held, raising=False)

    def mine(*args: Any) -> str:
        return "mine"

    own = Model(PULSAR, {"manager.offer": mine})["manager.HELD"]
    assert own["closure"]() == "mine"
    assert own["partial"].func is mine
    assert own["tuple"] == (1, [mine])


def test_each_fault_has_a_sentence_and_a_place() -> None:
    for fault in (*pulsar_pip430.SEEDED_FAULTS, *kafka_streams.SEEDED_FAULTS, *kafka_streams.SEEDED_THREAD_FAULTS):
        assert fault.note.endswith(".")
        assert fault.replaced


def test_every_rule_has_one_fault_of_its_own() -> None:
    own = [fault.rule for faults in (pulsar_pip430.SEEDED_FAULTS, kafka_streams.SEEDED_FAULTS) for fault in faults.own]
    assert len(own) == len(set(own))
