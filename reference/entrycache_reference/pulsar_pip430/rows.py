"""The rows of a trace that rule functions write, one function a kind."""

from __future__ import annotations

from entrycache_reference.pulsar_pip430.state import Entry, Row, State
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, CursorName, Position


def entry_row(
    rule: Rule,
    op: str,
    cause: str | None,
    after: State,
    cache: CacheName,
    pos: Position,
    before: Entry,
    expected_reads: int | None,
) -> Row:
    """A row about a cached entry: its flags and stamp before the event, `expected_reads` after it."""
    return Row(
        rule,
        op,
        cause,
        after.now_nanos,
        after.size_bytes,
        cache=cache,
        ledger_id=pos.ledger,
        entry_id=pos.entry,
        size_bytes=before.size_bytes,
        expected_reads=expected_reads,
        requeues=before.requeues,
        accessed=before.accessed,
        stamp_ns=before.stamp_nanos,
        manager_bytes=after.size_bytes,
    )


def absent_row(
    rule: Rule,
    op: str,
    cause: str,
    state: State,
    cache: CacheName,
    pos: Position,
    size_bytes: int | None = None,
) -> Row:
    """A row about a position that this event leaves uncached, or about an offer that was not taken."""
    return Row(
        rule,
        op,
        cause,
        state.now_nanos,
        state.size_bytes,
        cache=cache,
        ledger_id=pos.ledger,
        entry_id=pos.entry,
        size_bytes=size_bytes,
        manager_bytes=state.size_bytes,
    )


def removed_rows(
    rule: Rule, cause: str, before: State, cache: CacheName, positions: tuple[Position, ...]
) -> tuple[Row, ...]:
    """The rows of entries that leave by a call, one after another: each shows the bytes that are left after it."""
    rows: list[Row] = []
    bytes_left = before.size_bytes
    for pos in positions:
        entry = before.caches[cache].entries[pos]
        bytes_left -= entry.size_bytes
        row = entry_row(rule, "REMOVE", cause, before, cache, pos, entry, entry.expected_reads)
        rows.append(row._replace(bytes_after=bytes_left, manager_bytes=bytes_left))
    return tuple(rows)


def open_row(state: State, cache: CacheName) -> Row:
    """The first step that names a cache (R-STATE-9)."""
    return Row(
        Rule.STATE_9,
        "CACHE_OPEN",
        None,
        state.now_nanos,
        state.size_bytes,
        cache=cache,
        manager_bytes=state.size_bytes,
    )


def close_row(state: State, cache: CacheName) -> Row:
    """A cache was taken out of the manager (R-INVALIDATE-9)."""
    return open_row(state, cache)._replace(rule=Rule.INVALIDATE_9, op="CACHE_CLOSE")


def value_row(rule: Rule, op: str, state: State, value: str) -> Row:
    """A row whose content stands in the column `value`."""
    return Row(rule, op, None, state.now_nanos, state.size_bytes, manager_bytes=state.size_bytes, value=value)


def cursor_row(rule: Rule, op: str, state: State, cache: CacheName, cursor: CursorName, pos: Position | None) -> Row:
    """A row about a cursor; the position columns hold its new position."""
    return Row(
        rule,
        op,
        None,
        state.now_nanos,
        state.size_bytes,
        cache=cache,
        ledger_id=None if pos is None else pos.ledger,
        entry_id=None if pos is None else pos.entry,
        manager_bytes=state.size_bytes,
        cursor=cursor,
    )
