"""The case: one JSON object that is a run, a replay file, a vector, a planted fault's proof and a known failure."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from entrycache_protocol.codec import Malformed, decode_object, decode_op, encode, encode_op, fields_of
from entrycache_protocol.errors import UsageError
from entrycache_protocol.input import read_json
from entrycache_protocol.output import write_text
from entrycache_protocol.shown import cut, shown
from entrycache_protocol.system import AnySystem, Systems, system_named

PLAIN = frozenset({bool, int, float, str, type(None)})
"""Types of values that JSON has."""

WHAT = "the case"
"""What its file is called in an error."""

STEPS_MOST = 10_000
"""Of a case, or of a history in all."""

EFFORT_MOST = 10_000_000
"""How many entries may be copied while a case is played; see `entrycache_protocol.system.Cases`."""

KEYS = frozenset({"system", "config", "earlier", "steps", "outcomes", "got", "variants", "rules", "note"})

KEYS_EARLIER = frozenset({"config", "variants", "steps"})
"""Of a run that comes before the case."""


RULE_ID = re.compile(r"([A-Z]+-)[A-Z]+-[0-9]+")
"""An id of a rule: the prefix of its system, its theme, a number."""


@dataclass(frozen=True, slots=True)
class Case:
    """A run: a system, its configuration (variants included) and steps.

    `outcomes` are the reference's, `got` what a subject answered, both as JSON values, empty where
    the case carries none. `earlier` are runs that the same process has played first, where the case depends on what
    they leave behind; they have no further ones before them.
    """

    system: AnySystem
    config: Any
    steps: tuple[Any, ...]
    outcomes: tuple[Any, ...] = ()
    got: tuple[Any, ...] = ()
    rules: tuple[str, ...] = ()
    note: str = ""
    earlier: tuple[Case, ...] = ()


def config_to_json(system: AnySystem, config: Any, keys: frozenset[str] | None = None) -> dict[str, Any]:
    """The effective configuration; with `keys` only those, without variants in any case."""
    value: dict[str, Any] = encode(config)
    value.pop("variants")
    value |= system.wire.computed(config)
    return {name: part for name, part in value.items() if keys is None or name in keys}


def encode_outcome(outcome: Any) -> dict[str, Any]:
    """The JSON object of an outcome by its fields; an optional part, such as the payload of a hit, only where it is."""
    value = {name: _plain(getattr(outcome, name)) for name in type(outcome).__slots__}
    for name in optional(type(outcome)):
        if value[name] is None:
            del value[name]
    return value


def _plain(part: Any) -> Any:
    return part if type(part) in PLAIN else encode(part)


_OPTIONAL: dict[type[Any], tuple[str, ...]] = {}


def optional(kind: type[Any]) -> tuple[str, ...]:
    """The fields of an outcome that are left out where they are None: those with that default."""
    if kind not in _OPTIONAL:
        found = (codec.name for codec in fields_of(kind) if not codec.required and codec.default is None)
        _OPTIONAL[kind] = tuple(found)
    return _OPTIONAL[kind]


def variants_to_json(config: Any) -> dict[str, Any]:
    """The variants that are not the norm."""
    norm = type(config.variants)()
    return {
        field.name: getattr(config.variants, field.name).value
        for field in dataclasses.fields(norm)
        if getattr(config.variants, field.name) is not getattr(norm, field.name)
    }


def to_json(case: Case) -> dict[str, Any]:
    """The JSON object of a case, with the whole effective configuration."""
    value: dict[str, Any] = {"system": case.system.name, **_run_to_json(case)}
    if case.earlier:
        value["earlier"] = [_run_to_json(run) for run in case.earlier]
    for name in ("outcomes", "got", "rules"):
        if getattr(case, name):
            value[name] = list(getattr(case, name))
    if case.note:
        value["note"] = case.note
    return value


def _run_to_json(run: Case) -> dict[str, Any]:
    """What decides how a run goes."""
    config, variants = config_to_json(run.system, run.config), variants_to_json(run.config)
    value = {"config": config, "steps": [encode_op(op) for op in run.steps]}
    return {**value, "variants": variants} if variants else value


def from_json(value: Any, systems: Systems) -> Case:
    """A case of one of these systems from its JSON object.

    Raises:
        UsageError: the first thing that is wrong, in one line.
    """
    if type(value) is not dict:
        raise UsageError("a case is a JSON object with system, config and steps")
    if "clients" in value:
        raise UsageError("this is a history of several threads, expected a case with steps; `replay` takes histories")
    for name in ("system", "steps"):
        if name not in value:
            raise UsageError(f"the case has no {name!r}")
    unknown = sorted(value.keys() - KEYS)
    if unknown:
        raise UsageError(f"the case has an unknown key {shown(unknown[0])}; expected {', '.join(sorted(KEYS))}")
    system = system_named(cut(str(value["system"]), 80), systems)
    config = config_of(system, value)
    steps = read_steps(system, value["steps"], "the case")
    check_effort(system, config, steps)
    earlier = _earlier(system, value)
    rules, note = rules_and_note(value, "the case")
    return Case(
        system,
        config,
        steps,
        array_of(value, "outcomes", "the case"),
        array_of(value, "got", "the case"),
        rules,
        note,
        earlier,
    )


def _earlier(system: AnySystem, value: dict[str, Any]) -> tuple[Case, ...]:
    """The runs that come before a case; all of them together are as long as a case may be.

    Raises:
        UsageError: one of them is no run of this system, or they are too long.
    """
    runs = []
    for number, run in enumerate(array_of(value, "earlier", "the case"), 1):
        where = f"run {number} before the case"
        if type(run) is not dict or "steps" not in run or run.keys() - KEYS_EARLIER:
            raise UsageError(f"{where} is no object with {', '.join(sorted(KEYS_EARLIER))}")
        config, steps = config_of(system, run), read_steps(system, run["steps"], where)
        check_effort(system, config, steps)
        runs.append(Case(system, config, steps))
    if sum(len(run.steps) for run in runs) > STEPS_MOST:
        raise UsageError(f"the runs before the case have more than {STEPS_MOST} steps")
    return tuple(runs)


def array_of(value: dict[str, Any], name: str, where: str) -> tuple[Any, ...]:
    """What a key holds that is an array, or not there.

    Raises:
        UsageError: it is something else.
    """
    found = value.get(name, [])
    if type(found) is not list:
        raise UsageError(f"the {name} of {where} are not an array")
    return tuple(found)


def rules_and_note(value: dict[str, Any], where: str) -> tuple[tuple[str, ...], str]:
    """The ids of the rules that a case or a history names, and its note.

    Raises:
        UsageError: they are something else.
    """
    rules, note = array_of(value, "rules", where), value.get("note", "")
    wrong = next((rule for rule in rules if type(rule) is not str or RULE_ID.fullmatch(rule) is None), None)
    if wrong is not None:
        raise UsageError(f"the rules of {where} name {shown(wrong)}, expected ids of rules")
    if type(note) is not str:
        raise UsageError(f"the note of {where} is not a string")
    return rules, note


def config_of(system: AnySystem, value: dict[str, Any]) -> Any:
    """The configuration that a case or a history holds, its variants included.

    Raises:
        UsageError: it is not one of this system.
    """
    try:
        variants = decode_object(system.model.variants, value.get("variants", {}))
        config = decode_object(system.model.config, value.get("config", {}))
    except Malformed as error:
        raise UsageError(f"the case's config: {error}") from None
    return dataclasses.replace(config, variants=variants)


def read_steps(system: AnySystem, value: Any, where: str) -> tuple[Any, ...]:
    """The steps in an array.

    Raises:
        UsageError: it is no array, or one of them is no step of this system.
    """
    if type(value) is not list:
        raise UsageError(f"the steps of {where} are not an array")
    if len(value) > STEPS_MOST:
        raise UsageError(f"{where} has {len(value)} steps; expected {STEPS_MOST} at most")
    steps = []
    for index, step in enumerate(value):
        try:
            steps.append(decode_op(system.ops, step))
        except Malformed as error:
            raise UsageError(f"step {index} of {where}: {error}") from None
        except RecursionError:
            raise UsageError(f"step {index} of {where} holds steps within steps, more than can be read") from None
    return tuple(steps)


def check_effort(system: AnySystem, config: Any, steps: Sequence[Any]) -> None:
    """Refuse what would take too long to play, or too much memory.

    Raises:
        UsageError: it would; the line says how much less is expected.
    """
    if len(steps) > STEPS_MOST:
        raise UsageError(f"there are {len(steps)} steps; expected {STEPS_MOST} at most")
    effort = system.cases.effort(config, steps)
    if effort > EFFORT_MOST:
        raise UsageError(f"playing the steps may copy {effort} entries; expected {EFFORT_MOST} at most")


def read_case(path: Path, systems: Systems) -> Case:
    """The case of one of these systems in a file.

    Raises:
        UsageError: the file cannot be read, is not JSON, or holds no case.
    """
    value = read_json(path, WHAT)
    try:
        return from_json(value, systems)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def dumps(case: Case) -> str:
    """The text of a case file."""
    return laid_out(to_json(case))


def laid_out(value: dict[str, Any]) -> str:
    """The text of a case's JSON object: a step a line, an outcome a line."""
    parts = []
    for name, part in value.items():
        if name in {"earlier", "steps", "outcomes", "got"}:
            lines = ",\n  ".join(json.dumps(item) for item in part)
            parts.append(f" {json.dumps(name)}: [\n  {lines}\n ]")
        else:
            parts.append(f" {json.dumps(name)}: {json.dumps(part)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write_case(case: Case, folder: Path, stem: str) -> Path:
    """Write a case under a name that its content decides; the path of the file."""
    text = dumps(case)
    path = folder / f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"
    write_text(path, text)
    return path
