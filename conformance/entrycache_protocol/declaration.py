"""Declarations: the answer of a subject to `start`, and the reading of its outcomes under it.

`read_declaration` checks a start answer strictly and returns the `Declaration` of one system: the operations, the keys
of the configuration that the runner may vary, fixed settings, variants, the parts of an observed state that are
compared, and limits. An `OutcomeReader` reads the outcomes of a system that answers each operation with one object. It
knows the schema of such an outcome and the part of it that a declaration lets the runner compare.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from entrycache_protocol import errors, schema
from entrycache_protocol.codec import MalformedValue, decode_object, field_codecs
from entrycache_protocol.system import AnySystem, Systems, read_limits
from entrycache_reference.rules import SYSTEM_NAMES

MAX_SYSTEMS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Declaration:
    """One system as a subject offers it.

    `config` holds the keys that the runner may vary; None: every key. `limits` are of the system's own type; None:
    there are none. `findings` names the finding that a limit or a variant stands for: {"limits.tail_ties": "..."}.
    """

    system: AnySystem
    ops: frozenset[str]
    config: frozenset[str] | None = None
    fixed: dict[str, Any] = field(default_factory=dict)
    variants: Any = None
    introspection: frozenset[str] = frozenset()
    payload: bool = False
    leaks: bool = False
    limits: Any = None
    findings: dict[str, str] = field(default_factory=dict)
    implementation: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.limits is None:
            object.__setattr__(self, "limits", self.system.wire.limits())

    def varies(self, key: str) -> bool:
        """Return whether the runner may vary this key of the configuration."""
        return (self.config is None or key in self.config) and key not in self.fixed

    @property
    def sent_keys(self) -> frozenset[str]:
        """The keys of the configuration that requests contain."""
        names = frozenset(codec.name for codec in field_codecs(self.system.model.config)) - {"variants"}
        return (names if self.config is None else names & self.config) - self.fixed.keys()

    def missing_ops(self, level: str) -> tuple[str, ...]:
        """Return the operations of a level and the levels below it that the subject does not offer."""
        return tuple(name for name in self.system.ops_up_to(level) if name not in self.ops)

    def base_config(self) -> Any:
        """Return the default configuration with the settings that the subject fixes, and its variants."""
        try:
            config = decode_object(self.system.model.config, self.fixed)
        except MalformedValue as error:
            raise errors.BrokenSubject(f"the subject's start answer: fixed: {error}") from None
        return dataclasses.replace(config, variants=self.variants or self.system.model.variants())


def _broken(what: str) -> errors.BrokenSubject:
    return errors.BrokenSubject(f"the subject's start answer: {what}")


def _strings(value: Any, name: str) -> frozenset[str]:
    if type(value) is not list or any(type(item) is not str for item in value):
        raise _broken(f"{name} is not an array of strings: {value!r}")
    return frozenset(value)


def _typed(value: Any, kind: type, name: str) -> Any:
    if type(value) is not kind:
        raise _broken(f"{name} is not {kind.__name__}: {value!r}")
    return value


def choose_system(answer: Any, wanted: str | None, systems: Systems) -> str:
    """Choose the system of a run.

    Raises:
        BrokenSubject: the answer has no usable `systems`.
        UsageError: the wanted system is not offered, or several are offered and none was requested.
    """
    if type(answer) is not dict or type(answer.get("systems")) is not dict or not answer["systems"]:
        raise errors.BrokenSubject("the answer to `start` names no system")
    if type(answer.get("version")) is not int or answer["version"] != 1:
        raise _broken(f"version is {answer.get('version')!r}, expected 1")
    offered = answer["systems"]
    offered_names = ", ".join(repr(name)[:60] for name in sorted(offered)[:MAX_SYSTEMS_SHOWN])
    if wanted is not None:
        if wanted not in offered:
            raise errors.UsageError(f"the subject does not offer {wanted!r}; it offers: {offered_names}")
        name = wanted
    elif len(offered) > 1:
        raise errors.UsageError(f"the subject offers several systems; choose one with --system: {offered_names}")
    else:
        name = next(iter(offered))
    if name not in {*systems, *SYSTEM_NAMES}:
        raise _broken(f"systems names {name!r}; expected one of: {', '.join(dict.fromkeys((*systems, *SYSTEM_NAMES)))}")
    if name not in systems:
        raise errors.UsageError(f"system {name!r} is not built; expected one of: {', '.join(systems)}")
    return str(name)


def read_declaration(answer: Any, systems: Systems, wanted: str | None = None) -> Declaration:
    """Read the declaration in a start answer.

    Raises:
        BrokenSubject: a key has the wrong type, or names something that the protocol does not have.
        UsageError: see `choose_system`, and for an order slack above 0.
    """
    name = choose_system(answer, wanted, systems)
    system = systems[name]
    offer = _typed(answer["systems"][name], dict, f"systems.{name}")
    if "ops" not in offer:
        raise _broken(f"systems.{name}.ops is missing")
    ops = _strings(offer["ops"], "ops")
    unknown = sorted(ops - system.ops.keys())
    if set(unknown) - system.wire.other_ops:
        raise _broken(f"ops names {sorted(set(unknown) - system.wire.other_ops)[0]!r}, which {name} does not have")
    names = frozenset(codec.name for codec in field_codecs(system.model.config)) - {"variants"}
    config = _strings(offer["config"], "config") if "config" in offer else None
    if config is not None and config - names:
        raise _broken(f"config names {sorted(config - names)[0]!r}, which {name} does not have")
    fixed = _typed(offer.get("fixed", {}), dict, "fixed")
    if fixed.keys() - names:
        raise _broken(f"fixed names {sorted(fixed.keys() - names)[0]!r}, which {name} does not have")
    introspection = _strings(offer.get("introspection", []), "introspection")
    if introspection - system.wire.introspection:
        raise _broken(f"introspection names {sorted(introspection - system.wire.introspection)[0]!r}")
    try:
        variants = decode_object(system.model.variants, offer.get("variants", {}))
    except MalformedValue as error:
        raise _broken(f"variants: {error}") from None
    slack = _typed(offer.get("order_slack", 0), int, "order_slack")
    if slack > 0:
        raise errors.UsageError("order_slack is not judged yet")
    if slack < 0:
        raise _broken(f"order_slack is {slack}, expected 0 or more")
    declaration = Declaration(
        system,
        ops & system.ops.keys(),
        config,
        fixed,
        variants,
        introspection,
        _typed(offer.get("payload", False), bool, "payload"),
        _typed(offer.get("leaks", False), bool, "leaks"),
        read_limits(system.wire.limits, _typed(offer.get("limits", {}), dict, "limits")),
        _findings(_typed(offer.get("findings", {}), dict, "findings")),
        answer.get("implementation") if type(answer.get("implementation")) is dict else {},
    )
    declaration.base_config()
    return declaration


def _findings(given: dict[str, Any]) -> dict[str, str]:
    for name, finding in given.items():
        if type(finding) is not str or not name.startswith(("limits.", "variants.", "fixed.")):
            raise _broken(
                f"findings names {name!r}; expected limits.X, variants.X or fixed.X, each with a finding's id"
            )
    return given


UNCOMPARED_KEYS: Final = frozenset({"message"})
"""The keys of an error that are not compared."""


class OutcomeReader(NamedTuple):
    """The reader of the outcomes of a system.

    `refused` is the outcome of a refusal, `observe` the operation that shows the state and `observed` its outcome.
    `hidden` holds the value of each part of that outcome that a subject does not declare. `parts` holds readers of
    their own for some parts, which take the value and the declared introspection.
    """

    refused: type[Any]
    observe: type[Any]
    observed: type[Any]
    hidden: Mapping[str, Any]
    parts: Mapping[str, Callable[[Any, frozenset[str]], Any]] = {}

    def read_outcome(self, op: Any, value: Any, declaration: Declaration) -> Any:
        """Read the outcome of one step; an optional `message` of an error is dropped.

        Raises:
            MalformedValue: the value does not have the shape of an outcome of this operation.
        """
        if type(value) is dict and "error" in value:
            return decode_object(self.refused, value, UNCOMPARED_KEYS)
        if type(op) is self.observe:
            return self._read_observed(value, declaration.introspection)
        outcome = decode_object(op.answers[0], value)
        if getattr(outcome, "tokens", None) is not None and not declaration.payload:
            raise MalformedValue("unknown key 'tokens'; payload is not declared")
        return outcome

    def _read_observed(self, value: Any, introspection: frozenset[str]) -> Any:
        """Read the state that a subject shows: the keys that it declares, without others."""
        if type(value) is not dict:
            raise MalformedValue(f"expected an object, got {value!r}")
        unknown = sorted(value.keys() - self.hidden.keys())
        if unknown:
            raise MalformedValue(f"unknown key {unknown[0]!r}")
        parts = {name: self._read_part(name, value, introspection) for name in self.hidden if name in introspection}
        return self.observed(**{**self.hidden, **parts})

    def _read_part(self, name: str, value: dict[str, Any], introspection: frozenset[str]) -> Any:
        if name not in value:
            raise MalformedValue(f"{name} is missing, though introspection declares it")
        try:
            if name in self.parts:
                return self.parts[name](value[name], introspection)
            return next(codec.decode for codec in field_codecs(self.observed) if codec.name == name)(value[name])
        except MalformedValue as error:
            raise MalformedValue(f"{name}: {error}") from None

    def declared_part(self, outcome: Any, introspection: frozenset[str]) -> Any:
        """Return an outcome; of an observed state only the declared part."""
        if type(outcome) is not self.observed:
            return outcome
        parts = {name: getattr(outcome, name) for name in self.hidden if name in introspection}
        return self.observed(**{**self.hidden, **parts})

    def outcome_schema(self, op: type[Any]) -> dict[str, Any]:
        """Return the schema of the answers to an operation."""
        refused = schema.object_schema(self.refused)
        refused["properties"]["message"] = {"type": "string"}
        answer = schema.object_schema(op.answers[0])
        if op is self.observe:
            del answer["required"]
        return {"anyOf": [answer, refused]}
