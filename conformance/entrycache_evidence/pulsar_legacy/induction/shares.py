"""The lemma about the shares of a size pass of `pulsar-legacy`, computed in doubles.

A double stands as the real number that it is. What a division or a product gives is any number within half a unit of
its last place of the exact one: that is what IEEE 754 promises of rounding to nearest, and no more of it is used. Bytes
are numbers that a double holds exactly, so below 2^53.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

import z3

from entrycache_evidence.induction.lemma import Lemma, Obligation, Planted
from entrycache_evidence.induction.symbolic import raw
from entrycache_faults.model import Model
from entrycache_faults.reference.pulsar_legacy import PLANTED
from entrycache_reference.rules import Rule

HALF_A_PLACE: Final = z3.Q(1, 2**53)
"""The most that rounding to nearest adds or takes, relative to the exact number."""

MOST: Final = 2**48
"""The greatest amount: 256 TiB."""


class Double:
    """A double that is not negative; what is known of it and of those it was made of is kept in `said`."""

    def __init__(self, term: Any, said: list[Any]) -> None:
        self.term, self.said = term, said

    def _rounded(self, exact: Any) -> Double:
        made = z3.FreshReal("rounded")
        self.said += [made >= 0, made <= exact * (1 + HALF_A_PLACE), made >= exact * (1 - HALF_A_PLACE)]
        return Double(made, self.said)

    def __truediv__(self, other: Double) -> Double:
        """The quotient: what times the divisor is this number, rounded."""
        exact = z3.FreshReal("quotient")
        self.said.append(exact * other.term == self.term)
        return self._rounded(exact)

    def __mul__(self, other: Double) -> Double:
        return self._rounded(self.term * other.term)

    def whole(self) -> Any:
        """The number, truncated."""
        whole = z3.FreshReal("whole")
        self.said += [whole >= 0, whole <= self.term, whole > self.term - 1]
        return whole


def _share_of(model: Model, said: list[Any]) -> Callable[[Any, Any, Any], Any]:
    """The model's own function, where `float` makes such a double, and `int` truncates it."""
    made = model["policy.share"]
    names = {**made.__globals__, "float": lambda number: Double(number, said), "int": Double.whole}
    share = FunctionType(made.__code__, names)
    return lambda *of: raw(share(*of))


def _shares(table: Any, model: Model) -> list[Obligation]:
    """Of two caches that give, whatever their bytes are."""
    amount, *held = z3.Reals("amount first second")
    said: list[Any] = []
    share, total = _share_of(model, said), z3.Sum(held)
    given = [share(amount, cache, total) for cache in held]
    sane = z3.And(amount >= 1, amount <= MOST, *(cache >= 0 for cache in held), total > 0)
    rounded = z3.And(sane, *said)
    return [
        Obligation("together no byte more than the amount", rounded, z3.Sum(given) < amount + 1),
        Obligation("at most two bytes short of it", rounded, z3.Sum(given) > amount - 3),
        Obligation("one that holds no bytes gives none", z3.And(rounded, held[0] == 0), given[0] <= 0),
    ]


FAULT: Final = next(fault for fault in PLANTED.others if fault.note.startswith("Each cache that gives gives all"))

LEMMAS: Final = (
    Lemma(
        Rule.L_EVICT_5,
        "the shares of two caches of any bytes, of any amount up to 2^48: together at most the amount, and at most two "
        "bytes short of it; quotient and product rounded to nearest, as doubles are",
        _shares,
        Planted(FAULT.note, FAULT.model),
    ),
)
