"""Load the examples of the rules, play them on seeded faults, and check them.

Each rule has one example, a case or a history of several threads in `spec/examples`, which holds the reference's
answers. `find_first_effect` finds a seeded fault that changes an answer. `check_example` checks that an example fits
its schema, is short, fires its rule, depends on it, and holds the current answers.
"""

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
from entrycache_conformance.systems import SYSTEMS, reference, system_named
from entrycache_evidence.core import checkout, models, rule_registry
from entrycache_faults.model import Fault
from entrycache_protocol import case as cases
from entrycache_protocol import case as histories
from entrycache_protocol import errors, files, subject
from entrycache_protocol.case import Case, History, is_history
from entrycache_protocol.schema import case_schema, history_schema
from entrycache_protocol.subject import HistoryEvent, HistoryResult
from entrycache_protocol.system import AnyModel
from entrycache_reference.rules import Judgement, Rule

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator


class Example(NamedTuple):
    """The example of a rule: the JSON object of its file, and the case or the history that it holds."""

    rule: Rule
    value: dict[str, Any]
    content: Case | History


def locate_examples() -> Path:
    """Return the folder of the examples, which has one file for each rule."""
    return checkout.locate_spec_folder() / "examples"


def locate_example(rule: Rule) -> Path:
    """Return the file of a rule's example."""
    return locate_examples() / f"{rule.value}.json"


def load_example(rule: Rule) -> Example:
    """Load the example of a rule.

    Raises:
        UsageError: there is no such file, or it holds neither a case nor a history.
    """
    value = files.read_json(locate_example(rule), "the example")
    content = histories.history_from_json(value, SYSTEMS) if is_history(value) else cases.case_from_json(value, SYSTEMS)
    return Example(rule, value, content)


def load_examples() -> list[Example]:
    """Load every readable example, in the order of the rules."""
    examples = []
    for rule in Rule:
        try:
            examples.append(load_example(rule))
        except errors.UsageError:
            continue
    return examples


def play_in_turns(history: History) -> tuple[HistoryEvent, ...]:
    """Play a history with clients that take turns: its answers are among the allowed ones."""
    instance = require_histories(history.system).open_shared(history.config)
    ticks = itertools.count(1)
    return tuple(
        HistoryEvent(client, index, start=next(ticks), outcome=instance(op), end=next(ticks))
        for client, steps in history.parts()
        for index, op in enumerate(steps)
    )


def compute_answers(content: Case | History) -> tuple[str, list[dict[str, Any]]]:
    """Return the key of the answers in the file, and the reference's answers.

    Raises:
        LawBroken: the reference breaks a law.
    """
    written = content.system.wire.write_outcome
    if isinstance(content, History):
        events = play_in_turns(content)
        return "events", [{**event._asdict(), "outcome": written(event.outcome)} for event in events]
    return "outcomes", [written(done.outcome) for done in run_reference(content, Coverage())]


def render_example_file(example: Example) -> str:
    """Render the file of an example with the reference's answers, one step in a line."""
    name, answers = compute_answers(example.content)
    value = {key: part for key, part in example.value.items() if key != name} | {name: answers}
    return histories.lay_out_history(value) if isinstance(example.content, History) else cases.lay_out_case(value)


def write_answers() -> None:
    """Write the reference's answers into the examples."""
    for example in load_examples():
        files.write_text(locate_example(example.rule), render_example_file(example))


# --- Examples on seeded faults

FAULTS: Final = (*models.RULE_FAULTS, *models.OTHER_FAULTS)
"""The seeded faults of the reference, first the one of each rule."""

TRIES: Final = 50
"""The number of times that a history is played on a faulty reference; threads meet in the first few."""

ENDLESS_SECONDS: Final = 2.0
"""The time that a history may take before it counts as endless; others take a few milliseconds."""


class AnsweredStep(NamedTuple):
    """One step with its outcome as JSON, or the error that it throws, and its rows."""

    outcome: dict[str, Any]
    rows: Any


class FaultEffect(NamedTuple):
    """The step at which a fault shows, with the right and the wrong answer; equal answers differ in their rows."""

    fault: Fault
    at: int
    right: dict[str, Any]
    wrong: dict[str, Any]

    @property
    def in_rows(self) -> bool:
        """The condition that only the rows of the step differ."""
        return self.right == self.wrong


def list_faults(rule: Rule) -> tuple[Fault, ...]:
    """Return the seeded faults of a rule."""
    return tuple(fault for fault in FAULTS if fault.rule is rule)


def play_case(case: Case, model: AnyModel) -> list[AnsweredStep]:
    """Play a case on a model, up to the first step that throws."""
    state = model.initial(case.config)
    steps = []
    for op in case.steps:
        try:
            done = model.step(state, op, case.config)
        except Exception as error:  # any error of a faulty reference is its answer
            steps.append(AnsweredStep({"throws": type(error).__name__}, ()))
            break
        steps.append(AnsweredStep(case.system.wire.write_outcome(done.outcome), done.rows))
        state = done.state
    return steps


def play_case_with_fault(fault: Fault, case: Case) -> list[AnsweredStep]:
    """Play a case on the reference with this fault."""
    return play_case(case, fault.model)


def open_with_fault(fault: Fault, history: History) -> Any:
    """Open the reference for several threads with this fault."""
    opened: Any = require_histories(history.system).open_shared
    place = f"{opened.__module__.removeprefix(fault.package + '.')}.{opened.__name__}"
    return fault.model[place](history.config)


def play_history_with_fault(fault: Fault, history: History) -> tuple[HistoryEvent, ...] | None:
    """Play a history on the reference with this fault; return its events, or None if it does not end."""
    events: list[HistoryEvent] = []
    instance = open_with_fault(fault, history)
    playing = Thread(target=lambda: events.extend(subject.play_history(instance, tuple(history.parts()))), daemon=True)
    playing.start()
    playing.join(ENDLESS_SECONDS)
    return None if playing.is_alive() else tuple(events)


def find_first_effect(example: Example) -> FaultEffect | None:
    """Find the first fault of the rule that changes an answer of the example, or else one that changes rows."""
    if isinstance(example.content, History):
        return None
    right = play_case(example.content, example.content.system.model)
    in_rows = None
    for fault in list_faults(example.rule):
        pairs = list(enumerate(zip(right, play_case_with_fault(fault, example.content), strict=False)))
        for at, (expected, got) in pairs:
            if expected.outcome != got.outcome:
                return FaultEffect(fault, at, expected.outcome, got.outcome)
        for at, (expected, got) in pairs:
            if expected.rows != got.rows and in_rows is None:
                in_rows = FaultEffect(fault, at, expected.outcome, got.outcome)
    return in_rows


def is_refused(fault: Fault, history: History) -> bool:
    """Return whether the history breaks the rule of this fault on the faulty reference."""
    ends = require_histories(history.system).ends
    for _ in range(TRIES):
        events = play_history_with_fault(fault, history)
        if fault.rule in ({ends} if events is None else broken_promises(history, events)):
            return True
    return False


def broken_promises(history: History, events: tuple[HistoryEvent, ...]) -> set[Rule]:
    """Return the promises that these events break."""
    return {rule for rule, _ in _judge_history(history, events).broken}


def fired_promises(history: History, events: tuple[HistoryEvent, ...]) -> frozenset[Rule]:
    """Return the promises that these events were held to."""
    return _judge_history(history, events).fired


def _judge_history(history: History, events: tuple[HistoryEvent, ...]) -> Judgement:
    judged: Judgement = require_histories(history.system).judge(
        history, HistoryResult(events), reference.reference_subject(history.system).declaration
    )
    return judged


# --- The check of examples

STEPS_MAX: Final = 10
"""The greatest number of steps of an example."""

SHOWN_CHARACTERS: Final = 300
"""The greatest length of a quoted broken law."""

ROWS: Final = "in the rows only"
"""The words in the note of an example that only rows tell from the seeded faults of its rule."""


def check_strays() -> list[rule_registry.Problem]:
    """Return a problem for each example without a rule."""
    known = {locate_example(rule) for rule in Rule}
    strays = sorted(path.name for path in locate_examples().iterdir() if path not in known)
    return [rule_registry.Problem(f"spec/examples/{name}", "is the example of no rule") for name in strays]


def check_example(rule: Rule) -> list[rule_registry.Problem]:
    """Return the problems of the example of one rule."""
    if not locate_example(rule).is_file():
        return [rule_registry.Problem(rule.value, f"has no example: spec/examples/{rule.value}.json")]
    try:
        example = load_example(rule)
    except errors.UsageError as error:
        return [rule_registry.Problem(rule.value, f"its example cannot be read: {error}")]
    try:
        return [rule_registry.Problem(rule.value, f"its example {what}") for check in CHECKS for what in check(example)]
    except LawBroken as error:
        return [
            rule_registry.Problem(
                rule.value, f"its example breaks a law: {shorten(str(error), SHOWN_CHARACTERS, placeholder=' ..')}"
            )
        ]


def _fits(example: Example) -> list[str]:
    from jsonschema.exceptions import best_match  # noqa: PLC0415 - slow to import

    schema = _validator(example.content.system.name, isinstance(example.content, History))
    error = best_match(schema.iter_errors(example.value))
    return [] if error is None else [f"does not fit the schema: {error.message}"]


@cache
def _validator(name: str, is_history: bool) -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - slow to import

    system = system_named(name)
    return Draft202012Validator(history_schema(system) if is_history else case_schema(system))


def _is_short(example: Example) -> list[str]:
    steps = len(example.content.steps)
    return [f"has {steps} steps, expected at most {STEPS_MAX}"] if steps > STEPS_MAX else []


def _repeats_defaults(example: Example) -> list[str]:
    problems = []
    if list(example.content.rules) != [example.rule.value]:
        problems.append(f"names {', '.join(example.content.rules) or 'no rule'} in `rules`")
    if not example.content.note:
        problems.append("has no note")
    default_config = example.content.system.model.config()
    same = [
        field.name
        for field in fields(default_config)
        if field.name in example.value.get("config", {})
        and getattr(default_config, field.name) == getattr(example.content.config, field.name)
    ]
    return problems + [f"gives {name} at its default" for name in same]


def _is_current(example: Example) -> list[str]:
    current = locate_example(example.rule).read_text(encoding="utf-8") == render_example_file(example)
    return [] if current else ["does not hold the reference's answers; `entrycache rules --write` writes them"]


def _fires(example: Example) -> list[str]:
    """Check that the law of the rule fires and holds."""
    if isinstance(example.content, History):
        events = play_in_turns(example.content)
        if broken_promises(example.content, events):
            return ["is refused although the reference played it"]
        fires = example.rule in fired_promises(example.content, events)
    else:
        coverage = Coverage()
        run_reference(example.content, coverage)
        fires = bool(coverage.fired.get(example.rule))
    return [] if fires else ["never fires the rule"]


def _depends(example: Example) -> list[str]:
    """Check that a seeded fault of the rule changes the example, if there is one."""
    faults = list_faults(example.rule)
    if isinstance(example.content, History):
        is_broken = any(is_refused(fault, example.content) for fault in faults)
        return [] if is_broken else ["does not depend on the rule: no faulty reference breaks it"]
    if not faults:
        return []
    effect = find_first_effect(example)
    if effect is None:
        return ["does not depend on the rule: with every seeded fault of it the answers are the same"]
    if effect.in_rows is not (ROWS in example.content.note):
        return [f"shows a seeded fault {'' if effect.in_rows else 'not '}{ROWS}, its note says otherwise"]
    return []


CHECKS: Final[tuple[Callable[[Example], list[str]], ...]] = (
    _fits,
    _is_short,
    _repeats_defaults,
    _is_current,
    _fires,
    _depends,
)
