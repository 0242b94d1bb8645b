"""The reference's own small functions, run on z3 terms: every branch that they take, with its condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import z3

_choices: list[bool] = []
_taken: list[tuple[Any, bool]] = []


class Term:
    """An integer or boolean of z3 that Python code can compare, add and branch on."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, term: Any) -> None:
        self.term = term

    def __bool__(self) -> bool:
        number = len(_taken)
        chosen = _choices[number] if number < len(_choices) else True
        _taken.append((self.term, chosen))
        return chosen

    def __lt__(self, other: object) -> Term:
        return Term(self.term < raw(other))

    def __le__(self, other: object) -> Term:
        return Term(self.term <= raw(other))

    def __gt__(self, other: object) -> Term:
        return Term(self.term > raw(other))

    def __ge__(self, other: object) -> Term:
        return Term(self.term >= raw(other))

    def __eq__(self, other: object) -> Term:  # type: ignore[override]
        return Term(self.term == raw(other))

    def __add__(self, other: object) -> Term:
        return Term(self.term + raw(other))

    def __radd__(self, other: object) -> Term:
        return Term(raw(other) + self.term)

    def __sub__(self, other: object) -> Term:
        return Term(self.term - raw(other))

    def __floordiv__(self, other: object) -> Term:
        """Only where the divisor is positive: z3 and Python round alike there."""
        return Term(self.term / raw(other))

    def __mod__(self, other: object) -> Term:
        return Term(self.term % raw(other))


def raw(value: object) -> Any:
    """The z3 term of a value, or the value."""
    return value.term if isinstance(value, Term) else value


def paths(function: Callable[[], Any]) -> list[tuple[Any, Any]]:
    """Every way through a function of terms: the condition of the way, and what it answers."""
    found: list[tuple[Any, Any]] = []
    todo: list[list[bool]] = [[]]
    while todo:
        _choices[:] = todo.pop()
        given = len(_choices)
        _taken.clear()
        answer = function()
        taken = list(_taken)
        chosen = [choice for _, choice in taken]
        todo += [[*chosen[:at], False] for at in range(given, len(taken))]
        found.append((z3.And([term if choice else z3.Not(term) for term, choice in taken]), answer))
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
