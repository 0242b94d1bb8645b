"""A simulation: the trace's own settings first, which must give its own hits again, then the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_fast import Row
from entrycache_protocol.errors import UsageError
from entrycache_reference.pulsar_pip430 import NAME
from entrycache_simulate.calls import Call, Insert, Lookup, Place, Read, Unwanted, calls_of
from entrycache_simulate.checks import check_rows
from entrycache_simulate.configs import recorded_config, whole_config
from entrycache_simulate.drive import Driver, Habits
from entrycache_simulate.meter import Meter
from entrycache_trace.files import Metadata, Part, list_parts, read_mappings, read_metadata

COLUMNS: Final = (
    *("broker", "seq", "ts_ns", "op", "cause", "origin", "cache", "ledger_id", "entry_id", "life", "size_bytes"),
    *("expected_reads", "pass_id", "call_id", "bound", "bytes_after", "cursor", "value"),
)
"""The columns that a simulation reads."""

SHOWN: Final = frozenset({"HIT", "MISS", "INSERT", "EVICT", "REMOVE", "REQUEUE", "READ_DONE"})
"""Events that the own settings must give again, in this order and at these positions."""

OWN: Final = "as recorded"

Listener = Callable[[Row], None]


class Shown(NamedTuple):
    """An event as the self-check compares it."""

    op: str
    cache: str | None
    ledger_id: int | None
    entry_id: int | None
    bytes_after: int


@dataclass(frozen=True)
class Broker:
    """One broker's part of a trace, ready to be run."""

    name: str
    config: Mapping[str, Any]
    calls: tuple[Call, ...]
    shown: tuple[tuple[int, Shown], ...]
    first_ns: int
    last_ns: int


@dataclass(frozen=True)
class Measured:
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
    brokers: tuple[Broker, ...]
    metadata: Metadata
    measured: tuple[Measured, ...]
    unlike: tuple[str, ...]


def read_brokers(directory: Path, progress: Callable[[str], None] = lambda text: None) -> tuple[Metadata, list[Broker]]:
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
        brokers.append(_broker(directory, name, owned))
    return metadata, brokers


def _broker(directory: Path, name: str, parts: list[Part]) -> Broker:
    rows = read_mappings(parts, COLUMNS)
    where = f"{directory}: broker {name!r}"
    if not rows or rows[0]["op"] != "CONFIG":
        raise UsageError(f"{where}: the first event is no CONFIG; the settings of the recording are unknown")
    if any(row["op"] == "SNAPSHOT" and row["cause"] == "OPEN" for row in rows):
        raise UsageError(f"{where}: entries were cached when the trace began; a simulation needs an empty cache")
    check_rows(rows, where)
    calls = tuple(calls_of(rows))
    shown = tuple((row["seq"], _shown(row)) for row in rows if row["op"] in SHOWN)
    config = recorded_config(rows[0]["value"], where)
    return Broker(name, config, calls, shown, rows[0]["ts_ns"], rows[-1]["ts_ns"])


def _shown(row: Mapping[str, Any]) -> Shown:
    return Shown(row["op"], row["cache"], row["ledger_id"], row["entry_id"], row["bytes_after"])


def drive(
    broker: Broker,
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
    driver = Driver(config, budget, tell, broker.config, asked, Habits(broker.calls))
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
    unlike: list[str] = []
    progress("its own settings")
    measured = [measure(OWN, brokers, None, metadata, unlike)]
    for label, changes in configs:
        progress(label)
        measured.append(measure(label, brokers, changes, metadata))
    return Simulation(directory, tuple(brokers), metadata, tuple(measured), tuple(unlike))


def measure(
    label: str,
    brokers: Sequence[Broker],
    changes: Mapping[str, Any] | None,
    metadata: Metadata,
    unlike: list[str] | None = None,
) -> Measured:
    """One configuration over all brokers; `changes` None: as recorded, compared event by event."""
    meters = []
    config: dict[str, Any] = {}
    for broker in brokers:
        given = {**broker.config, **(changes or {})}
        if changes and "ttl_nanos" in changes and "grace_millis" not in changes:
            given["grace_millis"] = None
        config = whole_config(given, label)
        meter = Meter(broker.first_ns, broker.last_ns)
        made: list[Shown] = []
        listeners: list[Listener] = [meter.row]
        if unlike is not None:
            listeners.append(lambda row, made=made: _keep(row, made))  # type: ignore[misc]
        drive(broker, config, metadata.variants, listeners, changes)
        meter.close()
        meters.append(meter)
        if unlike is not None:
            unlike += _compared(broker, made)
    return _sum(label, config, meters, brokers)


def _keep(row: Row, made: list[Shown]) -> None:
    if row.op in SHOWN:
        made.append(Shown(row.op, row.cache, row.ledger_id, row.entry_id, row.bytes_after))


def _compared(broker: Broker, made: Sequence[Shown]) -> list[str]:
    """Where the events of the own settings leave the trace's, if they do."""
    for index, (seq, shown) in enumerate(broker.shown):
        if index >= len(made):
            return [f"broker {broker.name!r}, seq {seq}: recorded {_text(shown)}; simulated nothing more"]
        if made[index] != shown:
            return [f"broker {broker.name!r}, seq {seq}: recorded {_text(shown)}; simulated {_text(made[index])}"]
    if len(made) > len(broker.shown):
        return [f"broker {broker.name!r}: simulated {_text(made[len(broker.shown)])} after the recorded end"]
    return []


def _text(shown: Shown) -> str:
    place = f"{shown.cache} {shown.ledger_id}:{shown.entry_id}"
    return f"{shown.op} of {place} ({shown.bytes_after} bytes after it)"


def _sum(label: str, config: Mapping[str, Any], meters: Sequence[Meter], brokers: Sequence[Broker]) -> Measured:
    limit = int(config["max_size_bytes"])
    means = [meter.area / max(1, meter.last_ns - meter.first_ns) for meter in meters]
    return Measured(
        label=label,
        config=config,
        lookups=sum(meter.hits + meter.misses for meter in meters),
        hits=sum(meter.hits for meter in meters),
        storage_reads=sum(meter.misses for meter in meters),
        entries=sum(_entries(broker) for broker in brokers),
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


def _entries(broker: Broker) -> int:
    """Different entries that a broker's calls name."""
    seen: set[Place] = set()
    for call in broker.calls:
        event = call.event
        if isinstance(event, Read):
            first = event.first
            seen.update(first._replace(entry=number) for number in range(first.entry, event.last_entry + 1))
        elif isinstance(event, Insert | Unwanted | Lookup):
            seen.add(event.place)
    return len(seen)
