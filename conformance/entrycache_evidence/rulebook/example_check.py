"""Whether every rule has an example that shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from textwrap import shorten
from typing import TYPE_CHECKING, Final

from entrycache_conformance.judge import Coverage, LawBroken, trajectory
from entrycache_conformance.systems import system_named
from entrycache_evidence.rulebook.example import Example, folder, one_after_another, path_of, read_example, text_of
from entrycache_evidence.rulebook.example_faults import asked_for, broken, faults_of, first_seen, is_refused
from entrycache_evidence.rulebook.problem import Problem
from entrycache_protocol.errors import UsageError
from entrycache_protocol.history import History
from entrycache_protocol.schema import case_schema, history_schema
from entrycache_reference.rules import Rule

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

STEPS_MAX: Final = 10
"""What is longer is no lesson."""

SHOWN_CHARACTERS: Final = 300
"""Of what the reference breaks in one."""

ROWS: Final = "in the rows only"
"""What the note says of an example whose answers are the same with every planted fault of the rule."""


def check_strays() -> list[Problem]:
    """The examples of no rule."""
    known = {path_of(rule) for rule in Rule}
    strays = sorted(path.name for path in folder().iterdir() if path not in known)
    return [Problem(f"spec/examples/{name}", "is the example of no rule") for name in strays]


def check_example(rule: Rule) -> list[Problem]:
    """What is wrong with the example of one rule."""
    if not path_of(rule).is_file():
        return [Problem(rule.value, f"has no example: spec/examples/{rule.value}.json")]
    try:
        example = read_example(rule)
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
    current = path_of(example.rule).read_text(encoding="utf-8") == text_of(example)
    return [] if current else ["does not hold the reference's answers; `entrycache rules --write` writes them"]


def _fires(example: Example) -> list[str]:
    """The law of the rule is asked, and the reference keeps it."""
    if isinstance(example.asked, History):
        events = one_after_another(example.asked)
        if broken(example.asked, events):
            return ["is refused though the reference played it"]
        fires = example.rule in asked_for(example.asked, events)
    else:
        coverage = Coverage()
        trajectory(example.asked, coverage)
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
