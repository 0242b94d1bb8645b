"""The heap of cached entries is within a tenth of what docs/reference/behaviour-diffs.md says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from entrycache_conformance.java.releases import Release
from entrycache_protocol.errors import MissingPrerequisite
from tests.support.jvm.heap_held import BEGIN, END, PAGE, RELEASES, SHAPES, Shape, measured, program
from tests.support.jvm.params import newest_in_every_run

FEW_RECORD_BYTES = SHAPES[0]
MANY_RECORD_BYTES = SHAPES[1]


def committed_table(shape: Shape, release: Release) -> float:
    """Return the ratio on the page."""
    rows = PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    begin = f"| {shape.key} + {shape.value} | {shape.source_key} + {shape.source_value} |"
    (row,) = (line for line in rows.splitlines() if line.startswith(begin))
    return [float(ratio) for ratio in re.findall(r"= ([0-9.]+)x", row)][RELEASES.index(release)]


@pytest.mark.long
@pytest.mark.parametrize("release", newest_in_every_run(RELEASES), ids=str)
def test_heap_held_is_as_shown(release: Release, tmp_path: Path) -> None:
    try:
        measuring = program(release, tmp_path)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    few, many = (measured(measuring, shape) for shape in (FEW_RECORD_BYTES, MANY_RECORD_BYTES))
    assert few.ratio == pytest.approx(committed_table(FEW_RECORD_BYTES, release), rel=0.1)
    assert many.ratio == pytest.approx(committed_table(MANY_RECORD_BYTES, release), rel=0.1)
    assert few.counted_bytes == many.counted_bytes
    assert (many.ratio > 2 * few.ratio) == (release.version == "4.3.1")
