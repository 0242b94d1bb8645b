"""Which expression of a module a change makes another one: the smallest one that holds all of the change."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from entrycache_evidence.matrix.change import Change
from entrycache_evidence.matrix.places import source_of

Path = tuple[tuple[str, int], ...]
"""The way from a module to a node: names of fields, with the place in those that are lists, else 0."""

_PARTS: Final = (ast.FormattedValue, ast.Starred, ast.Slice)
"""Expressions to Python's grammar that have no value of their own."""

_ONCE: Final = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
"""Expressions that may not be asked twice."""


class Other(NamedTuple):
    """An expression of a module, by the way to it, and what a change makes of it."""

    path: Path
    new: ast.expr


@cache
def other(change: Change) -> Other | None:
    """The expression that a change changes; None where it is none that can be asked twice."""
    path: list[tuple[str, int]] = []
    node: ast.AST = _tree(change.module)
    new: ast.AST = ast.parse(change.whole)
    found: tuple[ast.expr, Other] | None = None
    while (step := _only_difference(node, new)) is not None:
        way, node, new = step
        if isinstance(node, ast.pattern):
            break
        path.append(way)
        if isinstance(node, ast.expr) and isinstance(new, ast.expr) and not isinstance(node, _PARTS):
            found = node, Other(tuple(path), new)
        if isinstance(node, ast.Call) and isinstance(new, ast.Call) and _text(node.func) != _text(new.func):
            break  # what is called has no value that says whether it answers alike
    if found is None or any(isinstance(each, _ONCE) for one in (found[0], found[1].new) for each in ast.walk(one)):
        return None
    return found[1]


def at(tree: ast.AST, path: Path) -> ast.AST:
    """The node at the end of a way."""
    for name, place in path:
        part = getattr(tree, name)
        tree = part[place] if isinstance(part, list) else part
    return tree


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(source_of(module))


def _only_difference(node: ast.AST, new: ast.AST) -> tuple[tuple[str, int], ast.AST, ast.AST] | None:
    """The only part in which two nodes differ, if that is a node in both."""
    if type(node) is not type(new):
        return None
    found = list(_differences(node, new))
    if len(found) != 1:
        return None
    name, place, old, other_ = found[0]
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
