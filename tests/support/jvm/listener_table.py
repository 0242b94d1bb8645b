"""The table of docs/reference/kafka-listeners.md, made by running the released caching stores.

Written anew by ``python -m tests.support.jvm.listener_table``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from entrycache_conformance.java.driver import java_test_classpath
from entrycache_conformance.java.program import compile_and_run
from entrycache_conformance.java.releases import Release, releases
from tests.support import ROOT

PAGE: Final = ROOT / "docs" / "reference/kafka-listeners.md"
RELEASES: Final = releases("kafka-streams")
SOURCE: Final = Path(__file__).with_name("ListenerTable.java")
WORLDS: Final = 150
STEPS: Final = 60
SEED: Final = 1
BEGIN: Final = "<!-- table: begin -->\n"
END: Final = "<!-- table: end -->\n"
NOT_ON_THE_PAGE: Final = "none"
"""A processor that does nothing: the worlds alone break no promise."""

Cells = dict[tuple[str, str], dict[str, str]]
"""What was met, by operation and place, then by moment: one letter a consequence."""


def cells(release: Release, folder: Path) -> Cells:
    """The grid of one release."""
    found: Cells = {}
    told = compile_and_run(SOURCE, java_test_classpath(release.subject), folder, WORLDS, STEPS, SEED).stdout
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
