"""Inspect a trace without judging it: count its rows, and show the rows near one of them.

`summarize` counts the rows of each broker by event and finds gaps in their numbers; `summary_json` and `print_summary`
show the result. `rows_near` returns the rows around a violation for a report, and `bounds_at` the bounds of the bytes
there.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from rich.console import Console
from rich.table import Table

from entrycache_protocol.errors import escape_unprintable
from entrycache_trace import files, parquet


@dataclass(frozen=True)
class BrokerSummary:
    """The counts of the rows of one broker."""

    broker: str
    parts: int
    rows: int
    first_seq: int
    last_seq: int
    missing: int
    first_gap_seq: int | None
    ops: Mapping[str, int]


@dataclass(frozen=True)
class TraceSummary:
    """The counts of a whole trace."""

    metadata: files.Metadata
    brokers: tuple[BrokerSummary, ...]


def summarize(directory: Path) -> TraceSummary:
    """Count the rows of a trace."""
    parts = files.list_parts(directory, needed=("broker", "seq", "op", "cause"))
    metadata = files.read_metadata(directory)
    names = sorted({part.broker for part in parts if part.rows})
    owned = [[part for part in parts if part.broker == name] for name in names]
    return TraceSummary(metadata, tuple(_summarize(own) for own in owned))


def _summarize(parts: list[files.Part]) -> BrokerSummary:
    ops: Counter[str] = Counter()
    for part in parts:
        for batch in parquet.read_batches(part.path, ("op", "cause")):
            ops.update(_count_ops(batch))
    seqs = files.read_broker(parts, ("seq",))["seq"].to_numpy()
    gaps = (seqs[1:] - seqs[:-1] > 1).nonzero()[0]
    return BrokerSummary(
        parts[0].broker,
        len(parts),
        len(seqs),
        int(seqs[0]),
        int(seqs[-1]),
        int(seqs[-1] - seqs[0] + 1 - len(seqs)),
        int(seqs[gaps[0]]) + 1 if len(gaps) else None,
        dict(sorted(ops.items())),
    )


def _count_ops(rows: pa.Table) -> Counter[str]:
    """Count how often each op occurs with each cause."""
    names = pc.binary_join_element_wise(rows["op"], pc.fill_null(rows["cause"], ""), " ")
    return Counter({str(item["values"]).strip(): int(item["counts"]) for item in pc.value_counts(names).to_pylist()})


def summary_json(summary: TraceSummary) -> dict[str, object]:
    """Return the summary as one JSON object."""
    return {"schema": 1, "metadata": asdict(summary.metadata), "brokers": [asdict(item) for item in summary.brokers]}


def print_summary(summary: TraceSummary, console: Console) -> None:
    """Print the summary as tables."""
    metadata = summary.metadata
    line = f"system {metadata.system}, threads {metadata.threads}, clock {metadata.clock}, sampling {metadata.sampling}"
    console.print(escape_unprintable(line))
    if metadata.source:
        console.print(escape_unprintable(f"source: {metadata.source}"))
    brokers = Table("broker", "parts", "events", "first seq", "last seq", "missing")
    for item in summary.brokers:
        gap = f"{item.missing} (first: {item.first_gap_seq})" if item.missing else "0"
        brokers.add_row(item.broker, str(item.parts), str(item.rows), str(item.first_seq), str(item.last_seq), gap)
    console.print(brokers)
    ops = Table("event", "rows")
    total: Counter[str] = Counter()
    for item in summary.brokers:
        total.update(item.ops)
    for name, count in sorted(total.items()):
        ops.add_row(name, str(count))
    console.print(ops)


ROWS_EACH_SIDE = 3
"""The number of rows that are shown before and behind a row."""


def rows_near(directory: Path, broker: str, seq: int, each_side: int = ROWS_EACH_SIDE) -> list[dict[str, Any]]:
    """Return the rows of a broker whose numbers are at most `each_side` from `seq`, in order and without nulls.

    Raises:
        UsageError: a part cannot be read.
    """
    number = ds.field("seq")
    near = (number >= seq - each_side) & (number <= seq + each_side)
    near_rows = []
    for part in files.list_parts(directory, needed=("seq",)):
        if part.broker == broker:
            with parquet.report_unreadable(part.path):
                near_rows += ds.dataset(part.path, partitioning=None).to_table(filter=near).to_pylist()
    rows = ({name: value for name, value in row.items() if value is not None} for row in near_rows)
    return sorted(rows, key=lambda row: int(row["seq"]))


def bounds_at(directory: Path, broker: str, seq: int) -> dict[str, int | None]:
    """Return the bounds of a broker's bytes at an event: the trigger and the target of a size pass, and the limit.

    The trigger and the target come from the last event up to `seq` that has them, the limit from the last CONFIG.

    Raises:
        UsageError: a part cannot be read.
    """
    latest: dict[str, tuple[int, int]] = {}
    for part in files.list_parts(directory, needed=("seq", "op")):
        if part.broker == broker:
            with parquet.report_unreadable(part.path):
                for name, at, value in _bounds_of_part(ds.dataset(part.path, partitioning=None), seq):
                    latest[name] = max(latest.get(name, (at, value)), (at, value))
    return {name: latest[name][1] if name in latest else None for name in ("trigger", "target", "limit")}


def _bounds_of_part(part: ds.Dataset, seq: int) -> Iterator[tuple[str, int, int]]:
    """Yield the last trigger and target of a part up to an event, and each limit; a part may lack columns."""
    up_to = ds.field("seq") <= seq
    for name, column in (("trigger", "trigger_bytes"), ("target", "target_bytes")):
        if column in part.schema.names:
            rows = part.to_table(columns=["seq", column], filter=up_to & ds.field(column).is_valid())
            for at in [pc.index(rows["seq"], pc.max(rows["seq"])).as_py()] if len(rows) else ():
                yield name, rows["seq"][at].as_py(), rows[column][at].as_py()
    if "value" in part.schema.names:
        configs = part.to_table(columns=["seq", "value"], filter=up_to & (ds.field("op") == "CONFIG"))
        for row in configs.to_pylist():
            if (limit := _limit(row["value"])) is not None:
                yield "limit", row["seq"], limit


def _limit(value: str | None) -> int | None:
    """Return the largest number of bytes that a CONFIG allows, if it is readable and names one."""
    try:
        limit = json.loads(value or "{}").get("max_size_bytes")
    except (ValueError, AttributeError, RecursionError):
        return None
    return limit if type(limit) is int else None
