"""Frames: the changes that an operation may make to the state; everything else stays as it was.

A system describes its state once as a *shape*: the aspects that it consists of. A table of the system lists for each
operation the aspects that it may change, and their keys, such as the mark of its position or the cursors of its cache.
`build_comparison` turns a shape into a function that compares two states and returns every `Change`.
`undeclared_changes` keeps those that the table does not allow. The comparison skips identical objects, so the cost of a
step depends on its changes only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

Key = tuple[Any, ...]
"""The keys that lead to an aspect, such as cache and position; empty for an aspect of the whole state."""

Change = tuple[Enum, Key]
"""An aspect that differs, with its key."""

MayChange = Mapping[Any, Any]
"""Aspects of the state, each with the extent in which it may change; the system defines both words."""


class Record(NamedTuple):
    """A value with fields: the shape of each field, in order; None for a field that is not compared."""

    of: tuple[Shape | None, ...]


class KeyedValues(NamedTuple):
    """Values by key. A key that appears or disappears is a change of `aspect`.

    Another value is such a change too, unless values have a shape of their own. `of` is the shape of a value. A
    value that appears or disappears is compared with `empty`, if that is not None.
    """

    aspect: Enum
    of: Record | None = None
    empty: Any = None


class NamedFields(NamedTuple):
    """A record whose fields are one aspect, each under its name."""

    aspect: Enum


Shape = Enum | Record | KeyedValues | NamedFields

Compare = Callable[[Any, Any, Key, list[Change]], None]
"""Add the changes from an old value to a new one to a list, under a key."""

MISSING: Final = object()


def build_comparison(shape: Shape) -> Callable[[Any, Any], list[Change]]:
    """Build the function that compares two states of this shape and returns the changes."""
    compare = _build_comparer(shape)

    def changes(before: Any, after: Any) -> list[Change]:
        differences: list[Change] = []
        if before is not after:
            compare(before, after, (), differences)
        return differences

    return changes


def _build_comparer(shape: Shape) -> Compare:
    """Build the function that compares two values that are not the same object."""
    if isinstance(shape, Record):
        return _compare_fields(shape)
    if isinstance(shape, KeyedValues):
        return _compare_keys(shape)
    if isinstance(shape, NamedFields):
        return _compare_names(shape.aspect)
    raise TypeError(shape)


def _compare_names(aspect: Enum) -> Compare:
    def compare(before: Any, after: Any, key: Key, differences: list[Change]) -> None:
        names = zip(before._fields, before, after, strict=True)
        differences += [(aspect, (*key, name)) for name, old, new in names if old != new]

    return compare


def _compare_fields(shape: Record) -> Compare:
    """Compare fields: aspects directly, for speed, and parts by a comparer of their own."""
    fields = [(part, None) if isinstance(part, Enum | None) else (None, _build_comparer(part)) for part in shape.of]

    def compare(before: Any, after: Any, key: Key, differences: list[Change]) -> None:
        for old, new, (aspect, part) in zip(before, after, fields, strict=True):
            if old is new:
                continue
            if part is not None:
                part(old, new, key, differences)
            elif aspect is not None and old != new:
                differences.append((aspect, key))

    return compare


def _compare_keys(shape: KeyedValues) -> Compare:
    aspect, empty = shape.aspect, shape.empty
    part = None if shape.of is None else _build_comparer(shape.of)

    def differ(old: Any, new: Any, key: Key, differences: list[Change]) -> None:
        """Compare a value that appeared, disappeared, or was replaced."""
        if old is MISSING or new is MISSING:
            differences.append((aspect, key))
            if empty is None:
                return
            old, new = (empty if one is MISSING else one for one in (old, new))
        if part is not None:
            part(old, new, key, differences)
        elif old != new:
            differences.append((aspect, key))

    def compare(before: Any, after: Any, key: Key, differences: list[Change]) -> None:
        for name, new in after.items():
            old = before.get(name, MISSING)
            if old is not new:
                differ(old, new, (*key, name), differences)
        if len(before) > len(after) or not before.keys() <= after.keys():
            for name, old in before.items():
                if name not in after:
                    differ(old, MISSING, (*key, name), differences)

    return compare


def undeclared_changes(
    differences: Iterable[Change], may_change: MayChange, is_in: Callable[[Any, Key], bool]
) -> list[Change]:
    """Return the changes that are not declared; `is_in` says whether a key is in a declared extent."""
    wrong = []
    for aspect, key in differences:
        whose = may_change.get(aspect)
        if whose is None or not is_in(whose, key):
            wrong.append((aspect, key))
    return wrong
