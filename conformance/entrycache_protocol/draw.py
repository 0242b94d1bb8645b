"""How makers of cases ask for numbers: the same under Hypothesis, which shrinks, and from a seed, which is fast."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

Draw = Callable[[int, int], int]
"""An integer between two bounds, both included; smaller answers lead to simpler cases."""


def choose(draw: Draw, items: Sequence[Any]) -> Any:
    """One of the items; the first is the simplest."""
    return items[draw(0, len(items) - 1)]


def even(source: random.Random) -> Draw:
    """Draws from a seeded source, a good deal faster than its own."""
    part = source.random
    return lambda least, greatest: least + int(part() * (greatest - least + 1))
