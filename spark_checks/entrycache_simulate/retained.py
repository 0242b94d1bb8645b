"""The buffers that cached entries keep alive: an entry is a slice of a buffer that others share.

A buffer is freed when no cached entry is a slice of it any more, so the bytes that a cache retains can be many times
those that it accounts for. `docs/how-to/simulate-settings.md` lists what this model assumes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from entrycache_fast import Row
from entrycache_simulate.receive import BROKER, STORAGE, Predictor, ReceiveBuffers

FRAME_BYTES: Final = 64
"""What surrounds an entry on the wire: frame sizes and the command; an assumption."""

CUMULATED_LEAST: Final = 64
CUMULATED_STEP: Final = 4 << 20
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
        self._predictor = Predictor(sizes)

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
    if size_bytes > CUMULATED_STEP:
        return -(-size_bytes // CUMULATED_STEP) * CUMULATED_STEP
    return max(CUMULATED_LEAST, 1 << (size_bytes - 1).bit_length())


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


class Retained:
    """Listens to the rows of one broker and follows the buffers that its entries retain.

    `copies`: managedLedgerCacheCopyEntries, where each entry has a buffer of its own size.
    """

    def __init__(self, burst_nanos: int, published: ReceiveBuffers = BROKER, copies: bool = False) -> None:
        self.bytes = 0
        self.peak_bytes = 0
        self.area = 0
        self._copies = copies
        self._burst_nanos = burst_nanos
        self._sizes = {"ADD": published, "FILL": STORAGE}
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
