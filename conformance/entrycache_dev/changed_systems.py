"""Tell which systems a change touches, so that `make test` proves the rules of these alone.

`list_changed_files` asks git for the files that differ from a base commit. `find_touched_systems` maps them to systems.
If git cannot tell, or if the change touches a part that the references share, the result is all systems.
"""

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from entrycache_evidence.systems import SYSTEM_EVIDENCE

ROOT: Final = Path(__file__).resolve().parents[2]
"""The checkout."""
BASE: Final = "BASE"
"""The environment variable that names the commit to compare with."""
DEFAULT_BASES: Final = ("origin/main", "HEAD~1")
"""The commits to compare with otherwise. The first one that exists and is not the current commit is used."""

PROVED: Final = (
    "reference/entrycache_reference/",
    "conformance/entrycache_evidence/",
    "conformance/entrycache_faults/fast/",
    "conformance/entrycache_faults/reference/",
    "conformance/entrycache_faults/model.py",
    "conformance/entrycache_fast/",
)
"""The folders and files that evidence is about, or that obtain it."""
RULE_IDS: Final = "reference/entrycache_reference/rules.py"
"""The file that each new rule changes; alone it changes no answer."""
FAST: Final = "conformance/entrycache_fast/"
"""The folder whose parts have a word of a system's name as their name."""


def _git(*arguments: str) -> list[str] | None:
    """Return the lines that git prints, or None if it fails."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.splitlines()


def list_changed_files(base: str | None = None) -> list[str] | None:
    """Return the files that differ from where this branch left its base; None if git cannot tell."""
    named = base or os.environ.get(BASE)
    head = _git("rev-parse", "HEAD")
    for commit in (named,) if named else DEFAULT_BASES:
        left = _git("merge-base", commit, "HEAD")
        if left and (named or left != head):
            changed = _git("diff", "--name-only", left[0])
            added = _git("ls-files", "--others", "--exclude-standard")
            return None if changed is None or added is None else [*changed, *added]
    return None


def _systems_of(path: str) -> set[str]:
    """Return the systems whose evidence may depend on a file."""
    if path == RULE_IDS or not path.startswith(PROVED):
        return set()
    if path.startswith(FAST):
        part = path.removeprefix(FAST).partition("/")[0].removesuffix(".py")
        own = {name for name in SYSTEM_EVIDENCE if part in name.split("-")}
    else:
        packages = {name: name.replace("-", "_") for name in SYSTEM_EVIDENCE}
        own = {name for name, package in packages.items() if f"/{package}/" in path or f"/{package}.py" in path}
    return own or set(SYSTEM_EVIDENCE)


def find_touched_systems(paths: Iterable[str] | None) -> list[str]:
    """Return the systems whose evidence may depend on these files, in their usual order; all for None."""
    touched = set(SYSTEM_EVIDENCE) if paths is None else {name for path in paths for name in _systems_of(path)}
    return [name for name in SYSTEM_EVIDENCE if name in touched]
