"""Which reads of a trace were held, and which rows release them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


class Holds:
    """Follows the stays of entries through a trace, and the reads that are not released yet.

    A release lowers the count of each entry that was read, is still there and carries a count. So a read is held if at
    its end such an entry has no delivery, and rows of deliveries release the oldest read for which they are all of it.
    """

    def __init__(self) -> None:
        self._counted: set[int] = set()
        self._open: dict[int, frozenset[int]] = {}

    def read(self, call: int, rows: Sequence[Row]) -> bool:
        """Whether the read of this call, all of whose rows are given, is held; it is known by `call`."""
        read: set[int] = set()
        done: set[int] = set()
        for row in rows:
            self.follow(row)
            if row["life"] is None:
                continue
            if row["op"] == "HIT" or (row["op"] == "INSERT" and row["cause"] == "FILL"):
                read.add(row["life"])
            elif row["op"] == "READ_DONE":
                done.add(row["life"])
        if done or not read & self._counted:
            return False
        self._open[call] = frozenset(read)
        return True

    def follow(self, row: Row) -> None:
        """See whether an entry came, left, or carries a count."""
        life = row["life"]
        if life is None:
            return
        if row["op"] in {"EVICT", "REMOVE"}:
            self._counted.discard(life)
        elif row["expected_reads"] is not None:
            self._counted.add(life)

    def released(self, rows: Sequence[Row]) -> int | None:
        """The read that these deliveries release, if they are just what a release would write."""
        done = {row["life"] for row in rows}
        for call, read in self._open.items():
            if read & self._counted == done:
                del self._open[call]
                return call
        return None
