"""The rows of a broker cache: it reports each event to its `on_row` callback as one `Row`.

A row has the columns of a recorded trace. One function builds each kind of row; the functions for passes take the
`PassSettings` that every row of one pass repeats.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from entrycache_fast.pulsar.store import Entry


class Row(NamedTuple):
    """One event, in the columns of a recorded trace.

    `accessed` and `stamp_ns` show the entry before the event, `expected_reads` and `requeues` after it. This cache
    never fills `key_hash` and `dirty`; they are there for the writer of the trace.
    """

    op: str
    cause: str | None
    ts_ns: int
    bytes_after: int
    origin: str | None = None
    cache: str | None = None
    ledger_id: int | None = None
    entry_id: int | None = None
    size_bytes: int | None = None
    expected_reads: int | None = None
    requeues: int | None = None
    accessed: bool | None = None
    stamp_ns: int | None = None
    new_stamp_ns: int | None = None
    bound: int | None = None
    max_requeues: int | None = None
    extend_accessed: bool | None = None
    trigger_bytes: int | None = None
    target_bytes: int | None = None
    manager_bytes: int | None = None
    cursor: str | None = None
    key_hash: int | None = None
    dirty: bool | None = None
    value: str | None = None


def cache_row(op: str, now_nanos: int, size_bytes: int, cache: str) -> Row:
    """Build the row of a cache that is named for the first time since it was removed, or that is removed."""
    return Row(op, None, now_nanos, size_bytes, cache=cache, manager_bytes=size_bytes)


def value_row(op: str, now_nanos: int, size_bytes: int, value: Mapping[str, object]) -> Row:
    """Build a row whose value is one JSON object."""
    text = json.dumps(value, separators=(",", ":"))
    return Row(op, None, now_nanos, size_bytes, manager_bytes=size_bytes, value=text)


def cursor_row(
    op: str, now_nanos: int, size_bytes: int, cache: str, cursor: str, position: tuple[int, int] | None
) -> Row:
    """Build the row of a cursor that is added, moves or is removed; `position` is the new one."""
    ledger, entry = (None, None) if position is None else position
    return Row(
        op,
        None,
        now_nanos,
        size_bytes,
        cache=cache,
        ledger_id=ledger,
        entry_id=entry,
        manager_bytes=size_bytes,
        cursor=cursor,
    )


def absent_row(
    op: str,
    cause: str,
    now_nanos: int,
    size_bytes: int,
    cache: str,
    ledger: int,
    entry: int,
    offered_bytes: int | None = None,
) -> Row:
    """Build the row of a lookup that misses, or of an offer of `offered_bytes` that is not taken."""
    return Row(
        op,
        cause,
        now_nanos,
        size_bytes,
        cache=cache,
        ledger_id=ledger,
        entry_id=entry,
        size_bytes=offered_bytes,
        manager_bytes=size_bytes,
    )


def insert_row(cause: str, now_nanos: int, size_bytes: int, entry: Entry) -> Row:
    """Build the row of an entry that is added."""
    return entry_row("INSERT", cause, now_nanos, size_bytes, entry)._replace(
        stamp_ns=None, new_stamp_ns=entry.stamp_nanos
    )


def entry_row(op: str, cause: str | None, now_nanos: int, size_bytes: int, entry: Entry) -> Row:
    """Build the row of an event of a cached entry outside of passes."""
    return Row(
        op,
        cause,
        now_nanos,
        size_bytes,
        cache=entry.ledger.cache.name,
        ledger_id=entry.ledger.number,
        entry_id=entry.number,
        size_bytes=entry.size_bytes,
        expected_reads=entry.expected_reads,
        requeues=entry.requeues,
        accessed=entry.accessed,
        stamp_ns=entry.stamp_nanos,
        manager_bytes=size_bytes,
    )


class PassSettings(NamedTuple):
    """The values that every row of one pass repeats."""

    kind: str
    origin: str
    now_nanos: int
    max_requeues: int
    extend_accessed: bool
    trigger_bytes: int | None
    target_bytes: int | None


def taken_row(op: str, cause: str, settings: PassSettings, bound: int, size_bytes: int, entry: Entry) -> Row:
    """Build the row of a pass that takes the slot of a live entry."""
    return entry_row(op, cause, settings.now_nanos, size_bytes, entry)._replace(
        bound=bound, max_requeues=settings.max_requeues, extend_accessed=settings.extend_accessed
    )


def edge_row(op: str, settings: PassSettings, bound: int, size_bytes: int, head_nanos: int | None) -> Row:
    """Build the row of a pass that begins or ends; `head_nanos` is the stamp of the live head at which it stops."""
    return Row(
        op,
        settings.kind,
        settings.now_nanos,
        size_bytes,
        origin=settings.origin,
        stamp_ns=head_nanos,
        bound=bound,
        max_requeues=settings.max_requeues,
        extend_accessed=settings.extend_accessed,
        trigger_bytes=settings.trigger_bytes,
        target_bytes=settings.target_bytes,
        manager_bytes=size_bytes,
    )


def tombstone_row(settings: PassSettings, bound: int, size_bytes: int) -> Row:
    """Build the row of a pass that drops a dead slot."""
    return Row(
        "TOMBSTONE",
        settings.kind,
        settings.now_nanos,
        size_bytes,
        bound=bound,
        max_requeues=settings.max_requeues,
        extend_accessed=settings.extend_accessed,
        manager_bytes=size_bytes,
    )
