"""A model of the buffers that cached entries keep alive, and the bytes retained for a limit of accounted bytes.

An entry is a slice of a receive buffer that other entries share. A buffer is freed when no cached entry is a slice of
it any more, so the retained bytes can be many times the accounted bytes. `docs/how-to/simulate-settings.md` lists what
this model assumes.

The size of a connection's next buffer follows the documentation of netty's AdaptiveRecvByteBufAllocator
(`BufferSizePredictor`): it starts at `initial` and stays within `minimum` and `maximum`. It grows when a read filled
its buffer, and shrinks when two reads in a row left much of it empty. The sizes are multiples of 16 below 512 and
powers of two above; growing takes four sizes up, shrinking one down. `RetainedBytes` follows the rows of one broker,
and `compute_curve` simulates limit after limit and follows the buffers of every `BufferKind`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from entrycache_fast import Row
from entrycache_protocol.errors import UsageError
from entrycache_simulate import configs, run
from entrycache_trace.files import Metadata

BUFFER_SIZES: Final[tuple[int, ...]] = (*range(16, 512, 16), *(1 << power for power in range(9, 31)))
GROW_STEPS: Final = 4
SHRINK_STEPS: Final = 1


class ReceiveBuffers(NamedTuple):
    """The three sizes of an allocator in bytes."""

    minimum: int
    initial: int
    maximum: int

    def checked(self) -> ReceiveBuffers:
        """Return these sizes after checking them.

        Raises:
            UsageError: the sizes are out of order or out of range.
        """
        if not 0 < self.minimum <= self.initial <= self.maximum <= BUFFER_SIZES[-1]:
            buffers = ", ".join(map(str, self))
            raise UsageError(
                f"receive buffers {buffers}: expected 0 < minimum <= initial <= maximum <= {BUFFER_SIZES[-1]}"
            )
        return self


PUBLISH_BUFFERS: Final = ReceiveBuffers(1024, 16_384, 1_048_576)
"""The sizes for published entries, from BrokerService.defaultServerBootstrap of 4.0.8, 4.2.4 and 5.0.1."""

STORAGE_BUFFERS: Final = ReceiveBuffers(64, 2048, 65_536)
"""The sizes for entries that the BookKeeper client reads: netty's default."""


class BufferSizePredictor:
    """The prediction of the next buffer size of one connection."""

    def __init__(self, sizes: ReceiveBuffers) -> None:
        self._least = bisect_left(BUFFER_SIZES, sizes.minimum)
        most = bisect_left(BUFFER_SIZES, sizes.maximum)
        self._most = most if BUFFER_SIZES[most] <= sizes.maximum else most - 1
        self._index = min(bisect_left(BUFFER_SIZES, sizes.initial), self._most)
        self._shrink = False

    @property
    def capacity(self) -> int:
        """The bytes of the next buffer."""
        return BUFFER_SIZES[self._index]

    def record(self, read_bytes: int) -> None:
        """Learn that one read, or all reads of a turn, brought `read_bytes` bytes."""
        if read_bytes <= BUFFER_SIZES[max(0, self._index - SHRINK_STEPS)]:
            if self._shrink:
                self._index = max(self._index - SHRINK_STEPS, self._least)
            self._shrink = not self._shrink
        elif read_bytes >= self.capacity:
            self._index = min(self._index + GROW_STEPS, self._most)
            self._shrink = False


FRAME_BYTES: Final = 64
"""The assumed bytes around an entry on the wire: frame sizes and the command."""

MIN_CUMULATED_BYTES: Final = 64
CUMULATED_STEP_BYTES: Final = 4 << 20
"""A buffer of a frame that spans reads is a power of two, above this a multiple of it (calculateNewCapacity)."""


class Buffer:
    """One buffer, and the number of cached entries that are slices of it."""

    __slots__ = ("capacity", "slices")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.slices = 0


class Connection:
    """One connection, whose bytes arrive in turns and are cut into buffers."""

    def __init__(self, sizes: ReceiveBuffers) -> None:
        self._predictor = BufferSizePredictor(sizes)

    def turn(self, frames: Sequence[int]) -> list[Buffer]:
        """Return the buffer of each frame. All frames, given by their bytes, have arrived when the turn begins."""
        buffers_of_frames: list[Buffer] = []
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
                buffers_of_frames.append(cumulated)
                at += 1
        self._predictor.record(whole)
        buffers_of_frames += [cumulated or Buffer(0)] * (len(frames) - at)
        return buffers_of_frames


def cumulated_capacity(size_bytes: int) -> int:
    """Return the bytes of a new buffer that takes the rest of one buffer and the bytes after it."""
    if size_bytes > CUMULATED_STEP_BYTES:
        return -(-size_bytes // CUMULATED_STEP_BYTES) * CUMULATED_STEP_BYTES
    return max(MIN_CUMULATED_BYTES, 1 << (size_bytes - 1).bit_length())


Key = tuple[str | None, int | None, int | None]
Stream = tuple[str | None, str]
"""A cache and the source of its entries, published (ADD) or read from storage (FILL): each has its own connection."""


class Arrival:
    """An entry that waits for the end of its burst. It may leave the cache before."""

    __slots__ = ("has_left", "key", "size_bytes")

    def __init__(self, key: Key, size_bytes: int) -> None:
        self.key = key
        self.size_bytes = size_bytes
        self.has_left = False


class RetainedBytes:
    """The buffers that the entries of one broker retain, retained by the rows of its cache.

    `copies` is managedLedgerCacheCopyEntries: each entry has a buffer of its own size.
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
        """Update the buffers for one event."""
        op = row.op
        if op not in {"INSERT", "EVICT", "REMOVE"}:
            return
        self._tick(row.ts_ns)
        self._cut_finished_bursts(row.ts_ns)
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

    def _cut_finished_bursts(self, now_ns: int) -> None:
        """Cut each burst that is over into buffers."""
        for stream in [stream for stream, began in self._began.items() if now_ns - began > self._burst_nanos]:
            self._cut(stream)

    def _cut(self, stream: Stream) -> None:
        arrivals = self._waiting.pop(stream)
        self._began.pop(stream)
        if stream not in self._connections:
            self._connections[stream] = Connection(self._sizes[stream[1]])
        buffers = self._connections[stream].turn([arrival.size_bytes + FRAME_BYTES for arrival in arrivals])
        for arrival, buffer in zip(arrivals, buffers, strict=True):
            if arrival.has_left:
                continue
            del self._arriving[arrival.key]
            if buffer.slices == 0:
                self._grow(buffer.capacity)
            buffer.slices += 1
            self._buffers[arrival.key] = buffer

    def _leave(self, key: Key) -> None:
        buffer = self._buffers.pop(key, None)
        if buffer is None:
            self._arriving.pop(key).has_left = True
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
        """Cut the remaining bursts and count the bytes up to the end of the trace."""
        for stream in list(self._began):
            self._cut(stream)
        self._tick(max(now_ns, self._since_ns or now_ns))


UNLIMITED: Final = (1 << 53) - 1
LIMIT_SIXTEENTHS: Final = (1, 2, 4, 8, 12, 16)
"""The default limits, in sixteenths of the most bytes that a broker would cache without a limit."""

SMALLER_BUFFERS: Final = (ReceiveBuffers(1024, 16_384, 65_536), ReceiveBuffers(1024, 4_096, 16_384))
"""Smaller sizes than the broker's: the maximum that PIP-430 suggests if buffers cost too much, and a smaller one."""


class BufferKind(NamedTuple):
    """One line of the curve: receive buffers of these sizes, or copied entries if `sizes` is None."""

    label: str
    sizes: ReceiveBuffers | None


@dataclass(frozen=True)
class CurvePoint:
    """The bytes at one limit, accounted and retained, as peak and time-weighted mean, and the share of hits."""

    limit_bytes: int
    accounted_peak: int
    accounted_mean: float
    retained_peak: tuple[int, ...]
    retained_mean: tuple[float, ...]
    hit_ratio: float | None


@dataclass(frozen=True)
class RetainedCurve:
    """The points of the curve in ascending order, and the kinds of their values."""

    kinds: tuple[BufferKind, ...]
    points: tuple[CurvePoint, ...]
    burst_nanos: int


def buffer_kinds(requested: Sequence[ReceiveBuffers]) -> tuple[BufferKind, ...]:
    """Return copied entries, and then the requested sizes, or by default the broker's and two smaller ones."""
    buffers = tuple(requested) or (PUBLISH_BUFFERS, *SMALLER_BUFFERS)
    return (
        BufferKind("copied", None),
        *(BufferKind("buffers " + "/".join(map(str, sizes)), sizes.checked()) for sizes in buffers),
    )


def compute_curve(
    brokers: Sequence[run.BrokerTrace],
    metadata: Metadata,
    kinds: tuple[BufferKind, ...],
    burst_nanos: int,
    limits: Sequence[int] = (),
    progress: Callable[[str], None] = lambda text: None,
) -> RetainedCurve:
    """Simulate each limit, and follow the buffers of every kind."""
    if not limits:
        most = max(_compute_point(UNLIMITED, [broker], metadata, (), burst_nanos).accounted_peak for broker in brokers)
        limits = sorted({max(1, most * share // 16) for share in LIMIT_SIXTEENTHS})
    points = []
    for limit in sorted(set(limits)):
        progress(f"retained bytes at a limit of {limit}")
        points.append(_compute_point(limit, brokers, metadata, kinds, burst_nanos))
    return RetainedCurve(kinds, tuple(points), burst_nanos)


def _compute_point(
    limit: int, brokers: Sequence[run.BrokerTrace], metadata: Metadata, kinds: tuple[BufferKind, ...], burst_nanos: int
) -> CurvePoint:
    """Simulate one limit for each broker; peaks are sums of the brokers' own."""
    hits = lookups = peak = 0
    mean = 0.0
    peaks = [0] * len(kinds)
    means = [0.0] * len(kinds)
    for broker in brokers:
        usage = run.CacheUsage(broker.first_ns, broker.last_ns)
        retained = [
            RetainedBytes(burst_nanos, copies=True) if kind.sizes is None else RetainedBytes(burst_nanos, kind.sizes)
            for kind in kinds
        ]
        config = configs.complete_config({**broker.config, "max_size_bytes": limit}, "the curve")
        run.replay_calls(
            broker,
            config,
            metadata.variants,
            [usage.row, *(each.row for each in retained)],
            requested={"max_size_bytes"},
        )
        usage.close()
        span = max(1, broker.last_ns - broker.first_ns)
        hits, lookups = hits + usage.hits, lookups + usage.hits + usage.misses
        peak += usage.peak_bytes
        mean += usage.area / span
        for index, each in enumerate(retained):
            each.close(broker.last_ns)
            peaks[index] += each.peak_bytes
            means[index] += each.area / span
    return CurvePoint(limit, peak, mean, tuple(peaks), tuple(means), hits / lookups if lookups else None)
