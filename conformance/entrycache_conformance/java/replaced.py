"""Which classes under test a class path in front of a release replaces: none would test the release itself."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

from entrycache_conformance.java.driver import Driver
from entrycache_protocol.errors import UsageError


def replaced(front: Sequence[Path], built: Driver) -> dict[Path, int]:
    """How many classes of the jar under test come from each entry.

    Raises:
        UsageError: an entry is no jar and no folder, or none of its classes come from any.
    """
    tested = classes(built.tested_jar)
    left = set(tested)
    counts = {}
    for path in front:
        found = left & classes(path)
        counts[path] = len(found)
        left -= found
    if front and len(left) == len(tested):
        example = min(tested, key=lambda name: (name.count("/"), "$" in name, name))
        raise UsageError(
            f"{', '.join(map(str, front))}: replaces no class of {built.tested_jar.name}, so the release itself would "
            f"be tested; give jars, or folders in which a class lies as {example}"
        )
    return counts


def classes(path: Path) -> frozenset[str]:
    """The class files of a jar or a folder, by their names in it.

    Raises:
        UsageError: it is neither.
    """
    if path.is_dir():
        return frozenset(file.relative_to(path).as_posix() for file in path.rglob("*.class"))
    try:
        with zipfile.ZipFile(path) as jar:
            return frozenset(name for name in jar.namelist() if name.endswith(".class"))
    except (OSError, zipfile.BadZipFile):
        raise UsageError(f"class path entry {path} is no jar and no folder of classes") from None
