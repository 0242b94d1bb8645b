"""Sources of requests: recorded traces, presets, oracleGeneral files, and CSV of other people.

`read_trace_requests` turns the calls of a recorded trace into requests. `preset_requests` makes the requests of a
preset: a broker with a `WorkloadShape` (who adds, who reads how far behind, who is away and comes back), reads by
Zipf's law, or a generated trace. `read_oracle_general` and `write_oracle_general` exchange files with libCacheSim. A
record of such a file has 24 bytes, little-endian and packed: u32 seconds, u64 id, u32 size, i64 `next_access_vtime`
(the number of the next request of the same id, or -1).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from entrycache_league import object_requests
from entrycache_league.requests import ADD, EXPECT, PASSED, READ, Request, Requests, collect_requests, number_requests
from entrycache_protocol import errors, files
from entrycache_simulate import driver, run
from entrycache_trace import convert
from entrycache_trace import pulsar_pip430_calls as calls
from entrycache_trace.generators.generate import generate
from entrycache_trace.generators.pulsar_pip430 import WORKLOADS
from entrycache_trace.jit import Array
from entrycache_trace.pulsar_pip430_calls import Call, EntryPosition


def read_trace_requests(directory: Path, progress: Callable[[str], None] = lambda text: None) -> list[Requests]:
    """Read the requests of each broker of a trace.

    Raises:
        UsageError: the folder is no readable trace of `pulsar-pip430`, or nobody reads in it.
    """
    _, brokers = run.read_brokers(directory, progress)
    return [
        collect_requests(f"{directory.name} {broker.name}", _RequestReader(broker).requests()) for broker in brokers
    ]


class _RequestReader:
    """The conversion of one broker's calls into requests. An unknown size is `storage_entry_size`."""

    def __init__(self, broker: run.BrokerTrace) -> None:
        self._calls = broker.calls
        self._habits = driver.ReaderHabits(broker.calls)
        self._unknown_bytes: int = broker.config["storage_entry_size"]
        self._sizes: dict[EntryPosition, int] = {}
        self._cursors: dict[str, dict[str, tuple[int, int]]] = {}

    def requests(self) -> Iterator[Request]:
        """Yield the requests in order."""
        for call in self._calls:
            yield from self._requests_of(call)

    def _requests_of(self, call: Call) -> Iterator[Request]:
        event = call.event
        if isinstance(event, calls.Insert) and not event.refused:
            self._sizes.setdefault(event.position, event.size_bytes)
            yield self._request(call, ADD, event.position, event.expected_reads or 0)
        elif isinstance(event, calls.UncachedAdd):
            self._sizes.setdefault(event.position, event.size_bytes)
        elif isinstance(event, calls.Lookup):
            read = calls.Read(event.position, event.position.entry, None, {}, None)
            yield self._request(call, READ, event.position, self._habits.expected_reads(read))
        elif isinstance(event, calls.Read):
            yield from self._read(call, event)
        elif isinstance(event, calls.ExpectRead):
            yield self._request(call, EXPECT, event.position, 0)
        elif isinstance(event, calls.Cursor):
            yield from self._follow_cursor(call, event)

    def _request(
        self, call: Call, kind: int, position: EntryPosition, count: int, number: int | None = None
    ) -> Request:
        size_bytes = self._sizes.get(position, self._unknown_bytes)
        return Request(call.ts_ns, kind, position.cache, position[1:], size_bytes, count, number)

    def _read(self, call: Call, event: calls.Read) -> Iterator[Request]:
        count = self._habits.expected_reads(event)
        for entry in range(event.first.entry, event.last_entry + 1):
            position = event.first._replace(entry=entry)
            if entry in event.sizes:
                self._sizes.setdefault(position, event.sizes[entry])
            yield self._request(call, READ, position, count, call.seq)

    def _follow_cursor(self, call: Call, event: calls.Cursor) -> Iterator[Request]:
        """Yield a PASSED request if the slowest cursor has changed; the last cursor leaves all entries behind."""
        self._habits.follow_cursor(event)
        tracked = self._cursors.setdefault(event.cache, {})
        before = min(tracked.values(), default=None)
        if event.op == "CURSOR_REMOVE" or event.position is None:
            tracked.pop(event.cursor, None)
        else:
            tracked[event.cursor] = event.position
        slowest = min(tracked.values(), default=None)
        if slowest != before:
            yield Request(call.ts_ns, PASSED, event.cache, (1 << 62, 0) if slowest is None else slowest)


SECOND: Final = 1_000_000_000
MILLI: Final = 1_000_000

Outages = tuple[tuple[int, int], ...]
"""The times at which a subscription is away, in nanoseconds: it reads nothing and has no active cursor."""


@dataclass(frozen=True)
class WorkloadShape:
    """A broker's topics, the entries that are added to them, and the readers.

    Topics get their share of `rate` (entries a second) by Zipf's law with `skew`. `lags` are the delays of tailing
    subscriptions behind the add. A subscription that was `away` reads the missed entries afterwards in batches, `speed`
    entries a second of each topic. The first subscription cannot dispatch the share `replayed` of its reads, and reads
    these entries once more after a time within `replay_nanos`, as a Key_Shared subscription does.
    """

    topics: int = 10
    skew: float = 0.0
    rate: int = 10_000
    sizes: tuple[int, int] = (1_024, 1_024)
    lags: tuple[int, ...] = (2 * MILLI,)
    away: Mapping[int, Outages] = field(default_factory=dict)
    speed: int = 2_000
    batch: int = 100
    replayed: float = 0.0
    replay_nanos: tuple[int, int] = (MILLI, 500 * MILLI)


@dataclass(frozen=True)
class _RequestPart:
    """Some of the requests, with the keys that order those of one moment."""

    kind: int
    times: Array
    adds: Array
    counts: Array
    subscription: int = 0
    calls: Array | None = None


def shape_requests(name: str, shape: WorkloadShape, adds: int, seed: int = 1) -> Requests:
    """Make the requests of a broker to which `adds` entries are added."""
    random = np.random.default_rng(seed)
    times = np.sort(random.integers(0, max(1, adds * SECOND // shape.rate), adds))
    shares = 1 / np.arange(1, shape.topics + 1) ** shape.skew
    topics = random.choice(shape.topics, adds, p=shares / shares.sum())
    low, high = shape.sizes
    sizes = random.integers(low, high + 1, adds)
    places = _rank_in_topic(topics)
    reads = [_read_times(shape, subscription, times, topics) for subscription in range(len(shape.lags))]
    parts = [_RequestPart(ADD, times, np.arange(adds), _count_active(shape, times))]
    for subscription in range(len(shape.lags)):
        parts.append(_read_part(shape, subscription, reads, topics, places))
    parts += _replay_parts(shape, reads[0], random)
    parts.append(_passed_part(shape, times, reads))
    return _join_parts(name, parts, topics, places, sizes)


def _rank_in_topic(topics: Array) -> Array:
    """Return the number of each entry within its topic."""
    order = np.argsort(topics, kind="stable")
    first = np.searchsorted(topics[order], topics[order])
    ranks = np.empty(len(topics), np.int64)
    ranks[order] = np.arange(len(topics)) - first
    return ranks


def _read_times(shape: WorkloadShape, subscription: int, times: Array, topics: Array) -> Array:
    """Return the time at which a subscription reads each entry, in order and as fast as its speed allows."""
    reads = times + shape.lags[subscription]
    for begin, end in shape.away.get(subscription, ()):
        missed = np.flatnonzero((reads >= begin) & (reads < end))
        batches = _rank_in_topic(topics[missed]) // shape.batch
        reads[missed] = end + batches * (shape.batch * SECOND // shape.speed)
    order = np.lexsort((np.arange(len(topics)), topics))
    starts = np.flatnonzero(np.diff(topics[order], prepend=-1))
    # Times within one topic must not fall: lift each topic above the one before, take the maximum, and lower it again.
    lift = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order))) * (int(reads.max(initial=0)) + 1)
    risen = np.empty_like(reads)
    risen[order] = np.maximum.accumulate(reads[order] + lift) - lift
    return risen


def _connected(shape: WorkloadShape, subscription: int, times: Array) -> Array:
    there = np.ones(len(times), np.bool_)
    for begin, end in shape.away.get(subscription, ()):
        there &= (times < begin) | (times >= end)
    return there


def _count_active(shape: WorkloadShape, times: Array) -> Array:
    """Count the cursors that are active at these times."""
    active = np.zeros(len(times), np.int32)
    for subscription in range(len(shape.lags)):
        active += _connected(shape, subscription, times)
    return active


def _read_part(
    shape: WorkloadShape, subscription: int, reads: list[Array], topics: Array, places: Array
) -> _RequestPart:
    """Return the reads of a subscription.

    A fill expects the reads of connected subscriptions that are still to come.
    """
    own = reads[subscription]
    counts = np.zeros(len(own), np.int32)
    for other, theirs in enumerate(reads):
        counts += _connected(shape, other, own) & (theirs >= own)
    calls = np.full(len(own), -1, np.int64)
    for begin, end in shape.away.get(subscription, ()):
        behind = (own >= end) & (own > begin)
        calls[behind] = topics[behind] * (1 << 40) + places[behind] // shape.batch * len(reads) + subscription
    return _RequestPart(READ, own, np.arange(len(own)), np.maximum(1, counts), subscription + 1, calls)


def _replay_parts(shape: WorkloadShape, reads: Array, random: np.random.Generator) -> list[_RequestPart]:
    if not shape.replayed:
        return []
    adds = np.flatnonzero(random.random(len(reads)) < shape.replayed)
    late = reads[adds] + random.integers(*shape.replay_nanos, len(adds))
    none = np.zeros(len(adds), np.int32)
    after = len(shape.lags) + 1
    return [_RequestPart(EXPECT, reads[adds], adds, none, after), _RequestPart(READ, late, adds, none, after)]


def _passed_part(shape: WorkloadShape, times: Array, reads: list[Array]) -> _RequestPart:
    """Return the times at which the slowest active cursor (of all, if none is active) has passed each entry."""
    slowest = np.zeros(len(times), np.int64)
    for subscription, own in enumerate(reads):
        slowest = np.maximum(slowest, np.where(_connected(shape, subscription, times), own, 0))
    nobody = slowest == 0
    slowest[nobody] = np.max(np.array(reads)[:, nobody], axis=0, initial=0)
    slowest = np.maximum.accumulate(slowest)
    return _RequestPart(PASSED, slowest, np.arange(len(times)), np.zeros(len(times), np.int32), len(reads) + 2)


def _join_parts(name: str, parts: list[_RequestPart], topics: Array, places: Array, sizes: Array) -> Requests:
    kinds = np.concatenate([np.full(len(part.times), part.kind, np.uint8) for part in parts])
    subscription = np.concatenate([np.full(len(part.times), part.subscription, np.int64) for part in parts])
    times = np.concatenate([part.times for part in parts])
    adds = np.concatenate([part.adds for part in parts])
    counts = np.concatenate([part.counts for part in parts]).astype(np.int32)
    calls = np.concatenate([np.full(len(p.times), -1, np.int64) if p.calls is None else p.calls for p in parts])
    order = np.lexsort((places[adds], topics[adds], subscription, times))
    adds, kinds = adds[order], kinds[order]
    return number_requests(
        name,
        kinds=kinds,
        times=times[order],
        topics=topics[adds],
        places=places[adds] + (kinds == PASSED),
        sizes=sizes[adds],
        counts=counts[order],
        calls=calls[order],
    )


SHAPES: Final = {
    "catch-up": WorkloadShape(
        lags=(2 * MILLI, *(2 * MILLI + n for n in range(4))),
        away={subscription: ((0, 1_500 * MILLI + subscription * 50 * MILLI),) for subscription in range(1, 5)},
    ),
    "replay": WorkloadShape(lags=(2 * MILLI, 5 * MILLI), replayed=0.05, replay_nanos=(100 * MILLI, 4 * SECOND)),
    "reconnect": WorkloadShape(
        lags=tuple(2 * MILLI + n for n in range(5)),
        away={
            subscription: tuple(
                (at * SECOND, at * SECOND + 800 * MILLI + subscription * 200 * MILLI) for at in range(1, 61, 3)
            )
            for subscription in range(5)
        },
    ),
    "mixed-sizes": WorkloadShape(sizes=(100, 20_000), lags=(MILLI, 20 * MILLI, 400 * MILLI), replayed=0.02),
    "many-topics": WorkloadShape(topics=1_000, skew=1.0),
}
"""The presets that are shapes. In catch-up, four subscriptions come 50 ms after each other and read a backlog of 1.5 s.
In replay, a Key_Shared subscription reads a twentieth of its entries again within four seconds. In reconnect, all five
subscriptions are cut off every three seconds and come back one after the other."""

TRACE_PRESETS: Final = tuple(name for name, workload in WORKLOADS.items() if workload.takes_settings)
PRESET_NAMES: Final = (*SHAPES, "zipf", *TRACE_PRESETS)


def preset_requests(name: str, requests: int, seed: int = 1) -> list[Requests]:
    """Make about `requests` requests of a preset; a preset of a trace records that many events first.

    Raises:
        UsageError: there is no such preset.
    """
    if name in SHAPES:
        return [shape_requests(name, SHAPES[name], _count_adds(SHAPES[name], requests), seed)]
    if name == "zipf":
        return [zipf_requests(requests, seed)]
    if name not in TRACE_PRESETS:
        raise errors.UsageError(f"unknown preset {name!r}; there are {', '.join(PRESET_NAMES)}")
    with TemporaryDirectory(prefix="entrycache-league-") as folder:
        directory = Path(folder, name)
        generate(name, requests, seed, directory)
        return read_trace_requests(directory)


def _count_adds(shape: WorkloadShape, requests: int) -> int:
    """Return the number of adds. Each entry is added, read by each subscription, and passed once."""
    return max(1, requests // (len(shape.lags) + 2))


def zipf_requests(requests: int, seed: int = 1, alpha: float = 1.0) -> Requests:
    """Make reads by Zipf's law over a tenth as many entries of one size, a microsecond apart."""
    random = np.random.default_rng(seed)
    entries = max(10, requests // 10)
    weights = np.cumsum(1 / np.arange(1, entries + 1) ** alpha)
    places = np.searchsorted(weights, random.random(requests) * weights[-1])
    return number_requests(
        "zipf",
        kinds=np.full(requests, READ, np.uint8),
        times=np.arange(requests, dtype=np.int64) * 1_000,
        topics=np.zeros(requests, np.int64),
        places=random.permutation(entries)[places],
        sizes=np.full(requests, 1_024, np.int64),
        counts=np.ones(requests, np.int32),
        calls=np.full(requests, -1, np.int64),
    )


RECORD: Final = np.dtype([("time", "<u4"), ("id", "<u8"), ("size", "<u4"), ("next", "<i8")])
FORMAT: Final = (
    "NAME.oracleGeneral or NAME.oracleGeneral.bin, also with .zst: records of 24 bytes, little-endian "
    "(u32 seconds, u64 id, u32 size, i64 next access)"
)
"""The description of the oracleGeneral format in errors."""

MAX_SIZE: Final = (1 << 32) - 1
MAX_RECORDS: Final = 200_000_000
"""The most requests of one file: about 16 GB of arrays."""


def read_requests(path: Path) -> list[Requests]:
    """Read the requests of a recorded trace, of a file in the oracleGeneral format, or of a CSV of libCacheSim.

    Raises:
        UsageError: the path is neither, or it cannot be read.
    """
    if convert.is_oracle_general(path):
        return [read_oracle_general(path)]
    if path.suffix == object_requests.SUFFIX:
        return [object_requests.read_object_requests(path)]
    if path.is_file() and path.suffix not in {".jsonl", ".parquet"}:
        raise errors.UsageError(f"{path}: no requests; expected the folder of a trace, or {FORMAT}")
    return read_trace_requests(path)


def _read_records(path: Path) -> Array:
    """Read the records of a file, which may be compressed."""
    try:
        if path.suffix == convert.ZSTD_SUFFIX:
            content = bytearray()
            for chunk in convert.decompress(path):
                content += chunk
                _check_length(path, len(content))
            length = len(content)
        else:
            length = path.stat().st_size
            _check_length(path, length)
        if length % RECORD.itemsize:
            raise errors.UsageError(
                f"{path}: {length} bytes are no whole number of records of {RECORD.itemsize}; cut short? "
                f"Expected {FORMAT}"
            )
        return np.frombuffer(content, RECORD) if path.suffix == convert.ZSTD_SUFFIX else np.fromfile(path, RECORD)
    except OSError as error:
        raise errors.UsageError(f"{path}: {files.describe_os_error(error)}") from None


def _check_length(path: Path, length: int) -> None:
    if length // RECORD.itemsize > MAX_RECORDS:
        raise errors.UsageError(f"{path}: {length // RECORD.itemsize} requests; expected {MAX_RECORDS} at most")


def read_oracle_general(path: Path) -> Requests:
    """Read the requests of a file, which are reads of one topic without expected reads.

    The function ignores `next_access_vtime` and computes it anew.

    Raises:
        UsageError: the file is missing or empty, ends in half a record, has a size of 0, or a time that goes back.
    """
    records = _read_records(path)
    if len(records) == 0:
        raise errors.UsageError(f"{path}: no request in it")
    empty = np.flatnonzero(records["size"] == 0)
    if len(empty):
        raise errors.UsageError(f"{path}: record {empty[0]} has size 0; expected 1 byte or more")
    back = np.flatnonzero(np.diff(records["time"].astype(np.int64)) < 0)
    if len(back):
        raise errors.UsageError(f"{path}: the time of record {back[0] + 1} lies before that of the one before it")
    count = len(records)
    return number_requests(
        path.name,
        kinds=np.full(count, READ, np.uint8),
        times=records["time"].astype(np.int64) * 1_000_000_000,
        topics=np.zeros(count, np.int64),
        places=np.unique(records["id"], return_inverse=True)[1].astype(np.int64),
        sizes=records["size"].astype(np.int64),
        counts=np.zeros(count, np.int32),
        calls=np.full(count, -1, np.int64),
    )


def write_oracle_general(requests: Requests, path: Path) -> int:
    """Write the adds and reads of some requests and return their number. A size of 0 becomes 1, as libCacheSim needs.

    Raises:
        UsageError: an entry is too large for a record, or the file cannot be written.
    """
    about = np.flatnonzero(requests.kinds <= READ)
    numbers = requests.numbers[about]
    if len(requests.sizes) and requests.sizes.max() > MAX_SIZE:
        raise errors.UsageError(f"{requests.name}: an entry has more than {MAX_SIZE} bytes, which {path} cannot say")
    records = np.zeros(len(about), RECORD)
    records["time"] = (requests.times[about] - requests.times[0]) // 1_000_000_000
    records["id"] = numbers
    records["size"] = np.maximum(1, requests.sizes[numbers])
    order = np.argsort(numbers, kind="stable")
    records["next"] = -1
    same = numbers[order[:-1]] == numbers[order[1:]]
    records["next"][order[:-1][same]] = order[1:][same]
    with files.atomic_path(path) as temporary:
        records.tofile(temporary)
    return len(records)
