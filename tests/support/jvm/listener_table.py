"""The table of docs/reference/kafka-listeners.md, made by running the released caching stores.

Written anew by ``python -m tests.support.jvm.listener_table``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from entrycache_conformance.java.driver import java_test_classpath
from entrycache_conformance.java.program import compile_and_run
from entrycache_conformance.java.releases import Release
from tests.support import ROOT
from tests.support.jvm.params import MEASURED

PAGE: Final = ROOT / "docs" / "reference/kafka-listeners.md"
RELEASES: Final = MEASURED
SOURCE: Final = Path(__file__).with_name("ListenerTable.java")
RUNS: Final = 150
STEPS: Final = 60
SEED: Final = 1
BEGIN: Final = "<!-- table: begin -->\n"
END: Final = "<!-- table: end -->\n"
NOT_ON_THE_PAGE: Final = "none"
"""A processor that does nothing: the worlds alone break no promise."""

Consequences = dict[tuple[str, str], dict[str, str]]
"""The consequences by operation and place, then by moment, each as one letter."""


def read_consequences(release: Release, folder: Path) -> Consequences:
    """The grid of one release."""
    consequences: Consequences = {}
    output = compile_and_run(SOURCE, java_test_classpath(release.subject), folder, RUNS, STEPS, SEED).stdout
    for line in output.splitlines():
        op, place, moment, marks = line.split("|")
        consequences.setdefault((op, place), {})[moment] = marks
    return consequences


def table(consequences: Consequences) -> str:
    """As on the page, without the processor that does nothing."""
    moments = next(iter(consequences.values()))
    lines = [f"| operation | on | {' | '.join(moments)} |", "|---|---|" + "---|" * len(moments)]
    for (op, place), marks in consequences.items():
        if op != NOT_ON_THE_PAGE:
            lines.append(f"| {op} | {place} | {' | '.join(' '.join(each) or '-' for each in marks.values())} |")
    return "\n".join(lines) + "\n"


def committed_table() -> str:
    """The table that stands on the page."""
    return PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        rendered = table(read_consequences(RELEASES[-1], Path(scratch)))
    before, _, after_table = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + rendered + END + after_table.partition(END)[2], "utf-8")
