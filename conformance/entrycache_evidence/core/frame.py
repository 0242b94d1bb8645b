"""Frames: what an operation may change of the state, and that all else stays as it was.

Each operation says on its dataclass, in `may_change`, which aspects of the state it may change, and whose: the mark
of its position, the cursors of its cache. A system says once which aspects its state is made of (a shape), and one
law, the same for every operation, compares the states before and after each step: what differs has to be declared.
What is the very same object is not looked into, so that a step costs what it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

Key = tuple[Any, ...]
"""Whose aspect it is: the keys that lead to it, as cache and position; empty: that of the whole state."""

Change = tuple[Enum, Key]
"""An aspect that differs, and whose it is."""

MayChange = Mapping[Any, Any]
"""Aspects of the state, each with whose it may be; both are words of the system."""


class Record(NamedTuple):
    """A value with fields: the shape of each, in their order; None: what no law compares."""

    of: tuple[Shape | None, ...]


class KeyedValues(NamedTuple):
    """Values by key. A key that comes or goes is a change of `aspect`; so is another value, where that has no shape.

    `of` is the shape of a value, and `empty` what a value that comes or goes is compared with, if with anything.
    """

    aspect: Enum
    of: Record | None = None
    empty: Any = None


class NamedFields(NamedTuple):
    """A record whose fields are one aspect, each under its name."""

    aspect: Enum


Shape = Enum | Record | KeyedValues | NamedFields

Compare = Callable[[Any, Any, Key, list[Change]], None]
"""Adds to a list in what a value before differs from the one after it, under a key."""

MISSING: Final = object()


def build_comparison(shape: Shape) -> Callable[[Any, Any], list[Change]]:
    """What compares two states of this shape, and tells the aspects in which they differ."""
    compare = _build_comparer(shape)

    def changes(before: Any, after: Any) -> list[Change]:
        found: list[Change] = []
        if before is not after:
            compare(before, after, (), found)
        return found

    return changes


def _build_comparer(shape: Shape) -> Compare:
    """What compares two values that are not the same object."""
    if isinstance(shape, Record):
        return _compare_fields(shape)
    if isinstance(shape, KeyedValues):
        return _compare_keys(shape)
    if isinstance(shape, NamedFields):
        return _compare_names(shape.aspect)
    raise TypeError(shape)


def _compare_names(aspect: Enum) -> Compare:
    def compare(before: Any, after: Any, key: Key, found: list[Change]) -> None:
        names = zip(before._fields, before, after, strict=True)
        found += [(aspect, (*key, name)) for name, old, new in names if old != new]

    return compare


def _compare_fields(shape: Record) -> Compare:
    """A field that is an aspect is compared here, to be quick; what is made of parts has a comparer of its own."""
    fields = [(part, None) if isinstance(part, Enum | None) else (None, _build_comparer(part)) for part in shape.of]

    def compare(before: Any, after: Any, key: Key, found: list[Change]) -> None:
        for old, new, (aspect, part) in zip(before, after, fields, strict=True):
            if old is new:
                continue
            if part is not None:
                part(old, new, key, found)
            elif aspect is not None and old != new:
                found.append((aspect, key))

    return compare


def _compare_keys(shape: KeyedValues) -> Compare:
    aspect, empty = shape.aspect, shape.empty
    part = None if shape.of is None else _build_comparer(shape.of)

    def differ(old: Any, new: Any, key: Key, found: list[Change]) -> None:
        """A value that came, went, or is another one."""
        if old is MISSING or new is MISSING:
            found.append((aspect, key))
            if empty is None:
                return
            old, new = (empty if one is MISSING else one for one in (old, new))
        if part is not None:
            part(old, new, key, found)
        elif old != new:
            found.append((aspect, key))

    def compare(before: Any, after: Any, key: Key, found: list[Change]) -> None:
        for name, new in after.items():
            old = before.get(name, MISSING)
            if old is not new:
                differ(old, new, (*key, name), found)
        if len(before) > len(after) or not before.keys() <= after.keys():
            for name, old in before.items():
                if name not in after:
                    differ(old, MISSING, (*key, name), found)

    return compare


def undeclared_changes(
    found: Iterable[Change], may_change: MayChange, is_in: Callable[[Any, Key], bool]
) -> list[Change]:
    """The changes that are not declared; `is_in` tells whether a key belongs to those that a declaration names."""
    wrong = []
    for aspect, key in found:
        whose = may_change.get(aspect)
        if whose is None or not is_in(whose, key):
            wrong.append((aspect, key))
    return wrong
