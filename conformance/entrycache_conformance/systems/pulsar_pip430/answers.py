"""Outcomes of `pulsar-pip430` as a subject gives them: read strictly, and their schema."""

from __future__ import annotations

from typing import Any, Final

from entrycache_conformance.systems.pulsar_pip430.observation import read_observed
from entrycache_protocol.codec import Malformed, decode_object
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.schema import object_schema
from entrycache_reference.pulsar_pip430.ops import Observe
from entrycache_reference.pulsar_pip430.outcomes import Refused

MESSAGE: Final = frozenset({"message"})


def read_outcome(op: Any, value: Any, declaration: Declaration) -> Any:
    """The typed outcome of one step; an optional `message` of an error is dropped.

    Raises:
        Malformed: it has not the shape that the protocol gives the operation.
    """
    if type(value) is dict and "error" in value:
        return decode_object(Refused, value, MESSAGE)
    if type(op) is Observe:
        return read_observed(type(op), value, declaration.introspection)
    outcome = decode_object(op.answers[0], value)
    tokens = getattr(outcome, "tokens", None)
    if tokens is not None and not declaration.payload:
        raise Malformed("unknown key 'tokens'; payload is not declared")
    return outcome


def outcome_schema(op: type[Any]) -> dict[str, Any]:
    """The schema of what an operation answers."""
    refused = object_schema(Refused)
    refused["properties"]["message"] = {"type": "string"}
    answer = object_schema(op.answers[0])
    if op is Observe:
        del answer["required"]
        answer["properties"]["queue"]["items"]["required"].remove("requeues")
    return {"anyOf": [answer, refused]}
