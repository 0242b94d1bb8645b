"""The rows of a trace that rule functions write, one function a kind."""

from __future__ import annotations

from entrycache_reference.pulsar_legacy.state import Entry, Row, State
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, Position


def entry_row(
    rule: Rule, op: str, cause: str, state: State, cache: CacheName, pos: Position, entry: Entry, bytes_after: int
) -> Row:
    """A row about a cached entry."""
    return Row(
        rule,
        op,
        cause,
        state.now_nanos,
        bytes_after,
        cache=cache,
        ledger_id=pos.ledger,
        entry_id=pos.entry,
        size_bytes=entry.size_bytes,
        stamp_ns=entry.stamp_nanos,
        manager_bytes=bytes_after,
    )


def absent_row(
    rule: Rule, op: str, cause: str, state: State, cache: CacheName, pos: Position, size_bytes: int | None = None
) -> Row:
    """A row about a position that is not cached, or about an offer that was not taken."""
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


def left_rows(
    rule: Rule, op: str, cause: str, before: State, cache: CacheName, positions: tuple[Position, ...]
) -> tuple[Row, ...]:
    """The rows of entries that leave one after another: each shows the bytes that are left after it."""
    rows: list[Row] = []
    bytes_left = before.size_bytes
    for pos in positions:
        entry = before.caches[cache].entries[pos]
        bytes_left -= entry.size_bytes
        rows.append(entry_row(rule, op, cause, before, cache, pos, entry, bytes_left))
    return tuple(rows)


def pass_row(
    rule: Rule, op: str, cause: str, origin: str, state: State, bound: int, cache: CacheName | None = None
) -> Row:
    """The beginning or the end of a pass; `bound` is its cutoff, or what it is to free.

    A pass over one cache names it, and at its end shows the stamp of the lowest position that is left there.
    """
    left = state.caches[cache].entries if cache is not None and cache in state.caches else {}
    return Row(
        rule,
        op,
        cause,
        state.now_nanos,
        state.size_bytes,
        origin=origin,
        cache=cache,
        bound=bound,
        stamp_ns=left[min(left)].stamp_nanos if left and op == "PASS_END" else None,
        manager_bytes=state.size_bytes,
    )
