"""Test that a lemma about a loop refutes every bound on its turns, however the bound is written."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

z3 = pytest.importorskip("z3", reason="needs the Python package z3-solver")

from entrycache_evidence.induction.lemma import Lemma, all_of, is_unsatisfiable, negated  # noqa: E402
from entrycache_evidence.pulsar_pip430.induction.ledger_loops import SMALL_LOOPS  # noqa: E402
from entrycache_evidence.run import list_lemmas  # noqa: E402
from entrycache_evidence.systems import SYSTEM_EVIDENCE  # noqa: E402
from entrycache_faults.model import Model  # noqa: E402

LOOP_LEMMAS = [lemma for lemma in list_lemmas() if lemma.loop]
LOOPS = sorted({(lemma.fault.model.package, lemma.loop) for lemma in LOOP_LEMMAS})
BOUNDS = (10, 100, 1000)
PULSAR = "entrycache_reference.pulsar_pip430"

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
    """Change one loop of a function: the one with this number, an outer loop before those within."""

    def __init__(self, change: Change, bound: int, number: int) -> None:
        self.change, self.bound, self.left = change, bound, number

    def _changed(self, loop: ast.While | ast.For) -> Any:
        self.left -= 1
        return self.change(loop, self.bound) if self.left == -1 else self.generic_visit(loop)

    visit_While = visit_For = _changed


def original(package: str, place: str) -> FunctionType:
    module, _, name = place.rpartition(".")
    function: FunctionType = getattr(importlib.import_module(f"{package}.{module}"), name)
    return function


def changed_code(function: FunctionType, change: Change, bound: int, number: int) -> Any:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    tree.body[0].decorator_list = []  # type: ignore[attr-defined]
    changed = ast.fix_missing_locations(_Bounded(change, bound, number).visit(tree))
    names: dict[str, Any] = {}
    flags = __import__("__future__").annotations.compiler_flag
    exec(compile(changed, "bounded", "exec", flags), dict(vars(inspect.getmodule(function))), names)  # type: ignore[arg-type]
    return names[function.__name__].__code__


def loops_of(function: FunctionType | ast.FunctionDef) -> list[ast.While | ast.For]:
    """List the loops of a function, an outer loop before those within."""
    if isinstance(function, FunctionType):
        return loops_of(ast.parse(textwrap.dedent(inspect.getsource(function))).body[0])  # type: ignore[arg-type]
    loops: list[ast.While | ast.For] = []

    class Lister(ast.NodeVisitor):
        def _list(self, loop: Any) -> None:
            loops.append(loop)
            self.generic_visit(loop)

        visit_While = visit_For = _list

    Lister().visit(function)
    return loops


def changes_of(loop: ast.While | ast.For) -> tuple[Change, ...]:
    return OF_WHILE if isinstance(loop, ast.While) else OF_FOR


def is_refuted(lemma: Lemma, model: Model) -> bool:
    """Return whether an obligation does not hold of a model; an obligation about nothing is none."""
    return any(
        is_unsatisfiable(all_of((given, negated(goal)))) is False
        for _, given, goal in lemma.obligations(lemma.table, model)
    )


def unrefuted(package: str, place: str, bounds: tuple[int, ...], forms: slice = slice(None)) -> Iterator[str]:
    """Yield each bound on a loop that no lemma about its function refutes, and each lemma that refutes none."""
    function = original(package, place)
    lemmas = [lemma for lemma in LOOP_LEMMAS if (lemma.fault.model.package, lemma.loop) == (package, place)]
    large = [one for one in enumerate(loops_of(function)) if (place, one[0]) not in SMALL_LOOPS]
    about = {number: set(range(len(lemmas))) for number, _ in large}
    whole = function.__code__
    for bound, (number, loop) in product(bounds, large):
        for change in changes_of(loop)[forms]:
            try:
                function.__code__ = changed_code(function, change, bound, number)
                model = Model(package)
                refuting = {at for at, lemma in enumerate(lemmas) if is_refuted(lemma, model)}
            finally:
                function.__code__ = whole
            about[number] &= refuting
            if not refuting:
                yield f"loop {number}, {change.__name__} at {bound}"
    yield from (
        f"{lemma.rule}: no loop" for at, lemma in enumerate(lemmas) if not any(at in one for one in about.values())
    )


def statement_loops(package: str) -> Iterator[tuple[str, int]]:
    """Yield each loop of the modules of a reference: its function and its number.

    The laws are left out, and the judge of histories, which is one.
    """
    root = Path(importlib.import_module(package).__file__ or "").parent
    for path in sorted(root.glob("*.py")):
        for function in ast.parse(path.read_text("utf-8")).body:
            if isinstance(function, ast.FunctionDef):
                yield from ((f"{path.stem}.{function.name}", number) for number in range(len(loops_of(function))))


SMALL: dict[str, Mapping[tuple[str, int], str]] = {
    PULSAR: SMALL_LOOPS,
    "entrycache_reference.kafka_streams": {},
    "entrycache_reference.pulsar_legacy": {},
    "entrycache_reference.pulsar_segmented": {("ring.insert", 0): "it walks three reasons to leave an entry out"},
}
"""The loops of each reference that need no lemma, each with the reason."""


def test_each_system_with_lemmas_has_its_loops_counted() -> None:
    assert {f"entrycache_reference.{name.replace('-', '_')}" for name in SYSTEM_EVIDENCE} == SMALL.keys()


@pytest.mark.parametrize("package", SMALL)
def test_each_loop_of_a_reference_has_a_lemma_or_is_small(package: str) -> None:
    loops = set(statement_loops(package))
    assert loops >= SMALL[package].keys()
    assert {one for one in loops - SMALL[package].keys() if (package, one[0]) not in LOOPS} == set()


def test_no_class_of_a_reference_has_a_loop() -> None:
    """The list of loops leaves out those of classes."""
    for package in SMALL:
        for path in Path(importlib.import_module(package).__file__ or "").parent.glob("*.py"):
            classes = [one for one in ast.parse(path.read_text("utf-8")).body if isinstance(one, ast.ClassDef)]
            assert not [one for one in classes if any(isinstance(part, ast.For | ast.While) for part in ast.walk(one))]


@pytest.mark.parametrize(("package", "place"), LOOPS)
def test_each_lemma_about_a_loop_refutes_a_bound_on_its_turns(package: str, place: str) -> None:
    assert list(unrefuted(package, place, BOUNDS[1:2], slice(1))) == []


@pytest.mark.parametrize("place", ["ledger_cursors.replay_each", "reads_in_flight.run_tasks"])
def test_a_lemma_about_a_loop_refutes_a_bound_however_it_is_written(place: str) -> None:
    assert list(unrefuted(PULSAR, place, BOUNDS[1:2])) == []


@pytest.mark.long
@pytest.mark.parametrize(("package", "place"), LOOPS)
def test_each_lemma_about_a_loop_refutes_all_bounds_however_they_are_written(package: str, place: str) -> None:
    assert list(unrefuted(package, place, BOUNDS)) == []
