"""The examples of the rules: one case, or one history of several threads, a rule, written so that one learns it."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, NamedTuple

from entrycache_conformance.concurrent.level import promises_of
from entrycache_conformance.judge import Coverage, trajectory
from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.rulebook.registry import spec_folder
from entrycache_protocol import case as cases
from entrycache_protocol import history as histories
from entrycache_protocol.case import Case
from entrycache_protocol.errors import UsageError
from entrycache_protocol.history import History, is_history
from entrycache_protocol.input import read_json
from entrycache_protocol.output import write_text
from entrycache_protocol.subject import Event
from entrycache_reference.rules import Rule


class Example(NamedTuple):
    """The example of a rule: its file's JSON object, and the case or the history that it holds."""

    rule: Rule
    value: dict[str, Any]
    asked: Case | History


def folder() -> Path:
    """Where the examples stand, one file a rule."""
    return spec_folder() / "examples"


def path_of(rule: Rule) -> Path:
    """The file of a rule's example."""
    return folder() / f"{rule.value}.json"


def read_example(rule: Rule) -> Example:
    """The example of a rule.

    Raises:
        UsageError: there is no such file, or it holds neither a case nor a history.
    """
    value = read_json(path_of(rule), "the example")
    asked = histories.from_json(value, SYSTEMS) if is_history(value) else cases.from_json(value, SYSTEMS)
    return Example(rule, value, asked)


def examples() -> list[Example]:
    """The examples that can be read, in the order of the rules."""
    found = []
    for rule in Rule:
        try:
            found.append(read_example(rule))
        except UsageError:
            continue
    return found


def one_after_another(history: History) -> tuple[Event, ...]:
    """What the reference answers where the clients take turns: one of the answers that are allowed."""
    instance = promises_of(history.system).open_shared(history.config)
    ticks = itertools.count(1)
    return tuple(
        Event(client, index, start=next(ticks), outcome=instance(op), end=next(ticks))
        for client, steps in history.parts()
        for index, op in enumerate(steps)
    )


def answers(asked: Case | History) -> tuple[str, list[dict[str, Any]]]:
    """What the reference answers, and the key under which it stands in the file.

    Raises:
        LawBroken: the reference breaks a law.
    """
    written = asked.system.wire.write_outcome
    if isinstance(asked, History):
        events = one_after_another(asked)
        return "events", [{**event._asdict(), "outcome": written(event.outcome)} for event in events]
    return "outcomes", [written(done.outcome) for done in trajectory(asked, Coverage())]


def text_of(example: Example) -> str:
    """The text that the example's file should have: with the reference's answers, a step a line."""
    name, told = answers(example.asked)
    value = {key: part for key, part in example.value.items() if key != name} | {name: told}
    return histories.laid_out(value) if isinstance(example.asked, History) else cases.laid_out(value)


def write_answers() -> None:
    """Write the reference's answers into the examples."""
    for example in examples():
        write_text(path_of(example.rule), text_of(example))
