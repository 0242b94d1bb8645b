"""JSON Schemas of cases, histories, answers and declarations, generated from the dataclasses of the operations.

`schema_of` gives the schema of one annotation and `object_schema` that of a dataclass. From these come the schemas of a
step, of a configuration, of a case, of a history, of the answer to a run and of a declaration, for each system.
"""

import dataclasses
import types
import typing
from collections.abc import Iterable
from enum import Enum
from typing import Any

from entrycache_protocol.codec import json_name
from entrycache_protocol.system import MAX_SIZE_BYTES, AnySystem
from entrycache_reference.vocabulary import Absent, Position, Span, StepsOf

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_of(annotation: Any) -> dict[str, Any]:
    """Return the schema of a field's annotation."""
    span = None
    if typing.get_origin(annotation) is typing.Annotated:
        if any(isinstance(mark, StepsOf) for mark in annotation.__metadata__):
            return {"type": "array", "items": {"$ref": "#/$defs/step"}}
        span = next((mark for mark in annotation.__metadata__ if isinstance(mark, Span)), None)
        annotation = annotation.__origin__
    annotation = getattr(annotation, "__supertype__", annotation)
    origin = typing.get_origin(annotation)
    if origin in {typing.Union, types.UnionType}:
        parts = [part for part in typing.get_args(annotation) if part is not Absent]
        options = [{"type": "null"} if part is type(None) else schema_of(part) for part in parts]
        return options[0] if len(options) == 1 else {"anyOf": options}
    if origin is tuple:
        items = typing.get_args(annotation)
        if items[-1] is ...:
            return {"type": "array", "items": schema_of(items[0])}
        return {"type": "array", "prefixItems": [schema_of(item) for item in items], **_exactly(len(items))}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(typing.get_args(annotation)[1])}
    bounds = {} if span is None else {"minimum": span.least, "maximum": span.greatest}
    if annotation is Position:
        return {"type": "array", "items": {"type": "integer", **bounds}, **_exactly(2)}
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return {"enum": [member.value for member in annotation]}
    if dataclasses.is_dataclass(annotation):
        return object_schema(typing.cast(type[Any], annotation))
    name = {int: "integer", float: "number", bool: "boolean", str: "string"}[annotation]
    return {"type": name, **bounds}


def _exactly(count: int) -> dict[str, int]:
    return {"minItems": count, "maxItems": count}


def object_schema(kind: type[Any], **constant: str) -> dict[str, Any]:
    """Return the schema of a dataclass, after keys with a constant value."""
    hints = typing.get_type_hints(kind, include_extras=True)
    properties: dict[str, Any] = {name: {"const": value} for name, value in constant.items()}
    required = list(constant)
    for field in dataclasses.fields(kind):
        described_field = schema_of(hints[field.name])
        properties[json_name(field.name)] = described_field
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            required.append(json_name(field.name))
        elif isinstance(field.default, Enum):
            described_field["default"] = field.default.value
        elif isinstance(field.default, bool | int | float | str | None):
            described_field["default"] = field.default
    described: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        described["required"] = required
    if not constant:
        described["title"] = kind.__name__
    return described


def step_schema(system: AnySystem) -> dict[str, Any]:
    """Return the schema of one step, with one alternative for each operation."""
    return {"oneOf": [object_schema(op, op=name) for name, op in system.ops.items()]}


def config_schema(system: AnySystem) -> dict[str, Any]:
    """Return the schema of a configuration, without variants: a case holds them under a key of their own."""
    schema = object_schema(system.model.config)
    del schema["properties"]["variants"]
    return schema


def history_schema(system: AnySystem) -> dict[str, Any]:
    """Return the schema of a history: a case for several threads."""
    schema = case_schema(system)
    steps = schema["properties"].pop("steps")
    for name in ("earlier", "outcomes", "got", "omitted"):
        del schema["properties"][name]
    del schema["$defs"]["run"]
    parts = {"before": steps, "clients": {"type": "array", "items": steps, "minItems": 1}, "after": steps}
    schema["properties"] |= {**parts, "events": {"type": "array", "items": {"type": "object"}}}
    schema |= {"title": f"A history of {system.name}", "required": ["system", "clients"]}
    return schema


def case_schema(system: AnySystem) -> dict[str, Any]:
    """Return the schema of a case."""
    return {
        "$schema": DIALECT,
        "title": f"A case of {system.name}",
        "type": "object",
        "properties": {
            "system": {"const": system.name},
            "config": config_schema(system),
            "variants": object_schema(system.model.variants),
            "earlier": {"type": "array", "items": {"$ref": "#/$defs/run"}},
            "steps": {"type": "array", "items": {"$ref": "#/$defs/step"}},
            "outcomes": {"type": "array", "items": {"type": "object"}},
            "got": {"type": "array", "items": {"type": "object"}},
            "rules": {"type": "array", "items": {"type": "string"}},
            "note": {"type": "string"},
            "omitted": _names(name for name in config_schema(system)["properties"]),
            **({"guided": {"type": "boolean"}} if system.model.guiding or system.model.ordered else {}),
        },
        "required": ["system", "steps"],
        "$defs": {"step": step_schema(system), "run": _run_schema()},
        "additionalProperties": False,
    }


def _run_schema() -> dict[str, Any]:
    """Return the schema of a run that is played before a case."""
    return {
        "type": "object",
        "properties": {name: {"$ref": f"#/properties/{name}"} for name in ("config", "variants", "steps", "omitted")},
        "required": ["steps"],
        "additionalProperties": False,
    }


def answer_schema(system: AnySystem) -> dict[str, Any]:
    """Return the schema of an answer to a run; the operation of each outcome follows from the run."""
    text = {"type": "string"}
    skipped = {"type": "object", "properties": {"reason": text, "issue_url": text}, "required": ["reason"]}
    step = {"type": "integer", "minimum": 0}
    errored = {"properties": {"step": step, "message": text, "traceback": text}, "required": ["step"], "type": "object"}
    outcome = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in system.ops]}
    kinds: list[dict[str, Any]] = [
        {"outcomes": {"type": "array", "items": outcome}, "leaked": {"type": "integer", "minimum": 0}},
        {"skipped": skipped},
        {"errored": errored},
        {"broken": {"type": "object", "properties": {"message": text}, "required": ["message"]}},
    ]
    definitions: dict[str, Any] = {}
    for name, op in system.ops.items():
        definitions[name] = _define_objects(system.wire.outcome_schema(op), definitions)
    return {
        "$schema": DIALECT,
        "title": f"An answer to a run of {system.name}",
        "oneOf": [
            {
                "type": "object",
                "properties": {"id": {"type": "integer"}, **kind},
                "required": ["id", next(iter(kind))],
                "additionalProperties": False,
            }
            for kind in kinds
        ],
        "$defs": definitions,
    }


def start_schema(system: AnySystem) -> dict[str, Any]:
    """Return the schema of what a start answer declares of a system. Keys that it does not name are ignored."""
    config = config_schema(system)["properties"]
    flag = {"type": "boolean"}
    words = {name: _word_schema(op) for name, op in system.ops.items()}
    keys = {name: sorted({key for kind in op.answers for key in _keys(kind)}) for name, op in system.ops.items()}
    return {
        "$schema": DIALECT,
        "title": f"What a start answer declares of {system.name}",
        "type": "object",
        "properties": {
            "ops": _names(system.ops),
            "config": _names(config),
            "fixed": {"type": "object", "properties": config, "additionalProperties": False},
            "variants": object_schema(system.model.variants),
            "introspection": _names(sorted(system.wire.introspection)),
            "payload": flag,
            "leaks": flag,
            "order_slack": {"type": "integer", "minimum": 0} if system.model.ordered else {"const": 0},
            "limits": {"type": "object", "properties": _limit_schemas(system)},
            "findings": {"type": "object", "additionalProperties": {"type": "string"}},
            "arguments": {"type": "object", "properties": words, "additionalProperties": False},
            "uncompared": {
                "type": "object",
                "properties": {name: _names(some) for name, some in keys.items() if some},
                "additionalProperties": False,
            },
            "sizes": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": MAX_SIZE_BYTES}},
        },
        "required": ["ops"],
    }


def _names(names: Iterable[str]) -> dict[str, Any]:
    return {"type": "array", "items": {"enum": list(names)}}


def _keys(kind: type[Any]) -> list[str]:
    return [json_name(each.name) for each in dataclasses.fields(kind)]


def _word_schema(op: type[Any]) -> dict[str, Any]:
    """Return the schema of the words about the arguments of an operation; only one with a default is never sent."""
    properties = {
        name: {"enum": ["always"] if default is dataclasses.MISSING else ["always", "never"]}
        for name, default in argument_defaults(op).items()
    }
    return {"type": "object", "properties": properties, "additionalProperties": False}


def argument_defaults(op: type[Any]) -> dict[str, Any]:
    """Return the arguments of an operation, and of the entries that it holds, with their defaults."""
    own = {json_name(each.name): each.default for each in dataclasses.fields(op)}
    hints = typing.get_type_hints(op).values()
    parts = [part for hint in hints for part in typing.get_args(hint) if dataclasses.is_dataclass(part)]
    return {json_name(each.name): each.default for part in parts for each in dataclasses.fields(part)} | own


def _limit_schemas(system: AnySystem) -> dict[str, Any]:
    """Return the schema of each limit: a number from its bound on, or a truth value."""
    schemas: dict[str, Any] = {}
    for each in dataclasses.fields(system.wire.limits):
        least = each.metadata.get("least")
        kind = {"type": "boolean"} if least is None else {"type": "integer", "minimum": least}
        default = each.metadata.get("undeclared", each.default)
        schemas[each.name] = kind if default is None else {**kind, "default": default}
    return schemas


def _define_objects(schema: Any, definitions: dict[str, Any]) -> Any:
    """Return a schema in which each object with a title is a reference to its definition."""
    if isinstance(schema, list):
        return [_define_objects(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {key: _define_objects(part, definitions) for key, part in schema.items()}
    if "title" not in parts:
        return parts
    title = parts.pop("title")
    assert definitions.setdefault(title, parts) == parts, f"two objects have the title {title}"
    return {"$ref": f"#/$defs/{title}"}
