"""Make the numbers that a failing case was made of fewer and smaller.

A generated case follows from a list of numbers (`generate.CaseMaker`). Fewer numbers make a shorter case, smaller
numbers a simpler one. A `ChoiceMinimizer` leaves out pieces of the numbers and lowers those that are left, one by one
and equal ones together. `shrink.py` alternates that with leaving out whole steps, until no change is left that still
fails.
"""

from collections.abc import Callable, Sequence
from typing import Final

PIECES: Final = (8, 4, 3, 2, 1)
"""The lengths of the pieces that are left out."""

SMALL_NUMBERS: Final = range(1, 5)
"""The numbers that are tried where halving has found none: a case may fail with 2, but not with 3."""

Choices = tuple[int, ...]
"""The numbers of a case."""

Fails = Callable[[Sequence[int]], Choices | None]
"""A predicate of numbers: if their case fails it returns those that the case was made of, else None."""


class ChoiceMinimizer:
    """The fewest and smallest numbers found so far whose case fails, in `best`. At most `tries` cases are made."""

    def __init__(self, choices: Sequence[int], fails: Fails, tries: int) -> None:
        self.best: Choices = tuple(choices)
        self._fails = fails
        self._tries = tries
        self._tried: set[Choices] = set()

    def keep(self, choices: Choices) -> bool:
        """Keep failing numbers if they are fewer than the best, or as many and smaller. Return whether they are."""
        is_simpler = (len(choices), choices) < (len(self.best), self.best)
        if is_simpler:
            self.best = choices
        return is_simpler

    def _try(self, choices: Choices) -> bool:
        if self._tries <= 0 or choices in self._tried:
            return False
        self._tries -= 1
        self._tried.add(choices)
        failing = self._fails(choices)
        return failing is not None and self.keep(failing)

    def leave_out_pieces(self) -> None:
        """Leave out pieces of the numbers, longer ones first, from the end."""
        for length in PIECES:
            at = len(self.best) - length
            while at >= 0:
                shorter = self._try(self.best[:at] + self.best[at + length :])
                at = min(at, len(self.best) - length) if shorter else at - 1

    def lower_equal(self) -> None:
        """Lower all numbers of one value together, such as the places of one entry; the greatest value first."""
        for value in sorted({number for number in self.best if number > 0}, reverse=True):
            places = [at for at, number in enumerate(self.best) if number == value]
            if len(places) > 1:
                self._lower(places)

    def lower_each(self) -> None:
        """Lower each number, those of the last step first and the settings last."""
        for at in reversed(range(len(self.best))):
            if at < len(self.best):
                self._lower([at])

    def _lower(self, places: Sequence[int]) -> None:
        """Lower the equal numbers at these places as far as the case fails: to 0, by halving, or to a small number."""
        value, length = self.best[places[0]], len(self.best)
        if value <= 0 or self._put(places, 0):
            return
        passing, failing = 0, value
        while failing - passing > 1 and len(self.best) == length:
            middle = (passing + failing) // 2
            if self._put(places, middle):
                failing = middle
            else:
                passing = middle
        any(self._put(places, small) for small in SMALL_NUMBERS if small < failing and len(self.best) == length)

    def _put(self, places: Sequence[int], value: int) -> bool:
        changed = list(self.best)
        for at in places:
            changed[at] = value
        return self._try(tuple(changed))
