"""Whether two values are the same: also in the order of their parts, and in the types of their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def are_alike(one: Any, other: Any) -> bool:
    """Whether they are; what both hold is compared once, however often they hold it."""
    told: dict[tuple[int, int], tuple[Any, Any]] = {}  # with the values, so that none of these ids is given anew

    def alike(one: Any, other: Any) -> bool:
        if one is other or (id(one), id(other)) in told:
            return True
        if type(one) is not type(other):
            return False
        parts = _parts_of(one)
        if parts is None:
            return bool(one == other) and repr(one) == repr(other)
        if len(one_parts := list(parts(one))) != len(other_parts := list(parts(other))):
            return False
        if not all(map(alike, one_parts, other_parts)):
            return False
        told[id(one), id(other)] = one, other
        return True

    return alike(one, other)


def _parts_of(value: Any) -> Callable[[Any], Iterable[Any]] | None:
    """What gives the parts of such a value; None where it has none."""
    if isinstance(value, tuple | list | set | frozenset):
        return iter
    if isinstance(value, Mapping):
        return _of_mapping
    return _of_record if is_dataclass(value) else None


def _of_mapping(value: Mapping[Any, Any]) -> Iterable[Any]:
    for pair in value.items():
        yield from pair


def _of_record(value: Any) -> Iterable[Any]:
    return (getattr(value, field.name) for field in fields(value))
