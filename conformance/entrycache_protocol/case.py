"""The case: one JSON object that is a run, a replay file, a vector, a planted fault's proof and a known failure."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from entrycache_protocol.codec import MalformedValue, decode_object, decode_op, encode, encode_op, field_codecs
from entrycache_protocol.errors import UsageError
from entrycache_protocol.files import read_json, write_text
from entrycache_protocol.messages import describe_value, shorten
from entrycache_protocol.system import AnySystem, Systems, system_named

JSON_SCALARS = frozenset({bool, int, float, str, type(None)})
"""Types of values that JSON has."""

CASE_FILE = "the case"
"""What its file is called in an error."""

MAX_STEPS = 10_000
"""Of a case, or of a history in all."""

MAX_COST = 10_000_000
"""How many entries may be copied while a case is played; see `entrycache_protocol.system.Cases`."""

CASE_KEYS = frozenset({"system", "config", "earlier", "steps", "outcomes", "got", "variants", "rules", "note"})

EARLIER_KEYS = frozenset({"config", "variants", "steps"})
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
    for name in optional_fields(type(outcome)):
        if value[name] is None:
            del value[name]
    return value


def _plain(part: Any) -> Any:
    return part if type(part) in JSON_SCALARS else encode(part)


_OPTIONAL: dict[type[Any], tuple[str, ...]] = {}


def optional_fields(kind: type[Any]) -> tuple[str, ...]:
    """The fields of an outcome that are left out where they are None: those with that default."""
    if kind not in _OPTIONAL:
        found = (codec.name for codec in field_codecs(kind) if not codec.required and codec.default is None)
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


def case_to_json(case: Case) -> dict[str, Any]:
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


def case_from_json(value: Any, systems: Systems) -> Case:
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
    unknown = sorted(value.keys() - CASE_KEYS)
    if unknown:
        raise UsageError(
            f"the case has an unknown key {describe_value(unknown[0])}; expected {', '.join(sorted(CASE_KEYS))}"
        )
    system = system_named(shorten(str(value["system"]), 80), systems)
    config = read_config(system, value)
    steps = read_steps(system, value["steps"], "the case")
    check_cost(system, config, steps)
    earlier = _read_earlier(system, value)
    rules, note = read_rules_and_note(value, "the case")
    return Case(
        system,
        config,
        steps,
        read_array(value, "outcomes", "the case"),
        read_array(value, "got", "the case"),
        rules,
        note,
        earlier,
    )


def _read_earlier(system: AnySystem, value: dict[str, Any]) -> tuple[Case, ...]:
    """The runs that come before a case; all of them together are as long as a case may be.

    Raises:
        UsageError: one of them is no run of this system, or they are too long.
    """
    runs = []
    for number, run in enumerate(read_array(value, "earlier", "the case"), 1):
        where = f"run {number} before the case"
        if type(run) is not dict or "steps" not in run or run.keys() - EARLIER_KEYS:
            raise UsageError(f"{where} is no object with {', '.join(sorted(EARLIER_KEYS))}")
        config, steps = read_config(system, run), read_steps(system, run["steps"], where)
        check_cost(system, config, steps)
        runs.append(Case(system, config, steps))
    if sum(len(run.steps) for run in runs) > MAX_STEPS:
        raise UsageError(f"the runs before the case have more than {MAX_STEPS} steps")
    return tuple(runs)


def read_array(value: dict[str, Any], name: str, where: str) -> tuple[Any, ...]:
    """What a key holds that is an array, or not there.

    Raises:
        UsageError: it is something else.
    """
    found = value.get(name, [])
    if type(found) is not list:
        raise UsageError(f"the {name} of {where} are not an array")
    return tuple(found)


def read_rules_and_note(value: dict[str, Any], where: str) -> tuple[tuple[str, ...], str]:
    """The ids of the rules that a case or a history names, and its note.

    Raises:
        UsageError: they are something else.
    """
    rules, note = read_array(value, "rules", where), value.get("note", "")
    wrong = next((rule for rule in rules if type(rule) is not str or RULE_ID.fullmatch(rule) is None), None)
    if wrong is not None:
        raise UsageError(f"the rules of {where} name {describe_value(wrong)}, expected ids of rules")
    if type(note) is not str:
        raise UsageError(f"the note of {where} is not a string")
    return rules, note


def read_config(system: AnySystem, value: dict[str, Any]) -> Any:
    """The configuration that a case or a history holds, its variants included.

    Raises:
        UsageError: it is not one of this system.
    """
    try:
        variants = decode_object(system.model.variants, value.get("variants", {}))
        config = decode_object(system.model.config, value.get("config", {}))
    except MalformedValue as error:
        raise UsageError(f"the case's config: {error}") from None
    return dataclasses.replace(config, variants=variants)


def read_steps(system: AnySystem, value: Any, where: str) -> tuple[Any, ...]:
    """The steps in an array.

    Raises:
        UsageError: it is no array, or one of them is no step of this system.
    """
    if type(value) is not list:
        raise UsageError(f"the steps of {where} are not an array")
    if len(value) > MAX_STEPS:
        raise UsageError(f"{where} has {len(value)} steps; expected {MAX_STEPS} at most")
    steps = []
    for index, step in enumerate(value):
        try:
            steps.append(decode_op(system.ops, step))
        except MalformedValue as error:
            raise UsageError(f"step {index} of {where}: {error}") from None
        except RecursionError:
            raise UsageError(f"step {index} of {where} holds steps within steps, more than can be read") from None
    return tuple(steps)


def check_cost(system: AnySystem, config: Any, steps: Sequence[Any]) -> None:
    """Refuse what would take too long to play, or too much memory.

    Raises:
        UsageError: it would; the line says how much less is expected.
    """
    if len(steps) > MAX_STEPS:
        raise UsageError(f"there are {len(steps)} steps; expected {MAX_STEPS} at most")
    cost_bound = system.cases.cost_bound(config, steps)
    if cost_bound > MAX_COST:
        raise UsageError(f"playing the steps may copy {cost_bound} entries; expected {MAX_COST} at most")


def read_case(path: Path, systems: Systems) -> Case:
    """The case of one of these systems in a file.

    Raises:
        UsageError: the file cannot be read, is not JSON, or holds no case.
    """
    value = read_json(path, CASE_FILE)
    try:
        return case_from_json(value, systems)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def format_case(case: Case) -> str:
    """The text of a case file."""
    return lay_out_case(case_to_json(case))


def lay_out_case(value: dict[str, Any]) -> str:
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
    text = format_case(case)
    path = folder / f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"
    write_text(path, text)
    return path


# --- history
# The history: a case for several threads, with `before`, `clients` and `after` in place of `steps`.

HISTORY_KEYS: Final = frozenset(
    {"system", "config", "before", "clients", "after", "variants", "rules", "note", "events"}
)
MAX_CLIENTS: Final = 64

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


def history_parts_to_json(history: History) -> dict[str, Any]:
    """The three parts of a history, as its file and its message hold them."""
    return {
        "before": [encode_op(op) for op in history.before],
        "clients": [[encode_op(op) for op in client] for client in history.clients],
        "after": [encode_op(op) for op in history.after],
    }


def history_to_json(history: History) -> dict[str, Any]:
    """The JSON object of a history, with the whole effective configuration."""
    value = {
        "system": history.system.name,
        "config": config_to_json(history.system, history.config),
        **history_parts_to_json(history),
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


def history_from_json(value: Any, systems: Systems) -> History:
    """A history of one of these systems from its JSON object.

    Raises:
        UsageError: the first thing that is wrong, in one line.
    """
    if not is_history(value):
        raise UsageError("a history is a JSON object with system, before, clients and after")
    if "system" not in value:
        raise UsageError("the history has no 'system'")
    unknown = sorted(value.keys() - HISTORY_KEYS)
    if unknown:
        raise UsageError(
            f"the history has an unknown key {describe_value(unknown[0])}; expected {', '.join(sorted(HISTORY_KEYS))}"
        )
    system = system_named(shorten(str(value["system"]), 80), systems)
    config = read_config(system, value)
    clients = value["clients"]
    if type(clients) is not list or not 0 < len(clients) <= MAX_CLIENTS:
        raise UsageError(f"the history's clients are not an array of 1 to {MAX_CLIENTS} arrays of steps")
    history = History(
        system,
        config,
        read_steps(system, value.get("before", []), "before"),
        tuple(read_steps(system, steps, f"client {number}") for number, steps in enumerate(clients)),
        read_steps(system, value.get("after", []), "after"),
        read_array(value, "events", "the history"),
        *read_rules_and_note(value, "the history"),
    )
    check_cost(system, config, history.steps)
    return history


def read_case_or_history(path: Path, systems: Systems) -> Case | History:
    """The case or the history in a file.

    Raises:
        UsageError: the file cannot be read, is not JSON, or holds neither.
    """
    value = read_json(path, CASE_FILE)
    try:
        return history_from_json(value, systems) if is_history(value) else case_from_json(value, systems)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def format_history(history: History) -> str:
    """The text of a history's file."""
    return lay_out_history(history_to_json(history))


def lay_out_history(value: dict[str, Any]) -> str:
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
    name = hashlib.sha256(json.dumps(history_parts_to_json(history)).encode()).hexdigest()[:8]
    path = folder / f"{stem}-{name}.json"
    write_text(path, format_history(history))
    return path
