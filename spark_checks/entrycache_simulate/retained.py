"""The size of a connection's next receive buffer, as netty's AdaptiveRecvByteBufAllocator describes it.

Its documentation: it starts at `initial`, never leaves `minimum` to `maximum`, grows when a read filled its buffer, and
shrinks when two reads in a row left much of it empty. The sizes are multiples of 16 below 512 and powers of two
from there; growing goes four sizes up, shrinking one down.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from entrycache_fast import Row
from entrycache_protocol.errors import UsageError
from entrycache_simulate.configs import complete_config
from entrycache_simulate.run import BrokerTrace, Meter, replay_calls
from entrycache_trace.files import Metadata

BUFFER_SIZES: Final[tuple[int, ...]] = (*range(16, 512, 16), *(1 << power for power in range(9, 31)))
GROW_STEPS: Final = 4
SHRINK_STEPS: Final = 1


class ReceiveBuffers(NamedTuple):
    """The three sizes in bytes that an allocator is made with."""

    minimum: int
    initial: int
    maximum: int

    def checked(self) -> ReceiveBuffers:
        """These sizes.

        Raises:
            UsageError: they are not in order, or not in range.
        """
        if not 0 < self.minimum <= self.initial <= self.maximum <= BUFFER_SIZES[-1]:
            shown = ", ".join(map(str, self))
            raise UsageError(
                f"receive buffers {shown}: expected 0 < minimum <= initial <= maximum <= {BUFFER_SIZES[-1]}"
            )
        return self


PUBLISH_BUFFERS: Final = ReceiveBuffers(1024, 16_384, 1_048_576)
"""What BrokerService.defaultServerBootstrap of 4.0.8, 4.2.4 and 5.0.1 sets for what clients publish."""

STORAGE_BUFFERS: Final = ReceiveBuffers(64, 2048, 65_536)
"""Netty's default, which holds for what the BookKeeper client reads."""


class BufferSizePredictor:
    """One connection's prediction."""

    def __init__(self, sizes: ReceiveBuffers) -> None:
        self._least = bisect_left(BUFFER_SIZES, sizes.minimum)
        most = bisect_left(BUFFER_SIZES, sizes.maximum)
        self._most = most if BUFFER_SIZES[most] <= sizes.maximum else most - 1
        self._index = min(bisect_left(BUFFER_SIZES, sizes.initial), self._most)
        self._shrink = False

    @property
    def capacity(self) -> int:
        """Bytes of the next buffer."""
        return BUFFER_SIZES[self._index]

    def record(self, read_bytes: int) -> None:
        """So many bytes came by one read, or by all reads of a turn."""
        if read_bytes <= BUFFER_SIZES[max(0, self._index - SHRINK_STEPS)]:
            if self._shrink:
                self._index = max(self._index - SHRINK_STEPS, self._least)
            self._shrink = not self._shrink
        elif read_bytes >= self.capacity:
            self._index = min(self._index + GROW_STEPS, self._most)
            self._shrink = False


# --- retained
# The buffers that cached entries keep alive: an entry is a slice of a buffer that others share.
#
# A buffer is freed when no cached entry is a slice of it any more, so the bytes that a cache retains can be many times
# those that it accounts for. `docs/how-to/simulate-settings.md` lists what this model assumes.

FRAME_BYTES: Final = 64
"""What surrounds an entry on the wire: frame sizes and the command; an assumption."""

MIN_CUMULATED_BYTES: Final = 64
CUMULATED_STEP_BYTES: Final = 4 << 20
"""Buffers of a frame that spans reads: a power of two, above this multiples of it (netty's calculateNewCapacity)."""


class Buffer:
    """One buffer, and how many cached entries are slices of it."""

    __slots__ = ("capacity", "slices")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.slices = 0


class Connection:
    """What arrives on one connection, cut into buffers turn by turn."""

    def __init__(self, sizes: ReceiveBuffers) -> None:
        self._predictor = BufferSizePredictor(sizes)

    def turn(self, frames: Sequence[int]) -> list[Buffer]:
        """The buffer of each frame of so many bytes; all of them are there when the turn begins."""
        found: list[Buffer] = []
        waiting = sum(frames)
        whole = waiting
        rest = 0
        at = 0
        cumulated: Buffer | None = None
        while waiting > 0:
            capacity = self._predictor.capacity
            got = min(capacity, waiting)
            waiting -= got
            if got == capacity:
                self._predictor.record(got)
            cumulated = Buffer(capacity if rest == 0 else cumulated_capacity(rest + got))
            rest += got
            while at < len(frames) and frames[at] <= rest:
                rest -= frames[at]
                found.append(cumulated)
                at += 1
        self._predictor.record(whole)
        found += [cumulated or Buffer(0)] * (len(frames) - at)
        return found


def cumulated_capacity(size_bytes: int) -> int:
    """Bytes of a new buffer into which a rest and what came after it are copied."""
    if size_bytes > CUMULATED_STEP_BYTES:
        return -(-size_bytes // CUMULATED_STEP_BYTES) * CUMULATED_STEP_BYTES
    return max(MIN_CUMULATED_BYTES, 1 << (size_bytes - 1).bit_length())


Key = tuple[str | None, int | None, int | None]
Stream = tuple[str | None, str]
"""A cache, and whether its entries were published (ADD) or read from storage (FILL): a connection of its own."""


class Arrival:
    """An entry that waits for the end of its burst; it may leave the cache before."""

    __slots__ = ("gone", "key", "size_bytes")

    def __init__(self, key: Key, size_bytes: int) -> None:
        self.key = key
        self.size_bytes = size_bytes
        self.gone = False


class RetainedBytes:
    """Listens to the rows of one broker and follows the buffers that its entries retain.

    `copies`: managedLedgerCacheCopyEntries, where each entry has a buffer of its own size.
    """

    def __init__(self, burst_nanos: int, published: ReceiveBuffers = PUBLISH_BUFFERS, copies: bool = False) -> None:
        self.bytes = 0
        self.peak_bytes = 0
        self.area = 0
        self._copies = copies
        self._burst_nanos = burst_nanos
        self._sizes = {"ADD": published, "FILL": STORAGE_BUFFERS}
        self._connections: dict[Stream, Connection] = {}
        self._waiting: dict[Stream, list[Arrival]] = {}
        self._began: dict[Stream, int] = {}
        self._arriving: dict[Key, Arrival] = {}
        self._buffers: dict[Key, Buffer] = {}
        self._since_ns: int | None = None

    def row(self, row: Row) -> None:
        """Follow one event."""
        op = row.op
        if op not in {"INSERT", "EVICT", "REMOVE"}:
            return
        self._tick(row.ts_ns)
        self._settle(row.ts_ns)
        key = (row.cache, row.ledger_id, row.entry_id)
        size_bytes = row.size_bytes or 0
        if self._copies:
            self._grow(size_bytes if op == "INSERT" else -size_bytes)
        elif op == "INSERT":
            stream = (row.cache, row.cause or "ADD")
            self._began.setdefault(stream, row.ts_ns)
            self._arriving[key] = Arrival(key, size_bytes)
            self._waiting.setdefault(stream, []).append(self._arriving[key])
        else:
            self._leave(key)

    def _settle(self, now_ns: int) -> None:
        """Cut the bursts that are over into buffers."""
        for stream in [stream for stream, began in self._began.items() if now_ns - began > self._burst_nanos]:
            self._cut(stream)

    def _cut(self, stream: Stream) -> None:
        arrivals = self._waiting.pop(stream)
        self._began.pop(stream)
        if stream not in self._connections:
            self._connections[stream] = Connection(self._sizes[stream[1]])
        buffers = self._connections[stream].turn([arrival.size_bytes + FRAME_BYTES for arrival in arrivals])
        for arrival, buffer in zip(arrivals, buffers, strict=True):
            if arrival.gone:
                continue
            del self._arriving[arrival.key]
            if buffer.slices == 0:
                self._grow(buffer.capacity)
            buffer.slices += 1
            self._buffers[arrival.key] = buffer

    def _leave(self, key: Key) -> None:
        buffer = self._buffers.pop(key, None)
        if buffer is None:
            self._arriving.pop(key).gone = True
            return
        buffer.slices -= 1
        if buffer.slices == 0:
            self._grow(-buffer.capacity)

    def _grow(self, size_bytes: int) -> None:
        self.bytes += size_bytes
        self.peak_bytes = max(self.peak_bytes, self.bytes)

    def _tick(self, now_ns: int) -> None:
        if self._since_ns is not None:
            self.area += self.bytes * (now_ns - self._since_ns)
        self._since_ns = now_ns

    def close(self, now_ns: int) -> None:
        """The trace has ended."""
        for stream in list(self._began):
            self._cut(stream)
        self._tick(max(now_ns, self._since_ns or now_ns))


# --- curve
# Retained bytes for a limit of accounted bytes.

UNLIMITED: Final = (1 << 53) - 1
LIMIT_SIXTEENTHS: Final = (1, 2, 4, 8, 12, 16)
"""The default limits, in sixteenths of the most bytes that a broker would ever have cached without one."""

SMALLER_BUFFERS: Final = (ReceiveBuffers(1024, 16_384, 65_536), ReceiveBuffers(1024, 4_096, 16_384))
"""Beside the broker's own sizes: the maximum that PIP-430 suggests where buffers cost too much, and a smaller one."""


class BufferKind(NamedTuple):
    """One line of the curve: receive buffers of these sizes, None: entries are copied."""

    label: str
    sizes: ReceiveBuffers | None


@dataclass(frozen=True)
class CurvePoint:
    """At one limit: accounted and retained bytes, peak and time-weighted mean, a value a kind; hits a lookup."""

    limit_bytes: int
    accounted_peak: int
    accounted_mean: float
    retained_peak: tuple[int, ...]
    retained_mean: tuple[float, ...]
    hit_ratio: float | None


@dataclass(frozen=True)
class RetainedCurve:
    """The points, ascending, and what the values of each stand for."""

    kinds: tuple[BufferKind, ...]
    points: tuple[CurvePoint, ...]
    burst_nanos: int


def buffer_kinds(asked: Sequence[ReceiveBuffers]) -> tuple[BufferKind, ...]:
    """Copied entries, then the sizes that were asked for, or the broker's own and two smaller ones."""
    shown = tuple(asked) or (PUBLISH_BUFFERS, *SMALLER_BUFFERS)
    return (
        BufferKind("copied", None),
        *(BufferKind("buffers " + "/".join(map(str, sizes)), sizes.checked()) for sizes in shown),
    )


def compute_curve(
    brokers: Sequence[BrokerTrace],
    metadata: Metadata,
    kinds: tuple[BufferKind, ...],
    burst_nanos: int,
    limits: Sequence[int] = (),
    progress: Callable[[str], None] = lambda text: None,
) -> RetainedCurve:
    """Simulate each limit and follow the buffers of every kind."""
    if not limits:
        most = max(_compute_point(UNLIMITED, [broker], metadata, (), burst_nanos).accounted_peak for broker in brokers)
        limits = sorted({max(1, most * share // 16) for share in LIMIT_SIXTEENTHS})
    points = []
    for limit in sorted(set(limits)):
        progress(f"retained bytes at a limit of {limit}")
        points.append(_compute_point(limit, brokers, metadata, kinds, burst_nanos))
    return RetainedCurve(kinds, tuple(points), burst_nanos)


def _compute_point(
    limit: int, brokers: Sequence[BrokerTrace], metadata: Metadata, kinds: tuple[BufferKind, ...], burst_nanos: int
) -> CurvePoint:
    """One limit of each broker; peaks are sums of the brokers' own."""
    hits = lookups = peak = 0
    mean = 0.0
    peaks = [0] * len(kinds)
    means = [0.0] * len(kinds)
    for broker in brokers:
        meter = Meter(broker.first_ns, broker.last_ns)
        followed = [
            RetainedBytes(burst_nanos, copies=True) if kind.sizes is None else RetainedBytes(burst_nanos, kind.sizes)
            for kind in kinds
        ]
        config = complete_config({**broker.config, "max_size_bytes": limit}, "the curve")
        replay_calls(
            broker, config, metadata.variants, [meter.row, *(each.row for each in followed)], asked={"max_size_bytes"}
        )
        meter.close()
        span = max(1, broker.last_ns - broker.first_ns)
        hits, lookups = hits + meter.hits, lookups + meter.hits + meter.misses
        peak += meter.peak_bytes
        mean += meter.area / span
        for index, each in enumerate(followed):
            each.close(broker.last_ns)
            peaks[index] += each.peak_bytes
            means[index] += each.area / span
    return CurvePoint(limit, peak, mean, tuple(peaks), tuple(means), hits / lookups if lookups else None)
