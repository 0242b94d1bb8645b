"""Outcomes of a system that answers each operation with one object: read strictly, their schema, what is compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from entrycache_protocol.codec import Malformed, decode_object, fields_of
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.schema import object_schema

MESSAGE: Final = frozenset({"message"})
"""What an error may say beside its kind; it is not compared."""


class Answers(NamedTuple):
    """How the outcomes of a system are read.

    `refused` is the outcome of a refusal; `observe` the operation that shows the state, `observed` its outcome.
    `hidden` holds, by key of that, what stands for a part that a subject does not declare. `parts` are keys that are
    read otherwise than their field says: from the value, and what is declared.
    """

    refused: type[Any]
    observe: type[Any]
    observed: type[Any]
    hidden: Mapping[str, Any]
    parts: Mapping[str, Callable[[Any, frozenset[str]], Any]] = {}

    def read_outcome(self, op: Any, value: Any, declaration: Declaration) -> Any:
        """The typed outcome of one step; an optional `message` of an error is dropped.

        Raises:
            Malformed: it has not the shape that the protocol gives the operation.
        """
        if type(value) is dict and "error" in value:
            return decode_object(self.refused, value, MESSAGE)
        if type(op) is self.observe:
            return self._read_observed(value, declaration.introspection)
        outcome = decode_object(op.answers[0], value)
        if getattr(outcome, "tokens", None) is not None and not declaration.payload:
            raise Malformed("unknown key 'tokens'; payload is not declared")
        return outcome

    def _read_observed(self, value: Any, introspection: frozenset[str]) -> Any:
        """The state as a subject shows it: keys that it declares are read, others are passed over."""
        if type(value) is not dict:
            raise Malformed(f"expected an object, got {value!r}")
        unknown = sorted(value.keys() - self.hidden.keys())
        if unknown:
            raise Malformed(f"unknown key {unknown[0]!r}")
        shown = {name: self._read_part(name, value, introspection) for name in self.hidden if name in introspection}
        return self.observed(**{**self.hidden, **shown})

    def _read_part(self, name: str, value: dict[str, Any], introspection: frozenset[str]) -> Any:
        if name not in value:
            raise Malformed(f"{name} is missing, though introspection declares it")
        try:
            if name in self.parts:
                return self.parts[name](value[name], introspection)
            return next(codec.decode for codec in fields_of(self.observed) if codec.name == name)(value[name])
        except Malformed as error:
            raise Malformed(f"{name}: {error}") from None

    def declared_part(self, outcome: Any, introspection: frozenset[str]) -> Any:
        """What was observed, with everything that is not declared emptied; other outcomes as they are."""
        if type(outcome) is not self.observed:
            return outcome
        shown = {name: getattr(outcome, name) for name in self.hidden if name in introspection}
        return self.observed(**{**self.hidden, **shown})

    def outcome_schema(self, op: type[Any]) -> dict[str, Any]:
        """The schema of what an operation answers."""
        refused = object_schema(self.refused)
        refused["properties"]["message"] = {"type": "string"}
        answer = object_schema(op.answers[0])
        if op is self.observe:
            del answer["required"]
        return {"anyOf": [answer, refused]}
