"""An example as a table: each step, what is asked and what is answered, and what a planted fault makes of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from entrycache_evidence.rulebook.example import Example, answers
from entrycache_evidence.rulebook.example_faults import Seen, faults_of, first_seen
from entrycache_evidence.rulebook.example_words import words
from entrycache_protocol.history import History


class Line(NamedTuple):
    """One step: its number (of a history, who asks), what is asked, what is answered."""

    who: str
    asked: str
    answered: str


def settings(example: Example) -> str:
    """The configuration and the variants in words; empty where both are the defaults."""
    given = example.value.get("config", {}) | example.value.get("variants", {})
    return words(given) if given else ""


def lines(example: Example) -> list[Line]:
    """The table."""
    told = answers(example.asked)[1]
    if isinstance(example.asked, History):
        return [_line_of_history(example, event) for event in told]
    steps = example.value["steps"]
    return [Line(str(at), words(step), words(got)) for at, (step, got) in enumerate(zip(steps, told, strict=True))]


def _line_of_history(example: Example, event: dict[str, Any]) -> Line:
    parts = {-1: "before", len(example.value["clients"]): "after"}
    client = event["client"]
    steps = example.value[parts[client]] if client in parts else example.value["clients"][client]
    return Line(parts.get(client, f"thread {client}"), words(steps[event["step"]]), words(event["outcome"]))


def fault(example: Example) -> str:
    """What a planted fault of the rule is, and how it shows; empty where the rule has none."""
    if isinstance(example.asked, History):
        return f"{faults_of(example.rule)[0].note} The threads do not keep the promise then."
    seen = first_seen(example)
    return "" if seen is None else f"{seen.fault.note} {_shown(seen)}"


def _shown(seen: Seen) -> str:
    if seen.in_rows:
        return f"Step {seen.at} is answered the same; its rows differ."
    if seen.wrong.keys() != seen.right.keys():
        return f"Step {seen.at} then answers: {words(seen.wrong)}."
    otherwise = {name: part for name, part in seen.wrong.items() if part != seen.right[name]}
    return f"Step {seen.at} then answers: {words(otherwise)}."
