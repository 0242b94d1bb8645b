"""The table of docs/kafka-listeners.md, made by running the released caching stores.

Written anew by ``python -m tests.support.jvm.listener_table``.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Final

from entrycache_conformance.subjects.jvm import java_test_classpath
from tests.support import ROOT

HERE: Final = Path(__file__).parent
PAGE: Final = ROOT / "docs" / "kafka-listeners.md"
RELEASES: Final = ("3.9.2", "4.0.0", "4.3.1")
WORLDS: Final = 150
STEPS: Final = 60
SEED: Final = 1
BEGIN: Final = "<!-- table: begin -->\n"
END: Final = "<!-- table: end -->\n"
NOT_ON_THE_PAGE: Final = "none"
"""A processor that does nothing: the worlds alone break no promise."""

Cells = dict[tuple[str, str], dict[str, str]]
"""What was met, by operation and place, then by moment: one letter a consequence."""


def program(release: str, name: str, arguments: list[str], folder: Path) -> str:
    """What a Java program of this folder prints on a release."""
    source = HERE / f"{name}.java"
    java = java_test_classpath(release, family="kafka-streams")
    argv = [java.javac, "-nowarn", "-encoding", "UTF-8", "-cp", java.classpath, "-d", str(folder), str(source)]
    subprocess.run(argv, check=True, capture_output=True)
    package = source.read_text("utf-8").partition(";")[0].removeprefix("package ")
    argv = [java.java, "-XX:+UseSerialGC", "-cp", f"{folder}:{java.classpath}", f"{package}.{name}", *arguments]
    return subprocess.run(argv, check=False, capture_output=True, text=True).stdout


def cells(release: str, folder: Path) -> Cells:
    """The grid of one release."""
    found: Cells = {}
    told = program(release, "ListenerTable", [str(WORLDS), str(STEPS), str(SEED)], folder)
    for line in told.splitlines():
        op, place, moment, marks = line.split("|")
        found.setdefault((op, place), {})[moment] = marks
    return found


def table(found: Cells) -> str:
    """As on the page, without the processor that does nothing."""
    moments = next(iter(found.values()))
    lines = [f"| operation | on | {' | '.join(moments)} |", "|---|---|" + "---|" * len(moments)]
    for (op, place), marks in found.items():
        if op != NOT_ON_THE_PAGE:
            lines.append(f"| {op} | {place} | {' | '.join(' '.join(each) or '-' for each in marks.values())} |")
    return "\n".join(lines) + "\n"


def shown() -> str:
    """The table that stands on the page."""
    return PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        made = table(cells(RELEASES[-1], Path(scratch)))
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + made + END + rest.partition(END)[2], "utf-8")
