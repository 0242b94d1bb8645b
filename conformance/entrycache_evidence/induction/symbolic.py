"""Run the reference's own small functions on z3 terms, and collect every path with its condition.

A `Term` behaves like an integer or a boolean. When Python code branches on it, `paths` chooses a branch and records it,
and runs the function again for the other one. `Assumptions` and a solver skip branches that no numbers take. The first
half builds frequent terms directly, because z3's Python layer checks the sorts of each operand.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import z3
from z3 import z3core, z3types

z3.z3.Z3_DEBUG = False  # what its Python layer asks of every argument the library asks again


def _unchecked(call: Any) -> Any:
    """Return the raw function of the z3 library, which does not check for an error after each call."""
    return getattr((call.__defaults__ or (call,))[-1], "f", call)


z3.z3.Z3_inc_ref, z3.z3.Z3_dec_ref = _unchecked(z3core.Z3_inc_ref), _unchecked(z3core.Z3_dec_ref)
_sort_of: Final = _unchecked(z3core.Z3_get_sort)
_CONTEXT: Final[Any] = z3.main_ctx()
_REF: Final[Any] = _CONTEXT.ref()
_INTEGERS: Final[int] = z3.IntSort().ast.value

Pair: Final[Any] = z3types.Ast * 2


@cache
def numeral(value: int) -> Any:
    """Return an integer as a term."""
    return z3.IntVal(value)


def _integer(value: Any) -> Any:
    """Return the term of an integer, or None for anything else."""
    if type(value) is int:
        return numeral(value).ast
    if isinstance(value, z3.ArithRef) and _sort_of(_REF, value.ast).value == _INTEGERS:
        return value.ast
    return None


def _of_integers(make: Callable[..., Any], kind: type[Any], otherwise: Callable[[Any, Any], Any], is_many: bool) -> Any:
    def combine(left: Any, right: Any) -> Any:
        first, second = _integer(left), _integer(right)
        if first is None or second is None:
            return otherwise(left, right)
        if is_many:
            return kind(make(_REF, 2, Pair(first, second)), _CONTEXT)
        return kind(make(_REF, first, second), _CONTEXT)

    return combine


plus: Final = _of_integers(z3core.Z3_mk_add, z3.ArithRef, operator.add, is_many=True)
minus: Final = _of_integers(z3core.Z3_mk_sub, z3.ArithRef, operator.sub, is_many=True)
less: Final = _of_integers(z3core.Z3_mk_lt, z3.BoolRef, operator.lt, is_many=False)
at_most: Final = _of_integers(z3core.Z3_mk_le, z3.BoolRef, operator.le, is_many=False)
more: Final = _of_integers(z3core.Z3_mk_gt, z3.BoolRef, operator.gt, is_many=False)
at_least: Final = _of_integers(z3core.Z3_mk_ge, z3.BoolRef, operator.ge, is_many=False)
equal: Final = _of_integers(z3core.Z3_mk_eq, z3.BoolRef, operator.eq, is_many=False)


def negated(term: Any) -> Any:
    """Build the negation of a boolean term."""
    return z3.BoolRef(z3core.Z3_mk_not(_REF, term.ast), _CONTEXT)


def all_of(terms: Sequence[Any]) -> Any:
    """Build the conjunction of boolean terms."""
    return z3.BoolRef(z3core.Z3_mk_and(_REF, len(terms), _array(terms)), _CONTEXT)


def any_of(terms: Sequence[Any]) -> Any:
    """Build the disjunction of boolean terms."""
    return z3.BoolRef(z3core.Z3_mk_or(_REF, len(terms), _array(terms)), _CONTEXT)


def _array(terms: Sequence[Any]) -> Any:
    return (z3types.Ast * len(terms))(*[term.ast for term in terms])


# --- Paths through functions

_choices: list[bool] = []
_branches_taken: list[tuple[Any, bool]] = []
_forced: set[int] = set()
_assumptions: list[_ReachableBranches] = []
"""The assumptions under which unreachable branches are skipped."""


class Term:
    """An integer or boolean of z3 that Python code can compare, add and branch on."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, term: Any) -> None:
        self.term = term

    def __bool__(self) -> bool:
        number = len(_branches_taken)
        term = self.term if z3.is_bool(self.term) else self.term != 0
        chosen = _choices[number] if number < len(_choices) else _choose_branch(term, number)
        _branches_taken.append((term, chosen))
        if _assumptions:
            _assumptions[-1].took(term if chosen else negated(term))
        return chosen

    def __lt__(self, other: object) -> Term:
        return Term(less(self.term, raw(other)))

    def __le__(self, other: object) -> Term:
        return Term(at_most(self.term, raw(other)))

    def __gt__(self, other: object) -> Term:
        return Term(more(self.term, raw(other)))

    def __ge__(self, other: object) -> Term:
        return Term(at_least(self.term, raw(other)))

    def __eq__(self, other: object) -> Term | bool:  # type: ignore[override]
        return Term(equal(self.term, raw(other))) if isinstance(other, Term | int) else False

    def __add__(self, other: object) -> Term:
        return Term(plus(self.term, raw(other)))

    def __radd__(self, other: object) -> Term:
        return Term(plus(raw(other), self.term))

    def __sub__(self, other: object) -> Term:
        return Term(minus(self.term, raw(other)))

    def __rsub__(self, other: object) -> Term:
        return Term(minus(raw(other), self.term))

    def __neg__(self) -> Term:
        return Term(-self.term)

    def __mul__(self, other: object) -> Any:
        return Product(self.term, other) if isinstance(other, float) else Term(self.term * raw(other))

    def __rmul__(self, other: object) -> Term:
        return Term(raw(other) * self.term)

    def __floordiv__(self, other: object) -> Term:
        """Divide by a positive number only, where z3 and Python round alike."""
        return Term(self.term / raw(other))

    def __mod__(self, other: object) -> Term:
        return Term(self.term % raw(other))

    def __divmod__(self, other: object) -> tuple[Term, Term]:
        return self // other, self % other


class Product:
    """The IEEE product of a non-negative number and a constant.

    Its integer part may be any number, the same one for equal operands.
    """

    def __init__(self, term: Any, factor: float) -> None:
        self.term, self.factor = term, factor

    def __trunc__(self) -> Term:
        whole = z3.Function(f"the whole part of the product with {self.factor}", z3.IntSort(), z3.IntSort())
        return Term(whole(self.term))

    __floor__ = __trunc__


def raw(value: object) -> Any:
    """Return the z3 term of a value, or the value itself."""
    return value.term if isinstance(value, Term) else value


class Assumptions:
    """The assumptions about the numbers: one for all functions, and a further one for each.

    The functions share one solver, so z3 receives the common assumption once.
    """

    def __init__(self, given: Any) -> None:
        self.given = given
        self._solver: Any = None

    def solver(self, further: Any) -> Any:
        """Return the solver with the common and the further assumption."""
        if self._solver is None:
            self._solver = z3.Solver()
            self._solver.set("ctrl_c", False)
            self._solver.add(self.given)
        else:
            self._solver.pop(self._solver.num_scopes())
        self._solver.push()
        self._solver.add(further)
        self._solver.push()
        return self._solver


def _question_key(question: Any) -> Any:
    """Return the key of a question; z3 keeps equal terms once."""
    if isinstance(question, tuple):
        return question[0].get_id(), question[1]
    return question.get_id() if isinstance(question, z3.AstRef) else question


_branch_answers: dict[Any, tuple[Any, tuple[bool, bool]]] = {}
"""A cache of z3's answers about branches, by their assumptions.

It keeps the terms alive, since their ids are its keys. The laws of several rules follow the same functions under the
same assumptions.
"""


class _ReachableBranches:
    """The branches that are reachable under the assumptions; z3 is called only at a branch."""

    def __init__(self, assumed: Assumptions, further: Any) -> None:
        self.assumed, self.further = assumed, further
        self.solver: Any = None

    def begin(self) -> None:
        """Begin another path."""
        if self.solver is not None:
            self.solver.pop()
            self.solver.push()

    def took(self, term: Any) -> None:
        """Record the branch that was taken."""
        if self.solver is not None:
            self.solver.add(term)

    def first(self, term: Any) -> tuple[bool, bool]:
        """Return the branch to follow first, and whether it is the only one; an unknown answer means both."""
        if z3.is_true(term) or z3.is_false(term):
            return z3.is_true(term), True
        question = (self.assumed.given, self.further, *_branches_taken, term)
        key = tuple(_question_key(part) for part in question)
        if key not in _branch_answers:
            _branch_answers[key] = question, self._ask_solver(term)
        return _branch_answers[key][1]

    def _ask_solver(self, term: Any) -> tuple[bool, bool]:
        if self.solver is None:
            self.solver = self.assumed.solver(self.further)
            self.solver.add([taken if chosen else negated(taken) for taken, chosen in _branches_taken])
        if self.solver.check(term) == z3.unsat:
            return False, True
        return True, bool(self.solver.check(negated(term)) == z3.unsat)


def _choose_branch(term: Any, number: int) -> bool:
    if not _assumptions:
        return True
    chosen, is_only = _assumptions[-1].first(term)
    if is_only:
        _forced.add(number)
    return chosen


def paths(function: Callable[[], Any], within: Any = None, assumed: Assumptions | None = None) -> list[tuple[Any, Any]]:
    """Run a function once for each of its paths; return the condition and the answer of each.

    With `within`, paths that no numbers take under that assumption are left out.
    """
    answers: list[tuple[Any, Any]] = []
    todo: list[list[bool]] = [[]]
    followed = None if within is None else _ReachableBranches(assumed or Assumptions(True), within)
    _assumptions.extend([] if followed is None else [followed])
    try:
        while todo:
            _choices[:] = todo.pop()
            given = len(_choices)
            _branches_taken.clear()
            _forced.clear()
            if followed is not None:
                followed.begin()
            answer = function()
            taken = list(_branches_taken)
            chosen = [choice for _, choice in taken]
            todo += [[*chosen[:at], False] for at in range(given, len(taken)) if at not in _forced]
            answers.append((all_of([term if choice else negated(term) for term, choice in taken]), answer))
    finally:
        if followed is not None:
            _assumptions.pop()
    return answers


def _to_term(value: Any) -> Any:
    value = raw(value)
    if isinstance(value, bool):
        return z3.BoolVal(value)
    return z3.IntVal(value) if isinstance(value, int) else value


def merge_paths(function: Callable[[], Any]) -> Any:
    """Return the answer of a function of terms as one z3 term."""
    ways = paths(function)
    term = _to_term(ways[-1][1])
    for condition, answer in reversed(ways[:-1]):
        term = z3.If(condition, _to_term(answer), term)
    return term
