"""Generate traces: record a seeded workload, or repeat a short trace.

`generate` drives the workload of a preset through a cache of its system and records it, one part for each broker. A
`TracePlan` holds everything that a broker's part depends on, so that other processes can write brokers too. The module
of a preset is imported when its trace is generated: a trace of one system needs no other system.

`repeat` makes a long trace in little time from a recorded `Stretch` that begins and ends with an empty cache. Each copy
continues where the one before ended: the numbers of its events and slots and its times go on, and its ledgers and
caches have new names. So the copies obey the rules as the stretch does.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from entrycache_protocol import errors, files
from entrycache_trace import recording, schema
from entrycache_trace.files import (
    ROW_GROUP_ROWS,
    Metadata,
    PartWriter,
    list_parts,
    read_metadata,
    read_part,
    write_metadata,
)

Progress = Callable[[int], None]
"""A function that is called with the number of new events."""

PRESETS: Final[Mapping[str, str]] = {
    "tail-fanout": "pulsar_pip430",
    "catch-up-fanout": "pulsar_pip430",
    "windowed-aggregation": "kafka_streams",
    "unequal-topics": "pulsar_legacy",
    "unequal-topics-late": "pulsar_legacy",
    "ring-copies": "pulsar_segmented",
    "ring-references": "pulsar_segmented",
}
"""The presets, each with the module beside this one that has its workload."""


def load_workload(preset: str) -> recording.Workload:
    """Import the module of a preset and return its workload."""
    workloads: Mapping[str, recording.Workload] = import_module(
        f"entrycache_trace.generators.{PRESETS[preset]}"
    ).WORKLOADS
    return workloads[preset]


def systems_with_settings() -> list[str]:
    """List the systems whose workloads take the settings of a caller."""
    workloads = map(load_workload, PRESETS)
    return list(dict.fromkeys(workload.system for workload in workloads if workload.takes_settings))


@dataclass(frozen=True)
class TracePlan:
    """The plan of a trace: it and the number of a broker determine the part of that broker."""

    preset: str
    events: int
    seed: int
    directory: Path
    brokers: int
    settings: Mapping[str, Any]

    def write(self, number: int, progress: Progress = lambda count: None) -> int:
        """Write one broker and return the number of its events."""
        workload = load_workload(self.preset)
        name = f"{workload.broker}-{number}"
        seed = f"{self.preset} {self.seed} {number}"
        work = workload.begin(PartWriter(self.directory, name), name, seed, number, self.settings)
        return work.run(_share(self.events, number, self.brokers), progress)


def _write_in_turn(plan: TracePlan, progress: Progress) -> int:
    return sum(plan.write(number, progress) for number in range(plan.brokers))


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
    """Write a trace of at least `events` events over `brokers` brokers, and return the number of events.

    Args:
        preset: The workload.
        events: The least number of events.
        seed: The seed of all brokers.
        directory: A new folder.
        brokers: The number of brokers.
        progress: A function that is called with the number of new events.
        settings: The settings of every broker, in place of those of the preset.
        write: The function that writes all brokers, in this process or in others.
    """
    if preset not in PRESETS:
        raise errors.UsageError(f"preset {preset!r} is not known; there are {', '.join(PRESETS)}")
    workload = load_workload(preset)
    if settings is not None and not workload.takes_settings:
        raise errors.UsageError(f"preset {preset!r} is of {workload.system}; the settings of a broker do not fit it")
    if events < 1 or brokers < 1:
        raise errors.UsageError("events and brokers must be 1 or more")
    files.check_empty_folder(directory, "the trace")
    count = write(TracePlan(preset, events, seed, directory, brokers, settings or {}), progress)
    # Written last: a folder of parts without metadata is refused, so half a trace is not taken for a whole one.
    source = f"generate {preset} --events {events} --seed {seed}"
    write_metadata(directory, Metadata(system=workload.system, source=source))
    return count


def _share(events: int, number: int, brokers: int) -> int:
    """Return the number of events of one of several brokers."""
    return (events * (number + 1)) // brokers - (events * number) // brokers


_BY_SEQ: Final = ("seq", "life", "pass_id", "call_id")
_BY_TIME: Final = ("ts_ns", "stamp_ns", "new_stamp_ns")
_BY_SLOT: Final = ("tail_no", "head_no", "ticket")
_ONCE: Final = ("CONFIG", "METRICS", "SNAPSHOT", "END", "CURSOR_ADD")
"""The events that no stretch may have: they depend on all events before, or affect all events after them."""


class Stretch(NamedTuple):
    """The events between two moments with an empty cache, and the offsets of each copy.

    Attributes:
        config: The CONFIG before the events.
        events: The events.
        timed: Whether each event belongs to a time pass, so that its bound is a time.
        slots: The slots that one copy numbers.
        nanos: The time that one copy takes.
        ledgers: The ids of ledgers that one copy uses.
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
        UsageError: no pass of that trace leaves the cache empty, or the trace has events that cannot be repeated.
    """
    files.check_empty_folder(directory, "the trace")
    stretch = find_stretch(source)
    copies = -(-events // (brokers * stretch.events.num_rows))
    events_written = 0
    for number in range(brokers):
        path = directory / f"broker=broker-{number}" / "part-00000.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        with (
            files.atomic_path(path) as temporary,
            pq.ParquetWriter(temporary, schema.ROW_SCHEMA, compression="zstd") as writer,
        ):
            for table in _stretch_tables(stretch, copies):
                writer.write_table(table, row_group_size=ROW_GROUP_ROWS)
                events_written += table.num_rows
                progress(table.num_rows)
    metadata = read_metadata(source)
    write_metadata(directory, replace(metadata, source=f"{metadata.source}, repeated {copies} times"))
    return events_written


def find_stretch(source: Path) -> Stretch:
    """Find the longest stretch of the first broker that can be repeated."""
    parts = list_parts(source)
    if not parts:
        raise errors.UsageError(f"{source}: the trace has no rows")
    rows = pa.concat_tables(read_part(part) for part in parts if part.broker == parts[0].broker).sort_by("seq")
    empty = pc.and_(
        pc.equal(rows["op"], "PASS_END"),
        pc.and_(pc.equal(rows["bytes_after"], 0), pc.equal(rows["tail_no"], rows["head_no"])),
    )
    ends = pc.indices_nonzero(empty)
    if rows["op"][0].as_py() != "CONFIG" or len(ends) == 0:
        raise errors.UsageError(f"{source}: expected a CONFIG, and a pass after which nothing is cached")
    last = ends[-1].as_py()
    events = rows.slice(1, last)
    single = [op for op in pc.unique(events["op"]).to_pylist() if op in _ONCE]
    if single:
        raise errors.UsageError(f"{source}: {', '.join(single)} cannot be repeated")
    nanos = events["ts_ns"][-1].as_py() - rows["ts_ns"][0].as_py()
    ledgers = (pc.max(events["ledger_id"]).as_py() or 0) + 1
    begins = pc.and_(pc.equal(events["op"], "PASS_BEGIN"), pc.equal(events["cause"], "TIME"))
    timed = pc.is_in(events["pass_id"], events.filter(begins)["seq"].combine_chunks())
    return Stretch(rows.slice(0, 1), events, timed, events["tail_no"][-1].as_py(), nanos, ledgers)


def _stretch_tables(stretch: Stretch, copies: int) -> Iterator[pa.Table]:
    yield stretch.config.cast(schema.ROW_SCHEMA)
    for number in range(copies):
        yield _shift_stretch(stretch, number)
    yield _end_row(stretch, copies)


def _shift_stretch(stretch: Stretch, number: int) -> pa.Table:
    columns = {name: stretch.events[name] for name in schema.ROW_COLUMNS}
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
    return pa.table(columns).cast(schema.ROW_SCHEMA)


def _end_row(stretch: Stretch, copies: int) -> pa.Table:
    seq = 1 + copies * stretch.events.num_rows
    ts_ns = stretch.config["ts_ns"][0].as_py() + copies * stretch.nanos
    value = json.dumps({"entries": 0, "bytes": 0, "slots": 0})
    row = {"seq": seq, "ts_ns": ts_ns, "op": "END", "call_id": seq, "bytes_after": 0, "value": value}
    return pa.Table.from_pylist([row], schema.ROW_SCHEMA)
