"""Collect the mutants: which modules are changed, the generated changes, and the patches written by hand.

Only modules that make steps and states are changed, not those that judge them. A patch is a larger change, kept as an
exact old and a new text; it is an error if the old text does not occur exactly once. Changes after which the reference
does the same are listed with an argument in `equivalent.toml`.
"""

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
from entrycache_dev.matrix.generate import Change, generate_changes
from entrycache_evidence.systems import SYSTEM_EVIDENCE
from entrycache_protocol.errors import UsageError
from entrycache_protocol.system import AnySystem

TESTED_SYSTEMS: Final = tuple(system for system in SYSTEMS.values() if system.name in SYSTEM_EVIDENCE)


def package_of(system: AnySystem) -> str:
    """Return the package of a system's reference."""
    return str(system.model.step.__module__).rpartition(".")[0]


OTHER_PACKAGES: Final = tuple(f"{package_of(system)}." for system in SYSTEMS.values() if system not in TESTED_SYSTEMS)
"""The prefixes of the modules of all other systems."""


# --- Patches

FOLDER: Final = Path(__file__).parent / "patches"
"""The folder of patches, one file for each system; a patch has a name, a module, a note, an old and a new text."""

KEYS: Final = {"name", "module", "note", "old", "new"}


def load_patches(sources: Mapping[str, str], folder: Path = FOLDER) -> list[Change]:
    """Load the patches of a folder and apply them to these sources.

    Raises:
        UsageError: a patch has other keys, its name is taken, or its old text does not occur exactly once.
    """
    changes: list[Change] = []
    for path in sorted(folder.glob("*.toml")):
        for number, patch in enumerate(tomllib.loads(path.read_text(encoding="utf-8"))["patch"], 1):
            if patch.keys() != KEYS:
                raise UsageError(f"{path.name}: patch {number} has keys {sorted(patch)}, expected {sorted(KEYS)}")
            if any(other.id == patch["name"] for other in changes):
                raise UsageError(f"{path.name}: two patches are called {patch['name']!r}; expected names of their own")
            changes.append(_apply_patch(path.name, patch, sources))
    return changes


def _apply_patch(file: str, patch: Mapping[str, Any], sources: Mapping[str, str]) -> Change:
    old, new = patch["old"].strip("\n"), patch["new"].strip("\n")
    source = sources.get(f"entrycache_reference.{patch['module']}")
    times = 0 if source is None else source.count(old)
    if source is None or times != 1:
        problem = "there is no such module" if source is None else f"its old text occurs {times} times, expected once"
        raise UsageError(
            f"{file}: the patch {patch['name']!r} of {patch['module']} does not apply: {problem}; renew it"
        )
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


# --- Equivalent changes

FILE: Final = Path(__file__).parent / "equivalent.toml"


def load_arguments(ids: Collection[str], file: Path = FILE) -> dict[str, str]:
    """Return the argument why a change changes nothing, by its id.

    Raises:
        UsageError: an id names no change. Its code has changed, so the argument must be checked again.
    """
    arguments: dict[str, str] = {}
    for each in tomllib.loads(file.read_text(encoding="utf-8"))["equivalent"]:
        for name in each["ids"]:
            if name not in ids:
                place = f"{each['where']} (`{each['text']}`)"
                raise UsageError(f"{file.name}: {name} is no change any more: {place}; read its argument again")
            arguments[name] = each["because"]
    return arguments


# --- Modules and changes

REFERENCE: Final = Path(entrycache_reference.__file__).parent

DETECTORS: Final = frozenset({"laws", "threads"})
"""Folders of a reference that judge steps or histories; they are not changed."""

NAMES: Final = frozenset({"rules.py", "judged.py", "frame.py"})
"""Files of a reference that judge as well."""


def list_modules() -> Iterator[tuple[str, Path]]:
    """Yield the modules that are changed, by their dotted names."""
    for path in sorted(REFERENCE.rglob("*.py")):
        parts = path.relative_to(REFERENCE).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        is_door = len(parts) < 2 and path.name == "__init__.py"  # it names only definitions of other modules
        name = ".".join((REFERENCE.name, *parts))
        if f"{name}.".startswith(OTHER_PACKAGES):
            continue
        if not is_door and path.name not in NAMES and not DETECTORS & set(parts):
            yield name, path


def read_source(module: str) -> str:
    """Return the source of a module."""
    return dict(list_modules())[module].read_text(encoding="utf-8")


def generate_all_changes() -> list[Change]:
    """Return every one-token change, then every patch."""
    changes: list[Change] = []
    for name, path in list_modules():
        changes += generate_changes(name, path.read_text(encoding="utf-8"), _enums(importlib.import_module(name)))
    return changes + load_patches({name: path.read_text(encoding="utf-8") for name, path in list_modules()})


def sample_changes(changes: Sequence[Change], number: int, seed: int) -> list[Change]:
    """Choose this many changes at random, in their order."""
    chosen = frozenset(random.Random(seed).sample(range(len(changes)), min(number, len(changes))))
    return [change for at, change in enumerate(changes) if at in chosen]


def _enums(module: ModuleType) -> dict[str, tuple[str, ...]]:
    """Return the members of each enumeration that a module can name, also as `other_module.Enumeration`."""
    known = dict(vars(module))
    for name, value in vars(module).items():
        if isinstance(value, ModuleType) and value.__name__.startswith(f"{REFERENCE.name}."):
            known |= {f"{name}.{inner}": each for inner, each in vars(value).items()}
    return {
        name: tuple(value.__members__)
        for name, value in known.items()
        if isinstance(value, type) and issubclass(value, Enum)
    }
