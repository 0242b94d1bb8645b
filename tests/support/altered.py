"""Values with one thing altered: what a frame, or a definition, has to see."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from enum import Enum
from typing import Any

from entrycache_evidence.core.frame import KeyedValues, NamedFields, Record, Shape
from entrycache_reference.kafka_streams.outcomes import Context
from entrycache_reference.kafka_streams.state import Listener

Altered = tuple[Enum, Any]
"""The aspect that was altered, and the value with that."""


def other(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if value is None:
        return Listener(fails=77)
    if isinstance(value, Listener):
        return value._replace(fails=value.fails + 1)
    if isinstance(value, Context):
        return dataclasses.replace(value, offset=77)
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value}~"
    assert isinstance(value, tuple), value
    return value[::-1] if value[::-1] != value else (*value, *(value[:1] or (None,)))


def altered(value: Any, shape: Shape | None) -> Iterator[Altered]:
    """The value with one aspect altered, in every way that its shape gives."""
    if isinstance(shape, Record):
        for at, part in enumerate(shape.of):
            for aspect, new in altered(value[at], part):
                yield aspect, value._make((*value[:at], new, *value[at + 1 :]))
    elif isinstance(shape, NamedFields):
        for at, one in enumerate(value):
            yield shape.aspect, value._make((*value[:at], other(one), *value[at + 1 :]))
    elif isinstance(shape, KeyedValues):
        yield from _keys_altered(value, shape)
    elif shape is not None:
        yield shape, other(value)


def _keys_altered(value: Any, shape: KeyedValues) -> Iterator[Altered]:
    for key in value:
        yield shape.aspect, {one: kept for one, kept in value.items() if one != key}
        if shape.of is None:
            yield shape.aspect, {**value, key: other(value[key])}
        for aspect, new in altered(value[key], shape.of):
            yield aspect, {**value, key: new}
    if shape.empty is not None:
        yield shape.aspect, {**value, "never named": shape.empty}


def fields_altered(answer: Any) -> Iterator[Any]:
    """An answer with one of its fields altered, where that is a plain value."""
    for field in dataclasses.fields(answer):
        value = getattr(answer, field.name)
        if value is None:
            yield dataclasses.replace(answer, **{field.name: 77})
        elif isinstance(value, bool | int | str | tuple):
            yield dataclasses.replace(answer, **{field.name: other(value)})


def rows_altered(rows: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Rows with one column of one altered; without the last; with the first twice; in another order."""
    for at, row in enumerate(rows):
        for column, value in zip(row._fields, row, strict=True):
            new = 77 if value is None else f"{value}~" if isinstance(value, str | Enum) else other(value)
            yield (*rows[:at], row._replace(**{column: new}), *rows[at + 1 :])
    if rows:
        yield rows[:-1]
        yield (rows[0], *rows)
    if rows[::-1] != rows:
        yield rows[::-1]
