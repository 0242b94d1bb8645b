"""Render examples: short words for JSON, and tables of steps.

`describe_json` renders a step or an answer in a few words. `tabulate_steps` makes a table of an example from them,
`describe_fault` says what a seeded fault changes, and `render_example` joins them for a page of the site.
"""

import json
from typing import Any, Final, NamedTuple

from entrycache_evidence.rulebook.examples import (
    Example,
    FaultEffect,
    compute_answers,
    find_first_effect,
    list_faults,
)
from entrycache_protocol.case import History

ADDRESS: Final = ("op", "cache", "ns", "store", "cursor", "key", "pos")
"""The keys whose values need no name in front."""

POSITIONS: Final = frozenset({"pos", "first", "last"})


def describe_json(value: Any) -> str:
    """Render a step, an outcome, or a part of one in words."""
    if isinstance(value, dict):
        address = " ".join(_part(name, value[name]) for name in ADDRESS if name in value)
        others = [f"{name} {_part(name, part)}" for name, part in value.items() if name not in ADDRESS]
        return ", ".join([*([address] if address else []), *others]) or "done"
    if isinstance(value, list):
        return f"[{('; ' if _holds(value, dict) else ', ').join(_item(part) for part in value)}]"
    return value if isinstance(value, str) else json.dumps(value)


def _part(name: str, value: Any) -> str:
    """Render the value of a key."""
    if name in POSITIONS and isinstance(value, list):
        return _item(value)
    if isinstance(value, dict):
        return f"({describe_json(value)})" if value else "none"
    return describe_json(value)


def _item(value: Any) -> str:
    """Render an item of a list: a position, a key with its value, or anything else."""
    if not isinstance(value, list):
        return describe_json(value)
    if _holds(value, int):
        return ":".join(str(part) for part in value)
    carried = "".join(f" ({describe_json(part)})" for part in value[2:])
    return f"{value[0]} = {describe_json(value[1])}{carried}"


def _holds(value: list[Any], kind: type[Any]) -> bool:
    return bool(value) and all(type(part) is kind for part in value)


# --- Tables of examples


class Line(NamedTuple):
    """One step: its number or its client, the operation and the answer."""

    who: str
    operation: str
    answered: str


def describe_settings(example: Example) -> str:
    """Describe the configuration and the variants; empty if both are the defaults."""
    given = example.value.get("config", {}) | example.value.get("variants", {})
    return describe_json(given) if given else ""


def tabulate_steps(example: Example) -> list[Line]:
    """Return the lines of the table."""
    answers = compute_answers(example.content)[1]
    if isinstance(example.content, History):
        return [_line_of_history(example, event) for event in answers]
    steps = example.value["steps"]
    return [
        Line(str(at), describe_json(step), describe_json(got))
        for at, (step, got) in enumerate(zip(steps, answers, strict=True))
    ]


def _line_of_history(example: Example, event: dict[str, Any]) -> Line:
    parts = {-1: "before", len(example.value["clients"]): "after"}
    client = event["client"]
    steps = example.value[parts[client]] if client in parts else example.value["clients"][client]
    return Line(
        parts.get(client, f"thread {client}"), describe_json(steps[event["step"]]), describe_json(event["outcome"])
    )


def describe_fault(example: Example) -> str:
    """Describe a seeded fault of the rule and its effect; empty if the rule has none."""
    if isinstance(example.content, History):
        return f"{list_faults(example.rule)[0].note} The threads do not keep the promise then."
    effect = find_first_effect(example)
    return "" if effect is None else f"{effect.fault.note} {_describe_effect(effect)}"


def _describe_effect(effect: FaultEffect) -> str:
    if effect.in_rows:
        return f"Step {effect.at} is answered the same; its rows differ."
    if effect.wrong.keys() != effect.right.keys():
        return f"Step {effect.at} then answers: {describe_json(effect.wrong)}."
    otherwise = {name: part for name, part in effect.wrong.items() if part != effect.right[name]}
    return f"Step {effect.at} then answers: {describe_json(otherwise)}."


def render_example(example: Example) -> str:
    """Render the example of a rule: its note, its table and a seeded fault, folded."""
    given, fault_description = describe_settings(example), describe_fault(example)
    parts = [f"\n<details><summary>{example.content.note}</summary>\n\n"]
    parts.append(f"With {given}:\n\n" if given else "")
    parts.append("| step | operation | answer |\n|---|---|---|\n")
    parts += [
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in tabulate_steps(example)
    ]
    parts.append(f"\n*Seeded fault.* {fault_description}\n" if fault_description else "")
    return "".join([*parts, "\n</details>\n"])
