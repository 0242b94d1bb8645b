"""Runs many stand-alone Java tests on a release, one after another in one JVM.

A test halts its JVM when it has decided; in the copy that shares one, `Mains.halt` stands there.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.java.driver import JavaTestClasspath, java_test_classpath
from entrycache_conformance.java.program import Program, compile_sources, main_class
from entrycache_conformance.java.releases import Release
from entrycache_protocol.errors import MissingPrerequisite
from tests.support.jvm.moved import with_moved_imports
from tests.support.jvm.rocks import as_needed, needs_rocks, with_rocks

MAINS: Final = Path(__file__).with_name("Mains.java")
HALT: Final = "Runtime.getRuntime().halt("
QUICK_START: Final = ("-XX:TieredStopAtLevel=1",)
THREADS: Final = re.compile(r"\b(Thread|Executors?|Timer|CompletableFuture)\b")
"""Java tests with threads of their own leave some behind, and get a JVM of their own."""
TOGETHER_SECONDS: Final = 300
ALONE_SECONDS: Final = 120


class Ended(NamedTuple):
    """The end of a test and its output; `lacks` names the reason if it was not run."""

    returncode: int
    stdout: str
    lacks: str = ""


def has_threads(path: Path) -> bool:
    """Return whether a Java test has threads of its own."""
    return THREADS.search(path.read_text("utf-8")) is not None


def run_all(
    sharing: Sequence[Path], alone: Sequence[Path], tools: JavaTestClasspath, folder: Path
) -> dict[Path, Ended]:
    """Every test on a release: those that share a JVM, and those that have one of their own.

    A test that needs RocksDB has one of its own; without the jar it alone is not run.
    """
    needing = [path for path in (*sharing, *alone) if needs_rocks(path)]
    sharing, alone = ([path for path in paths if path not in needing] for paths in (sharing, alone))
    ended = {path: _with_rocks(path, tools, folder) for path in needing}
    if sharing or alone:
        copies = [_copy(with_moved_imports(path, tools, folder), folder / "sharing") for path in sharing]
        others = [with_moved_imports(path, tools, folder) for path in alone]
        program = compile_sources([MAINS, *copies, *others], tools, folder / "out")
        ended |= {**_run_in_one_jvm(program, sharing), **{path: _alone(program, path) for path in alone}}
    return ended


def _with_rocks(path: Path, tools: JavaTestClasspath, folder: Path) -> Ended:
    try:
        source = with_moved_imports(path, tools, folder)
        return _alone(compile_sources([source], with_rocks(tools, folder), folder / path.stem), path)
    except MissingPrerequisite as missing:
        return Ended(-1, "", str(missing))


def run_as_it_is(path: Path, release: Release, folder: Path) -> Ended:
    """One test in a JVM of its own."""
    return _compiled_alone(path, java_test_classpath(release.subject), folder)


def run_in_front(path: Path, release: Release, front: Path, folder: Path) -> Ended:
    """One test beside a release with a folder of classes in front of it."""
    return _compiled_alone(path, java_test_classpath(release.subject, str(front)), folder)


def _compiled_alone(path: Path, tools: JavaTestClasspath, folder: Path) -> Ended:
    source = with_moved_imports(path, tools, folder)
    return _alone(compile_sources([source], as_needed([path], tools, folder), folder), path)


def _copy(path: Path, folder: Path) -> Path:
    text = path.read_text("utf-8")
    assert HALT in text, f"{path.name} halts in a way that is not known"
    copy = folder / path.parent.name / path.name
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text.replace(HALT, "entrycache.Mains.halt("), "utf-8")
    return copy


def _run_in_one_jvm(program: Program, paths: Sequence[Path]) -> dict[Path, Ended]:
    if not paths:
        return {}
    names = [main_class(path) for path in paths]
    done = program.run(main_class(MAINS), *names, options=QUICK_START, timeout_seconds=TOGETHER_SECONDS)
    lines = [line.split(" ") for line in done.stdout.splitlines()]
    assert [name for name, _, _ in lines] == names, done.stderr
    ended = (Ended(int(code), base64.b64decode(text).decode("utf-8")) for _, code, text in lines)
    return dict(zip(paths, ended, strict=True))


def _alone(program: Program, path: Path) -> Ended:
    done = program.run(main_class(path), options=QUICK_START, timeout_seconds=ALONE_SECONDS)
    return Ended(done.returncode, done.stdout)
