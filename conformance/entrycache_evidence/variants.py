"""Readings of releases by chance: what a run that is not of the norm is under."""

from __future__ import annotations

import random
from dataclasses import fields, replace
from enum import Enum
from typing import Any


def some(norm: Any, source: random.Random) -> Any:
    """Some other readings: half of the time one alone, else each by chance."""
    others = [(field.name, value) for field in fields(norm) for value in _others(getattr(norm, field.name))]
    alone = source.random() < 0.5
    chosen = [source.choice(others)] if alone else [one for one in others if source.random() < 0.5]
    return replace(norm, **dict(chosen))


def each_by_chance(norm: Any, source: random.Random) -> Any:
    """Of each variant any of its readings, that of the norm too."""
    held = {field.name: getattr(norm, field.name) for field in fields(norm)}
    return replace(norm, **{name: source.choice([value, *_others(value)]) for name, value in held.items()})


def _others(norm: Any) -> list[Any]:
    return [value for value in type(norm) if value is not norm] if isinstance(norm, Enum) else [not norm]
