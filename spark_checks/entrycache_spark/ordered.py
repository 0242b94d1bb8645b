"""The events of one broker in the order of seq, some at a time, straight from its Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from entrycache_spark.fold import GivenUp
from entrycache_trace.files import Part
from entrycache_trace.parquet import BATCH_TEXT_BYTES_MOST
from entrycache_trace.schema import ROW_SCHEMA

BATCH_ROWS: Final = 131_072


class Unsorted(Exception):
    """The files do not hold the events in the order of seq."""


def batches(parts: Sequence[Part], columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """Batches of a broker's events, as its files hold them; texts by their numbers.

    Raises:
        Unsorted: some stand before others with a lower seq; of the batches so far nothing may be taken.
        GivenUp: a file cannot be read so.
    """
    names = [name for name in columns if name != "broker"]
    texts = [name for name in names if pa.types.is_string(ROW_SCHEMA.field(name).type)]
    last = None
    try:
        for part in _in_order(parts):
            with pq.ParquetFile(part.path, read_dictionary=texts) as file:
                for batch in file.iter_batches(rows, columns=names, use_threads=False):
                    last = _follows(batch, last)
                    _check_texts(batch, texts)
                    yield batch
    except (OSError, pa.ArrowException) as error:
        raise GivenUp(str(error)) from None


def _in_order(parts: Sequence[Part]) -> list[Part]:
    """The parts by their first seq, as the footers tell."""
    return sorted((part for part in parts if part.rows), key=_first_seq)


def _first_seq(part: Part) -> int:
    metadata = pq.read_metadata(part.path)
    group = metadata.row_group(0)
    chunks = (group.column(at) for at in range(group.num_columns))
    told = next((chunk.statistics for chunk in chunks if chunk.path_in_schema == "seq"), None)
    if told is None or not told.has_min_max:
        raise GivenUp("a footer does not tell the first seq")
    return int(told.min)


def _follows(batch: pa.RecordBatch, last: int | None) -> int | None:
    """The last seq of a batch, whose events are in order."""
    seqs = batch.column("seq")
    if not len(seqs):
        return last
    first: int = seqs[0].as_py()
    falls: Any = pc.any(pc.less(seqs.slice(1), seqs.slice(0, len(seqs) - 1))).as_py()
    if falls or (last is not None and first < last):
        raise Unsorted
    return int(seqs[-1].as_py())


def _check_texts(batch: pa.RecordBatch, texts: Sequence[str]) -> None:
    """Few bytes may not become many: names of a batch are kept, so they have to fit."""
    for name in texts:
        column = batch.column(name)
        held = column.dictionary if pa.types.is_dictionary(column.type) else column
        held.validate(full=True)
        if held.nbytes > BATCH_TEXT_BYTES_MOST:
            raise GivenUp(f"the texts of column {name} are too long")
