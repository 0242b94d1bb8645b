"""Declarations: the answer of a subject to `start`, and the reading of its outcomes under it.

`read_declaration` checks a start answer strictly and returns the `Declaration` of one system: the operations, the keys
of the configuration that the runner may vary, fixed settings, variants, the parts of an observed state that are
compared, and limits. `StepLimits` checks steps against these limits. An `OutcomeReader` reads the
outcomes of a system that answers each operation with one object. It knows the schema of such an outcome and the part
of it that a declaration lets the runner compare.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from entrycache_protocol import codec, errors, schema
from entrycache_protocol.codec import MalformedValue, decode_object, encode_op, field_codecs, json_name
from entrycache_protocol.system import MAX_SIZE_BYTES, AnySystem, Systems, read_limits
from entrycache_reference.rules import SYSTEM_NAMES
from entrycache_reference.vocabulary import ABSENT

MAX_SYSTEMS_SHOWN = 10

OBSERVE: Final = "observe"
"""The operation that shows the state, of which only the declared parts are compared."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """One system as a subject offers it.

    `config` holds the keys that the runner may vary; None: every key. `limits` are of the system's own type; None:
    there are none. `findings` names the finding that a limit or a variant stands for: {"limits.tail_ties": "..."}.
    `arguments` says of an argument of an operation that it is `always` or `never` given: {"usage": {"cache":
    "always"}}. `uncompared` names the keys of an operation's answer that the subject need not give. `sizes` are sizes
    of entries at which it behaves in a special way. `order_slack` is the number of live entries that a pass may leave
    before the entry that it takes.
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
    arguments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    uncompared: Mapping[str, frozenset[str]] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()
    order_slack: int = 0

    def __post_init__(self) -> None:
        if self.limits is None:
            object.__setattr__(self, "limits", self.system.wire.limits())

    @property
    def is_narrowed(self) -> bool:
        """Return whether the subject does not take every step of its system, or does not give every answer."""
        return bool(self.arguments or self.uncompared or self.limits.narrows_steps)

    def unsupported_reason(self, config: Any, steps: Sequence[Any]) -> str:
        """Return the reason why the subject cannot play a case; empty if it can."""
        reason = self.system.cases.unsupported_reason(self, config, steps)
        if reason or not self.is_narrowed:
            return reason
        limits = StepLimits(self)
        reason = limits.find_excess(config)
        for at, op in enumerate(steps):
            if reason:
                return reason
            excess = limits.find_excess(op)
            reason = f"step {at} of the case: {excess}" if excess else ""
            limits.accept(op)
        return reason

    def find_exceeded(self, steps: Sequence[Any]) -> str:
        """Return the reason why steps exceed `max_steps` or `max_size`, which a replay may; empty if they do not."""
        most, limits = max((getattr(step, "size", 0) for step in steps), default=0), self.limits
        if len(steps) > (limits.max_steps or len(steps)):
            return f"the case has more than {limits.max_steps} steps"
        return f"an entry has more than {limits.max_size} bytes" if most > limits.max_size else ""

    def fit_steps(self, steps: Sequence[Any]) -> tuple[Any, ...]:
        """Return the steps of a made case as the subject takes them, without those that it does not take."""
        if not self.is_narrowed:
            return tuple(steps)
        limits, config = StepLimits(self), self.base_config()
        fitted: list[Any] = []
        for step in steps:
            for op in (self.system.ops["expire"](), step) if limits.owes_expiry else (step,):
                changed = limits.fit(op)
                reason = self.system.cases.unsupported_reason(self, config, [*fitted, changed])
                if not limits.find_excess(changed) and not reason:
                    fitted.append(changed)
                    limits.accept(changed)
        return tuple(fitted)

    def encode_step(self, op: Any) -> dict[str, Any]:
        """Return the step of a request, without the arguments that the subject never takes."""
        value = encode_op(op)
        return _without_arguments(value, self.arguments) if self.arguments else value

    def read_outcome(self, op: Any, value: Any) -> Any:
        """Read the outcome of one step. A key that is not compared may be missing.

        Raises:
            MalformedValue: the value does not have the shape of an outcome of this operation.
        """
        if self.order_slack and type(value) is dict and "seen" in value:
            outcome = self.read_outcome(op, {name: part for name, part in value.items() if name != "seen"})
            taken = codec.read_seen(value["seen"])
            return codec.OrderedOutcome(outcome, taken) if taken else outcome
        read = self.system.wire.read_outcome
        names = self.uncompared.get(type(op).name)
        if not names or type(value) is not dict or "error" in value:
            return read(op, value, self)
        blanks = [_blank_answer(kind, names) for kind in op.answers]
        for blank in blanks[:-1]:
            try:
                return read(op, {**blank, **value}, self)
            except MalformedValue:
                continue
        return read(op, {**blanks[-1], **value}, self)

    def compared_part(self, outcome: Any) -> Any:
        """Return the part of an outcome that is compared; with `order_slack` a queue is compared as a set."""
        if isinstance(outcome, codec.OrderedOutcome):
            return codec.OrderedOutcome(self.compared_part(outcome.outcome), outcome.taken)
        declared = self.system.wire.declared_part(outcome, self.introspection)
        return self.system.model.unordered(declared) if self.order_slack else declared

    def uncompared_ops(self) -> frozenset[str]:
        """Return the operations of whose answers nothing is compared but errors."""
        return frozenset(
            name for name in self.ops if (keys := self._answer_keys(name)) and not self._compared(name, keys)
        )

    def _answer_keys(self, name: str) -> frozenset[str]:
        kinds = self.system.ops[name].answers
        return frozenset(codec.name for kind in kinds for codec in field_codecs(kind))

    def _compared(self, name: str, keys: frozenset[str]) -> frozenset[str]:
        """Return those of the keys of an operation's answer that are compared."""
        hidden = keys if name == OBSERVE else frozenset[str]()
        tokens = frozenset() if self.payload else frozenset({"tokens"})
        return keys - self.uncompared.get(name, frozenset()) - (hidden - self.introspection) - tokens

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
        return tuple(name for name in self.system.ops_up_to(level, self.ops) if name not in self.ops)

    def ops_up_to(self, level: str) -> tuple[str, ...]:
        """Return the operations of a level and the levels below it that the subject offers."""
        return tuple(name for name in self.system.ops_up_to(level, self.ops) if name in self.ops)

    def base_config(self) -> Any:
        """Return the default configuration with the settings that the subject fixes, and its variants."""
        try:
            config = decode_object(self.system.model.config, self.fixed)
        except MalformedValue as error:
            raise errors.BrokenSubject(f"the subject's start answer: fixed: {error}") from None
        return dataclasses.replace(config, variants=self.variants or self.system.model.variants())


def _without_arguments(value: Any, words: Mapping[str, Mapping[str, str]], name: str = "") -> Any:
    """Return a step in JSON, and the steps and entries that it holds, without the arguments that are never given."""
    if type(value) is not dict:
        return [_without_arguments(item, words, name) for item in value] if type(value) is list else value
    name = value.get("op", name)
    never = {key for key, word in words.get(name, {}).items() if word == NEVER}
    return {key: _without_arguments(part, words, name) for key, part in value.items() if key not in never}


BLANKS: Final = {"integer": 0, "boolean": False, "array": [], "object": {}, "string": ""}
"""A value of each type of JSON, in place of a key that a subject leaves out."""


def _blank_answer(kind: type[Any], names: frozenset[str]) -> dict[str, Any]:
    """Return a value for each of these keys that an answer of this type has."""
    shapes = schema.object_schema(kind)["properties"]
    return {name: BLANKS.get(shapes[name].get("type")) for name in names & shapes.keys()}


NEVER: Final = "never"
ALWAYS: Final = "always"
"""The words about an argument: it is never sent; it is always sent, and is not null."""


def _held_objects(op: Any) -> Iterator[tuple[str, Any]]:
    """Yield an operation and the operations and entries within it, each with the name of its operation."""
    pending = [(type(op).name, op)]
    while pending:
        name, held = pending.pop()
        yield name, held
        for part in (getattr(held, key) for key in type(held).__slots__):
            if type(part) is tuple:
                pending += [(getattr(item, "name", name), item) for item in part if dataclasses.is_dataclass(item)]


class StepLimits:
    """The limits of a subject that are about the steps of a case, which it takes in order.

    `find_excess` says why a step exceeds them, and `accept` notes a step that is played. `fit` changes a step so that
    it has none of the arguments that the subject never takes, and inserts at the tail of an append-only cache.
    """

    def __init__(self, declaration: Declaration) -> None:
        self.declaration = declaration
        self._limits = declaration.limits
        self._default_limit = getattr(declaration.base_config(), "max_size_bytes", None)
        self._appends = getattr(self._limits, "append_only", False)
        self._expires = getattr(self._limits, "lazy_expiry", False)
        self._names: set[str] = set()
        self._tails: dict[str, Any] = {}
        self.owes_expiry = False
        """True if the next step must be the time pass that the cache runs by itself."""

    def fit(self, op: Any) -> Any:
        """Return the step as the subject takes it, as far as a change of it can do that."""
        op = self._fit_arguments(type(op).name, op)
        tail = self._tails.get(getattr(op, "cache", ""))
        if self._appends and type(op).name == "insert" and tail is not None and op.pos <= tail:
            op = dataclasses.replace(op, pos=tail._replace(entry=tail.entry + 1))
        size = self._limits.entry_size
        return op if size is None or not hasattr(op, "size") else dataclasses.replace(op, size=size)

    def _fit_arguments(self, name: str, held: Any) -> Any:
        words = self.declaration.arguments.get(name, {})
        changes: dict[str, Any] = {}
        for each in dataclasses.fields(held):
            part = getattr(held, each.name)
            if words.get(json_name(each.name)) == NEVER:
                changes[each.name] = each.default
            elif type(part) is tuple and part and dataclasses.is_dataclass(part[0]):
                changes[each.name] = tuple(self._fit_arguments(getattr(item, "name", name), item) for item in part)
        return dataclasses.replace(held, **changes) if changes else held

    def find_excess(self, op: Any) -> str:
        """Return the reason why a step, or a configuration, exceeds the limits; empty if it does not."""
        limit = getattr(op, "max_size_bytes", None)
        if type(limit) is int and limit not in {self._limits.clamp(limit), self._default_limit}:
            return f"max_size_bytes is {limit}, and the nearest that the subject takes is {self._limits.clamp(limit)}"
        if not hasattr(op, "level"):
            return ""
        if self.owes_expiry and (type(op).name != "expire" or op.older_than_nanos is not ABSENT):
            return "the subject expires entries by itself, so an `expire` without arguments must come first"
        for name, held in _held_objects(op):
            excess = self._find_argument(name, held) or self._find_name(held)
            if excess:
                return excess
        return self._find_insertion(op)

    def _find_argument(self, name: str, held: Any) -> str:
        for each in dataclasses.fields(held):
            word, value = self.declaration.arguments.get(name, {}).get(json_name(each.name)), getattr(held, each.name)
            if word == NEVER and value != each.default:
                return f"the subject takes no {json_name(each.name)} of {name}"
            if word == ALWAYS and (value is ABSENT or value is None):
                return f"the subject needs {json_name(each.name)} of {name}"
        return ""

    def _find_name(self, held: Any) -> str:
        most, name = self._limits.namespaces, _name_of(held)
        if most is None or name is None or name in self._names or len(self._names) < most:
            return ""
        return f"it names {name!r}, and the subject takes at most {most} caches or namespaces"

    def _find_insertion(self, op: Any) -> str:
        size = self._limits.entry_size
        if size is not None and getattr(op, "size", size) != size:
            return f"the size is {op.size}, and every entry of the subject has {size} bytes"
        if not self._appends:
            return ""
        if type(op).name == "read" and getattr(op, "expected_reads", 1) > 0:
            return "the read inserts what it fetches, and the subject appends only"
        tail = self._tails.get(getattr(op, "cache", ""))
        if type(op).name == "insert" and tail is not None and op.pos <= tail:
            return f"it inserts at {list(op.pos)}, not above {list(tail)}, and the subject appends only"
        return ""

    def accept(self, op: Any) -> None:
        """Note a step that is played."""
        self._names.update(name for _, held in _held_objects(op) if (name := _name_of(held)) is not None)
        self.owes_expiry = self._expires and type(op).name in {"advance", "configure"}
        if self._appends and type(op).name == "insert" and op.size >= 0:
            self._tails[op.cache] = max(op.pos, self._tails.get(op.cache, op.pos))


def _name_of(held: Any) -> str | None:
    """Return the cache or the namespace that an operation names, if it does."""
    name = getattr(held, "ns", getattr(held, "cache", None))
    return name if isinstance(name, str) else None


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
        UsageError: see `choose_system`, and for an order slack that the system does not have.
    """
    name = choose_system(answer, wanted, systems)
    system = systems[name]
    offer = _typed(answer["systems"][name], dict, f"systems.{name}")
    if "ops" not in offer:
        raise _broken(f"systems.{name}.ops is missing")
    ops = _strings(offer["ops"], "ops")
    unknown = sorted(ops - system.ops.keys())
    if unknown:
        raise _broken(f"ops names {unknown[0]!r}, which {name} does not have")
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
    if slack < 0:
        raise _broken(f"order_slack is {slack}, expected 0 or more")
    if slack > 0 and system.model.ordered is None:
        raise errors.UsageError(f"order_slack is {slack}, and passes of {name} have one order; expected 0")
    limits = read_limits(system.wire.limits, _typed(offer.get("limits", {}), dict, "limits"))
    declaration = Declaration(
        system,
        ops & system.ops.keys(),
        config,
        fixed,
        variants,
        introspection,
        _typed(offer.get("payload", False), bool, "payload"),
        _typed(offer.get("leaks", False), bool, "leaks"),
        limits,
        _findings(_typed(offer.get("findings", {}), dict, "findings")),
        answer.get("implementation") if type(answer.get("implementation")) is dict else {},
        _read_arguments(system, _typed(offer.get("arguments", {}), dict, "arguments"), limits.arguments),
        {**_read_uncompared(system, _typed(offer.get("uncompared", {}), dict, "uncompared")), **limits.uncompared},
        _read_sizes(offer.get("sizes", [])),
        slack,
    )
    declaration.base_config()
    if contradiction := limits.find_contradiction(declaration):
        raise _broken(contradiction)
    return declaration


def _read_arguments(
    system: AnySystem, given: Mapping[str, Any], of_limits: Mapping[str, Mapping[str, str]]
) -> dict[str, Mapping[str, str]]:
    """Read the words about arguments, check that each is about an argument that may be so, and add those of limits."""
    for op, words in given.items():
        fields = schema.argument_defaults(system.ops[op]) if op in system.ops else {}
        for name, word in _typed(words, dict, f"arguments.{op}").items():
            if name not in fields:
                raise _broken(f"arguments names {op}.{name}, which {system.name} does not have")
            if word not in {ALWAYS, NEVER}:
                raise _broken(f"arguments.{op}.{name} is {word!r}, expected {ALWAYS!r} or {NEVER!r}")
            if word == NEVER and fields[name] is dataclasses.MISSING:
                raise _broken(f"arguments.{op}.{name} is {NEVER!r}, and {op} needs it")
            if word != of_limits.get(op, {}).get(name, word):
                raise _broken(f"arguments.{op}.{name} is {word!r}, and limits say {of_limits[op][name]!r}")
    return {op: {**given.get(op, {}), **of_limits.get(op, {})} for op in {**given, **of_limits}}


def _read_uncompared(system: AnySystem, given: dict[str, Any]) -> dict[str, frozenset[str]]:
    """Read the keys of answers that are not compared."""
    read = {op: _strings(names, f"uncompared.{op}") for op, names in given.items()}
    for op, names in read.items():
        kinds = system.ops[op].answers if op in system.ops else ()
        unknown = sorted(names - {codec.name for kind in kinds for codec in field_codecs(kind)})
        if unknown or not kinds:
            raise _broken(f"uncompared names {'.'.join((op, *unknown[:1]))}, which {system.name} does not have")
    return read


def _read_sizes(given: Any) -> tuple[int, ...]:
    if type(given) is not list or any(type(size) is not int or not 0 <= size <= MAX_SIZE_BYTES for size in given):
        raise _broken(f"sizes is {given!r}, expected an array of sizes from 0 to {MAX_SIZE_BYTES}")
    return tuple(given)


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
