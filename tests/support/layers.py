"""The import graph of our packages, and the arrows that are allowed between them.

`modules` lists our source files, `imports` reads their import statements (inside functions and for type checkers too),
and `upward`, `cycles` and `folder_pairs` find the imports that break a rule. Nothing is imported or run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple

from tests.support import ROOT

SOURCES: Final = tuple(ROOT / name for name in ("reference", "conformance", "spark_checks"))

FOUNDATION: Final = frozenset({"entrycache_reference", "entrycache_protocol"})
MODELS: Final = FOUNDATION | {"entrycache_fast"}
SUITE: Final = MODELS | {"entrycache_faults", "entrycache_conformance"}
TRACES: Final = frozenset({"entrycache_trace", "entrycache_spark", "entrycache_simulate", "entrycache_league"})
PRODUCT: Final = SUITE | TRACES | {"entrycache_evidence", "entrycache_cli"}

ALLOWED: Final[dict[str, Set[str]]] = {
    "entrycache_reference": frozenset(),
    "entrycache_fast": frozenset(),
    "entrycache_protocol": {"entrycache_reference"},
    "entrycache_faults": MODELS,
    "entrycache_conformance": MODELS | {"entrycache_faults"},
    "entrycache_evidence": SUITE,
    "entrycache_trace": MODELS,
    "entrycache_spark": FOUNDATION | {"entrycache_trace"},
    "entrycache_simulate": MODELS | {"entrycache_trace"},
    "entrycache_league": MODELS | {"entrycache_trace", "entrycache_simulate"},
    "entrycache_cli": PRODUCT - {"entrycache_cli"},
    "entrycache": MODELS | {"entrycache_conformance", "entrycache_spark", "entrycache_trace"},
    "entrycache_dev": PRODUCT | {"entrycache"},
}
"""The packages that each package may import. Nothing imports `entrycache_dev`, which is not in the wheel."""

EXCEPTED: Final[frozenset[tuple[str, str]]] = frozenset()
"""Imports that run up although they may not, as pairs of a module and an imported name."""


class Import(NamedTuple):
    """One import of a name by a module; `typing` marks an import below `if TYPE_CHECKING:`."""

    module: str
    name: str
    typing: bool = False

    def __str__(self) -> str:
        return f"{self.module} imports {self.name}"


def modules(roots: tuple[Path, ...] = SOURCES) -> dict[str, Path]:
    """Return the source files of our packages by module name."""
    paths = {}
    for root in roots:
        for path in sorted((*root.glob("entrycache/**/*.py"), *root.glob("entrycache_*/**/*.py"))):
            paths[".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")] = path
    return paths


def imports(paths: dict[str, Path]) -> list[Import]:
    """Return every import of one of our packages in these modules."""
    return [
        Import(module, name, typing)
        for module, path in paths.items()
        for node, typing in import_statements(ast.parse(path.read_text(encoding="utf-8")))
        for name in _imported_names(node, module)
        if package_of(name) in ALLOWED
    ]


def import_statements(node: ast.AST, typing: bool = False) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Yield the import statements of a module, and whether each stands below `if TYPE_CHECKING:`."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node, typing
    typing = typing or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):  # no expression holds a statement
            yield from import_statements(child, typing)


def package_of(module: str) -> str:
    """Return the top-level package of a module."""
    return module.partition(".")[0]


def _imported_names(node: ast.Import | ast.ImportFrom, module: str) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    assert not node.level, f"{module} has a relative import"
    return [f"{node.module}.{alias.name}" for alias in node.names]


def upward(edges: Iterable[Import]) -> list[Import]:
    """Return the imports of a package that the importing package may not know."""
    return [
        each
        for each in edges
        if (package := package_of(each.module)) != (other := package_of(each.name))
        and other not in ALLOWED[package]
        and each[:2] not in EXCEPTED
    ]


def cycles(edges: Iterable[Import], paths: dict[str, Path]) -> list[list[str]]:
    """Return the groups of modules that import each other, the largest first."""
    return _cycles({(each.module, target(each, paths)) for each in edges})


def target(edge: Import, paths: dict[str, Path]) -> str:
    """Return the module that an import loads; an empty string if it is none of these modules."""
    return next((name for name in (edge.name, edge.name.rpartition(".")[0]) if name in paths), "")


def folder_of(module: str, path: Path) -> str:
    """Return the folder of a module below its package: the first one, or "." for the files of the package itself."""
    parts = module.split(".")[1:]
    is_folder = path.name == "__init__.py"
    return parts[0] if len(parts) > 1 or (parts and is_folder) else "."


def folder_pairs(edges: Iterable[Import], paths: dict[str, Path]) -> list[str]:
    """Return the pairs of folders inside one package that import each other.

    A package's own `__init__` belongs to no folder: it is the package's door and may import all of it.
    """
    arrows = set()
    for each in edges:
        to = target(each, paths)
        if to and package_of(to) == package_of(each.module) and "." in each.module and "." in to:
            source, other = folder_of(each.module, paths[each.module]), folder_of(to, paths[to])
            arrows.add((package_of(to), source, other))
    names = {(package, folder) for package, *folders in arrows for folder in folders}
    return [
        f"{package}: {one} and {other}"
        for (package, one), (same, other) in combinations(sorted(names), 2)
        if package == same and (package, one, other) in arrows and (package, other, one) in arrows
    ]


def _cycles(edges: set[tuple[str, str]]) -> list[list[str]]:
    graph: dict[str, set[str]] = {}
    for source, to in edges:
        if to and source != to:
            graph.setdefault(source, set()).add(to)
            graph.setdefault(to, set())
    reach = {module: _reachable(module, graph) for module in graph}
    left = {module for module in graph if module in reach[module]}
    groups = []
    while left:
        first = min(left)
        group = {other for other in reach[first] if first in reach[other]}
        groups.append(sorted(group))
        left -= group
    return sorted(groups, key=len, reverse=True)


def _reachable(module: str, graph: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = [module]
    while waiting:
        new = graph[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached
