"""The reference's own small functions, run on z3 terms: every branch that they take, with its condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import z3

_choices: list[bool] = []
_taken: list[tuple[Any, bool]] = []
_forced: set[int] = set()
_within: list[Any] = []
"""A solver, where only branches are followed that some numbers take."""


class Term:
    """An integer or boolean of z3 that Python code can compare, add and branch on."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, term: Any) -> None:
        self.term = term

    def __bool__(self) -> bool:
        number = len(_taken)
        term = self.term if z3.is_bool(self.term) else self.term != 0
        chosen = _choices[number] if number < len(_choices) else _first(term, number)
        _taken.append((term, chosen))
        if _within:
            _within[-1].add(term if chosen else z3.Not(term))
        return chosen

    def __lt__(self, other: object) -> Term:
        return Term(self.term < raw(other))

    def __le__(self, other: object) -> Term:
        return Term(self.term <= raw(other))

    def __gt__(self, other: object) -> Term:
        return Term(self.term > raw(other))

    def __ge__(self, other: object) -> Term:
        return Term(self.term >= raw(other))

    def __eq__(self, other: object) -> Term | bool:  # type: ignore[override]
        return Term(self.term == raw(other)) if isinstance(other, Term | int) else False

    def __add__(self, other: object) -> Term:
        return Term(self.term + raw(other))

    def __radd__(self, other: object) -> Term:
        return Term(raw(other) + self.term)

    def __sub__(self, other: object) -> Term:
        return Term(self.term - raw(other))

    def __rsub__(self, other: object) -> Term:
        return Term(raw(other) - self.term)

    def __mul__(self, other: object) -> Term:
        return Term(self.term * raw(other))

    def __rmul__(self, other: object) -> Term:
        return Term(raw(other) * self.term)

    def __floordiv__(self, other: object) -> Term:
        """Only where the divisor is positive: z3 and Python round alike there."""
        return Term(self.term / raw(other))

    def __mod__(self, other: object) -> Term:
        return Term(self.term % raw(other))


def raw(value: object) -> Any:
    """The z3 term of a value, or the value."""
    return value.term if isinstance(value, Term) else value


def _first(term: Any, number: int) -> bool:
    """Which branch is taken first; one that no numbers take is left out."""
    if not _within:
        return True
    if z3.is_true(term) or z3.is_false(term) or _within[-1].check(term) == z3.unsat:
        _forced.add(number)
        return z3.is_true(term)
    if _within[-1].check(z3.Not(term)) == z3.unsat:
        _forced.add(number)
    return True


def paths(function: Callable[[], Any], within: Any = None) -> list[tuple[Any, Any]]:
    """Every way through a function of terms: the condition of the way, and what it answers.

    `within`: ways that no numbers go for which this is true are left out; where z3 does not know, they are followed.
    """
    found: list[tuple[Any, Any]] = []
    todo: list[list[bool]] = [[]]
    if within is not None:
        solver = z3.Solver()
        solver.set("ctrl_c", False)
        solver.add(within)
        _within.append(solver)
    try:
        while todo:
            _choices[:] = todo.pop()
            given = len(_choices)
            _taken.clear()
            _forced.clear()
            if within is not None:
                solver.push()
            answer = function()
            if within is not None:
                solver.pop()
            taken = list(_taken)
            chosen = [choice for _, choice in taken]
            todo += [[*chosen[:at], False] for at in range(given, len(taken)) if at not in _forced]
            found.append((z3.And([term if choice else z3.Not(term) for term, choice in taken]), answer))
    finally:
        if within is not None:
            _within.pop()
    return found


def _lifted(value: Any) -> Any:
    value = raw(value)
    if isinstance(value, bool):
        return z3.BoolVal(value)
    return z3.IntVal(value) if isinstance(value, int) else value


def merged(function: Callable[[], Any]) -> Any:
    """The answer of a function of terms as one z3 term."""
    ways = paths(function)
    term = _lifted(ways[-1][1])
    for condition, answer in reversed(ways[:-1]):
        term = z3.If(condition, _lifted(answer), term)
    return term
