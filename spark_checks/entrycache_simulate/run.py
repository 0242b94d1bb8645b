"""A simulation: the trace's own settings first, which must give its own hits again, then the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_fast import Row
from entrycache_protocol.errors import UsageError
from entrycache_reference.pulsar_pip430 import NAME
from entrycache_simulate.configs import complete_config, parse_recorded_config
from entrycache_simulate.driver import Driver, ReaderHabits
from entrycache_trace.files import Metadata, Part, list_parts, read_mappings, read_metadata
from entrycache_trace.pulsar_pip430_calls import (
    Call,
    EntryPosition,
    Insert,
    Lookup,
    Read,
    UncachedAdd,
    check_rows,
    extract_calls,
)

COLUMNS: Final = (
    *("broker", "seq", "ts_ns", "op", "cause", "origin", "cache", "ledger_id", "entry_id", "life", "size_bytes"),
    *("expected_reads", "pass_id", "call_id", "bound", "bytes_after", "cursor", "value"),
)
"""The columns that a simulation reads."""

OBSERVABLE_OPS: Final = frozenset({"HIT", "MISS", "INSERT", "EVICT", "REMOVE", "REQUEUE", "READ_DONE"})
"""Events that the own settings must give again, in this order and at these positions."""

AS_RECORDED: Final = "as recorded"

Listener = Callable[[Row], None]


class ObservableEvent(NamedTuple):
    """An event as the self-check compares it."""

    op: str
    cache: str | None
    ledger_id: int | None
    entry_id: int | None
    bytes_after: int


@dataclass(frozen=True)
class BrokerTrace:
    """One broker's part of a trace, ready to be run."""

    name: str
    config: Mapping[str, Any]
    calls: tuple[Call, ...]
    shown: tuple[tuple[int, ObservableEvent], ...]
    first_ns: int
    last_ns: int


@dataclass(frozen=True)
class ConfigResult:
    """What one configuration comes to, over all brokers. Peaks are sums of the brokers' own peaks."""

    label: str
    config: Mapping[str, Any]
    lookups: int
    hits: int
    storage_reads: int
    entries: int
    peak_bytes: int
    mean_bytes: float
    evicted_by_time: int
    evicted_by_size: int
    requeues: int
    size_passes: int
    overshoot_bytes: int
    over_limit_bytes: int
    over_time: tuple[int, ...] = field(repr=False)

    @property
    def hit_ratio(self) -> float | None:
        """Hits a lookup; None without lookups."""
        return self.hits / self.lookups if self.lookups else None

    @property
    def storage_reads_an_entry(self) -> float | None:
        """Entries read from storage for each different entry of the trace; None where it has none."""
        return self.storage_reads / self.entries if self.entries else None


@dataclass(frozen=True)
class Simulation:
    """All of it. `unlike`: where the trace's own settings did not give the trace again, a line a broker."""

    directory: Path
    brokers: tuple[BrokerTrace, ...]
    metadata: Metadata
    measured: tuple[ConfigResult, ...]
    differences: tuple[str, ...]


def read_brokers(
    directory: Path, progress: Callable[[str], None] = lambda text: None
) -> tuple[Metadata, list[BrokerTrace]]:
    """The brokers of a trace.

    Raises:
        UsageError: no readable trace, or one whose calls cannot be made once more.
    """
    parts = list_parts(directory, COLUMNS)
    if not parts:
        raise UsageError(f"{directory}: no events; a simulation needs a recorded trace")
    metadata = read_metadata(directory)
    if metadata.system != NAME:
        raise UsageError(f"{directory}: the trace is of {metadata.system}; only {NAME} can be simulated")
    if metadata.sampled:
        raise UsageError(f"{directory}: the trace is sampled; a simulation needs every event")
    by_broker: dict[str, list[Part]] = {}
    for part in parts:
        by_broker.setdefault(part.broker, []).append(part)
    brokers = []
    for name, owned in sorted(by_broker.items()):
        progress(f"reading broker {name}")
        brokers.append(_read_broker_trace(directory, name, owned))
    return metadata, brokers


def _read_broker_trace(directory: Path, name: str, parts: list[Part]) -> BrokerTrace:
    rows = read_mappings(parts, COLUMNS)
    where = f"{directory}: broker {name!r}"
    if not rows or rows[0]["op"] != "CONFIG":
        raise UsageError(f"{where}: the first event is no CONFIG; the settings of the recording are unknown")
    if any(row["op"] == "SNAPSHOT" and row["cause"] == "OPEN" for row in rows):
        raise UsageError(f"{where}: entries were cached when the trace began; a simulation needs an empty cache")
    check_rows(rows, where)
    calls = tuple(extract_calls(rows))
    shown = tuple((row["seq"], _observable(row)) for row in rows if row["op"] in OBSERVABLE_OPS)
    config = parse_recorded_config(rows[0]["value"], where)
    return BrokerTrace(name, config, calls, shown, rows[0]["ts_ns"], rows[-1]["ts_ns"])


def _observable(row: Mapping[str, Any]) -> ObservableEvent:
    return ObservableEvent(row["op"], row["cache"], row["ledger_id"], row["entry_id"], row["bytes_after"])


def replay_calls(
    broker: BrokerTrace,
    config: Mapping[str, Any],
    variants: Mapping[str, Any],
    listeners: Iterable[Listener],
    asked: Collection[str] | None,
) -> None:
    """Run one broker's calls under a configuration; each listener gets every row.

    `asked` names the settings that are not the trace's own; None: all of them are.

    Raises:
        UsageError: the cache refuses a call.
    """
    heard = tuple(listeners)

    def tell(row: Row) -> None:
        for listener in heard:
            listener(row)

    budget = str(variants.get("requeue_budget", "shared"))
    driver = Driver(config, budget, tell, broker.config, asked, ReaderHabits(broker.calls))
    for call in broker.calls:
        try:
            driver.make(call)
        except ValueError as error:
            raise UsageError(
                f"broker {broker.name!r}, seq {call.seq}: the call cannot be made again: {error}"
            ) from None


def simulate(
    directory: Path,
    configs: Sequence[tuple[str, Mapping[str, Any]]],
    progress: Callable[[str], None] = lambda text: None,
) -> Simulation:
    """Simulate a trace under its own settings and under others, which are given as changes of its own.

    Raises:
        UsageError: the trace or a configuration cannot be used.
    """
    metadata, brokers = read_brokers(directory, progress)
    differences: list[str] = []
    progress("its own settings")
    measured = [measure_config(AS_RECORDED, brokers, None, metadata, differences)]
    for label, changes in configs:
        progress(label)
        measured.append(measure_config(label, brokers, changes, metadata))
    return Simulation(directory, tuple(brokers), metadata, tuple(measured), tuple(differences))


def measure_config(
    label: str,
    brokers: Sequence[BrokerTrace],
    changes: Mapping[str, Any] | None,
    metadata: Metadata,
    differences: list[str] | None = None,
) -> ConfigResult:
    """One configuration over all brokers; `changes` None: as recorded, compared event by event."""
    meters = []
    config: dict[str, Any] = {}
    for broker in brokers:
        given = {**broker.config, **(changes or {})}
        if changes and "ttl_nanos" in changes and "grace_millis" not in changes:
            given["grace_millis"] = None
        config = complete_config(given, label)
        meter = Meter(broker.first_ns, broker.last_ns)
        made: list[ObservableEvent] = []
        listeners: list[Listener] = [meter.row]
        if differences is not None:
            listeners.append(lambda row, made=made: _collect_observable(row, made))  # type: ignore[misc]
        replay_calls(broker, config, metadata.variants, listeners, changes)
        meter.close()
        meters.append(meter)
        if differences is not None:
            differences += _first_difference(broker, made)
    return _total(label, config, meters, brokers)


def _collect_observable(row: Row, made: list[ObservableEvent]) -> None:
    if row.op in OBSERVABLE_OPS:
        made.append(ObservableEvent(row.op, row.cache, row.ledger_id, row.entry_id, row.bytes_after))


def _first_difference(broker: BrokerTrace, made: Sequence[ObservableEvent]) -> list[str]:
    """Where the events of the own settings leave the trace's, if they do."""
    for index, (seq, shown) in enumerate(broker.shown):
        if index >= len(made):
            return [f"broker {broker.name!r}, seq {seq}: recorded {_describe(shown)}; simulated nothing more"]
        if made[index] != shown:
            return [
                f"broker {broker.name!r}, seq {seq}: recorded {_describe(shown)}; simulated {_describe(made[index])}"
            ]
    if len(made) > len(broker.shown):
        return [f"broker {broker.name!r}: simulated {_describe(made[len(broker.shown)])} after the recorded end"]
    return []


def _describe(shown: ObservableEvent) -> str:
    place = f"{shown.cache} {shown.ledger_id}:{shown.entry_id}"
    return f"{shown.op} of {place} ({shown.bytes_after} bytes after it)"


def _total(
    label: str, config: Mapping[str, Any], meters: Sequence[Meter], brokers: Sequence[BrokerTrace]
) -> ConfigResult:
    limit = int(config["max_size_bytes"])
    means = [meter.area / max(1, meter.last_ns - meter.first_ns) for meter in meters]
    return ConfigResult(
        label=label,
        config=config,
        lookups=sum(meter.hits + meter.misses for meter in meters),
        hits=sum(meter.hits for meter in meters),
        storage_reads=sum(meter.misses for meter in meters),
        entries=sum(_count_entries(broker) for broker in brokers),
        peak_bytes=sum(meter.peak_bytes for meter in meters),
        mean_bytes=sum(means),
        evicted_by_time=sum(meter.evicted_by_time for meter in meters),
        evicted_by_size=sum(meter.evicted_by_size for meter in meters),
        requeues=sum(meter.requeues for meter in meters),
        size_passes=sum(meter.size_passes for meter in meters),
        overshoot_bytes=max((meter.overshoot_bytes for meter in meters), default=0),
        over_limit_bytes=max((max(0, meter.peak_bytes - limit) for meter in meters), default=0),
        over_time=tuple(map(sum, zip(*(meter.over_time() for meter in meters), strict=True))),
    )


def _count_entries(broker: BrokerTrace) -> int:
    """Different entries that a broker's calls name."""
    seen: set[EntryPosition] = set()
    for call in broker.calls:
        event = call.event
        if isinstance(event, Read):
            first = event.first
            seen.update(first._replace(entry=number) for number in range(first.entry, event.last_entry + 1))
        elif isinstance(event, Insert | UncachedAdd | Lookup):
            seen.add(event.place)
    return len(seen)


# --- meter
# What is measured of one simulated broker, from the rows that the cache reports.

POINTS: Final = 400
"""Points of a curve over time."""


@dataclass(slots=True)
class Meter:
    """Counters of one run; bytes are accounted bytes."""

    first_ns: int
    last_ns: int
    hits: int = 0
    misses: int = 0
    entries: int = 0
    evicted_by_time: int = 0
    evicted_by_size: int = 0
    evicted_bytes: int = 0
    requeues: int = 0
    size_passes: int = 0
    peak_bytes: int = 0
    area: int = 0
    """Bytes times nanoseconds so far."""
    overshoot_bytes: int = 0
    """The most that one size pass freed beyond what it had to."""
    curve: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The most bytes in each part of the time, and those at its end."""
    _bytes: int = 0
    _since_ns: int = 0

    def __post_init__(self) -> None:
        self._since_ns = self.first_ns

    def row(self, row: Row) -> None:
        """Count one event."""
        op = row.op
        if op == "HIT":
            self.hits += 1
        elif op == "MISS":
            self.misses += 1
        elif op == "EVICT":
            self.evicted_by_time += row.cause == "TIME"
            self.evicted_by_size += row.cause == "SIZE"
            self.evicted_bytes += row.size_bytes or 0
        elif op == "REQUEUE":
            self.requeues += 1
        elif op == "PASS_BEGIN" and row.cause == "SIZE":
            self.size_passes += 1
        elif op == "PASS_END" and row.cause == "SIZE":
            self.overshoot_bytes = max(self.overshoot_bytes, -(row.bound or 0))
        if row.bytes_after != self._bytes:
            self._move(row.ts_ns, row.bytes_after)

    def _move(self, now_ns: int, size_bytes: int) -> None:
        self.area += self._bytes * (now_ns - self._since_ns)
        self._since_ns = now_ns
        self._bytes = size_bytes
        self.peak_bytes = max(self.peak_bytes, size_bytes)
        part = self._part(now_ns)
        self.curve[part] = (max(self.curve.get(part, (0, 0))[0], size_bytes), size_bytes)

    def _part(self, now_ns: int) -> int:
        return (now_ns - self.first_ns) * POINTS // max(1, self.last_ns - self.first_ns + 1)

    def close(self) -> None:
        """The trace has ended."""
        self._move(max(self.last_ns, self._since_ns), self._bytes)

    def over_time(self) -> list[int]:
        """The most bytes in each of `POINTS` parts of the time."""
        shown: list[int] = []
        before = 0
        for part in range(POINTS):
            most, before = self.curve.get(part, (before, before))
            shown.append(most)
        return shown
