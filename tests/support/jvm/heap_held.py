"""The table of heap held in docs/behaviour-diffs.md, measured on the released caching stores.

Written anew by ``python -m tests.support.jvm.heap_held``.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.subjects.jvm import java_test_classpath
from tests.support import ROOT

SOURCE: Final = Path(__file__).with_name("HeapHeld.java")
PAGE: Final = ROOT / "docs" / "behaviour-diffs.md"
MAIN: Final = "org.apache.kafka.streams.state.internals.HeapHeld"
RELEASES: Final = ("3.9.2", "4.0.0", "4.3.1")
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


class Held(NamedTuple):
    """What a store counts for all its entries, and the heap that they hold."""

    counted_bytes: int
    held_bytes: int

    @property
    def ratio(self) -> float:
        return self.held_bytes / self.counted_bytes


def compiled(release: str, folder: Path) -> list[str]:
    """The command that measures on a release; the numbers follow it."""
    java = java_test_classpath(release, family="kafka-streams")
    argv = [java.javac, "-nowarn", "-encoding", "UTF-8", "-cp", java.classpath, "-d", str(folder), str(SOURCE)]
    subprocess.run(argv, check=True, capture_output=True)
    heap = ["-XX:+UseSerialGC", "-Xms512m", "-Xmx512m", "-XX:+UseCompressedOops"]
    return [java.java, *heap, "-cp", f"{folder}:{java.classpath}", MAIN]


def measured(command: list[str], shape: Shape) -> Held:
    argv = [*command, str(ENTRIES), *map(str, shape)]
    counted, held = subprocess.run(argv, check=True, capture_output=True, text=True).stdout.split()
    return Held(int(counted), int(held))


def row(shape: Shape, held: list[Held]) -> str:
    """One line of the table; every release counts the same."""
    (counted,) = {each.counted_bytes // ENTRIES for each in held}
    ratios = " | ".join(f"{each.held_bytes / ENTRIES:.0f} = {each.ratio:.1f}x" for each in held)
    return f"| {shape.key} + {shape.value} | {shape.source_key} + {shape.source_value} | {counted} | {ratios} |\n"


def table() -> str:
    with tempfile.TemporaryDirectory() as scratch:
        commands = []
        for release in RELEASES:
            folder = Path(scratch) / release
            folder.mkdir()
            commands.append(compiled(release, folder))
        rows = [row(shape, [measured(command, shape) for command in commands]) for shape in SHAPES]
    head = f"| key + value | key + value of the record | counted | {' | '.join(f'held, {r}' for r in RELEASES)} |\n"
    return head + "|---|---|---|" + "---|" * len(RELEASES) + "\n" + "".join(rows)


if __name__ == "__main__":
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + table() + END + rest.partition(END)[2], "utf-8")
