"""The systems whose references are changed: those of which something is shown besides what their laws see."""

from __future__ import annotations

import importlib
import random
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import entrycache_reference
from entrycache_conformance.systems import SYSTEMS
from entrycache_dev.matrix.generate import Change, changes
from entrycache_evidence.systems import SHOWN
from entrycache_protocol.errors import UsageError
from entrycache_protocol.system import AnySystem

TRIED: Final = tuple(system for system in SYSTEMS.values() if system.name in SHOWN)


def package_of(system: AnySystem) -> str:
    """Where the reference of a system stands."""
    return str(system.model.step.__module__).rpartition(".")[0]


UNTRIED: Final = tuple(f"{package_of(system)}." for system in SYSTEMS.values() if system not in TRIED)
"""How the modules of all others begin."""


# --- patches
# Changes that are more than a token, kept as exact old and new texts; one that no longer applies is an error.

FOLDER: Final = Path(__file__).parent / "patches"
"""One file a system; each patch has a name, a module, a sentence, an old and a new text."""

KEYS: Final = {"name", "module", "note", "old", "new"}


def patches(sources: Mapping[str, str], folder: Path = FOLDER) -> list[Change]:
    """The patches of a folder, applied to these sources of modules.

    Raises:
        UsageError: a patch has other keys, its name is taken, or its old text does not occur exactly once.
    """
    made: list[Change] = []
    for path in sorted(folder.glob("*.toml")):
        for number, patch in enumerate(tomllib.loads(path.read_text(encoding="utf-8"))["patch"], 1):
            if patch.keys() != KEYS:
                raise UsageError(f"{path.name}: patch {number} has keys {sorted(patch)}, expected {sorted(KEYS)}")
            if any(other.id == patch["name"] for other in made):
                raise UsageError(f"{path.name}: two patches are called {patch['name']!r}; expected names of their own")
            made.append(_applied(path.name, patch, sources))
    return made


def _applied(file: str, patch: Mapping[str, Any], sources: Mapping[str, str]) -> Change:
    old, new = patch["old"].strip("\n"), patch["new"].strip("\n")
    source = sources.get(f"entrycache_reference.{patch['module']}")
    times = 0 if source is None else source.count(old)
    if source is None or times != 1:
        found = "there is no such module" if source is None else f"its old text occurs {times} times, expected once"
        raise UsageError(f"{file}: the patch {patch['name']!r} of {patch['module']} does not apply: {found}; renew it")
    at = source.index(old)
    return Change(
        patch["name"],
        f"entrycache_reference.{patch['module']}",
        "",
        "patch",
        source.count("\n", 0, at) + 1,
        old,
        new,
        source[:at] + new + source[at + len(old) :],
        patch["note"],
    )


# --- equivalent
# Changes after which the reference does what it did, each with the argument; kept in a file beside this module.

FILE: Final = Path(__file__).parent / "equivalent.toml"


def arguments(ids: Collection[str], file: Path = FILE) -> dict[str, str]:
    """Why a change changes nothing, by its id.

    Raises:
        UsageError: an id names no change: what it was about has been changed, so its argument has to be read again.
    """
    found: dict[str, str] = {}
    for each in tomllib.loads(file.read_text(encoding="utf-8"))["equivalent"]:
        for name in each["ids"]:
            if name not in ids:
                place = f"{each['where']} (`{each['text']}`)"
                raise UsageError(f"{file.name}: {name} is no change any more: {place}; read its argument again")
            found[name] = each["because"]
    return found


# --- places
# Which modules of the reference are changed: what makes steps and states, not the laws that judge them.

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
