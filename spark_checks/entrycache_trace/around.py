"""The rows of a trace around one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

from entrycache_trace.files import list_parts
from entrycache_trace.parquet import readable

EACH_SIDE = 3
"""How many numbers before and behind a row are shown."""


def around(directory: Path, broker: str, seq: int, each_side: int = EACH_SIDE) -> list[dict[str, Any]]:
    """The rows of a broker whose numbers are at most so far from `seq`, in order; of each what it tells.

    Raises:
        UsageError: a part cannot be read.
    """
    number = ds.field("seq")
    near = (number >= seq - each_side) & (number <= seq + each_side)
    found = []
    for part in list_parts(directory, needed=("seq",)):
        if part.broker == broker:
            with readable(part.path):
                found += ds.dataset(part.path, partitioning=None).to_table(filter=near).to_pylist()
    rows = ({name: value for name, value in row.items() if value is not None} for row in found)
    return sorted(rows, key=lambda row: int(row["seq"]))
