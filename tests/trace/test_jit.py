"""Compiled code is kept across checkouts, and compiled again if a file of its package has changed."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import entrycache_spark.checkers

LOOP = """
from entrycache_trace.jit import jit
from loops.step import STEP

@jit
def total(count):
    found = 0
    for number in range(count):
        found += number * STEP
    return found
"""
CALL = "from loops.total import total; print(total(4), sum(total.stats.cache_hits.values()))"


def called_in(folder: Path, step: int, cache: Path) -> str:
    """Write the package and call its loop in a process of its own; return the total and the hits of the cache."""
    package = folder / "loops"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text("")
    (package / "step.py").write_text(f"STEP = {step}\n")
    (package / "total.py").write_text(LOOP)
    path = os.pathsep.join((str(folder), *sys.path))
    environment = {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", CALL], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.long
def test_another_checkout_of_the_same_source_finds_the_compiled_code(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert called_in(tmp_path / "one", 2, cache) == "12 0"
    assert called_in(tmp_path / "other", 2, cache) == "12 1"
    assert called_in(tmp_path / "other", 3, cache) == "18 0"


def test_compiled_checks_take_no_constant_from_outside_their_package() -> None:
    """Their compiled code is kept while the files of the package are the same, whatever another file says."""
    imports = [
        [
            (line.module, name.name)
            for line in ast.walk(ast.parse(text))
            if isinstance(line, ast.ImportFrom) and line.module is not None
            for name in line.names
        ]
        for text in (file.read_text() for file in Path(entrycache_spark.checkers.__path__[0]).rglob("*.py"))
    ]
    compiled = [names for names in imports if ("entrycache_trace.jit", "jit") in names]
    assert len(compiled) > 10
    assert [
        (module, name)
        for names in compiled
        for module, name in names
        if module.startswith("entrycache_") and not module.startswith("entrycache_spark.checkers") and name.isupper()
    ] == []
