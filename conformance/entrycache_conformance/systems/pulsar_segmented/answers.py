"""Outcomes of `pulsar-segmented` in JSON: read strictly, their schema, and the part that is compared."""

from __future__ import annotations

from typing import Any, Final

from entrycache_protocol.codec import Malformed, decode_object, fields_of
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.schema import object_schema
from entrycache_reference.pulsar_segmented.ops import Observe
from entrycache_reference.pulsar_segmented.outcomes import Observed, Refused

MESSAGE: Final = frozenset({"message"})
HIDDEN: Final[dict[str, Any]] = {"segments": (), "current": 0}
"""What stands for a part that is not declared."""

DECODE: Final = {codec.name: codec.decode for codec in fields_of(Observed)}


def read_outcome(op: Any, value: Any, declaration: Declaration) -> Any:
    """The typed outcome of one step; an optional `message` of an error is dropped.

    Raises:
        Malformed: it has not the shape that the protocol gives the operation.
    """
    if type(value) is dict and "error" in value:
        return decode_object(Refused, value, MESSAGE)
    if type(op) is Observe:
        return read_observed(value, declaration.introspection)
    outcome = decode_object(op.answers[0], value)
    if getattr(outcome, "tokens", None) is not None and not declaration.payload:
        raise Malformed("unknown key 'tokens'; payload is not declared")
    return outcome


def read_observed(value: Any, introspection: frozenset[str]) -> Observed:
    """The ring as a subject shows it: keys that it declares are read, others are passed over.

    Raises:
        Malformed: a declared key is missing or ill-typed, or a key is unknown.
    """
    if type(value) is not dict:
        raise Malformed(f"expected an object, got {value!r}")
    unknown = sorted(value.keys() - HIDDEN.keys())
    if unknown:
        raise Malformed(f"unknown key {unknown[0]!r}")
    parts = dict(HIDDEN)
    for name in sorted(introspection & HIDDEN.keys()):
        if name not in value:
            raise Malformed(f"{name} is missing, though introspection declares it")
        try:
            parts[name] = DECODE[name](value[name])
        except Malformed as error:
            raise Malformed(f"{name}: {error}") from None
    return Observed(**parts)


def declared_part(outcome: Any, introspection: frozenset[str]) -> Any:
    """The ring with everything that is not declared emptied; other outcomes as they are."""
    if type(outcome) is not Observed:
        return outcome
    return Observed(**{name: getattr(outcome, name) if name in introspection else HIDDEN[name] for name in HIDDEN})


def outcome_schema(op: type[Any]) -> dict[str, Any]:
    """The schema of what an operation answers."""
    refused = object_schema(Refused)
    refused["properties"]["message"] = {"type": "string"}
    answer = object_schema(op.answers[0])
    if op is Observe:
        del answer["required"]
    return {"anyOf": [answer, refused]}
