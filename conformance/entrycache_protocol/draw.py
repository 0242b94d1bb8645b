"""How makers of cases ask for numbers: the same under Hypothesis, which shrinks, and from a seed, which is fast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Draw = Callable[[int, int], int]
"""An integer between two bounds, both included; smaller answers lead to simpler cases."""


def choose(draw: Draw, items: Sequence[Any]) -> Any:
    """One of the items; the first is the simplest."""
    return items[draw(0, len(items) - 1)]
