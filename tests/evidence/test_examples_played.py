"""Play the examples of the rules on our fast caches, in process and through the protocol."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Final

import pytest

from entrycache_conformance.histories import HistoryCounts, judge_history
from entrycache_conformance.judge import Coverage, Difference, answer_case, judge, run_reference
from entrycache_conformance.resolve import open_in_process
from entrycache_conformance.subjects.child import Child
from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.rulebook.examples import load_examples
from entrycache_protocol.case import Case, History, variants_to_json
from entrycache_protocol.subject import Answer, TestedSubject
from entrycache_reference.rules import Rule

CASES: Final = {example.rule: example.content for example in load_examples() if isinstance(example.content, Case)}
HISTORIES: Final = {
    example.rule: example.content for example in load_examples() if isinstance(example.content, History)
}
OF_VARIANTS: Final = [rule for rule, case in CASES.items() if variants_to_json(case.config)]
"""The rules whose examples set a variant; our fast caches have the default behaviour only."""

BY_SYSTEM: Final = pytest.mark.parametrize("system", [name for name, each in SYSTEMS.items() if each.fast is not None])


def fast(system: str) -> TestedSubject:
    subject = open_in_process("fast", system)
    assert subject is not None
    return subject


def default_cases(system: str) -> dict[Rule, Case]:
    """Return the examples of the default behaviour."""
    return {rule: case for rule, case in CASES.items() if case.system.name == system and rule not in OF_VARIANTS}


def difference(subject: TestedSubject, case: Case, answer: Answer) -> Difference | None:
    return judge(case, run_reference(case, Coverage()), answer, subject.declaration)


def test_each_rule_is_played() -> None:
    assert {*CASES, *HISTORIES} == set(Rule)


@BY_SYSTEM
def test_the_fast_cache_answers_as_the_examples_say(system: str) -> None:
    subject, cases = fast(system), default_cases(system)
    answers = zip(cases, subject.play(list(cases.values())), strict=True)
    assert {rule: part for rule, got in answers if (part := difference(subject, cases[rule], got))} == {}


@BY_SYSTEM
def test_a_process_that_speaks_the_protocol_answers_as_the_examples_say(system: str) -> None:
    cases = default_cases(system)
    command = [sys.executable, "-m", "entrycache_cli", "serve", "fast", "--system", system]
    subject = Child(command, system, timeout_seconds=60.0)
    try:
        answers = zip(cases, subject.play(list(cases.values())), strict=True)
        assert {rule: part for rule, got in answers if (part := difference(subject, cases[rule], got))} == {}
    finally:
        subject.close()


@pytest.mark.parametrize("rule", OF_VARIANTS)
def test_a_variant_answers_differently_from_the_default(rule: Rule) -> None:
    """Our fast caches have the default behaviour; a system without one is played by the reference."""
    case = CASES[rule]
    if case.system.fast is not None:
        subject = fast(case.system.name)
        assert difference(subject, case, answer_case(subject, case)) is not None
    default = replace(case, config=replace(case.config, variants=case.system.model.variants()))
    assert outcomes(default) != outcomes(case)


def outcomes(case: Case) -> list[object]:
    return [done.outcome for done in run_reference(case, Coverage())]


@pytest.mark.parametrize("rule", HISTORIES)
def test_the_fast_cache_keeps_the_promises_to_threads(rule: Rule) -> None:
    history = HISTORIES[rule]
    subject = fast(history.system.name)
    tally = HistoryCounts()
    assert judge_history(subject, history, subject.play_histories([history])[0], tally) is None
    assert tally.fired[rule]
