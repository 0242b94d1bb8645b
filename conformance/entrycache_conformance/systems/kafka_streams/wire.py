"""Outcomes of `kafka-streams` in JSON: an answer with the calls that were made during the step.

The answers of steps inside a call have no type of their own in JSON, so outcomes are compared in this form.
"""

from typing import Any, Final

from entrycache_protocol.codec import MalformedValue, build_decoder, decode_object, encode
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.schema import object_schema, schema_of
from entrycache_reference.kafka_streams import outcomes
from entrycache_reference.kafka_streams.outcomes import Answer, Call, Failed, Forward, Handed, Outcome
from entrycache_reference.vocabulary import ABSENT

OPTIONAL_KEYS: Final = frozenset({"dirty", "lru", "tracked"})
"""Keys that are compared only if a subject declares them."""

ERROR_KINDS: Final = frozenset(kind.value for kind in outcomes.ErrorKind)
CALL_KEYS: Final = frozenset({"ns", "entries", "inner"})
FORWARD_KEYS: Final = frozenset({"store", "key", "value", "inner"})
OPTIONAL_FORWARD_KEYS: Final = ("old", "start", "end")
"""Old values, and the times of windows and sessions."""

CONTEXT_KEYS: Final = frozenset({"timestamp", "offset", "partition"})


def answer_json(answer: Answer) -> dict[str, Any]:
    """Return one answer in JSON, without what was not tracked."""
    value: dict[str, Any] = encode(answer)
    if value.get("tracked", 0) is None:
        del value["tracked"]
    return value


def entry_json(entry: Handed) -> list[Any]:
    """Return one entry as a listener gets it, with its context only if its write carried any."""
    context = {name: part for name, part in encode(entry.context).items() if part is not None}
    return [entry.key, entry.value, context] if context else [entry.key, entry.value]


def call_json(call: Call) -> dict[str, Any]:
    """Return one call of a listener."""
    entries = [entry_json(entry) for entry in call.entries]
    return {"ns": call.ns, "entries": entries, "inner": [answer_json(answer) for answer in call.inner]}


def forward_json(forward: Forward) -> dict[str, Any]:
    """Return one forwarded entry."""
    inner = [answer_json(answer) for answer in forward.inner]
    optional = {name: getattr(forward, name) for name in OPTIONAL_FORWARD_KEYS}
    given = {name: value for name, value in optional.items() if value is not ABSENT}
    return {"store": forward.store, "key": forward.key, "value": forward.value, **given, "inner": inner}


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """Return one outcome in JSON."""
    value = answer_json(outcome.answer)
    if outcome.flushed:
        value["flushed"] = [call_json(call) for call in outcome.flushed]
    if outcome.forwarded:
        value["forwarded"] = [forward_json(forward) for forward in outcome.forwarded]
    return value


def declared_part(outcome: Any, introspection: frozenset[str]) -> Any:
    """Return an outcome in JSON without what the subject does not declare, also inside calls."""
    value = outcome_json(outcome) if isinstance(outcome, Outcome) else outcome
    return _without(value, OPTIONAL_KEYS - introspection)


def _without(value: Any, names: frozenset[str]) -> Any:
    if not isinstance(value, dict):
        return value
    kept = {name: part for name, part in value.items() if name not in names}
    for calls in ("flushed", "forwarded"):
        if calls in kept:
            kept[calls] = [
                {**call, "inner": [_without(inner, names) for inner in call["inner"]]} for call in kept[calls]
            ]
    return kept


def answer_type(op: Any, answer: Any) -> type[Any]:
    """Return the type of an answer: of `metrics` it depends on the argument, of `store_inner` on the kind of store."""
    kinds: tuple[type[Any], ...] = op.answers
    if outcomes.WindowListing in kinds:
        entries = answer.get("entries")
        has_times = type(entries) is list and any(type(entry) is list and len(entry) != 2 for entry in entries)
        return kinds[-1] if has_times else kinds[0]
    return kinds[-1] if len(kinds) > 1 and isinstance(op.ns, str) else kinds[0]


def order_sessions(entries: Any) -> Any:
    """Return the entries of an answer with the sessions of one key and one end side by side by their start.

    Their order is the subject's, so it is not compared.
    """
    ordered: list[Any] = []
    for entry in entries:
        at = len(ordered)
        while at and _is_out_of_order(ordered[at - 1], entry):
            at -= 1
        ordered.insert(at, entry)
    return ordered


def _is_out_of_order(left: list[Any], right: list[Any]) -> bool:
    """Return whether two sessions of one key and one end stand side by side with the later start first."""
    return (left[0], left[2]) == (right[0], right[2]) and left[1] > right[1]


def _has_sessions(answer: Any) -> bool:
    """Return whether an answer lists sessions."""
    entries = answer.get("entries") if type(answer) is dict else None
    return type(entries) is list and all(
        type(entry) is list and [type(part) for part in entry[:-1]] == [str, int, int] for entry in entries
    )


def read_outcome(op: Any, value: Any, declaration: Declaration) -> dict[str, Any]:
    """Read a subject's outcome and check that the answer fits the operation and that calls have their keys.

    Raises:
        MalformedValue: something is missing, unknown or ill-typed; the message says what.
    """
    if type(value) is not dict:
        raise MalformedValue(f"expected an object, got {value!r}")
    answer = {name: part for name, part in value.items() if name not in {"flushed", "forwarded"}}
    read: dict[str, Any] = {}
    if "error" in answer:
        answer.pop("message", None)
        error = decode_object(Failed, answer)
        read = answer_json(error)
    else:
        kind = answer_type(op, answer)
        filled = _ordered_answer(answer)
        if kind is outcomes.NamespaceCounters:
            for name in OPTIONAL_KEYS & {"dirty", "lru"}:
                if name not in declaration.introspection:
                    filled[name] = []
        read = answer_json(decode_object(kind, filled))
    if "flushed" in value:
        read["flushed"] = _read_calls(value["flushed"], "flushed", CALL_KEYS)
        for call in read["flushed"]:
            call["entries"] = [_read_entry(entry) for entry in _require_array(call["entries"], "entries")]
    if "forwarded" in value:
        read["forwarded"] = _read_calls(value["forwarded"], "forwarded", FORWARD_KEYS)
    return read


def outcome_schema(op: type[Any]) -> dict[str, Any]:
    """Return the schema of what an operation answers."""
    return {"anyOf": [_with_calls(object_schema(kind)) for kind in (*op.answers, Failed)]}


def _with_calls(schema: dict[str, Any]) -> dict[str, Any]:
    if schema["properties"].keys() == {"error"}:
        schema["properties"]["message"] = {"type": "string"}
    inner: dict[str, Any] = {"type": "array", "items": {"type": "object"}}
    value = schema_of(str | None)
    context = object_schema(outcomes.Context)
    for name in CONTEXT_KEYS:
        context["properties"][name] = {"type": "integer"}
    entry = {"type": "array", "prefixItems": [{"type": "string"}, value, context], "minItems": 2, "maxItems": 3}
    flushed = {"ns": {"type": "string"}, "entries": {"type": "array", "items": entry}, "inner": inner}
    time = {"type": "integer", "minimum": 0}
    forwarded = {"store": {"type": "string"}, "key": {"type": "string"}, "value": value, "inner": inner}
    forwarded |= {"old": value, "start": time, "end": time}
    for name, title, parts in (("flushed", "Flush", flushed), ("forwarded", "Forward", forwarded)):
        shape = {"title": title, "type": "object"}
        required = [part for part in parts if part not in OPTIONAL_FORWARD_KEYS]
        call = {**shape, "properties": parts, "required": required, "additionalProperties": False}
        schema["properties"][name] = {"type": "array", "items": call, "minItems": 1}
    return schema


def _require_array(value: Any, name: str) -> list[Any]:
    if type(value) is not list:
        raise MalformedValue(f"{name}: expected an array, got {value!r}")
    return value


def _read_calls(value: Any, name: str, keys: frozenset[str]) -> list[dict[str, Any]]:
    calls = []
    for call in _require_array(value, name):
        optional = OPTIONAL_FORWARD_KEYS if name == "forwarded" else ()
        if type(call) is not dict or call.keys() - {*optional} != keys:
            raise MalformedValue(f"{name}: expected objects with {', '.join(sorted(keys))}, got {call!r}")
        inner = _require_array(call["inner"], f"{name}.inner")
        if any(type(answer) is not dict for answer in inner):
            raise MalformedValue(f"{name}.inner: expected objects, got {inner!r}")
        calls.append({**call, "inner": [_without_message(answer) for answer in inner]})
    if not calls:
        raise MalformedValue(f"{name}: an empty array; without a call the key is left out")
    return calls


def _ordered_answer(answer: dict[str, Any]) -> dict[str, Any]:
    return {**answer, "entries": order_sessions(answer["entries"])} if _has_sessions(answer) else dict(answer)


def _without_message(answer: dict[str, Any]) -> dict[str, Any]:
    if "error" not in answer:
        return _ordered_answer(answer)
    return {name: part for name, part in answer.items() if name != "message"}


def _read_entry(value: Any) -> list[Any]:
    if type(value) is not list or len(value) not in {2, 3}:
        raise MalformedValue(f"entries: expected [key, value] or [key, value, context], got {value!r}")
    _READ_TEXT(value[0])
    if value[1] is not None:
        _READ_TEXT(value[1])
    if len(value) == 3 and (type(value[2]) is not dict or not value[2] or value[2].keys() - CONTEXT_KEYS):
        raise MalformedValue(f"entries: a context has {', '.join(sorted(CONTEXT_KEYS))}, got {value[2]!r}")
    return value


_READ_TEXT: Final = build_decoder(str)
