"""Measure the house: `python -m tests.house_numbers` prints its sizes beside their goals.

`size_numbers` reads the sources: files, lines, imports, packages, cycles. `run_numbers` runs commands in processes of
their own: how many of our files a failing `conform` executes, and how much processor time a start takes. Each number
is a `Number` with a goal, and the command exits with 1 if one misses its goal. `tests/test_layers.py` holds the numbers
that do not depend on the machine.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from tests.support import ROOT
from tests.support.layers import cycles, folder_pairs, import_statements, imports, modules, package_of, upward

COPY_LINES: Final = 6
"""The number of equal lines in a row that counts as a copy."""

SYSTEMS: Final = ("pulsar-pip430", "pulsar-legacy", "pulsar-segmented", "kafka-streams")
SYSTEM_TEXTS: Final = (*SYSTEMS, "R-", "K-", "L-")
"""The strings by which code distinguishes systems."""

EXECUTED: Final = """
import sys, threading
from inspect import CO_OPTIMIZED  # a function: the body of a module or a class is not
files = set()
def note(frame, event, argument):
    path = frame.f_code.co_filename
    if event == "call" and frame.f_code.co_flags & CO_OPTIMIZED and path.startswith(ROOTS):
        files.add(path)
from entrycache_cli.__main__ import main
sys.argv = ["entrycache", "conform", "my_cache:MyCache", "-q"]
sys.setprofile(note)
threading.setprofile(note)
code = None
try:
    main()
except SystemExit as end:
    code = end.code
sys.setprofile(None)
assert code == 1, f"conform ended with {code}: expected a failure"
print(len(files))
"""
"""A failing `conform`, and the number of our files of which it executed a function."""

FAULTY: Final = '''
from entrycache import Subject


class MyCache(Subject):
    """A cache that holds nothing."""

    system = "pulsar-pip430"

    def insert(self, cache, pos, size, expected_reads=None):
        return {"inserted": True}

    def get(self, cache, pos):
        return {"hit": False}
'''
"""A subject that breaks a rule at once."""

ONE_METHOD: Final = '''
import os
import time

from entrycache import Subject


class MyCache(Subject):
    """A cache of one method, which notes the processor time of its first call and ends the run."""

    system = "pulsar-pip430"

    def insert(self, cache, pos, size, expected_reads=None):
        with open("seconds", "w") as file:
            file.write(str(time.process_time()))
        os._exit(1)
'''


class Number(NamedTuple):
    """A measured number; the goal is met where `value` is at most (or, with `least`, at least) the goal."""

    name: str
    value: float
    goal: float | None = None
    least: bool = False

    @property
    def is_met(self) -> bool:
        """Return whether the number meets its goal."""
        return self.goal is None or (self.value >= self.goal if self.least else self.value <= self.goal)

    def __str__(self) -> str:
        goal = "" if self.goal is None else f" (goal: at {'least' if self.least else 'most'} {self.goal:g})"
        return f"{self.name}: {self.value:g}{goal}{'' if self.is_met else ', MISSED'}"


def lines_by_package(paths: Mapping[str, Path]) -> Counter[str]:
    """Count the lines of each package."""
    lines: Counter[str] = Counter()
    for module, path in paths.items():
        lines[package_of(module)] += _length(path)
    return lines


def belongs_to_a_system(module: str) -> bool:
    """Return whether a module stands in the files or folders of a system, or is a list of all systems."""
    own = any(part.startswith(("pulsar", "kafka")) for part in module.split("."))
    return own or module in {"entrycache_reference.rules", "entrycache_conformance.systems"}


def system_questions(paths: Mapping[str, Path]) -> Counter[str]:
    """Count, by module, how often code that belongs to no system names one."""
    questions: Counter[str] = Counter()
    for module, path in paths.items():
        source = path.read_text(encoding="utf-8")
        if not belongs_to_a_system(module) and any(text in source for text in SYSTEM_TEXTS):
            tree = ast.parse(source)
            texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
            questions[module] += sum(text in SYSTEM_TEXTS for text in texts)
    return +questions


def copied_lines(paths: list[Path]) -> int:
    """Count the lines that stand a second time, in runs of at least `COPY_LINES`."""
    first: dict[tuple[str, ...], tuple[Path, int]] = {}
    copies = set()
    for path in paths:
        lines = list(_code_lines(path))
        for at in range(len(lines) - COPY_LINES + 1):
            run = tuple(lines[at : at + COPY_LINES])
            if first.setdefault(run, (path, at)) != (path, at):
                copies |= {(path, at + more) for more in range(COPY_LINES)}
    return len(copies)


def import_lines(path: Path) -> int:
    """Count the lines of a file's import statements."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node, _ in import_statements(tree))


def size_numbers(paths: dict[str, Path] | None = None) -> Iterator[Number]:
    """Measure the sources. A package's empty door (an `__init__` of at most five lines) counts in no median."""
    paths = paths or modules()
    lines, edges = lines_by_package(paths), imports(paths)
    for package, number in lines.most_common():
        yield Number(f"lines of {package}", number)
    yield Number("lines in all", lines.total())
    lengths = [_length(path) for path in paths.values()]
    yield Number("files of product Python", len(lengths), 500)
    files = [length for path, length in zip(paths.values(), lengths, strict=True) if not _is_door(path, length)]
    yield Number("median lines of a file", median(files), 140, least=True)
    yield Number("lines of the longest file", max(lengths), 600)
    shares = sum(import_lines(path) for path in paths.values()) / lines.total()
    yield Number("imports, in percent of all lines", round(100 * shares, 1), 5)
    yield Number("imports that run up", len(upward(edges)), 0)
    yield Number("cycles of modules", len(cycles(edges, paths)), 0)
    yield Number("pairs of folders that import each other", len(folder_pairs(edges, paths)), 0)
    yield Number("questions for a system outside its folders", system_questions(paths).total(), 0)
    yield Number(f"lines in copies of {COPY_LINES} or more", copied_lines(list(paths.values())))


def run_numbers() -> Iterator[Number]:
    """Measure commands that run in processes of their own, in an empty folder."""
    with TemporaryDirectory(prefix="entrycache-house-") as name:
        folder = Path(name)
        (folder / "my_cache.py").write_text(FAULTY, encoding="utf-8")
        roots = tuple(f"{ROOT / source}/" for source in ("reference", "conformance", "spark_checks"))
        done = _run(folder, "-c", f"ROOTS = {roots!r}\n{EXECUTED}")
        yield Number("our files that a failing conform executes", int(done.stdout.split()[-1]), 60)
        (folder / "my_cache.py").write_text(ONE_METHOD, encoding="utf-8")
        yield Number("processor seconds of --help", _seconds(folder, "--help"), 0.25)
        yield Number("processor seconds until conform asks a subject", _seconds_to_first_call(folder), 0.6)


def _seconds(folder: Path, *arguments: str) -> float:
    """Return the least processor time of three runs of a command."""
    code = (
        f"import sys, time; sys.argv = ['entrycache', *{list(arguments)!r}]\nfrom entrycache_cli.__main__ import main\n"
    )
    code += "try: main()\nexcept SystemExit as end: assert end.code in (None, 0), end.code\n"
    code += "print(time.process_time(), file=sys.stderr)"
    return min(round(float(_run(folder, "-c", code).stderr.split()[-1]), 3) for _ in range(3))


def _seconds_to_first_call(folder: Path) -> float:
    """Return the least processor time that three runs of `conform` take until they call the subject."""
    seconds = []
    for _ in range(3):
        (folder / "seconds").unlink(missing_ok=True)
        command = [sys.executable, "-m", "entrycache_cli", "conform", "my_cache:MyCache", "--level", "range"]
        subprocess.run(command, cwd=folder, capture_output=True, check=False)
        seconds.append(float((folder / "seconds").read_text(encoding="utf-8")))
    return round(min(seconds), 3)


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert "Error" not in done.stderr and (done.stdout or done.stderr), done.stderr
    return done


def _is_door(path: Path, length: int) -> bool:
    return path.name == "__init__.py" and length <= 5


def _length(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def _code_lines(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.strip()
        if text and not text.startswith(("import ", "from ")):
            yield text


def main() -> int:
    """Print every number; return 1 if one misses its goal."""
    missed = 0
    for number in (*size_numbers(), *run_numbers()):
        print(number)
        missed += not number.is_met
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
