"""Find out which changes of a reference may show in a step, by probes in its functions.

Where a change alters one expression, a probe in its place evaluates both and notes the change if the values differ.
Where it alters something else, a probe before its statement notes whether the step reaches it. A step without a note is
the same step under the change. The functions get their own code back afterwards.
"""

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, NamedTuple

from entrycache_dev.matrix import generate, mutants, process


def are_identical(one: Any, other: Any) -> bool:
    """Return whether two values are equal, with order and types; shared parts are compared once."""
    compared: dict[tuple[int, int], tuple[Any, Any]] = {}  # the values are kept, so that no id is used again

    def are_parts_identical(one: Any, other: Any) -> bool:
        if one is other or (id(one), id(other)) in compared:
            return True
        if type(one) is not type(other):
            return False
        parts = _parts_of(one)
        if parts is None:
            return bool(one == other) and repr(one) == repr(other)
        if len(one_parts := list(parts(one))) != len(other_parts := list(parts(other))):
            return False
        if not all(map(are_parts_identical, one_parts, other_parts)):
            return False
        compared[id(one), id(other)] = one, other
        return True

    return are_parts_identical(one, other)


def _parts_of(value: Any) -> Callable[[Any], Iterable[Any]] | None:
    """Return a function that yields the parts of such a value, or None if it has none."""
    if isinstance(value, tuple | list | set | frozenset):
        return iter
    if isinstance(value, Mapping):
        return _of_mapping
    return _of_record if is_dataclass(value) else None


def _of_mapping(value: Mapping[Any, Any]) -> Iterable[Any]:
    for pair in value.items():
        yield from pair


def _of_record(value: Any) -> Iterable[Any]:
    return (getattr(value, field.name) for field in fields(value))


# --- Changed expressions

NodePath = tuple[tuple[str, int], ...]
"""The path from a module to a node: names of fields, with the index in a list or 0."""

_PARTS: Final = (ast.FormattedValue, ast.Starred, ast.Slice)
"""Nodes that are expressions in Python's grammar, but have no value."""

_ONCE: Final = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
"""Expressions that must not be evaluated twice."""


class ChangedExpression(NamedTuple):
    """An expression of a module, by its path, and the changed expression."""

    path: NodePath
    new: ast.expr


@cache
def changed_expression(change: generate.Change) -> ChangedExpression | None:
    """Return the expression that a change changes, or None if it cannot be evaluated twice."""
    path: list[tuple[str, int]] = []
    node: ast.AST = _tree(change.module)
    new: ast.AST = ast.parse(change.whole)
    only: tuple[ast.expr, ChangedExpression] | None = None
    while (step := _only_difference(node, new)) is not None:
        way, node, new = step
        if isinstance(node, ast.pattern):
            break
        path.append(way)
        if isinstance(node, ast.expr) and isinstance(new, ast.expr) and not isinstance(node, _PARTS):
            only = node, ChangedExpression(tuple(path), new)
        if isinstance(node, ast.Call) and isinstance(new, ast.Call) and _text(node.func) != _text(new.func):
            break  # the value of a called function does not show whether its answers are equal
    if only is None or any(isinstance(each, _ONCE) for one in (only[0], only[1].new) for each in ast.walk(one)):
        return None
    return only[1]


def node_at(tree: ast.AST, path: NodePath) -> ast.AST:
    """Return the node at the end of a path."""
    for name, place in path:
        part = getattr(tree, name)
        tree = part[place] if isinstance(part, list) else part
    return tree


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(mutants.read_source(module))


def _only_difference(node: ast.AST, new: ast.AST) -> tuple[tuple[str, int], ast.AST, ast.AST] | None:
    """Return the only part in which two nodes differ, if it is a node in both."""
    if type(node) is not type(new):
        return None
    differences = list(_differences(node, new))
    if len(differences) != 1:
        return None
    name, place, old, other_ = differences[0]
    return ((name, place), old, other_) if isinstance(old, ast.AST) and isinstance(other_, ast.AST) else None


def _differences(node: ast.AST, new: ast.AST) -> Iterator[tuple[str, int, object, object]]:
    for name in node._fields:
        old, other_ = _parts(node, name), _parts(new, name)
        if len(old) != len(other_):
            yield name, 0, None, None
            continue
        for place, (one, two) in enumerate(zip(old, other_, strict=True)):
            if _text(one) != _text(two):
                yield name, place, one, two


def _parts(node: ast.AST, name: str) -> Sequence[object]:
    part = getattr(node, name, None)
    return part if isinstance(part, list) else [part]


def _text(part: object) -> str:
    return ast.dump(part) if isinstance(part, ast.AST) else repr(part)


# --- Probes

VISIT: Final = "_a_statement_is_met_"
ASK: Final = "_an_expression_is_asked_"
"""The names under which a module with probes finds their functions."""

EVERYWHERE: Final = 1
"""The place of a change without a probe, which every step reaches; other places are higher powers of two."""

Places = set[int]
"""The places of the changes that may show."""


class Probes:
    """The probes for these changes of the modules of one package."""

    def __init__(self, package: str, changes: Sequence[generate.Change]) -> None:
        self._code: list[tuple[FunctionType, CodeType]] = []
        self._modules: list[ModuleType] = []
        self._places: dict[str, int] = {}
        numbers = {change.id: 2 << number for number, change in enumerate(changes)}
        for name, path in mutants.list_modules():
            own = {numbers[change.id]: change for change in changes if change.module == name}
            if own and f"{name}.".startswith(f"{package}."):
                self._put_in(sys.modules[name], path, own)

    def place(self, change: generate.Change) -> int:
        """Return the place that stands for a change."""
        return self._places.get(change.id, EVERYWHERE)

    @contextmanager
    def listening(self) -> Iterator[Places]:
        """Install the probes and collect the places that they note."""
        places: Places = set()
        before = [function.__code__ for function, _ in self._code]
        for module in self._modules:
            vars(module).update({VISIT: places.add, ASK: build_probe(places)})
        try:
            for function, code in self._code:
                function.__code__ = code
            yield places
        finally:
            for (function, _), code in zip(self._code, before, strict=True):
                function.__code__ = code

    def _put_in(self, module: ModuleType, path: Path, changes: Mapping[int, generate.Change]) -> None:
        tree = ast.parse(path.read_text("utf-8"))
        expressions = {
            place: expression
            for place, change in changes.items()
            if (expression := _probed_expression(change)) is not None
        }
        others: dict[int, list[tuple[int, ast.expr]]] = {}
        for place, expression in expressions.items():
            others.setdefault(id(node_at(tree, expression.path)), []).append((place, expression.new))
        visiting = _StatementProbes(
            {place: change.line for place, change in changes.items() if place not in expressions}
        )
        visiting.visit(tree)
        _ExpressionProbes(others).visit(tree)
        pairs = process.differing_functions(
            module, compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True)
        )
        assert pairs is not None  # nothing outside of functions is touched
        self._modules.append(module)
        self._code += [(function, code) for _, function, code in pairs if function is not None]
        living = {name for name, function, _ in pairs if function is not None}
        probed = {place for place, outer in visiting.outer_functions.items() if outer in living} | set(expressions)
        self._places |= {change.id: place for place, change in changes.items() if place in probed}


def _probed_expression(change: generate.Change) -> ChangedExpression | None:
    """Return the expression that a change of a living function changes."""
    return None if process.changed_code(change) is None else changed_expression(change)


def build_probe(places: Places) -> Callable[..., Any]:
    """Build the function that a probe calls in place of an expression."""
    is_asking = False

    def ask(own: Callable[[], Any], *others: tuple[int, Callable[[], Any]]) -> Any:
        nonlocal is_asking
        if is_asking:
            return own()
        try:
            value = own()
        except BaseException:
            places.update(place for place, _ in others)
            raise
        is_asking = True
        try:
            for place, changed in others:
                if place not in places and not _has_value(changed, value):
                    places.add(place)
        finally:
            is_asking = False
        return value

    return ask


def _has_value(changed: Callable[[], Any], value: Any) -> bool:
    """Return whether the changed expression has this value."""
    try:
        return are_identical(changed(), value)
    except Exception:
        return False


class _ExpressionProbes(ast.NodeTransformer):
    """A transformer that puts a probe in the place of expressions, with the changed ones beside it."""

    def __init__(self, others: Mapping[int, Sequence[tuple[int, ast.expr]]]) -> None:
        self._others = others

    def visit(self, node: ast.AST) -> Any:
        probed = self._others.get(id(node), ())
        node = super().visit(node)
        if not probed:
            return node
        call = ast.parse(f"{ASK}({', '.join(['lambda: 0', *(f'({place}, lambda: 0)' for place, _ in probed)])})")
        assert isinstance(call.body[0], ast.Expr)
        probe: Any = call.body[0].value
        probe.args[0].body = node
        for part, (_, new) in zip(probe.args[1:], probed, strict=True):
            part.elts[1].body = new
        return probe


class _StatementProbes(ast.NodeTransformer):
    """A transformer that puts a probe before the innermost statement of each changed line.

    `outer_functions` maps each place to its outermost function.
    """

    def __init__(self, lines: Mapping[int, int]) -> None:
        self._lines = lines
        self.outer_functions: dict[int, str] = {}
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
        if _may_be_called_later(node):
            return [node]
        self.outer_functions |= dict.fromkeys(own, ".".join(self._outer))
        return [*(ast.parse(f"{VISIT}({place})").body[0] for place in own), node]


def _may_be_called_later(node: ast.stmt) -> bool:
    """Return whether a part of a statement may be called after the statement has ended."""
    parts = (part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.stmt))
    return any(isinstance(each, ast.Lambda) for part in parts for each in ast.walk(part))
