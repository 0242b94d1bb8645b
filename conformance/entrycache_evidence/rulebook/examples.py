"""The examples of the rules: one case, or one history of several threads, a rule, written so that one learns it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from pathlib import Path
from textwrap import shorten
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from entrycache_conformance.histories import require_histories
from entrycache_conformance.judge import Coverage, LawBroken, run_reference
from entrycache_conformance.systems import SYSTEMS, system_named
from entrycache_conformance.systems.reference import reference_subject
from entrycache_evidence.core.models import OTHERS, OWN
from entrycache_evidence.core.rule_registry import Problem, locate_spec_folder
from entrycache_faults.seeded import Fault
from entrycache_protocol import case as cases
from entrycache_protocol import case as histories
from entrycache_protocol import subject
from entrycache_protocol.case import Case, History, is_history
from entrycache_protocol.errors import UsageError
from entrycache_protocol.files import read_json, write_text
from entrycache_protocol.schema import case_schema, history_schema
from entrycache_protocol.subject import HistoryEvent, HistoryResult
from entrycache_protocol.system import AnyModel
from entrycache_reference.rules import Judgement, Rule

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator


class Example(NamedTuple):
    """The example of a rule: its file's JSON object, and the case or the history that it holds."""

    rule: Rule
    value: dict[str, Any]
    asked: Case | History


def locate_examples() -> Path:
    """Where the examples stand, one file a rule."""
    return locate_spec_folder() / "examples"


def locate_example(rule: Rule) -> Path:
    """The file of a rule's example."""
    return locate_examples() / f"{rule.value}.json"


def load_example(rule: Rule) -> Example:
    """The example of a rule.

    Raises:
        UsageError: there is no such file, or it holds neither a case nor a history.
    """
    value = read_json(locate_example(rule), "the example")
    asked = histories.history_from_json(value, SYSTEMS) if is_history(value) else cases.case_from_json(value, SYSTEMS)
    return Example(rule, value, asked)


def load_examples() -> list[Example]:
    """The examples that can be read, in the order of the rules."""
    found = []
    for rule in Rule:
        try:
            found.append(load_example(rule))
        except UsageError:
            continue
    return found


def play_in_turns(history: History) -> tuple[HistoryEvent, ...]:
    """What the reference answers where the clients take turns: one of the answers that are allowed."""
    instance = require_histories(history.system).open_shared(history.config)
    ticks = itertools.count(1)
    return tuple(
        HistoryEvent(client, index, start=next(ticks), outcome=instance(op), end=next(ticks))
        for client, steps in history.parts()
        for index, op in enumerate(steps)
    )


def compute_answers(asked: Case | History) -> tuple[str, list[dict[str, Any]]]:
    """What the reference answers, and the key under which it stands in the file.

    Raises:
        LawBroken: the reference breaks a law.
    """
    written = asked.system.wire.write_outcome
    if isinstance(asked, History):
        events = play_in_turns(asked)
        return "events", [{**event._asdict(), "outcome": written(event.outcome)} for event in events]
    return "outcomes", [written(done.outcome) for done in run_reference(asked, Coverage())]


def render_example_file(example: Example) -> str:
    """The text that the example's file should have: with the reference's answers, a step a line."""
    name, told = compute_answers(example.asked)
    value = {key: part for key, part in example.value.items() if key != name} | {name: told}
    return histories.lay_out_history(value) if isinstance(example.asked, History) else cases.lay_out_case(value)


def write_answers() -> None:
    """Write the reference's answers into the examples."""
    for example in load_examples():
        write_text(locate_example(example.rule), render_example_file(example))


# --- example_faults
# What the planted faults of a rule make of its example.

FAULTS: Final = (*OWN, *OTHERS)
"""The planted faults of the reference, first the one that each rule has."""

TRIES: Final = 50
"""How often a history is played on a faulty reference: the threads of a fault that give way meet in the first few."""

PATIENCE_SECONDS: Final = 2.0
"""What a history without end is waited for; one that ends takes a few milliseconds."""


class Told(NamedTuple):
    """One step as it was answered: the JSON of its outcome (of a step that throws, what it threw), and its rows."""

    outcome: dict[str, Any]
    rows: Any


class Seen(NamedTuple):
    """Where a fault shows: the step, its right and its wrong answer; two equal ones differ in their rows."""

    fault: Fault
    at: int
    right: dict[str, Any]
    wrong: dict[str, Any]

    @property
    def in_rows(self) -> bool:
        """Whether only the rows of the step differ."""
        return self.right == self.wrong


def faults_of(rule: Rule) -> tuple[Fault, ...]:
    """The planted faults of a rule."""
    return tuple(fault for fault in FAULTS if fault.rule is rule)


def told(case: Case, model: AnyModel) -> list[Told]:
    """The steps of a model through a case, up to the first that throws."""
    state = model.initial(case.config)
    steps = []
    for op in case.steps:
        try:
            done = model.step(state, op, case.config)
        except Exception as error:  # any error of a faulty reference is its answer
            steps.append(Told({"throws": type(error).__name__}, ()))
            break
        steps.append(Told(case.system.wire.write_outcome(done.outcome), done.rows))
        state = done.state
    return steps


def told_by(fault: Fault, case: Case) -> list[Told]:
    """The same where the reference has this fault."""
    return told(case, fault.model)


def opened_by(fault: Fault, history: History) -> Any:
    """The reference for several threads where it has this fault."""
    opened: Any = require_histories(history.system).open_shared
    place = f"{opened.__module__.removeprefix(fault.package + '.')}.{opened.__name__}"
    return fault.model[place](history.config)


def events_by(fault: Fault, history: History) -> tuple[HistoryEvent, ...] | None:
    """The events of a history where the reference has this fault; None: it does not end."""
    events: list[HistoryEvent] = []
    instance = opened_by(fault, history)
    playing = Thread(target=lambda: events.extend(subject.play_history(instance, tuple(history.parts()))), daemon=True)
    playing.start()
    playing.join(PATIENCE_SECONDS)
    return None if playing.is_alive() else tuple(events)


def first_seen(example: Example) -> Seen | None:
    """The first fault of the rule that answers a step of its example's case otherwise, if none then one in rows."""
    if isinstance(example.asked, History):
        return None
    right = told(example.asked, example.asked.system.model)
    in_rows = None
    for fault in faults_of(example.rule):
        pairs = list(enumerate(zip(right, told_by(fault, example.asked), strict=False)))
        for at, (expected, got) in pairs:
            if expected.outcome != got.outcome:
                return Seen(fault, at, expected.outcome, got.outcome)
        for at, (expected, got) in pairs:
            if expected.rows != got.rows and in_rows is None:
                in_rows = Seen(fault, at, expected.outcome, got.outcome)
    return in_rows


def is_refused(fault: Fault, history: History) -> bool:
    """Whether a history breaks the rule of this fault when the faulty reference plays it."""
    ends = require_histories(history.system).ends
    for _ in range(TRIES):
        events = events_by(fault, history)
        if fault.rule in ({ends} if events is None else broken(history, events)):
            return True
    return False


def broken(history: History, events: tuple[HistoryEvent, ...]) -> set[Rule]:
    """The promises that these events break."""
    return {rule for rule, _ in _judged(history, events).broken}


def asked_for(history: History, events: tuple[HistoryEvent, ...]) -> frozenset[Rule]:
    """The promises that these events were held to."""
    return _judged(history, events).fired


def _judged(history: History, events: tuple[HistoryEvent, ...]) -> Judgement:
    judged: Judgement = require_histories(history.system).judge(
        history, HistoryResult(events), reference_subject(history.system).declaration
    )
    return judged


# --- example_check
# Whether every rule has an example that shows it.

STEPS_MAX: Final = 10
"""What is longer is no lesson."""

SHOWN_CHARACTERS: Final = 300
"""Of what the reference breaks in one."""

ROWS: Final = "in the rows only"
"""What the note says of an example whose answers are the same with every planted fault of the rule."""


def check_strays() -> list[Problem]:
    """The examples of no rule."""
    known = {locate_example(rule) for rule in Rule}
    strays = sorted(path.name for path in locate_examples().iterdir() if path not in known)
    return [Problem(f"spec/examples/{name}", "is the example of no rule") for name in strays]


def check_example(rule: Rule) -> list[Problem]:
    """What is wrong with the example of one rule."""
    if not locate_example(rule).is_file():
        return [Problem(rule.value, f"has no example: spec/examples/{rule.value}.json")]
    try:
        example = load_example(rule)
    except UsageError as error:
        return [Problem(rule.value, f"its example cannot be read: {error}")]
    try:
        return [Problem(rule.value, f"its example {what}") for check in CHECKS for what in check(example)]
    except LawBroken as error:
        return [Problem(rule.value, f"its example is none: {shorten(str(error), SHOWN_CHARACTERS, placeholder=' ..')}")]


def _fits(example: Example) -> list[str]:
    from jsonschema.exceptions import best_match  # noqa: PLC0415 - slow to import

    schema = _validator(example.asked.system.name, isinstance(example.asked, History))
    error = best_match(schema.iter_errors(example.value))
    return [] if error is None else [f"does not fit the schema: {error.message}"]


@cache
def _validator(name: str, is_history: bool) -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - slow to import

    system = system_named(name)
    return Draft202012Validator(history_schema(system) if is_history else case_schema(system))


def _is_short(example: Example) -> list[str]:
    steps = len(example.asked.steps)
    return [f"has {steps} steps, at most {STEPS_MAX} are a lesson"] if steps > STEPS_MAX else []


def _tells(example: Example) -> list[str]:
    found = []
    if list(example.asked.rules) != [example.rule.value]:
        found.append(f"names {', '.join(example.asked.rules) or 'no rule'} in `rules`")
    if not example.asked.note:
        found.append("has no note")
    norm = example.asked.system.model.config()
    same = [
        field.name
        for field in fields(norm)
        if field.name in example.value.get("config", {})
        and getattr(norm, field.name) == getattr(example.asked.config, field.name)
    ]
    return found + [f"gives {name} at its default" for name in same]


def _is_current(example: Example) -> list[str]:
    current = locate_example(example.rule).read_text(encoding="utf-8") == render_example_file(example)
    return [] if current else ["does not hold the reference's answers; `entrycache rules --write` writes them"]


def _fires(example: Example) -> list[str]:
    """The law of the rule is asked, and the reference keeps it."""
    if isinstance(example.asked, History):
        events = play_in_turns(example.asked)
        if broken(example.asked, events):
            return ["is refused though the reference played it"]
        fires = example.rule in asked_for(example.asked, events)
    else:
        coverage = Coverage()
        run_reference(example.asked, coverage)
        fires = bool(coverage.fired.get(example.rule))
    return [] if fires else ["never asks for the rule"]


def _depends(example: Example) -> list[str]:
    """A planted fault of the rule shows, if there is one."""
    faults = faults_of(example.rule)
    if isinstance(example.asked, History):
        shown = any(is_refused(fault, example.asked) for fault in faults)
        return [] if shown else ["does not depend on the rule: no faulty reference breaks it"]
    if not faults:
        return []
    seen = first_seen(example)
    if seen is None:
        return ["does not depend on the rule: with every planted fault of it the answers are the same"]
    if seen.in_rows is not (ROWS in example.asked.note):
        return [f"shows a planted fault {'' if seen.in_rows else 'not '}{ROWS}, its note says otherwise"]
    return []


CHECKS: Final[tuple[Callable[[Example], list[str]], ...]] = (
    _fits,
    _is_short,
    _tells,
    _is_current,
    _fires,
    _depends,
)
