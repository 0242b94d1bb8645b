"""Prints how the house stands: `python -m tests.house_numbers`. Nothing is judged here; `tests/test_layers.py` does."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.support.layers import circles, imports, modules, upward

COPY_LINES: Final = 6
"""As many equal lines that follow each other are a copy."""

SYSTEMS: Final = ("pulsar-pip430", "pulsar-legacy", "pulsar-segmented", "kafka-streams")
ASKS: Final = (*SYSTEMS, "R-", "K-", "L-")
"""The strings by which code that belongs to no system asks which one it has at hand."""


def lines_by_package(found: dict[str, Path]) -> Counter[str]:
    """Lines of Python, by package."""
    lines: Counter[str] = Counter()
    for module, path in found.items():
        lines[module.partition(".")[0]] += len(path.read_text(encoding="utf-8").splitlines())
    return lines


def of_a_system(module: str) -> bool:
    """Whether a module stands in the files or folders of a system, or is a list that names them all."""
    own = any(part.startswith(("pulsar", "kafka")) for part in module.split("."))
    return own or module in {"entrycache_reference.rules", "entrycache_conformance.systems"}


def questions(found: dict[str, Path]) -> Counter[str]:
    """How often a module that belongs to no system names one, by module."""
    asked: Counter[str] = Counter()
    for module, path in found.items():
        if not of_a_system(module):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
            asked[module] += sum(text in ASKS for text in texts)
    return +asked


def copies(paths: list[Path]) -> int:
    """How many lines stand a second time, in runs of at least `COPY_LINES`."""
    first: dict[tuple[str, ...], tuple[Path, int]] = {}
    again = set()
    for path in paths:
        lines = list(_lines(path))
        for at in range(len(lines) - COPY_LINES + 1):
            run = tuple(lines[at : at + COPY_LINES])
            if first.setdefault(run, (path, at)) != (path, at):
                again |= {(path, at + more) for more in range(COPY_LINES)}
    return len(again)


def _lines(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.strip()
        if text and not text.startswith(("import ", "from ")):
            yield text


def report() -> Iterator[str]:
    """The numbers, one a line."""
    found = modules()
    lines, told = lines_by_package(found), imports(found)
    for package, number in lines.most_common():
        yield f"{package}: {number} lines, {number / lines.total():.0%}"
    yield f"in all: {lines.total()} lines; the largest holds {lines.most_common(1)[0][1] / lines.total():.0%}"
    yield f"imports that run up: {len(upward(told))}"
    for name, seen in (("at run time", [each for each in told if not each.typing]), ("for types too", told)):
        whole = circles(seen, found)
        yield f"circles of modules, {name}: {len(whole)}, with {sum(map(len, whole))} files"
    asked = questions(found)
    yield f"questions for a system by its name or prefix outside its folders: {asked.total()} in {len(asked)} files"
    yield f"lines that stand a second time in runs of {COPY_LINES} or more: {copies(list(found.values()))}"


if __name__ == "__main__":
    for each in report():
        print(each)
