"""What Hypothesis draws: values of its own and of ours, and nothing of the files that happen to be installed.

Hypothesis also draws the numbers that stand in local modules. Those are others in a checkout than in a wheel, so that
one seed would mean two runs; and it keeps them in a folder `.hypothesis` in whatever folder a user is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from hypothesis.internal.conjecture.providers import HypothesisProvider

HOOK: Final = "_maybe_draw_constant"
"""The method of Hypothesis that now and then draws a constant."""

NOTABLE: Final = tuple(
    sorted({sign * (power + off) for sign in (1, -1) for power in (2**16, 2**31, 2**32, 2**53, 2**63, 10**6, 10**9)
            for off in (-1, 0, 1)})
)  # fmt: skip
"""Numbers at which implementations go wrong."""


def draw_constant(provider: Any, choice_type: str, constraints: Any, *, p: float = 0.05) -> int | None:
    """With that probability one of the notable numbers between two bounds, if any lies there."""
    if choice_type != "integer" or provider._random.random() > p:
        return None
    least, greatest = constraints["min_value"], constraints["max_value"]
    first = 0 if least is None else bisect_left(NOTABLE, least)
    last = len(NOTABLE) if greatest is None else bisect_right(NOTABLE, greatest)
    return NOTABLE[provider._random.randrange(first, last)] if first < last else None


@contextmanager
def own_draws() -> Iterator[None]:
    """Meanwhile constants are drawn from here; a user's own tests, before and after, draw as they did."""
    before = getattr(HypothesisProvider, HOOK)
    setattr(HypothesisProvider, HOOK, draw_constant)
    try:
        yield
    finally:
        setattr(HypothesisProvider, HOOK, before)
