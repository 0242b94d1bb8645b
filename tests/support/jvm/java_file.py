"""Compiles and runs the Java file of a case."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, Final

from entrycache_cli.report.java_test import CLASS_NAME, java_test
from entrycache_conformance.subjects.jvm import JavaTestClasspath

PACKAGE: Final = "org.apache.bookkeeper.mledger.impl.cache"


def compiled(case: dict[str, Any], tools: JavaTestClasspath, folder: Path) -> Path:
    source = folder / f"{CLASS_NAME}.java"
    source.write_text(java_test(case, mismatch_step=2), "utf-8")
    subprocess.run(
        [tools.javac, "-encoding", "UTF-8", "-cp", tools.classpath, "-d", folder / "out", source],
        check=True,
        capture_output=True,
    )
    return folder / "out"


def run(classes: Path, tools: JavaTestClasspath, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [tools.java, *options, "-cp", f"{classes}:{tools.classpath}", f"{PACKAGE}.{CLASS_NAME}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
