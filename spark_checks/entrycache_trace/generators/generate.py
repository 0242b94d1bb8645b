"""Made-up but honest traces: a seeded workload driven through the fast cache, recorded as it goes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from entrycache_protocol.errors import UsageError
from entrycache_protocol.files import atomic_path, check_empty_folder
from entrycache_trace.files import (
    ROW_GROUP_ROWS,
    Metadata,
    PartWriter,
    list_parts,
    read_metadata,
    read_part,
    write_metadata,
)
from entrycache_trace.generators.kafka_streams import WORKLOADS as KAFKA_STREAMS
from entrycache_trace.generators.pulsar_legacy import WORKLOADS as PULSAR_LEGACY
from entrycache_trace.generators.pulsar_pip430 import WORKLOADS as PULSAR_PIP430
from entrycache_trace.generators.pulsar_segmented import WORKLOADS as PULSAR_SEGMENTED
from entrycache_trace.recording import Workload
from entrycache_trace.schema import ROW_COLUMNS, ROW_SCHEMA

Progress = Callable[[int], None]
"""Hears of so many more events."""


@dataclass(frozen=True)
class TracePlan:
    """A trace that is to be made; each broker's part follows from this and its number alone."""

    preset: str
    events: int
    seed: int
    directory: Path
    brokers: int
    settings: Mapping[str, Any]

    def write(self, number: int, progress: Progress = lambda count: None) -> int:
        """Write one broker; the number of its events."""
        workload = WORKLOADS[self.preset]
        name = f"{workload.broker}-{number}"
        seed = f"{self.preset} {self.seed} {number}"
        work = workload.begin(PartWriter(self.directory, name), name, seed, number, self.settings)
        return work.run(_share(self.events, number, self.brokers), progress)


def _write_in_turn(made: TracePlan, progress: Progress) -> int:
    return sum(made.write(number, progress) for number in range(made.brokers))


def generate(
    preset: str,
    events: int,
    seed: int,
    directory: Path,
    brokers: int = 1,
    progress: Progress = lambda count: None,
    settings: Mapping[str, Any] | None = None,
    *,
    write: Callable[[TracePlan, Progress], int] = _write_in_turn,
) -> int:
    """Write a trace of at least `events` events over `brokers` brokers; the number of events.

    `settings` hold in every broker instead of the preset's own; `write` writes all brokers, here or elsewhere.
    """
    if preset not in WORKLOADS:
        raise UsageError(f"preset {preset!r} is not known; there are {', '.join(WORKLOADS)}")
    workload = WORKLOADS[preset]
    if settings is not None and not workload.takes_settings:
        raise UsageError(f"preset {preset!r} is of {workload.system}; the settings of a broker do not fit it")
    if events < 1 or brokers < 1:
        raise UsageError("events and brokers must be 1 or more")
    check_empty_folder(directory, "the trace")
    count = write(TracePlan(preset, events, seed, directory, brokers, settings or {}), progress)
    # Last: a folder of parts without it is refused, so half a trace is not taken for one.
    source = f"generate {preset} --events {events} --seed {seed}"
    write_metadata(directory, Metadata(system=workload.system, source=source))
    return count


def _share(events: int, number: int, brokers: int) -> int:
    """The events of one of several brokers."""
    return (events * (number + 1)) // brokers - (events * number) // brokers


# --- workloads
# The workloads that traces are made up of, by the name of their preset.

WORKLOADS: Final[Mapping[str, Workload]] = {
    **PULSAR_PIP430,
    **KAFKA_STREAMS,
    **PULSAR_LEGACY,
    **PULSAR_SEGMENTED,
}


# --- repeat
# Long traces in little time: a recorded stretch that begins and ends with nothing cached, again and again.
#
# Each copy goes on where the one before ended: its events, its times and its slots are numbered on, and its ledgers and
# caches are others. So the whole is as honest as the stretch.

_BY_SEQ: Final = ("seq", "life", "pass_id", "call_id")
_BY_TIME: Final = ("ts_ns", "stamp_ns", "new_stamp_ns")
_BY_SLOT: Final = ("tail_no", "head_no", "ticket")
_ONCE: Final = ("CONFIG", "METRICS", "SNAPSHOT", "END", "CURSOR_ADD")
"""What a stretch may not hold: it says something of all that came before, or holds for all that comes after."""


class Stretch(NamedTuple):
    """Events between two moments with nothing cached, the CONFIG before them, and what one copy moves on.

    `timed`: which of them are of a time pass, so that their bound is a time.
    """

    config: pa.Table
    events: pa.Table
    timed: pa.ChunkedArray
    slots: int
    nanos: int
    ledgers: int


def repeat(
    source: Path, directory: Path, events: int, brokers: int = 1, progress: Callable[[int], None] = lambda count: None
) -> int:
    """Write a trace of at least `events` events over `brokers` equal brokers from the first broker of a short one.

    Raises:
        UsageError: that trace is never empty again, or holds what cannot be repeated.
    """
    check_empty_folder(directory, "the trace")
    stretch = find_stretch(source)
    copies = -(-events // (brokers * stretch.events.num_rows))
    done = 0
    for number in range(brokers):
        path = directory / f"broker=broker-{number}" / "part-00000.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as beside, pq.ParquetWriter(beside, ROW_SCHEMA, compression="zstd") as writer:
            for table in _stretch_tables(stretch, copies):
                writer.write_table(table, row_group_size=ROW_GROUP_ROWS)
                done += table.num_rows
                progress(table.num_rows)
    metadata = read_metadata(source)
    write_metadata(directory, replace(metadata, source=f"{metadata.source}, repeated {copies} times"))
    return done


def find_stretch(source: Path) -> Stretch:
    """The longest stretch of the first broker that can be repeated."""
    parts = list_parts(source)
    if not parts:
        raise UsageError(f"{source}: the trace has no rows")
    rows = pa.concat_tables(read_part(part) for part in parts if part.broker == parts[0].broker).sort_by("seq")
    empty = pc.and_(
        pc.equal(rows["op"], "PASS_END"),
        pc.and_(pc.equal(rows["bytes_after"], 0), pc.equal(rows["tail_no"], rows["head_no"])),
    )
    ends = pc.indices_nonzero(empty)
    if rows["op"][0].as_py() != "CONFIG" or len(ends) == 0:
        raise UsageError(f"{source}: expected a CONFIG, and a pass after which nothing is cached")
    last = ends[-1].as_py()
    events = rows.slice(1, last)
    found = [op for op in pc.unique(events["op"]).to_pylist() if op in _ONCE]
    if found:
        raise UsageError(f"{source}: {', '.join(found)} cannot be repeated")
    nanos = events["ts_ns"][-1].as_py() - rows["ts_ns"][0].as_py()
    ledgers = (pc.max(events["ledger_id"]).as_py() or 0) + 1
    begins = pc.and_(pc.equal(events["op"], "PASS_BEGIN"), pc.equal(events["cause"], "TIME"))
    timed = pc.is_in(events["pass_id"], events.filter(begins)["seq"].combine_chunks())
    return Stretch(rows.slice(0, 1), events, timed, events["tail_no"][-1].as_py(), nanos, ledgers)


def _stretch_tables(stretch: Stretch, copies: int) -> Iterator[pa.Table]:
    yield stretch.config.cast(ROW_SCHEMA)
    for number in range(copies):
        yield _shift_stretch(stretch, number)
    yield _end_row(stretch, copies)


def _shift_stretch(stretch: Stretch, number: int) -> pa.Table:
    columns = {name: stretch.events[name] for name in ROW_COLUMNS}
    for names, step in (
        (_BY_SEQ, stretch.events.num_rows),
        (_BY_TIME, stretch.nanos),
        (_BY_SLOT, stretch.slots),
        (("ledger_id",), stretch.ledgers),
    ):
        for name in names:
            columns[name] = pc.add(columns[name], number * step)
    columns["bound"] = pc.if_else(stretch.timed, pc.add(columns["bound"], number * stretch.nanos), columns["bound"])
    columns["cache"] = pc.binary_join_element_wise(columns["cache"], str(number), "-")
    return pa.table(columns).cast(ROW_SCHEMA)


def _end_row(stretch: Stretch, copies: int) -> pa.Table:
    seq = 1 + copies * stretch.events.num_rows
    ts_ns = stretch.config["ts_ns"][0].as_py() + copies * stretch.nanos
    value = json.dumps({"entries": 0, "bytes": 0, "slots": 0})
    row = {"seq": seq, "ts_ns": ts_ns, "op": "END", "call_id": seq, "bytes_after": 0, "value": value}
    return pa.Table.from_pylist([row], ROW_SCHEMA)
