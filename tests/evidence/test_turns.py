"""Test that a lemma about a loop refutes every bound on its turns, however the bound is written."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import pytest

z3 = pytest.importorskip("z3", reason="needs the Python package z3-solver")

from entrycache_evidence.induction.lemma import Lemma, all_of, is_unsatisfiable, negated  # noqa: E402
from entrycache_evidence.lemmas import LEMMAS  # noqa: E402
from entrycache_faults.model import Model  # noqa: E402

LOOP_LEMMAS = [lemma for lemma in LEMMAS if lemma.loop]
LOOPS = sorted({(lemma.fault.model.package, lemma.loop) for lemma in LOOP_LEMMAS})
BOUNDS = (10, 100, 1000)

Change = Callable[[ast.While | ast.For, int], list[ast.stmt]]


def statements(text: str) -> list[ast.stmt]:
    return ast.parse(textwrap.dedent(text)).body


def count_turns(loop: ast.While | ast.For, bound: int) -> list[ast.stmt]:
    """Count the turns in a variable, and end the loop after so many."""
    loop.body[:0] = statements(f"if made_so_far >= {bound}:\n    break\nmade_so_far += 1")
    return [*statements("made_so_far = 0"), loop]


def count_in_a_fraction(loop: ast.While | ast.For, bound: int) -> list[ast.stmt]:
    """Count the turns in a variable that is no integer."""
    loop.body[:0] = statements(f"if made_so_far >= {bound}:\n    break\nmade_so_far += 1.0")
    return [*statements("made_so_far = 0.0"), loop]


def end_by_a_flag(loop: ast.While | ast.For, bound: int) -> list[ast.stmt]:
    """Set a flag after so many turns; the flag ends the loop."""
    loop.body[:0] = statements(f"if no_more:\n    break\nmade_so_far += 1\nno_more = made_so_far == {bound}")
    return [*statements("made_so_far = 0\nno_more = False"), loop]


def gather_turns(loop: ast.While | ast.For, bound: int) -> list[ast.stmt]:
    """Gather something at each turn, and end the loop when so much is gathered."""
    loop.body[:0] = statements(f"gathered.append(0)\nif len(gathered) > {bound}:\n    break")
    return [*statements("gathered = []"), loop]


def skip_later_turns(loop: ast.While | ast.For, bound: int) -> list[ast.stmt]:
    """Do nothing more in a `for` after so many turns."""
    assert isinstance(loop, ast.For)
    loop.body[:0] = statements(f"made_so_far += 1\nif made_so_far > {bound}:\n    continue")
    return [*statements("made_so_far = 0"), loop]


def count_in_the_condition(loop: ast.While | ast.For, bound: int) -> list[ast.stmt]:
    """Count the turns of a `while` in its condition."""
    assert isinstance(loop, ast.While)
    loop.test = ast.BoolOp(ast.And(), [ast.parse(f"made_so_far < {bound}", mode="eval").body, loop.test])
    loop.body[:0] = statements("made_so_far += 1")
    return [*statements("made_so_far = 0"), loop]


def walk_a_part(part: str) -> Change:
    def change(loop: ast.While | ast.For, bound: int) -> list[ast.stmt]:
        assert isinstance(loop, ast.For)
        whole = ast.unparse(loop.iter)
        loop.iter = ast.parse(part.format(whole=whole, bound=bound), mode="eval").body
        return [loop]

    return change


def run_for(loop: ast.While | ast.For, bound: int) -> list[ast.stmt]:
    """Make a `for` over a range of numbers of a `while`."""
    assert isinstance(loop, ast.While)
    body = [*statements(f"if not ({ast.unparse(loop.test)}):\n    break"), *loop.body]
    return [ast.For(ast.Name("_", ast.Store()), ast.parse(f"range({bound})", mode="eval").body, body, [])]


OF_BOTH = (count_turns, count_in_a_fraction, end_by_a_flag, gather_turns)
OF_WHILE = (*OF_BOTH, count_in_the_condition, run_for)
OF_FOR = (
    *OF_BOTH,
    skip_later_turns,
    walk_a_part("{whole}[:{bound}]"),
    walk_a_part("__import__('itertools').islice({whole}, {bound})"),
    walk_a_part("(one for one, _ in zip({whole}, range({bound})))"),
    walk_a_part("{whole} if len({whole}) < {bound} else ()"),
)


class _Bounded(ast.NodeTransformer):
    """Change the first loop of a function."""

    def __init__(self, change: Change, bound: int) -> None:
        self.change, self.bound, self.is_done = change, bound, False

    def _changed(self, loop: ast.While | ast.For) -> Any:
        if self.is_done:
            return loop
        self.is_done = True
        return self.change(loop, self.bound)

    visit_While = visit_For = _changed


def original(package: str, place: str) -> FunctionType:
    module, _, name = place.rpartition(".")
    function: FunctionType = getattr(importlib.import_module(f"{package}.{module}"), name)
    return function


def changed_code(function: FunctionType, change: Change, bound: int) -> Any:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    tree.body[0].decorator_list = []  # type: ignore[attr-defined]
    changed = ast.fix_missing_locations(_Bounded(change, bound).visit(tree))
    names: dict[str, Any] = {}
    flags = __import__("__future__").annotations.compiler_flag
    exec(compile(changed, "bounded", "exec", flags), dict(vars(inspect.getmodule(function))), names)  # type: ignore[arg-type]
    return names[function.__name__].__code__


def changes_of(function: FunctionType) -> tuple[Change, ...]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    first = next(node for node in ast.walk(tree) if isinstance(node, ast.While | ast.For))
    return OF_WHILE if isinstance(first, ast.While) else OF_FOR


def is_refuted(lemma: Lemma, model: Model) -> bool:
    """Return whether an obligation does not hold of a model; an obligation about nothing is none."""
    return any(
        is_unsatisfiable(all_of((given, negated(goal)))) is False
        for _, given, goal in lemma.obligations(lemma.table, model)
    )


def unrefuted(package: str, place: str, bounds: tuple[int, ...]) -> Iterator[str]:
    function = original(package, place)
    lemmas = [lemma for lemma in LOOP_LEMMAS if (lemma.fault.model.package, lemma.loop) == (package, place)]
    whole = function.__code__
    for bound in bounds:
        for number, change in enumerate(changes_of(function)):
            try:
                function.__code__ = changed_code(function, change, bound)
                model = Model(package)
                yield from (
                    f"{lemma.rule}: {change.__name__} {number} at {bound}"
                    for lemma in lemmas
                    if not is_refuted(lemma, model)
                )
            finally:
                function.__code__ = whole


@pytest.mark.parametrize(("package", "place"), LOOPS)
def test_each_lemma_about_a_loop_refutes_a_bound_on_its_turns(package: str, place: str) -> None:
    assert list(unrefuted(package, place, BOUNDS[1:2])) == []


@pytest.mark.long
@pytest.mark.parametrize(("package", "place"), LOOPS)
def test_each_lemma_about_a_loop_refutes_lower_and_higher_bounds(package: str, place: str) -> None:
    assert list(unrefuted(package, place, BOUNDS)) == []
