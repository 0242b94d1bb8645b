"""The wheel under the other versions of Python that it names; a missing version is skipped and counted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support import ROOT

UV = Path(sys.executable).parent / "uv"
CLASSIFIERS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
VERSIONS = [each.rpartition(" ")[2] for each in CLASSIFIERS if each.startswith("Programming Language :: Python :: 3.")]
OTHERS = [each for each in VERSIONS if each != f"{sys.version_info[0]}.{sys.version_info[1]}"]

LINES = (
    ("entrycache init --lang python", 0),
    ("entrycache smoke my_cache:MyCache", 0),
    ("entrycache conform my_cache:MyCache --level range", 0),
    ("python -m pytest -q -p no:cacheprovider --entrycache-subject my_cache:MyCache", 0),
    ("entrycache conform expire-at-the-cutoff --level queue --junit found.xml --html found.html", 1),
    ("entrycache vectors consume small fast", 0),
    ("entrycache trace generate tail-fanout --events 2000 --out trace", 0),
    ("entrycache audit trace --backend local", 0),
)
"""The first commands of a user, with their exit codes."""


def interpreter(version: str) -> Path | None:
    """Return a Python of that version on this machine, from the path or from pyenv."""
    on_path = shutil.which(f"python{version}")
    if on_path is not None and (reported := _reported_version(on_path)) is not None and reported == version:
        return Path(on_path)
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    return next(iter(sorted(root.glob(f"versions/{version}.*/bin/python"))), None)


def _reported_version(program: str) -> str | None:
    """Return the version that a program reports; a shim of pyenv may report none."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([program, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def test_several_versions_are_promised() -> None:
    assert len(VERSIONS) >= 4


@pytest.mark.long
@pytest.mark.parametrize("version", OTHERS)
def test_the_wheel_runs_under(version: str, built: Path, tmp_path: Path) -> None:
    path = interpreter(version)
    if path is None:
        pytest.skip(f"python{version} is missing")
    subprocess.run([UV, "venv", "-q", "-p", path, tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    wheel = next(built.glob("*.whl"))
    subprocess.run([UV, "pip", "install", "-q", "--python", python, f"{wheel}[trace]", "pytest"], check=True)
    (tmp_path / "work").mkdir()
    for line, code in LINES:
        program, *arguments = line.split()
        argv = [str(python.parent / program), *arguments]
        done = subprocess.run(argv, cwd=tmp_path / "work", capture_output=True, text=True, check=False)
        assert done.returncode == code, f"{line}\n{done.stdout}{done.stderr}"
