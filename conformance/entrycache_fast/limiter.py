"""A limiter of the bytes that reads in flight may hold.

A read acquires permits before it begins and gives them back when its entries have been released. If they are not free,
it waits in a queue in which nobody is passed over, and fails after a time. These are the rules R-LIMIT-2 to R-LIMIT-7,
which Pulsar's limiter breaks in two ways. It needs only the standard library.

    >>> from entrycache_fast.limiter import ReadLimiter
    >>> limiter = ReadLimiter(10)
    >>> limiter.acquire("first", 6)
    6
    >>> limiter.acquire("second", 8) is None  # it waits
    True
    >>> limiter.give_back("first")
    [Decision(name='second', permits=8)]
"""

import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import Final, NamedTuple

NANOS_A_MILLISECOND: Final = 1_000_000


class Decision(NamedTuple):
    """A request that waited, and the permits that it is granted; 0: it has timed out."""

    name: Hashable
    permits: int


class ReadLimiter:
    """Permits for bytes. It is not safe for several threads: hold a lock around each call."""

    __slots__ = ("_clock", "_free", "_limit", "_names", "_out", "_queue_size", "_timeout_millis", "_waiting")

    def __init__(
        self,
        limit: int,
        timeout_millis: int = 60_000,
        queue_size: int = 50_000,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """Make a limiter of `limit` permits; 0 switches it off. With `timeout_millis` 0 no request times out."""
        if limit < 0 or timeout_millis < 0 or queue_size < 1:
            given = f"{limit}, {timeout_millis} and {queue_size}"
            raise ValueError(f"expected a limit and a timeout not below 0, and a queue of at least 1, got {given}")
        self._limit = limit
        self._timeout_millis = timeout_millis
        self._queue_size = queue_size
        self._clock = clock
        self._free = limit
        self._out: dict[Hashable, int] = {}
        self._waiting: deque[tuple[Hashable, int, int]] = deque()
        self._names: set[Hashable] = set()

    @property
    def limit(self) -> int:
        """The permits that there are; 0: the limiter is off."""
        return self._limit

    @property
    def free(self) -> int:
        """The permits that are free."""
        return self._free

    @property
    def waiting(self) -> int:
        """The number of requests that wait."""
        return len(self._waiting)

    def acquire(self, name: Hashable, permits: int) -> int | None:
        """Return the permits that the request is granted; None: it waits; 0: the queue is full."""
        if self._limit == 0:
            raise ValueError("the limiter is off; expected a limit above 0")
        if permits < 1:
            raise ValueError(f"expected at least 1 permit, got {permits}")
        if name in self._out or name in self._names:
            raise ValueError(f"{name!r} has permits or waits for some; expected another name")
        granted = 0 if self._waiting else self._grant(name, permits)
        if granted:
            return granted
        if len(self._waiting) >= self._queue_size:
            return 0
        self._waiting.append((name, permits, self._clock() // NANOS_A_MILLISECOND))
        self._names.add(name)
        return None

    def give_back(self, name: Hashable) -> list[Decision]:
        """Take the permits of a request back, and return the waiting requests that are granted now."""
        if name not in self._out:
            raise ValueError(f"{name!r} has no permits; expected the name of a request that was granted some")
        self._free += self._out.pop(name)
        return self._serve()

    def expire(self) -> list[Decision]:
        """Return the waiting requests that have timed out, and those behind them that are granted now."""
        decisions = []
        oldest = self._clock() // NANOS_A_MILLISECOND - self._timeout_millis
        while self._timeout_millis and self._waiting and self._waiting[0][2] <= oldest:
            name, _, _ = self._waiting.popleft()
            self._names.remove(name)
            decisions.append(Decision(name, 0))
        return decisions + self._serve() if decisions else decisions

    def refuse_waiting(self) -> list[Decision]:
        """Fail all requests that wait, for a shutdown, and return them."""
        decisions = [Decision(name, 0) for name, _, _ in self._waiting]
        self._waiting.clear()
        self._names.clear()
        return decisions

    def _serve(self) -> list[Decision]:
        """Grant the waiting requests from the head, while the head fits."""
        decisions = []
        while self._waiting:
            name, permits, _ = self._waiting[0]
            granted = self._grant(name, permits)
            if not granted:
                break
            self._waiting.popleft()
            self._names.remove(name)
            decisions.append(Decision(name, granted))
        return decisions

    def _grant(self, name: Hashable, permits: int) -> int:
        """Return the permits that a request is granted, the whole limit at most; 0: it does not fit."""
        taken = min(permits, self._limit)
        if taken > self._free:
            return 0
        self._free -= taken
        self._out[name] = taken
        return taken
