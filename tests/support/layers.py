"""Which module of ours imports which, and which package may know which: read from the sources, not by running them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Final, NamedTuple

from tests.support import ROOT

SOURCES: Final = tuple(ROOT / name for name in ("reference", "conformance", "spark_checks"))

BELOW_ALL: Final = frozenset({"entrycache_reference", "entrycache_protocol"})
MODELS: Final = BELOW_ALL | {"entrycache_fast"}
RUNS: Final = MODELS | {"entrycache_faults", "entrycache_conformance"}

ALLOWED: Final[dict[str, Set[str]]] = {
    "entrycache_reference": frozenset(),
    "entrycache_fast": frozenset(),
    "entrycache_protocol": {"entrycache_reference"},
    "entrycache_faults": MODELS,
    "entrycache_conformance": MODELS | {"entrycache_faults"},
    "entrycache_evidence": RUNS,
    "entrycache_bench": RUNS,
    "entrycache_trace": MODELS,
    "entrycache_spark": BELOW_ALL | {"entrycache_trace"},
    "entrycache_simulate": MODELS | {"entrycache_trace"},
    "entrycache_league": MODELS | {"entrycache_bench", "entrycache_trace", "entrycache_simulate"},
    "entrycache_cli": RUNS
    | {"entrycache_evidence", "entrycache_bench", "entrycache_trace", "entrycache_spark", "entrycache_simulate"}
    | {"entrycache_league"},
}
"""What each package may import of ours."""


EXCEPTED: Final = frozenset({("entrycache_protocol.check", "entrycache_conformance.check.check")})
"""The one import that runs up, inside a function: authors find `check` beside `Subject`, and it needs the runner. The
reasons stand in docs/decisions/public-door.md."""


class Import(NamedTuple):
    """A module imports another, or a name of it; `typing`: for the types alone, under `if TYPE_CHECKING:`."""

    module: str
    name: str
    typing: bool = False

    def __str__(self) -> str:
        return f"{self.module} imports {self.name}"


def modules(roots: tuple[Path, ...] = SOURCES) -> dict[str, Path]:
    """The files of our packages, by the name that they are imported by."""
    found = {}
    for root in roots:
        for path in sorted(root.glob("entrycache_*/**/*.py")):
            found[".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")] = path
    return found


def imports(found: dict[str, Path]) -> list[Import]:
    """What each of them imports of ours, inside functions and for types too."""
    return [
        each
        for module, path in found.items()
        for each in _named(ast.parse(path.read_text(encoding="utf-8")), module, False)
        if each.name.startswith("entrycache_")
    ]


def _named(node: ast.AST, module: str, typing: bool) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        yield from (Import(module, alias.name, typing) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert not node.level, f"{module} has a relative import"
        yield from (Import(module, f"{node.module}.{alias.name}", typing) for alias in node.names)
    typing = typing or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
    for child in ast.iter_child_nodes(node):
        yield from _named(child, module, typing)


def upward(told: list[Import]) -> list[Import]:
    """The imports of a package that the importing one may not know."""
    ends = [(each, each.module.partition(".")[0], each.name.partition(".")[0]) for each in told]
    return [
        each
        for each, package, other in ends
        if other != package and other not in ALLOWED[package] and each[:2] not in EXCEPTED
    ]


def circles(told: list[Import], found: dict[str, Path]) -> list[list[str]]:
    """The modules that reach themselves through imports, circle by circle, the largest first."""
    graph: dict[str, set[str]] = {module: set() for module in found}
    for each in told:
        target = each.name if each.name in found else each.name.rpartition(".")[0]
        if target in found and target != each.module:
            graph[each.module].add(target)
    reach = {module: _reached(module, graph) for module in graph}
    left = {module for module in graph if module in reach[module]}
    whole = []
    while left:
        first = min(left)
        circle = {other for other in reach[first] if first in reach[other]}
        whole.append(sorted(circle))
        left -= circle
    return sorted(whole, key=len, reverse=True)


def _reached(module: str, graph: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        new = graph[waiting.pop()] - seen
        seen |= new
        waiting += new
    return seen
