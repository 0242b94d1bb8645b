"""What a `ThreadCache` reports to its `on_row` callback: one row an event."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One event, in the columns of a recorded trace that this cache knows.

    `size_bytes` and `dirty` are those of the entry, `dirty` before the event; `bytes_after` is the sum of all
    entries after it. A FLUSH of the cause EVICT is that of the entry that is being evicted, one of the cause FAILED
    that of an entry that nobody took. What a call of a listener hands over stands in front of what it does.
    """

    op: str
    cause: str | None
    bytes_after: int
    ns: str | None = None
    key: bytes | None = None
    size_bytes: int | None = None
    dirty: bool | None = None
    value: str | None = None
