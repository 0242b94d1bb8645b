"""Test that terms that are built directly equal those of z3's own operators."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest

z3 = pytest.importorskip("z3")

from entrycache_evidence.induction import symbolic  # noqa: E402 - after the package that it needs

A, B, R, P, Q = z3.Int("a"), z3.Int("b"), z3.Real("r"), z3.Bool("p"), z3.Bool("q")

BUILDERS: tuple[tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]], ...] = (
    (symbolic.plus, operator.add),
    (symbolic.minus, operator.sub),
    (symbolic.less, operator.lt),
    (symbolic.at_most, operator.le),
    (symbolic.more, operator.gt),
    (symbolic.at_least, operator.ge),
    (symbolic.equal, operator.eq),
)


@pytest.mark.parametrize(("build", "by"), BUILDERS, ids=[by.__name__ for _, by in BUILDERS])
@pytest.mark.parametrize(
    ("left", "right"),
    [(A, B), (A, A), (A + 1, B - 2), (A, 0), (A, -7), (A, 2**70), (A, R), (R, A), (R, 1), (z3.IntVal(3), A)],
    ids=str,
)
def test_terms_equal_those_of_the_operators(build: Any, by: Any, left: Any, right: Any) -> None:
    own, wanted = build(left, right), by(left, right)
    assert own.eq(wanted)
    assert own.sort() == wanted.sort()
    assert type(own) is type(wanted)


@pytest.mark.parametrize(("build", "by"), BUILDERS[:2], ids=["plus", "minus"])
def test_an_integer_may_stand_first(build: Any, by: Any) -> None:
    assert build(5, A).eq(by(5, A))


def test_terms_of_booleans_equal_those_of_z3() -> None:
    assert symbolic.equal(P, Q).eq(P == Q)
    assert symbolic.equal(P, True).eq(P == True)  # noqa: E712 - a term
    assert symbolic.negated(P).eq(z3.Not(P))
    for many in ((), (P,), (P, Q, z3.Not(P))):
        assert symbolic.all_of(many).eq(z3.And(list(many)))
        assert symbolic.any_of(many).eq(z3.Or(list(many)))


def test_operands_of_different_sorts_are_refused() -> None:
    with pytest.raises(z3.Z3Exception):
        symbolic.all_of((P, A))
    with pytest.raises(z3.Z3Exception):
        symbolic.negated(A)
