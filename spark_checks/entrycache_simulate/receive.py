"""The size of a connection's next receive buffer, as netty's AdaptiveRecvByteBufAllocator describes it.

Its documentation: it starts at `initial`, never leaves `minimum` to `maximum`, grows when a read filled its buffer, and
shrinks when two reads in a row left much of it empty. The sizes are multiples of 16 below 512 and powers of two
from there; growing goes four sizes up, shrinking one down.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final, NamedTuple

from entrycache_protocol.errors import UsageError

SIZES: Final[tuple[int, ...]] = (*range(16, 512, 16), *(1 << power for power in range(9, 31)))
UP: Final = 4
DOWN: Final = 1


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
        if not 0 < self.minimum <= self.initial <= self.maximum <= SIZES[-1]:
            shown = ", ".join(map(str, self))
            raise UsageError(f"receive buffers {shown}: expected 0 < minimum <= initial <= maximum <= {SIZES[-1]}")
        return self


BROKER: Final = ReceiveBuffers(1024, 16_384, 1_048_576)
"""What BrokerService.defaultServerBootstrap of 4.0.8, 4.2.4 and 5.0.1 sets for what clients publish."""

STORAGE: Final = ReceiveBuffers(64, 2048, 65_536)
"""Netty's default, which holds for what the BookKeeper client reads."""


class Predictor:
    """One connection's prediction."""

    def __init__(self, sizes: ReceiveBuffers) -> None:
        self._least = bisect_left(SIZES, sizes.minimum)
        most = bisect_left(SIZES, sizes.maximum)
        self._most = most if SIZES[most] <= sizes.maximum else most - 1
        self._index = min(bisect_left(SIZES, sizes.initial), self._most)
        self._shrink = False

    @property
    def capacity(self) -> int:
        """Bytes of the next buffer."""
        return SIZES[self._index]

    def record(self, read_bytes: int) -> None:
        """So many bytes came by one read, or by all reads of a turn."""
        if read_bytes <= SIZES[max(0, self._index - DOWN)]:
            if self._shrink:
                self._index = max(self._index - DOWN, self._least)
            self._shrink = not self._shrink
        elif read_bytes >= self.capacity:
            self._index = min(self._index + UP, self._most)
            self._shrink = False
