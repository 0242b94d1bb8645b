"""Which modules of the reference are changed: what makes steps and states, not the laws that judge them."""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Final

import entrycache_reference
from entrycache_evidence.matrix.change import Change
from entrycache_evidence.matrix.generate import changes
from entrycache_evidence.matrix.patches import patches
from entrycache_evidence.matrix.tried import UNTRIED

REFERENCE: Final = Path(entrycache_reference.__file__).parent

DETECTORS: Final = frozenset({"laws", "threads"})
"""Folders of a system that hold what judges steps or histories: they are what is asked, not what is changed."""

NAMES: Final = frozenset({"rules.py", "judged.py", "frame.py"})
"""Files that hold the ids of rules, the type of a verdict, and what frames are made of: they judge too."""


def modules() -> Iterator[tuple[str, Path]]:
    """The modules that are changed, by their dotted names."""
    for path in sorted(REFERENCE.rglob("*.py")):
        parts = path.relative_to(REFERENCE).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        is_door = len(parts) < 2 and path.name == "__init__.py"  # names only what stands elsewhere
        name = ".".join((REFERENCE.name, *parts))
        if f"{name}.".startswith(UNTRIED):
            continue
        if not is_door and path.name not in NAMES and not DETECTORS & set(parts):
            yield name, path


def source_of(module: str) -> str:
    """The text of a module."""
    return dict(modules())[module].read_text(encoding="utf-8")


def all_changes() -> list[Change]:
    """Every one-token change, then every patch."""
    made: list[Change] = []
    for name, path in modules():
        made += changes(name, path.read_text(encoding="utf-8"), _enums(importlib.import_module(name)))
    return made + patches({name: path.read_text(encoding="utf-8") for name, path in modules()})


def sample(made: Sequence[Change], number: int, seed: int) -> list[Change]:
    """So many of them, in their order; which ones follows from the seed."""
    chosen = frozenset(random.Random(seed).sample(range(len(made)), min(number, len(made))))
    return [change for at, change in enumerate(made) if at in chosen]


def _enums(module: ModuleType) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(value.__members__)
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Enum)
    }
