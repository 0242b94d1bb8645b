"""What Hypothesis draws: values of its own and of ours, and nothing of the files that happen to be installed.

Hypothesis also draws the numbers that stand in local modules. Those are others in a checkout than in a wheel, so that
one seed would mean two runs; and it keeps them in a folder `.hypothesis` in whatever folder a user is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

HYPOTHESIS: Final = "hypothesis"
"""The name of its own source of values."""

NOTABLE: Final = tuple(
    sorted({sign * (power + off) for sign in (1, -1) for power in (2**16, 2**31, 2**32, 2**53, 2**63, 10**6, 10**9)
            for off in (-1, 0, 1)})
)  # fmt: skip
"""Numbers at which implementations go wrong."""


class Draws(HypothesisProvider):
    """The source of values of Hypothesis, with constants that are always the same."""

    def _maybe_draw_constant(self, choice_type: Any, constraints: Any, *, p: float = 0.05) -> Any:
        assert self._random is not None
        if choice_type != "integer" or self._random.random() > p:
            return None
        least, greatest = constraints["min_value"], constraints["max_value"]
        first = 0 if least is None else bisect_left(NOTABLE, least)
        last = len(NOTABLE) if greatest is None else bisect_right(NOTABLE, greatest)
        return NOTABLE[self._random.randrange(first, last)] if first < last else None


@contextmanager
def own_draws() -> Iterator[None]:
    """Meanwhile Hypothesis draws from here; a user's own tests, before and after, are left as they are."""
    before = AVAILABLE_PROVIDERS[HYPOTHESIS]
    AVAILABLE_PROVIDERS[HYPOTHESIS] = Draws
    try:
        yield
    finally:
        AVAILABLE_PROVIDERS[HYPOTHESIS] = before
