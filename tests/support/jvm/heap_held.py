"""The table of heap held in docs/reference/behaviour-diffs.md, measured on the released caching stores.

Written anew by ``python -m tests.support.jvm.heap_held``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.java.driver import java_test_classpath
from entrycache_conformance.java.program import Program, compile_sources, main_class
from entrycache_conformance.java.releases import Release
from tests.support import ROOT
from tests.support.jvm.params import MEASURED

SOURCE: Final = Path(__file__).with_name("HeapHeld.java")
PAGE: Final = ROOT / "docs" / "reference/behaviour-diffs.md"
RELEASES: Final = MEASURED
HEAP: Final = ("-Xms512m", "-Xmx512m", "-XX:+UseCompressedOops")
ENTRIES: Final = 20_000
BEGIN: Final = "<!-- heap: begin -->\n"
END: Final = "<!-- heap: end -->\n"


class Shape(NamedTuple):
    """Bytes of an entry, and of the record that it came from."""

    key: int
    value: int
    source_key: int
    source_value: int


SHAPES: Final = (Shape(8, 8, 8, 10), Shape(8, 8, 8, 1_000), Shape(20, 100, 20, 300), Shape(20, 1_000, 20, 1_000))


class HeapUse(NamedTuple):
    """The bytes that a store counts for all its entries, and the heap that they hold."""

    counted_bytes: int
    held_bytes: int

    @property
    def ratio(self) -> float:
        return self.held_bytes / self.counted_bytes


def program(release: Release, folder: Path) -> Program:
    """Return the tools that measure on a release."""
    return compile_sources([SOURCE], java_test_classpath(release.subject), folder)


def measured(program: Program, shape: Shape) -> HeapUse:
    done = program.run(main_class(SOURCE), ENTRIES, *shape, options=HEAP)
    assert done.returncode == 0, done.stderr
    counted, held = done.stdout.split()
    return HeapUse(int(counted), int(held))


def row(shape: Shape, held: list[HeapUse]) -> str:
    """One line of the table; every release counts the same."""
    (counted,) = {each.counted_bytes // ENTRIES for each in held}
    ratios = " | ".join(f"{each.held_bytes / ENTRIES:.0f} = {each.ratio:.1f}x" for each in held)
    return f"| {shape.key} + {shape.value} | {shape.source_key} + {shape.source_value} | {counted} | {ratios} |\n"


def table() -> str:
    with tempfile.TemporaryDirectory() as scratch:
        programs = [program(release, Path(scratch) / release.version) for release in RELEASES]
        rows = [row(shape, [measured(each, shape) for each in programs]) for shape in SHAPES]
    columns = " | ".join(f"held, {release.version}" for release in RELEASES)
    head = f"| key + value | key + value of the record | counted | {columns} |\n"
    return head + "|---|---|---|" + "---|" * len(RELEASES) + "\n" + "".join(rows)


if __name__ == "__main__":
    before, _, after_table = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + table() + END + after_table.partition(END)[2], "utf-8")
