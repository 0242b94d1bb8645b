"""The history: a case for several threads, with `before`, `clients` and `after` in place of `steps`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from entrycache_protocol.case import (
    WHAT,
    Case,
    array_of,
    check_effort,
    config_of,
    config_to_json,
    read_steps,
    rules_and_note,
    variants_to_json,
)
from entrycache_protocol.case import from_json as case_from_json
from entrycache_protocol.codec import encode_op
from entrycache_protocol.errors import UsageError
from entrycache_protocol.input import read_json
from entrycache_protocol.output import write_text
from entrycache_protocol.shown import cut, shown
from entrycache_protocol.system import AnySystem, Systems, system_named

KEYS: Final = frozenset({"system", "config", "before", "clients", "after", "variants", "rules", "note", "events"})
CLIENTS_MAX: Final = 64

Steps = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class History:
    """What several clients do to one instance, each on a thread of its own, between two parts that run alone.

    `events` are what a subject answered, as JSON values: start, end and outcome of every step.
    """

    system: AnySystem
    config: Any
    before: Steps
    clients: tuple[Steps, ...]
    after: Steps
    events: tuple[Any, ...] = ()
    rules: tuple[str, ...] = ()
    note: str = ""

    @property
    def steps(self) -> Steps:
        """Every step, in the order of the file."""
        return (*self.before, *(step for client in self.clients for step in client), *self.after)

    def parts(self) -> Iterator[tuple[int, Steps]]:
        """The number and the steps of each client: -1 is what comes before, the number of clients what comes after."""
        yield -1, self.before
        yield from enumerate(self.clients)
        yield len(self.clients), self.after


def parts_to_json(history: History) -> dict[str, Any]:
    """The three parts of a history, as its file and its message hold them."""
    return {
        "before": [encode_op(op) for op in history.before],
        "clients": [[encode_op(op) for op in client] for client in history.clients],
        "after": [encode_op(op) for op in history.after],
    }


def to_json(history: History) -> dict[str, Any]:
    """The JSON object of a history, with the whole effective configuration."""
    value = {
        "system": history.system.name,
        "config": config_to_json(history.system, history.config),
        **parts_to_json(history),
    }
    variants = variants_to_json(history.config)
    if variants:
        value["variants"] = variants
    for name in ("events", "rules"):
        if getattr(history, name):
            value[name] = list(getattr(history, name))
    if history.note:
        value["note"] = history.note
    return value


def is_history(value: Any) -> bool:
    """Whether a JSON value is meant as a history."""
    return type(value) is dict and "clients" in value


def from_json(value: Any, systems: Systems) -> History:
    """A history of one of these systems from its JSON object.

    Raises:
        UsageError: the first thing that is wrong, in one line.
    """
    if not is_history(value):
        raise UsageError("a history is a JSON object with system, before, clients and after")
    if "system" not in value:
        raise UsageError("the history has no 'system'")
    unknown = sorted(value.keys() - KEYS)
    if unknown:
        raise UsageError(f"the history has an unknown key {shown(unknown[0])}; expected {', '.join(sorted(KEYS))}")
    system = system_named(cut(str(value["system"]), 80), systems)
    config = config_of(system, value)
    clients = value["clients"]
    if type(clients) is not list or not 0 < len(clients) <= CLIENTS_MAX:
        raise UsageError(f"the history's clients are not an array of 1 to {CLIENTS_MAX} arrays of steps")
    history = History(
        system,
        config,
        read_steps(system, value.get("before", []), "before"),
        tuple(read_steps(system, steps, f"client {number}") for number, steps in enumerate(clients)),
        read_steps(system, value.get("after", []), "after"),
        array_of(value, "events", "the history"),
        *rules_and_note(value, "the history"),
    )
    check_effort(system, config, history.steps)
    return history


def read_file(path: Path, systems: Systems) -> Case | History:
    """The case or the history in a file.

    Raises:
        UsageError: the file cannot be read, is not JSON, or holds neither.
    """
    value = read_json(path, WHAT)
    try:
        return from_json(value, systems) if is_history(value) else case_from_json(value, systems)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def dumps(history: History) -> str:
    """The text of a history's file."""
    return laid_out(to_json(history))


def laid_out(value: dict[str, Any]) -> str:
    """The text of a history's JSON object: a step a line, an event a line."""
    parts = []
    for name, part in value.items():
        if name in {"before", "after", "events"}:
            lines = ",\n  ".join(json.dumps(item) for item in part)
            parts.append(f" {json.dumps(name)}: [\n  {lines}\n ]" if part else f" {json.dumps(name)}: []")
        elif name == "clients":
            lines = ",\n  ".join("[" + ",\n   ".join(json.dumps(step) for step in steps) + "]" for steps in part)
            parts.append(f" {json.dumps(name)}: [\n  {lines}\n ]")
        else:
            parts.append(f" {json.dumps(name)}: {json.dumps(part)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write_history(history: History, folder: Path, stem: str) -> Path:
    """Write a history under a name that its steps decide; the path of the file."""
    name = hashlib.sha256(json.dumps(parts_to_json(history)).encode()).hexdigest()[:8]
    path = folder / f"{stem}-{name}.json"
    write_text(path, dumps(history))
    return path
