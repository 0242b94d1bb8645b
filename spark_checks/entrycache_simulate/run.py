"""Run a simulation: measure a recorded trace under its own settings and under others.

`read_brokers` reads a trace and extracts the calls of each broker (`BrokerTrace`). `simulate` makes these calls under
one configuration after another and returns a `Simulation` with a `ConfigResult` for each. The settings of the recording
come first: they must give the observable events of the trace again, or the result lists the first difference of each
broker. A `Meter` follows the rows that the cache reports and counts hits, bytes and passes of one broker.
"""

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
from entrycache_trace import files, pulsar_pip430_calls

COLUMNS: Final = (
    *("broker", "seq", "ts_ns", "op", "cause", "origin", "cache", "ledger_id", "entry_id", "life", "size_bytes"),
    *("expected_reads", "pass_id", "call_id", "bound", "bytes_after", "cursor", "value"),
)
"""The columns that a simulation reads."""

OBSERVABLE_OPS: Final = frozenset({"HIT", "MISS", "INSERT", "EVICT", "REMOVE", "REQUEUE", "READ_DONE"})
"""The events that the settings of the recording must give again, in the same order and at the same positions."""

AS_RECORDED: Final = "as recorded"

Listener = Callable[[Row], None]


class ObservableEvent(NamedTuple):
    """An event in the form that the self-check compares."""

    op: str
    cache: str | None
    ledger_id: int | None
    entry_id: int | None
    bytes_after: int


@dataclass(frozen=True)
class BrokerTrace:
    """One broker's part of a trace: its calls, and the observable events with their `seq`."""

    name: str
    config: Mapping[str, Any]
    calls: tuple[pulsar_pip430_calls.Call, ...]
    observable: tuple[tuple[int, ObservableEvent], ...]
    first_ns: int
    last_ns: int


@dataclass(frozen=True)
class ConfigResult:
    """The result of one configuration over all brokers. Peaks are sums of the brokers' own peaks."""

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
        """The share of lookups that hit; None without lookups."""
        return self.hits / self.lookups if self.lookups else None

    @property
    def storage_reads_an_entry(self) -> float | None:
        """The entries read from storage for each different entry of the trace; None without entries."""
        return self.storage_reads / self.entries if self.entries else None


@dataclass(frozen=True)
class Simulation:
    """A whole simulation; `differences` has a line for each broker whose own settings did not give its events again."""

    directory: Path
    brokers: tuple[BrokerTrace, ...]
    metadata: files.Metadata
    results: tuple[ConfigResult, ...]
    differences: tuple[str, ...]


def read_brokers(
    directory: Path, progress: Callable[[str], None] = lambda text: None
) -> tuple[files.Metadata, list[BrokerTrace]]:
    """Read the brokers of a trace.

    Raises:
        UsageError: the trace cannot be read, or its calls cannot be made once more.
    """
    parts = files.list_parts(directory, COLUMNS)
    if not parts:
        raise UsageError(f"{directory}: no events; a simulation needs a recorded trace")
    metadata = files.read_metadata(directory)
    if metadata.system != NAME:
        raise UsageError(f"{directory}: the trace is of {metadata.system}; only {NAME} can be simulated")
    if metadata.sampled:
        raise UsageError(f"{directory}: the trace is sampled; a simulation needs every event")
    by_broker: dict[str, list[files.Part]] = {}
    for part in parts:
        by_broker.setdefault(part.broker, []).append(part)
    brokers = []
    for name, owned in sorted(by_broker.items()):
        progress(f"reading broker {name}")
        brokers.append(_read_broker_trace(directory, name, owned))
    return metadata, brokers


def _read_broker_trace(directory: Path, name: str, parts: list[files.Part]) -> BrokerTrace:
    rows = files.read_mappings(parts, COLUMNS)
    where = f"{directory}: broker {name!r}"
    if not rows or rows[0]["op"] != "CONFIG":
        raise UsageError(f"{where}: the first event is no CONFIG; the settings of the recording are unknown")
    if any(row["op"] == "SNAPSHOT" and row["cause"] == "OPEN" for row in rows):
        raise UsageError(f"{where}: entries were cached when the trace began; a simulation needs an empty cache")
    pulsar_pip430_calls.check_rows(rows, where)
    calls = tuple(pulsar_pip430_calls.extract_calls(rows))
    observable = tuple((row["seq"], _observable(row)) for row in rows if row["op"] in OBSERVABLE_OPS)
    config = parse_recorded_config(rows[0]["value"], where)
    return BrokerTrace(name, config, calls, observable, rows[0]["ts_ns"], rows[-1]["ts_ns"])


def _observable(row: Mapping[str, Any]) -> ObservableEvent:
    return ObservableEvent(row["op"], row["cache"], row["ledger_id"], row["entry_id"], row["bytes_after"])


def replay_calls(
    broker: BrokerTrace,
    config: Mapping[str, Any],
    variants: Mapping[str, Any],
    listeners: Iterable[Listener],
    requested: Collection[str] | None,
) -> None:
    """Make one broker's calls under a configuration; each listener gets every row.

    `requested` names the settings that differ from those of the trace; None means that none does.

    Raises:
        UsageError: the cache refuses a call.
    """
    all_listeners = tuple(listeners)

    def report(row: Row) -> None:
        for listener in all_listeners:
            listener(row)

    budget = str(variants.get("requeue_budget", "shared"))
    driver = Driver(config, budget, report, broker.config, requested, ReaderHabits(broker.calls))
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
    """Simulate a trace under its own settings and under others, which are given as changes.

    Raises:
        UsageError: the trace or a configuration cannot be used.
    """
    metadata, brokers = read_brokers(directory, progress)
    differences: list[str] = []
    progress("its own settings")
    results = [measure_config(AS_RECORDED, brokers, None, metadata, differences)]
    for label, changes in configs:
        progress(label)
        results.append(measure_config(label, brokers, changes, metadata))
    return Simulation(directory, tuple(brokers), metadata, tuple(results), tuple(differences))


def measure_config(
    label: str,
    brokers: Sequence[BrokerTrace],
    changes: Mapping[str, Any] | None,
    metadata: files.Metadata,
    differences: list[str] | None = None,
) -> ConfigResult:
    """Measure one configuration over all brokers. Without `changes` it is the recorded one, compared event by event."""
    usages = []
    config: dict[str, Any] = {}
    for broker in brokers:
        values = {**broker.config, **(changes or {})}
        if changes and "ttl_nanos" in changes and "grace_millis" not in changes:
            values["grace_millis"] = None
        config = complete_config(values, label)
        usage = CacheUsage(broker.first_ns, broker.last_ns)
        simulated: list[ObservableEvent] = []
        listeners: list[Listener] = [usage.row]
        if differences is not None:
            listeners.append(lambda row, simulated=simulated: _collect_observable(row, simulated))  # type: ignore[misc]
        replay_calls(broker, config, metadata.variants, listeners, changes)
        usage.close()
        usages.append(usage)
        if differences is not None:
            differences += _first_difference(broker, simulated)
    return _total(label, config, usages, brokers)


def _collect_observable(row: Row, simulated: list[ObservableEvent]) -> None:
    if row.op in OBSERVABLE_OPS:
        simulated.append(ObservableEvent(row.op, row.cache, row.ledger_id, row.entry_id, row.bytes_after))


def _first_difference(broker: BrokerTrace, simulated: Sequence[ObservableEvent]) -> list[str]:
    """Return the first event in which the simulated events differ from the recorded ones, in words, if there is one."""
    where = f"broker {broker.name!r}"
    for index, (seq, event) in enumerate(broker.observable):
        if index >= len(simulated):
            return [f"{where}, seq {seq}: recorded {_describe(event)}; simulated nothing more"]
        if simulated[index] != event:
            return [f"{where}, seq {seq}: recorded {_describe(event)}; simulated {_describe(simulated[index])}"]
    if len(simulated) > len(broker.observable):
        return [f"{where}: simulated {_describe(simulated[len(broker.observable)])} after the recorded end"]
    return []


def _describe(event: ObservableEvent) -> str:
    place = f"{event.cache} {event.ledger_id}:{event.entry_id}"
    return f"{event.op} of {place} ({event.bytes_after} bytes after it)"


def _total(
    label: str, config: Mapping[str, Any], usages: Sequence[CacheUsage], brokers: Sequence[BrokerTrace]
) -> ConfigResult:
    limit = int(config["max_size_bytes"])
    means = [usage.area / max(1, usage.last_ns - usage.first_ns) for usage in usages]
    return ConfigResult(
        label=label,
        config=config,
        lookups=sum(usage.hits + usage.misses for usage in usages),
        hits=sum(usage.hits for usage in usages),
        storage_reads=sum(usage.misses for usage in usages),
        entries=sum(_count_entries(broker) for broker in brokers),
        peak_bytes=sum(usage.peak_bytes for usage in usages),
        mean_bytes=sum(means),
        evicted_by_time=sum(usage.evicted_by_time for usage in usages),
        evicted_by_size=sum(usage.evicted_by_size for usage in usages),
        requeues=sum(usage.requeues for usage in usages),
        size_passes=sum(usage.size_passes for usage in usages),
        overshoot_bytes=max((usage.overshoot_bytes for usage in usages), default=0),
        over_limit_bytes=max((max(0, usage.peak_bytes - limit) for usage in usages), default=0),
        over_time=tuple(map(sum, zip(*(usage.over_time() for usage in usages), strict=True))),
    )


def _count_entries(broker: BrokerTrace) -> int:
    """Count the different entries that a broker's calls name."""
    positions: set[pulsar_pip430_calls.EntryPosition] = set()
    for call in broker.calls:
        event = call.event
        if isinstance(event, pulsar_pip430_calls.Read):
            first = event.first
            positions.update(first._replace(entry=number) for number in range(first.entry, event.last_entry + 1))
        elif isinstance(
            event, pulsar_pip430_calls.Insert | pulsar_pip430_calls.UncachedAdd | pulsar_pip430_calls.Lookup
        ):
            positions.add(event.position)
    return len(positions)


POINTS: Final = 400
"""The number of points of a curve over time."""


@dataclass(slots=True)
class CacheUsage:
    """The counters of one run; bytes are accounted bytes."""

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
    """The most bytes that one size pass freed beyond its need."""
    curve: dict[int, tuple[int, int]] = field(default_factory=dict)
    """For each part of the time the most bytes, and the bytes at its end."""
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
        """Count the bytes up to the end of the trace."""
        self._move(max(self.last_ns, self._since_ns), self._bytes)

    def over_time(self) -> list[int]:
        """Return the most bytes in each of `POINTS` parts of the time."""
        most_bytes: list[int] = []
        before = 0
        for part in range(POINTS):
            most, before = self.curve.get(part, (before, before))
            most_bytes.append(most)
        return most_bytes
