"""A copy of this checkout in which a change is tried: diffs are applied to it, commands run on its own packages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.support import ROOT

CONTRIBUTING: Final = ROOT / "CONTRIBUTING.md"

FOLDERS: Final = ("reference", "conformance", "spark_checks", "spec", "docs", "tests")
PACKAGES: Final = FOLDERS[:3]
"""The folders whose packages are on Python's path."""

UNTRIED: Final = shutil.ignore_patterns("__pycache__", ".*_cache", "target", "build", "files")
"""Names that a copy leaves out: results of builds, and files that a test lays into a copy."""

FILE: Final = re.compile(r"^--- (\S+)\n\+\+\+ (\S+)\n", re.M)
NONE: Final = "/dev/null"


class Checkout:
    """A copy of the folders that commands read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in FOLDERS:
            shutil.copytree(ROOT / name, folder / name, ignore=UNTRIED)
        shutil.copy(ROOT / "pyproject.toml", folder)

    def lay(self, files: Path) -> None:
        """New files, at their places; one that is there already is a mistake."""
        for path in sorted(path for path in files.rglob("*") if path.is_file()):
            there = self.folder / path.relative_to(files)
            assert not there.exists(), f"{there} is there already"
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, there)

    def apply(self, diff: str) -> None:
        """A diff, as `git apply` takes it; its place may have moved, its surroundings must be there."""
        done = subprocess.run(
            ["git", "apply", "-"], input=diff, capture_output=True, text=True, cwd=self.folder, check=False
        )
        assert done.returncode == 0, f"the diff does not fit the tree any more: {done.stderr}"

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A module of the copy, with its arguments."""
        path = os.pathsep.join(str(self.folder / name) for name in PACKAGES)
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": path},
            check=False,
        )

    def entrycache(self, *arguments: str, code: int = 0) -> str:
        """Return the output of a command that ends with this code."""
        done = self.run("entrycache_cli", *arguments)
        assert done.returncode == code, f"{arguments} ended with {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr


def parts(diff: str) -> dict[str, str]:
    """The parts of a diff, by the file that each is about."""
    starts = list(FILE.finditer(diff))
    ends = [match.start() for match in starts[1:]] + [len(diff)]
    return {match[2].removeprefix("b/"): diff[match.start() : end] for match, end in zip(starts, ends, strict=True)}


def existing(diff: str) -> list[str]:
    """The files that a diff changes and that are there before it."""
    return [name for name, part in parts(diff).items() if not part.startswith(f"--- {NONE}\n")]


def diffs() -> dict[str, list[str]]:
    """The diffs of CONTRIBUTING.md, by the heading that they stand under."""
    sections = CONTRIBUTING.read_text(encoding="utf-8").split("\n## ")[1:]
    blocks_by_heading = {
        text.partition("\n")[0]: re.findall(r"^```diff\n(.*?)^```$", text, re.S | re.M) for text in sections
    }
    return {heading: blocks for heading, blocks in blocks_by_heading.items() if blocks}
