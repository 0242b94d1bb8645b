"""Terms of z3 that are made often: of integers and booleans without the questions that z3's Python layer asks of sorts.

The same terms as by its operators, which make all the others.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import z3
from z3 import z3core, z3types

z3.z3.Z3_DEBUG = False  # what its Python layer asks of every argument the library asks again


def _unasked(call: Any) -> Any:
    """The library's own function, without the question after each call whether there was an error."""
    return getattr((call.__defaults__ or (call,))[-1], "f", call)


z3.z3.Z3_inc_ref, z3.z3.Z3_dec_ref = _unasked(z3core.Z3_inc_ref), _unasked(z3core.Z3_dec_ref)
_sort_of: Final = _unasked(z3core.Z3_get_sort)
_CONTEXT: Final[Any] = z3.main_ctx()
_REF: Final[Any] = _CONTEXT.ref()
_INTEGERS: Final[int] = z3.IntSort().ast.value

Pair: Final[Any] = z3types.Ast * 2


@cache
def numeral(value: int) -> Any:
    """An integer as a term."""
    return z3.IntVal(value)


def _integer(value: Any) -> Any:
    """The term of an integer; None: it is something else."""
    if type(value) is int:
        return numeral(value).ast
    if isinstance(value, z3.ArithRef) and _sort_of(_REF, value.ast).value == _INTEGERS:
        return value.ast
    return None


def _of_integers(make: Callable[..., Any], kind: type[Any], otherwise: Callable[[Any, Any], Any], is_many: bool) -> Any:
    def made(left: Any, right: Any) -> Any:
        first, second = _integer(left), _integer(right)
        if first is None or second is None:
            return otherwise(left, right)
        if is_many:
            return kind(make(_REF, 2, Pair(first, second)), _CONTEXT)
        return kind(make(_REF, first, second), _CONTEXT)

    return made


plus: Final = _of_integers(z3core.Z3_mk_add, z3.ArithRef, operator.add, is_many=True)
minus: Final = _of_integers(z3core.Z3_mk_sub, z3.ArithRef, operator.sub, is_many=True)
less: Final = _of_integers(z3core.Z3_mk_lt, z3.BoolRef, operator.lt, is_many=False)
at_most: Final = _of_integers(z3core.Z3_mk_le, z3.BoolRef, operator.le, is_many=False)
more: Final = _of_integers(z3core.Z3_mk_gt, z3.BoolRef, operator.gt, is_many=False)
at_least: Final = _of_integers(z3core.Z3_mk_ge, z3.BoolRef, operator.ge, is_many=False)
equal: Final = _of_integers(z3core.Z3_mk_eq, z3.BoolRef, operator.eq, is_many=False)


def negated(term: Any) -> Any:
    """That a boolean term is false."""
    return z3.BoolRef(z3core.Z3_mk_not(_REF, term.ast), _CONTEXT)


def all_of(terms: Sequence[Any]) -> Any:
    """That all of these boolean terms are true."""
    return z3.BoolRef(z3core.Z3_mk_and(_REF, len(terms), _array(terms)), _CONTEXT)


def any_of(terms: Sequence[Any]) -> Any:
    """That one of these boolean terms is true."""
    return z3.BoolRef(z3core.Z3_mk_or(_REF, len(terms), _array(terms)), _CONTEXT)


def _array(terms: Sequence[Any]) -> Any:
    return (z3types.Ast * len(terms))(*[term.ast for term in terms])
