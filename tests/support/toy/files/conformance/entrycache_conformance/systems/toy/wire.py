"""How `toy` is spoken of in JSON."""

from __future__ import annotations

from typing import Any, Final

from entrycache_protocol.case import encode_outcome
from entrycache_protocol.codec import decode_object
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.schema import object_schema
from entrycache_protocol.system import Limits, Wire
from entrycache_reference.toy.config import Config
from entrycache_reference.toy.ops import Op
from entrycache_reference.toy.outcomes import Kept, Outcome


def read_outcome(op: Any, value: Any, declaration: Declaration) -> Any:
    """The typed outcome of one step."""
    return decode_object(op.answers[0], value)


def outcome_schema(op: type[Any]) -> dict[str, Any]:
    """The schema of what an operation answers."""
    return object_schema(op.answers[0])


def declared_part(outcome: Any, introspection: frozenset[str]) -> Any:
    """All of it."""
    return outcome


WIRE: Final[Wire[Config, Op, Outcome]] = Wire(
    read_outcome,
    encode_outcome,
    outcome_schema,
    declared_part,
    refusal=Kept(False),
    introspection=frozenset(),
    limits=Limits,
)
