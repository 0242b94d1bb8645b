"""Cases and histories: runs as JSON objects.

A `Case` is one run: a system, a configuration and steps, with the reference's outcomes and, in a failing case, the
subject's. The same format serves runs, replay files, vectors, seeded faults and known failures. A `History` is a case
for several threads: `before` and `after` run alone, and each of the `clients` on a thread of its own.

Reading is strict and bounded. `read_case` and `read_case_or_history` read files, `case_from_json` and
`history_from_json` read values; the error is one line that names the first mistake. `write_case` and `write_history`
choose a file name from the content, so that the same failure gets the same name.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from entrycache_protocol import codec
from entrycache_protocol.codec import (
    MalformedValue,
    decode_object,
    decode_op,
    encode,
    encode_op,
    field_codecs,
    json_name,
)
from entrycache_protocol.errors import UsageError, describe_value, shorten
from entrycache_protocol.files import read_json, write_text
from entrycache_protocol.system import AnySystem, Systems, system_named

JSON_SCALARS = frozenset({bool, int, float, str, type(None)})
"""The types of values that JSON has."""

CASE_FILE = "the case"
"""The name of a case file in an error."""

MAX_STEPS = 10_000
"""The most steps of a case, or of a history in total."""

MAX_COST = 10_000_000
"""The most entries that the reference may copy while a case is played; see `entrycache_protocol.system.Cases`."""

CASE_KEYS = frozenset(
    {"system", "config", "earlier", "steps", "outcomes", "got", "variants", "rules", "note", "omitted", "guided"}
)

EARLIER_KEYS = frozenset({"config", "variants", "steps", "omitted"})
"""The keys of a run that is played before the case."""


RULE_ID = re.compile(r"([A-Z]+-)[A-Z]+-[0-9]+")
"""The id of a rule: the prefix of its system, its family and a number."""


@dataclass(frozen=True, slots=True)
class Case:
    """A run: a system, its configuration (variants included) and steps.

    `outcomes` are the reference's and `got` the subject's, as JSON values; empty if the case has none. `earlier` holds
    runs that the same process plays first, if the case depends on them; these have no earlier runs themselves.
    `omitted` are settings that the request leaves out, so that the subject's own defaults of them apply.
    """

    system: AnySystem
    config: Any
    steps: tuple[Any, ...]
    outcomes: tuple[Any, ...] = ()
    got: tuple[Any, ...] = ()
    rules: tuple[str, ...] = ()
    note: str = ""
    earlier: tuple[Case, ...] = ()
    omitted: tuple[str, ...] = ()


def config_to_json(system: AnySystem, config: Any, keys: frozenset[str] | None = None) -> dict[str, Any]:
    """Return the effective configuration without variants; with `keys` only these keys of it."""
    value: dict[str, Any] = encode(config)
    value.pop("variants")
    value |= system.wire.computed(config)
    return {name: part for name, part in value.items() if keys is None or name in keys}


def encode_outcome(outcome: Any) -> dict[str, Any]:
    """Return the JSON object of an outcome; an optional field, such as the payload of a hit, is left out if None."""
    if isinstance(outcome, codec.OrderedOutcome):
        return {**encode_outcome(outcome.outcome), "seen": encode(outcome.taken)}
    value = {json_name(name): _plain(getattr(outcome, name)) for name in type(outcome).__slots__}
    for name in optional_fields(type(outcome)):
        if value[name] is None:
            del value[name]
    return value


def _plain(part: Any) -> Any:
    if type(part) is tuple and part and dataclasses.is_dataclass(part[0]):
        return [encode_outcome(item) for item in part]
    return part if type(part) in JSON_SCALARS else encode(part)


_OPTIONAL: dict[type[Any], tuple[str, ...]] = {}


def optional_fields(kind: type[Any]) -> tuple[str, ...]:
    """Return the fields of an outcome whose default is None; JSON leaves them out then."""
    if kind not in _OPTIONAL:
        names = (codec.name for codec in field_codecs(kind) if not codec.required and codec.default is None)
        _OPTIONAL[kind] = tuple(names)
    return _OPTIONAL[kind]


def variants_to_json(config: Any) -> dict[str, Any]:
    """Return the variants that differ from the default behaviour."""
    default = type(config.variants)()
    return {
        field.name: getattr(config.variants, field.name).value
        for field in dataclasses.fields(default)
        if getattr(config.variants, field.name) is not getattr(default, field.name)
    }


def case_to_json(case: Case) -> dict[str, Any]:
    """Return the JSON object of a case, with the whole effective configuration."""
    value: dict[str, Any] = {"system": case.system.name, **_run_to_json(case)}
    if case.earlier:
        value["earlier"] = [_run_to_json(run) for run in case.earlier]
    for name in ("outcomes", "got", "rules"):
        if getattr(case, name):
            value[name] = list(getattr(case, name))
    if case.outcomes and is_guided(case):
        value["guided"] = True
    if case.note:
        value["note"] = case.note
    return value


def is_guided(case: Case) -> bool:
    """Return whether a case has outcomes beside which others may be right too."""
    return case.system.model.is_guided(case.steps) or any("seen" in one for one in (*case.outcomes, *case.got))


def _run_to_json(run: Case) -> dict[str, Any]:
    """Return the JSON object of a run: its configuration, its variants and its steps."""
    config, variants = config_to_json(run.system, run.config), variants_to_json(run.config)
    value = {"config": config, "steps": [encode_op(op) for op in run.steps]}
    omitted = {"omitted": list(run.omitted)} if run.omitted else {}
    return {**value, **({"variants": variants} if variants else {}), **omitted}


def case_from_json(value: Any, systems: Systems) -> Case:
    """Read a case of one of these systems from its JSON object.

    Raises:
        UsageError: the value is no case; the line names the first mistake.
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
    if type(value.get("guided", False)) is not bool:
        raise UsageError("the case's 'guided' is neither true nor false")
    config, omitted = _read_omitted(system, read_config(system, value), value, "the case")
    steps = read_steps(system, value["steps"], "the case")
    check_cost(system, config, steps)
    earlier = _read_earlier(system, value)
    rules, note = read_rules_and_note(value, "the case")
    return Case(
        system,
        config,
        steps,
        _read_outcomes(value, "outcomes"),
        _read_outcomes(value, "got"),
        rules,
        note,
        earlier,
        omitted,
    )


def _read_earlier(system: AnySystem, value: dict[str, Any]) -> tuple[Case, ...]:
    """Read the runs that are played before a case; together they have at most the steps of a case.

    Raises:
        UsageError: one of them is no run of this system, or they are too long.
    """
    runs = []
    for number, run in enumerate(read_array(value, "earlier", "the case"), 1):
        where = f"run {number} before the case"
        if type(run) is not dict or "steps" not in run or run.keys() - EARLIER_KEYS:
            raise UsageError(f"{where} is no object with {', '.join(sorted(EARLIER_KEYS))}")
        config, omitted = _read_omitted(system, read_config(system, run), run, where)
        steps = read_steps(system, run["steps"], where)
        check_cost(system, config, steps)
        runs.append(Case(system, config, steps, omitted=omitted))
    if sum(len(run.steps) for run in runs) > MAX_STEPS:
        raise UsageError(f"the runs before the case have more than {MAX_STEPS} steps")
    return tuple(runs)


def _read_omitted(system: AnySystem, config: Any, value: dict[str, Any], where: str) -> tuple[Any, tuple[str, ...]]:
    """Return the configuration with the default of each omitted setting, and the names of these settings.

    Raises:
        UsageError: one of them is no setting, or the configuration has another value of it.
    """
    names = read_array(value, "omitted", where)
    usual = {codec.name: codec.default for codec in field_codecs(system.model.config) if codec.name != "variants"}
    for name in names:
        if type(name) is not str or name not in usual:
            raise UsageError(f"omitted of {where} names {describe_value(name)}, expected settings")
        default = dataclasses.replace(config, **{name: usual[name]})
        if config_to_json(system, config)[name] != config_to_json(system, default)[name]:
            raise UsageError(f"{where} omits {name}, and its config has another value of it than the default")
        config = default
    return config, names


def read_array(value: dict[str, Any], name: str, where: str) -> tuple[Any, ...]:
    """Return the array under a key, or an empty one if the key is missing.

    Raises:
        UsageError: the value is no array.
    """
    items = value.get(name, [])
    if type(items) is not list:
        raise UsageError(f"the {name} of {where} are not an array")
    return tuple(items)


def _read_outcomes(value: dict[str, Any], name: str) -> tuple[dict[str, Any], ...]:
    """Return the outcomes under a key of a case.

    Raises:
        UsageError: they are no array of objects.
    """
    items = read_array(value, name, "the case")
    for at, item in enumerate(items):
        if type(item) is not dict:
            raise UsageError(
                f"item {at} of the {name} of the case is {shorten(json.dumps(item), 80)}, expected an object"
            )
    return items


def read_rules_and_note(value: dict[str, Any], where: str) -> tuple[tuple[str, ...], str]:
    """Return the ids of rules that a case or a history names, and its note.

    Raises:
        UsageError: these are no ids, or the note is no string.
    """
    rules, note = read_array(value, "rules", where), value.get("note", "")
    wrong = next((rule for rule in rules if type(rule) is not str or RULE_ID.fullmatch(rule) is None), None)
    if wrong is not None:
        raise UsageError(f"the rules of {where} name {describe_value(wrong)}, expected ids of rules")
    if type(note) is not str:
        raise UsageError(f"the note of {where} is not a string")
    return rules, note


def read_config(system: AnySystem, value: dict[str, Any]) -> Any:
    """Return the configuration of a case or a history, variants included.

    Raises:
        UsageError: it is no configuration of this system.
    """
    try:
        variants = decode_object(system.model.variants, value.get("variants", {}))
        config = decode_object(system.model.config, value.get("config", {}))
    except MalformedValue as error:
        raise UsageError(f"the case's config: {error}") from None
    return dataclasses.replace(config, variants=variants)


def read_steps(system: AnySystem, value: Any, where: str) -> tuple[Any, ...]:
    """Read the steps in an array.

    Raises:
        UsageError: the value is no array, or one of the items is no step of this system.
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
    """Refuse steps that would take too much time or memory to play.

    Raises:
        UsageError: there are too many steps, or they copy too many entries; the line names the bound.
    """
    if len(steps) > MAX_STEPS:
        raise UsageError(f"there are {len(steps)} steps; expected {MAX_STEPS} at most")
    cost_bound = system.cases.cost_bound(config, steps)
    if cost_bound > MAX_COST:
        raise UsageError(f"playing the steps may copy {cost_bound} entries; expected {MAX_COST} at most")


def read_case(path: Path, systems: Systems) -> Case:
    """Read a case of one of these systems from a file.

    Raises:
        UsageError: the file cannot be read, is not JSON, or holds no case.
    """
    value = read_json(path, CASE_FILE)
    try:
        return case_from_json(value, systems)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def format_case(case: Case) -> str:
    """Return the text of a case file."""
    return lay_out_case(case_to_json(case))


def lay_out_case(value: dict[str, Any]) -> str:
    """Lay out the JSON object of a case: each step and each outcome on a line of its own."""
    parts = []
    for name, part in value.items():
        if name in {"earlier", "steps", "outcomes", "got"}:
            lines = ",\n  ".join(json.dumps(item) for item in part)
            parts.append(f" {json.dumps(name)}: [\n  {lines}\n ]")
        else:
            parts.append(f" {json.dumps(name)}: {json.dumps(part)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write_case(case: Case, folder: Path, stem: str) -> Path:
    """Write a case under a name that depends on its content, and return the path."""
    text = format_case(case)
    path = folder / f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"
    write_text(path, text)
    return path


HISTORY_KEYS: Final = frozenset(
    {"system", "config", "before", "clients", "after", "variants", "rules", "note", "events"}
)
MAX_CLIENTS: Final = 64

Steps = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class History:
    """The steps of several clients of one instance, each on a thread of its own, between two parts that run alone.

    `events` are a subject's answers as JSON values: start, end and outcome of every step.
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
        """All steps, in the order of the file."""
        return (*self.before, *(step for client in self.clients for step in client), *self.after)

    def parts(self) -> Iterator[tuple[int, Steps]]:
        """Yield the number and the steps of each part: `before` is -1, `after` is the number of clients."""
        yield -1, self.before
        yield from enumerate(self.clients)
        yield len(self.clients), self.after


def history_parts_to_json(history: History) -> dict[str, Any]:
    """Return the three parts of a history, as its file and its request hold them."""
    return {
        "before": [encode_op(op) for op in history.before],
        "clients": [[encode_op(op) for op in client] for client in history.clients],
        "after": [encode_op(op) for op in history.after],
    }


def history_to_json(history: History) -> dict[str, Any]:
    """Return the JSON object of a history, with the whole effective configuration."""
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
    """Return whether a JSON value is meant as a history."""
    return type(value) is dict and "clients" in value


def history_from_json(value: Any, systems: Systems) -> History:
    """Read a history of one of these systems from its JSON object.

    Raises:
        UsageError: the value is no history; the line names the first mistake.
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
    """Read the case or the history in a file.

    Raises:
        UsageError: the file cannot be read, is not JSON, or holds neither.
    """
    value = read_json(path, CASE_FILE)
    try:
        return history_from_json(value, systems) if is_history(value) else case_from_json(value, systems)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def format_history(history: History) -> str:
    """Return the text of a history file."""
    return lay_out_history(history_to_json(history))


def lay_out_history(value: dict[str, Any]) -> str:
    """Lay out the JSON object of a history: each step and each event on a line of its own."""
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
    """Write a history under a name that depends on its steps, and return the path."""
    name = hashlib.sha256(json.dumps(history_parts_to_json(history)).encode()).hexdigest()[:8]
    path = folder / f"{stem}-{name}.json"
    write_text(path, format_history(history))
    return path
