"""Holding a JSON value from a file to its JSON Schema."""

from __future__ import annotations

from typing import Any, Final

from entrycache_protocol.errors import UsageError
from entrycache_protocol.shown import cut, printable

Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}
TEXTS: Final[Schema] = {"type": "array", "items": TEXT}
COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
NUMBER: Final[Schema] = {"type": "number"}


def record(properties: Schema, *optional: str) -> Schema:
    """An object with these keys, of which some may be missing; it may have others."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
    }


def each(schema: Schema) -> Schema:
    """An object whose values are all alike."""
    return {"type": "object", "additionalProperties": schema}


def many(schema: Schema) -> Schema:
    """An array whose items are all alike."""
    return {"type": "array", "items": schema}


def or_null(schema: Schema) -> Schema:
    """The same, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def hold(value: Any, schema: Schema, where: str) -> None:
    """Hold a value to a schema.

    Raises:
        UsageError: the first thing that does not fit; the line says where it stands, and what was expected.
    """
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - slow to import
    from jsonschema.exceptions import best_match  # noqa: PLC0415

    error = best_match(Draft202012Validator(schema).iter_errors(value))
    if error is not None:
        raise UsageError(f"{where}: {_said(error.message)} at {cut(printable(error.json_path), 80)}")


def _said(message: str) -> str:
    """What jsonschema says: first the value, which may be long, then what was expected."""
    text = printable(message)
    return text if len(text) <= 200 else f"{text[:100]} .. {text[-100:]}"
