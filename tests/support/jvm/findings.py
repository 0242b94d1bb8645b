"""The Java tests of findings, run on a release: those without threads one after another in one JVM.

A test halts its JVM when it has decided; in the copy that shares one, `Mains.halt` stands there. Tests with threads of
their own leave some behind, and run alone as they are.
"""

from __future__ import annotations

import base64
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.java.classpath import java_test_classpath
from entrycache_conformance.java.program import Program, compiled, main_of
from entrycache_conformance.java.releases import Release

MAINS: Final = Path(__file__).with_name("Mains.java")
HALT: Final = "Runtime.getRuntime().halt("
THREADS: Final = re.compile(r"\b(Thread|Executors?|Timer|CompletableFuture)\b")
QUICK_START: Final = ("-XX:TieredStopAtLevel=1",)
TOGETHER_SECONDS: Final = 300
ALONE_SECONDS: Final = 120


class Ended(NamedTuple):
    """How a test ended."""

    returncode: int
    stdout: str
    stderr: str = ""


def has_threads(path: Path) -> bool:
    """Whether a test is run alone."""
    return THREADS.search(path.read_text("utf-8")) is not None


def run_all(paths: Sequence[Path], release: Release, folder: Path) -> dict[Path, Ended]:
    """Every test on a release."""
    tools = java_test_classpath(release.subject)
    together = [path for path in paths if not has_threads(path)]
    alone = [path for path in paths if has_threads(path)]
    copies = [_copy(path, folder / "together") for path in together]
    program = compiled([MAINS, *copies, *alone], tools, folder / "out")
    ended = _together(program, together)
    return {path: ended[main_of(path)] if path in together else _alone(program, path) for path in paths}


def _copy(path: Path, folder: Path) -> Path:
    text = path.read_text("utf-8")
    assert HALT in text, f"{path.name} halts in a way that is not known"
    copy = folder / path.parent.name / path.name
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text.replace(HALT, "entrycache.Mains.halt("), "utf-8")
    return copy


def _together(program: Program, paths: Sequence[Path]) -> Mapping[str, Ended]:
    names = [main_of(path) for path in paths]
    done = program.run(main_of(MAINS), *names, options=QUICK_START, timeout_seconds=TOGETHER_SECONDS)
    told = [line.split(" ") for line in done.stdout.splitlines()]
    ended = {name: Ended(int(code), base64.b64decode(text).decode("utf-8"), done.stderr) for name, code, text in told}
    assert list(ended) == names, done.stderr
    return ended


def _alone(program: Program, path: Path) -> Ended:
    return _of(program.run(main_of(path), options=QUICK_START, timeout_seconds=ALONE_SECONDS))


def _of(done: subprocess.CompletedProcess[str]) -> Ended:
    return Ended(done.returncode, done.stdout, done.stderr)


def run_as_it_is(path: Path, release: Release, folder: Path) -> Ended:
    """One test, compiled as it stands in docs, in a JVM of its own."""
    program = compiled([path], java_test_classpath(release.subject), folder)
    return _of(program.run(main_of(path), timeout_seconds=ALONE_SECONDS))
