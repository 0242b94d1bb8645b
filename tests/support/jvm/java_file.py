"""Compiles and runs the Java file of a case."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from entrycache_conformance.java.driver import JavaTestClasspath
from entrycache_conformance.java.program import CLASS_NAME, Program, compile_sources, main_class, render_java_test


class Compiled(NamedTuple):
    """The file of a case, compiled; it runs on any class path that holds the released classes."""

    main: str
    folder: Path

    def run(self, tools: JavaTestClasspath, *options: str) -> subprocess.CompletedProcess[str]:
        program = Program(tools.java, f"{self.folder}:{tools.classpath}")
        return program.run(self.main, options=options, timeout_seconds=60)


def compiled_case(case: dict[str, Any], tools: JavaTestClasspath, folder: Path) -> Compiled:
    source = folder / f"{CLASS_NAME}.java"
    source.write_text(render_java_test(case, mismatch_step=2), "utf-8")
    compile_sources([source], tools, folder / "out")
    return Compiled(main_class(source), folder / "out")
