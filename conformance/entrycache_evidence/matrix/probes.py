"""Which changes of a reference may show in a step: what each changes is asked beside what it makes of it.

Where a change changes one expression, a probe in its place asks both, and notes the change where the values differ: a
step in which they never do is the same step. Where it changes something else, a probe in front of its statement notes
whether the step comes there. The functions have their own code back afterwards.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from entrycache_evidence.matrix import apply
from entrycache_evidence.matrix.alike import are_alike
from entrycache_evidence.matrix.change import Change
from entrycache_evidence.matrix.expressions import Other, at, other
from entrycache_evidence.matrix.places import modules

VISIT: Final = "_a_statement_is_met_"
ASK: Final = "_an_expression_is_asked_"
"""The names under which a module with probes finds what they call."""

EVERYWHERE: Final = 1
"""The place of a change that no probe tells of: every step comes to it. Other places are higher powers of two."""

Met = set[int]
"""The places of the changes that may show."""


class Probes:
    """The probes for these changes of the modules of one package."""

    def __init__(self, package: str, changes: Sequence[Change]) -> None:
        self._code: list[tuple[FunctionType, CodeType]] = []
        self._modules: list[ModuleType] = []
        self._places: dict[str, int] = {}
        numbers = {change.id: 2 << number for number, change in enumerate(changes)}
        for name, path in modules():
            own = {numbers[change.id]: change for change in changes if change.module == name}
            if own and f"{name}.".startswith(f"{package}."):
                self._put_in(sys.modules[name], path, own)

    def place(self, change: Change) -> int:
        """Where it is told that the change may show."""
        return self._places.get(change.id, EVERYWHERE)

    @contextmanager
    def listening(self) -> Iterator[Met]:
        """With the probes in; the places that they note are added to the set."""
        met: Met = set()
        before = [function.__code__ for function, _ in self._code]
        for module in self._modules:
            vars(module).update({VISIT: met.add, ASK: asking(met)})
        try:
            for function, code in self._code:
                function.__code__ = code
            yield met
        finally:
            for (function, _), code in zip(self._code, before, strict=True):
                function.__code__ = code

    def _put_in(self, module: ModuleType, path: Path, changes: Mapping[int, Change]) -> None:
        tree = ast.parse(path.read_text("utf-8"))
        asked = {place: found for place, change in changes.items() if (found := _asked(change)) is not None}
        others: dict[int, list[tuple[int, ast.expr]]] = {}
        for place, found in asked.items():
            others.setdefault(id(at(tree, found.path)), []).append((place, found.new))
        visiting = _Visiting({place: change.line for place, change in changes.items() if place not in asked})
        visiting.visit(tree)
        _Asking(others).visit(tree)
        pairs = apply.differing(module, compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True))
        assert pairs is not None  # nothing outside of functions is touched
        self._modules.append(module)
        self._code += [(function, code) for _, function, code in pairs if function is not None]
        living = {name for name, function, _ in pairs if function is not None}
        told = {place for place, outer in visiting.told.items() if outer in living} | set(asked)
        self._places |= {change.id: place for place, change in changes.items() if place in told}


def _asked(change: Change) -> Other | None:
    """The expression that a change of living functions changes."""
    return None if apply.changed_code(change) is None else other(change)


def asking(met: Met) -> Callable[..., Any]:
    """What a probe in the place of an expression calls."""
    is_asking = False

    def ask(own: Callable[[], Any], *others: tuple[int, Callable[[], Any]]) -> Any:
        nonlocal is_asking
        if is_asking:
            return own()
        try:
            value = own()
        except BaseException:
            met.update(place for place, _ in others)
            raise
        is_asking = True
        try:
            for place, changed in others:
                if place not in met and not _answers(changed, value):
                    met.add(place)
        finally:
            is_asking = False
        return value

    return ask


def _answers(changed: Callable[[], Any], value: Any) -> bool:
    """Whether it gives this value."""
    try:
        return are_alike(changed(), value)
    except Exception:
        return False


class _Asking(ast.NodeTransformer):
    """Puts a probe in the place of expressions, by the identity of the node, with what is asked beside it."""

    def __init__(self, others: Mapping[int, Sequence[tuple[int, ast.expr]]]) -> None:
        self._others = others

    def visit(self, node: ast.AST) -> Any:
        asked = self._others.get(id(node), ())
        node = super().visit(node)
        if not asked:
            return node
        call = ast.parse(f"{ASK}({', '.join(['lambda: 0', *(f'({place}, lambda: 0)' for place, _ in asked)])})")
        assert isinstance(call.body[0], ast.Expr)
        probe: Any = call.body[0].value
        probe.args[0].body = node
        for part, (_, new) in zip(probe.args[1:], asked, strict=True):
            part.elts[1].body = new
        return probe


class _Visiting(ast.NodeTransformer):
    """Puts a probe in front of the innermost statement of functions that a line stands in, for each of the places.

    `told` has the outermost function of each place that a probe tells of.
    """

    def __init__(self, lines: Mapping[int, int]) -> None:
        self._lines = lines
        self.told: dict[int, str] = {}
        self._settled: set[int] = set()
        self._outer: list[str] = []
        self._is_inside = False

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._outer.append(node.name)
        self.generic_visit(node)
        self._outer.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if self._is_inside:
            return self._inner(node)
        self._outer.append(node.name)
        self._is_inside = True
        self._inner(node)
        self._is_inside = False
        self._outer.pop()
        return node

    def _inner(self, node: ast.AST) -> ast.AST:
        for name in ("body", "orelse", "finalbody"):
            if isinstance(getattr(node, name, None), list):
                setattr(node, name, [new for each in getattr(node, name) for new in self._probed(each)])
        for inner in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            self._inner(inner)
        return node

    def _probed(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return [node]  # documentation
        assert node.end_lineno is not None
        self._inner(node)
        around = {place for place, line in self._lines.items() if node.lineno <= line <= node.end_lineno}
        own = sorted(around - self._settled)
        self._settled |= around
        if _is_kept(node):
            return [node]
        self.told |= dict.fromkeys(own, ".".join(self._outer))
        return [*(ast.parse(f"{VISIT}({place})").body[0] for place in own), node]


def _is_kept(node: ast.stmt) -> bool:
    """Whether a part of a statement may be called when the statement has long ended."""
    parts = (part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.stmt))
    return any(isinstance(each, ast.Lambda) for part in parts for each in ast.walk(part))
