"""Changes that are more than a token, kept as exact old and new texts; one that no longer applies is an error."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from entrycache_evidence.matrix.change import Change
from entrycache_protocol.errors import UsageError

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
