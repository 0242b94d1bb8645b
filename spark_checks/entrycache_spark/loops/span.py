"""Where a broker's events begin and end, and whether any is missing between."""

from __future__ import annotations

from typing import Any, NamedTuple

from entrycache_spark.fold import GivenUp


class Span:
    """The first and the last event so far, and how many there are."""

    def __init__(self) -> None:
        self.rows, self.first_seq, self.last_seq = 0, 0, 0
        self._first_op, self._last_op = 0, 0

    def follow(self, c: Any) -> None:
        """Take in a batch.

        Raises:
            GivenUp: an event is there twice, or is not in order.
        """
        if (c.seq[1:] <= c.seq[:-1]).any() or (self.rows and c.seq[0] <= self.last_seq):
            raise GivenUp("an event is there twice, or is not in order")
        if not self.rows:
            self.first_seq, self._first_op = int(c.seq[0]), int(c.op[0])
        self.rows += len(c.seq)
        self.last_seq, self._last_op = int(c.seq[-1]), int(c.op[-1])

    def end(self, config: int, end: int, sampled: bool) -> Whole:
        """What that tells of the whole; `config` and `end`: the numbers of these ops."""
        gapped = sampled or self.rows != self.last_seq - self.first_seq + 1
        return Whole(self._first_op == config, self._last_op == end, gapped)


class Whole(NamedTuple):
    """Whether the trace starts with CONFIG, ends with END, and misses events between."""

    starts: bool
    ended: bool
    gapped: bool

    @property
    def all(self) -> bool:
        """Whether nothing is missing from the start on."""
        return self.starts and not self.gapped
