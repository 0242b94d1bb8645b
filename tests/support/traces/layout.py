"""The same rows in other files and another order."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from entrycache_trace.files import list_parts


def split(trace: Path, folder: Path, files: int, seed: int) -> Path:
    """Write the rows of each broker in random order into several files with small row groups."""
    chance = random.Random(seed)
    for part in list_parts(trace):
        table = pq.ParquetFile(part.path).read()
        order = chance.sample(range(len(table)), len(table))
        target = folder / part.path.parent.name
        target.mkdir(parents=True)
        for number in range(files):
            rows = table.take(pa.array(order[number::files]))
            pq.write_table(rows, target / f"part-{number:05}.parquet", row_group_size=97)
    (folder / "_entrycache.json").write_bytes((trace / "_entrycache.json").read_bytes())
    return folder
