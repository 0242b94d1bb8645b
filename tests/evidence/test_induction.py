"""Test the lemmas of z3: they follow the table and the model, and fail if they do not hold."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

z3 = pytest.importorskip("z3", reason="needs the Python package z3-solver")

from entrycache_evidence.core.models import FAULT_OF  # noqa: E402
from entrycache_evidence.core.scheduler import run_alone  # noqa: E402
from entrycache_evidence.induction import lemma as lemmas  # noqa: E402
from entrycache_evidence.induction import symbolic  # noqa: E402
from entrycache_evidence.induction.lemma import (  # noqa: E402
    Lemma,
    LemmaFault,
    Obligation,
    build_term_model,
    is_fault_refuted,
    is_unsatisfiable,
    list_problems,
)
from entrycache_evidence.induction.symbolic import Term, merge_paths, paths  # noqa: E402
from entrycache_evidence.kafka_streams import loop_lemmas, size_lemmas  # noqa: E402
from entrycache_evidence.pulsar_legacy import lemmas as legacy_lemmas  # noqa: E402
from entrycache_evidence.pulsar_pip430.induction import decision, shapes, steps  # noqa: E402
from entrycache_evidence.pulsar_pip430.induction.decision import Decision  # noqa: E402
from entrycache_evidence.pulsar_segmented import lemmas as segmented_lemmas  # noqa: E402
from entrycache_evidence.run import list_lemmas, prove_lemmas  # noqa: E402
from entrycache_evidence.systems import SYSTEM_EVIDENCE  # noqa: E402
from entrycache_faults.model import Model  # noqa: E402
from entrycache_reference.pulsar_pip430 import ops  # noqa: E402
from entrycache_reference.pulsar_pip430.config import Config  # noqa: E402
from entrycache_reference.pulsar_pip430.decision import DECISION  # noqa: E402
from entrycache_reference.pulsar_pip430.state import Step  # noqa: E402
from entrycache_reference.rules import Rule  # noqa: E402
from entrycache_reference.vocabulary import CacheName, Position  # noqa: E402

LEMMAS = list_lemmas()


@pytest.mark.long  # `prove` proves them in the demo
@pytest.mark.parametrize("lemma", LEMMAS, ids=lambda lemma: lemma.rule.value)
def test_a_lemma_is_proved_and_refutes_its_fault(lemma: Lemma) -> None:
    assert list_problems(lemma) == []


ONE_A_MODULE = [
    importlib.import_module(module).LEMMAS[-1] for entry in SYSTEM_EVIDENCE.values() for module in entry.lemmas
]


@pytest.mark.parametrize(
    "lemma",
    [
        pytest.param(lemma, marks=() if lemma in ONE_A_MODULE else pytest.mark.long)
        for lemma in LEMMAS
        if lemma.fault.table is None
    ],
    ids=lambda lemma: lemma.rule.value,
)
def test_with_its_fault_in_the_reference_a_lemma_is_not_proved(lemma: Lemma, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lemmas, "reference_model", lambda package: lemma.fault.model)
    evidence, failures = run_alone(prove_lemmas([lemma]))
    assert evidence == []
    assert any("not proved" in line for line in failures)


def test_a_changed_table_gives_a_counterexample() -> None:
    changed = decision.change_cell(Rule.REQUEUE_2, "spare", None)
    take = Decision(changed.table, decision.PULSAR)
    overdrawn = z3.And(take.head.sane, take.for_reads, take.requeues_after > take.head.most)
    assert is_unsatisfiable(overdrawn) is False
    reference = Decision(DECISION, decision.PULSAR)
    assert (
        is_unsatisfiable(
            z3.And(reference.head.sane, reference.for_reads, reference.requeues_after > reference.head.most)
        )
        is True
    )


def test_a_fault_that_changes_nothing_is_not_refuted() -> None:
    within = next(lemma for lemma in LEMMAS if lemma.rule is Rule.REQUEUE_6)
    harmless = within._replace(fault=LemmaFault("nothing", decision.PULSAR))
    assert not is_fault_refuted(harmless)
    assert list_problems(harmless) == ["R-REQUEUE-6: the seeded fault is not refuted: nothing"]


def test_assumptions_that_cannot_be_met_prove_nothing() -> None:
    void = Lemma(
        Rule.REQUEUE_6,
        "",
        lambda lines, model: [Obligation("void", z3.BoolVal(False), z3.BoolVal(False))],
        decision.change_cell(Rule.REQUEUE_2, "spare", None),
    )
    assert "R-REQUEUE-6: void: its assumptions cannot be satisfied" in list_problems(void)
    assert run_alone(prove_lemmas([void]))[0] == []


def test_a_question_that_z3_gives_up_is_reported_as_unfinished(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is a cost bound, so a slow machine finishes the same lemmas."""
    monkeypatch.setattr(lemmas, "COST_BOUND", 1)
    (line, *_) = list_problems(LEMMAS[0])
    assert line.endswith("not finished: z3 gave up after 1 units of work")


def test_every_branch_of_a_function_is_followed() -> None:
    number = Term(z3.Int("number"))

    def sign() -> int:
        if number < 0:
            return -1
        return 1 if number > 0 else 0

    assert sorted(answer for _, answer in paths(sign)) == [-1, 0, 1]
    as_term = merge_paths(sign)
    assert is_unsatisfiable(z3.And(number.term == 7, as_term != 1)) is True


class _GivesUp:
    """A solver that never knows an answer."""

    def check(self, term: object) -> Any:
        return z3.unknown

    def add(self, *terms: object) -> None:
        """Take terms."""

    push = pop = add


def test_a_branch_of_which_z3_knows_nothing_is_followed_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbolic.Assumptions, "solver", lambda self, further: _GivesUp())
    monkeypatch.setattr(symbolic, "_branch_answers", {})
    number = Term(z3.Int("a number of this test"))
    assert sorted(answer for _, answer in paths(lambda: bool(number > 7), z3.BoolVal(True))) == [False, True]


def test_only_a_lemma_about_a_loop_covers_all_sizes() -> None:
    """A bound on its turns must refute such a lemma."""
    assert {lemma.covers == lemmas.ALL_SIZES for lemma in LEMMAS if not lemma.loop} == {False}


def test_the_facts_come_from_the_functions_of_the_model() -> None:
    for model, is_refuted in ((FAULT_OF[Rule.REQUEUE_8].model, False), (decision.PULSAR, True)):
        take = Decision(DECISION, model)
        assert is_unsatisfiable(z3.And(take.for_reads, take.head.count == 0)) is is_refuted


@pytest.mark.parametrize(
    "place", ["change.bytes_of", "namespaces.book_bytes", "entries.book_bytes", "namespaces.book_change"]
)
def test_a_total_that_is_not_kept_has_a_counterexample(place: str) -> None:
    """Each place that changes the running total matters to some operation."""
    wrong = {
        "bytes_of": lambda state, own: 0,
        "book_bytes": lambda before, after, *_: after,
        "book_change": lambda before, done, *_: done,
    }
    model = Model("entrycache_reference.kafka_streams", {place: wrong[place.rpartition(".")[2]]})
    total = next(lemma for lemma in size_lemmas.SUM_LEMMAS if lemma.rule is Rule.K_METRICS_4)
    assert any(
        is_unsatisfiable(z3.And(given, z3.Not(goal))) is False for _, given, goal in total.obligations(DECISION, model)
    )


def test_a_built_in_function_is_replaced_in_one_module_only() -> None:
    model = Model(decision.PULSAR.package, {"decision.int": lambda number: 7})
    assert model["decision.trigger_bytes"](model.initial(Config())) == 7
    assert model["laws.law.trigger_of"](model.initial(Config())) == int(Config().max_size_bytes * 0.98)
    with pytest.raises(KeyError):
        Model(decision.PULSAR.package, {"decision.nothing": 7})


def test_the_helpers_of_a_seeded_fault_call_the_model_too() -> None:
    def none_left(*passed: object) -> Step:
        raise LookupError

    model = build_term_model(FAULT_OF[Rule.TRIGGER_2].model, {"passes.run_pass": none_left})
    config = Config(max_size_bytes=100, watermark=0.5)
    with pytest.raises(LookupError):
        model.step(model.initial(config), ops.Insert(CacheName("a"), Position(0, 0), 98), config)


def test_any_pass_is_as_many_passes_as_there_may_be() -> None:
    """Otherwise the proofs of operations that run a pass would cover only a few passes."""
    cycle = next(case for case in steps.CASES if case.op.name == "cycle" and case.shape.name == "the entry first")
    done = [step for _, step in steps.paths_of_case(decision.PULSAR, cycle)]
    left = {frozenset(slot for slot in step.state.queue if slot is not None) for step in done}
    assert len(left) == 2**3
    assert {len(step.parts) for step in done} == {1, 2}
    assert any(step.parts[0].step.state.queue[-1] == shapes.X for step in done)


def numbers_of(term: Any) -> Iterator[Any]:
    """Yield the numbers that a term asks for."""
    if z3.is_const(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED and z3.is_arith(term):
        yield term
    for part in term.children():
        yield from numbers_of(part)


CALLS = loop_lemmas.CALL_LEMMAS[:2]


def assumptions() -> dict[str, Iterable[Any]]:
    """Return what the lemmas about single steps assume of the states before."""
    return {
        "pulsar-pip430": [shapes.build_constraints(shape.state()) for shape in (*shapes.SHAPES, shapes.CURSOR_LEFT)],
        "kafka-streams": [size_lemmas.SIZES, *(one.given for call in CALLS for one in call.of_reference())],
        "pulsar-legacy": {id(case.given): case.given for case in legacy_lemmas.LAW_CASES.cases}.values(),
        "pulsar-segmented": {id(case.given): case.given for case in segmented_lemmas.LAW_CASES.cases}.values(),
    }


@pytest.mark.parametrize("name", SYSTEM_EVIDENCE)
def test_what_lemmas_assume_bounds_no_number(name: str) -> None:
    """An assumption that is too narrow would prove as well."""
    count = 0
    for given in assumptions()[name]:
        for number in {each.get_id(): each for each in numbers_of(given)}.values():
            is_empty = str(number).endswith("bytes") and is_unsatisfiable(z3.And(given, number != 0))
            assert is_empty or is_unsatisfiable(z3.And(given, number > 10**15)) is False, number
            count += not is_empty
    assert count
