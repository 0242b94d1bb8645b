"""Which statements of a reference a step comes to: its functions with a probe in front of every statement.

A change inside a statement shows in no step that never comes to it. The functions have their own code back afterwards.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Final

from entrycache_evidence.matrix import apply
from entrycache_evidence.matrix.change import Change
from entrycache_evidence.matrix.places import modules

PROBE: Final = "_a_statement_is_met_"
"""The name under which a module with probes finds what they call."""

EVERYWHERE: Final = 1
"""The place of a change that no probe tells of: every step comes to it. Other places are higher powers of two."""

Met = set[int]
"""The places that were come to."""


class Probes:
    """The probes of the modules of one package."""

    def __init__(self, package: str) -> None:
        self._code: list[tuple[FunctionType, CodeType]] = []
        self._modules: list[ModuleType] = []
        self._places: dict[str, list[tuple[int, int, int]]] = {}
        number = 0
        for name, path in modules():
            if f"{name}.".startswith(f"{package}."):
                number = self._put_in(sys.modules[name], path, number)

    def place(self, change: Change) -> int:
        """The place of the innermost statement that a change stands in."""
        around = [
            (start, end, place)
            for start, end, place in self._places.get(change.module, ())
            if start <= change.line <= end
        ]
        return max(around, default=(0, 0, EVERYWHERE))[2]

    @contextmanager
    def listening(self) -> Iterator[Met]:
        """With the probes in; what they meet is added to the set."""
        met: Met = set()
        before = [function.__code__ for function, _ in self._code]
        for module in self._modules:
            vars(module)[PROBE] = met.add
        try:
            for function, code in self._code:
                function.__code__ = code
            yield met
        finally:
            for (function, _), code in zip(self._code, before, strict=True):
                function.__code__ = code

    def _put_in(self, module: ModuleType, path: Path, number: int) -> int:
        """Probes in a module, whose places are behind this number; the last one."""
        tree = ast.parse(path.read_text("utf-8"))
        probing = _Probing(number)
        probing.visit(tree)
        code = compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True)
        pairs = apply.differing(module, code)
        assert pairs is not None  # no statement outside of functions is touched
        self._modules.append(module)
        self._code += [(function, changed) for _, function, changed in pairs if function is not None]
        living = {name for name, function, _ in pairs if function is not None}
        self._places[module.__name__] = [
            (start, end, place if outer in living else EVERYWHERE) for outer, start, end, place in probing.found
        ]
        return probing.number


class _Probing(ast.NodeTransformer):
    """Puts a probe in front of every statement of functions; `found` has the outermost function, lines and place."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.found: list[tuple[str, int, int, int]] = []
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
        place = EVERYWHERE if _is_kept(node) else 2 << self.number
        self.number += 1
        assert node.end_lineno is not None
        self.found.append((".".join(self._outer), node.lineno, node.end_lineno, place))
        self._inner(node)
        probe = ast.parse(f"{PROBE}({place})").body[0]
        return [probe, node]


def _is_kept(node: ast.stmt) -> bool:
    """Whether a part of a statement may be called when the statement has long ended."""
    parts = (part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.stmt))
    return any(isinstance(each, ast.Lambda) for part in parts for each in ast.walk(part))


@cache
def probes(package: str) -> Probes:
    """Those of a package, made once."""
    return Probes(package)
