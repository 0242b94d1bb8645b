"""What the rows of a step say, made of the states before and after it: the rows of one operation, without its parts.

A row about an entry shows it as it was before the event, but for the count and the requeues, which are those after it;
its bytes are those of the manager after the event.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, Final

from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws.law import cached, entries_of, refusable
from entrycache_reference.pulsar_pip430.state import Row, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, Position

Said = tuple[Rule | None, str | None]
"""The rule and the cause that the rows of a part have in a step of another operation; None: its own."""

OWN: Final[Said] = (None, None)

Rows = Callable[[Config, State, Any, Step, Said], tuple[Row, ...]]


def about(
    rule: Rule, op: str, cause: str | None, state: State, cache: CacheName, pos: Position, size: int | None = None
) -> Row:
    """A row about a position, by the bytes of this state, with nothing of an entry but its size."""
    at, total = pos, state.size_bytes
    return Row(rule, op, cause, state.now_nanos, total, None, cache, at[0], at[1], size, manager_bytes=total)


def of_entry(
    rule: Rule, op: str, cause: str | None, before: State, after: State, cache: CacheName, pos: Position
) -> Row:
    """A row about an entry that is there before and after the event."""
    size, stamp, requeues, mark, _, _ = before.caches[cache].entries[pos]
    count, total = after.caches[cache].entries[pos].expected_reads, after.size_bytes
    return Row(
        *(rule, op, cause, after.now_nanos, total, None, cache, pos[0], pos[1], size, count, requeues, mark, stamp),
        manager_bytes=total,
    )


def of_nothing(config: Config, pre: State, event: ops.Op, step: Step, said: Said) -> tuple[Row, ...]:
    """An operation that only looks, or lets time pass, tells nothing."""
    return ()


def of_insert(config: Config, pre: State, event: ops.Insert, step: Step, said: Said) -> tuple[Row, ...]:
    """Taken, a duplicate, or caching is off."""
    if config.max_size_bytes == 0:
        return (about(Rule.INSERT_3, "SKIP", "DISABLED", pre, event.cache, event.pos, event.size),)
    if cached(pre, event.cache, event.pos) is not None:
        return (about(Rule.INSERT_2, "REJECT", "DUPLICATE", pre, event.cache, event.pos, event.size),)
    entry = cached(step.state, event.cache, event.pos)
    if entry is None:
        return ()
    row = about(Rule.INSERT_1, "INSERT", said[1] or "ADD", pre, event.cache, event.pos, event.size)
    total = pre.size_bytes + event.size
    return (
        row._replace(
            bytes_after=total,
            expected_reads=entry.expected_reads,
            requeues=0,
            accessed=False,
            new_stamp_ns=pre.now_nanos,
            manager_bytes=total,
        ),
    )


def of_get(config: Config, pre: State, event: ops.Get, step: Step, said: Said) -> tuple[Row, ...]:
    """A hit or a miss."""
    cause = said[1] or "GET"
    if cached(pre, event.cache, event.pos) is None:
        return (about(said[0] or Rule.READ_1, "MISS", cause, pre, event.cache, event.pos),)
    return (of_entry(said[0] or Rule.READ_2, "HIT", cause, pre, step.state, event.cache, event.pos),)


def of_range(config: Config, pre: State, event: ops.GetRange, step: Step, said: Said) -> tuple[Row, ...]:
    """A hit for each position that is cached, ascending."""
    found = sorted(pos for pos in entries_of(pre, event.cache) if event.first <= pos <= event.last)
    return tuple([of_entry(Rule.READ_4, "HIT", "GET", pre, step.state, event.cache, pos) for pos in found])


def of_count(config: Config, pre: State, event: Any, step: Step, said: Said) -> tuple[Row, ...]:
    """A count that changed; that of an entry without one tells nothing."""
    entry = cached(pre, event.cache, event.pos)
    if entry is None or entry.expected_reads is None:
        return ()
    rule, op, cause = COUNTING[type(event)]
    return (of_entry(rule, op, cause, pre, step.state, event.cache, event.pos),)


COUNTING: Final[dict[type[ops.Op], tuple[Rule, str, str | None]]] = {
    ops.MarkRead: (Rule.COUNT_1, "READ_DONE", "DELIVERED"),
    ops.ExpectRead: (Rule.COUNT_2, "EXPECT", None),
}

REMOVING: Final[dict[type[ops.Op], Said]] = {
    ops.RemoveRange: (Rule.INVALIDATE_1, "RANGE"),
    ops.Clear: (Rule.INVALIDATE_4, "CLEAR"),
    ops.InvalidateBefore: (Rule.INVALIDATE_7, "CURSOR"),
    ops.InvalidateLedger: (Rule.INVALIDATE_8, "LEDGER"),
}


def of_removal(config: Config, pre: State, event: Any, step: Step, said: Said) -> tuple[Row, ...]:
    """One row for each entry that has left, ascending; each shows the bytes of what has not left up to it."""
    rule, cause = REMOVING[type(event)] if said is OWN else said
    assert rule is not None
    entries = entries_of(pre, event.cache)
    gone = sorted(entries.keys() - entries_of(step.state, event.cache).keys())
    return tuple([_removed(rule, cause, pre, event.cache, gone[: at + 1]) for at in range(len(gone))])


def _removed(rule: Rule, cause: str | None, pre: State, cache: CacheName, gone: Iterable[Position]) -> Row:
    """The row of the last of these."""
    entries = pre.caches[cache].entries
    *_, pos = gone
    total = pre.size_bytes - sum([entries[one].size_bytes for one in gone])
    row = of_entry(rule, "REMOVE", cause, pre, pre, cache, pos)
    return row._replace(bytes_after=total, manager_bytes=total)


def of_cursor(config: Config, pre: State, event: Any, step: Step, said: Said) -> tuple[Row, ...]:
    """A cursor that was added, has moved, or was taken out; a call without effect tells nothing."""
    cache = pre.caches.get(event.cache)
    members = {} if cache is None else cache.members
    is_member = event.cursor in members
    stuck = not config.evict_by_expected_reads and members.get(event.cursor) is None
    rule, op = (Rule.CURSOR_2 if is_member else Rule.CURSOR_1), "CURSOR_ADD"
    if type(event) is not ops.CursorAdd:
        if not is_member or (type(event) is ops.CursorMove and stuck):
            return ()
        rule, op = (Rule.CURSOR_3, "CURSOR_MOVE") if type(event) is ops.CursorMove else (Rule.CURSOR_5, "CURSOR_REMOVE")
    to = getattr(event, "pos", None)
    ledger, entry = (None, None) if to is None else to
    total = pre.size_bytes
    row = Row(rule, op, None, pre.now_nanos, total, None, event.cache, ledger, entry)
    return (row._replace(manager_bytes=total, cursor=event.cursor),)


def of_values(config: Config, pre: State, event: Any, step: Step, said: Said) -> tuple[Row, ...]:
    """The settings in force, or the counters, as one value."""
    if type(event) is ops.Metrics:
        return (_valued(Rule.METRICS_7, "METRICS", pre, {**pre.counts._asdict(), "bytes": pre.size_bytes}),)
    grace = config.ttl_nanos // 500_000 if config.grace_millis is None else config.grace_millis
    fixed = {
        "evict_by_expected_reads": config.evict_by_expected_reads,
        "evict_by_mark_deleted": config.evict_by_mark_deleted,
        "grace_millis": grace,
        "storage_entry_size": config.storage_entry_size,
        "eviction": config.eviction.value,
    }
    return (_valued(Rule.CONFIG_1, "CONFIG", pre, {**step.state.settings._asdict(), **fixed}),)


def _valued(rule: Rule, op: str, state: State, value: dict[str, Any]) -> Row:
    total = state.size_bytes
    text = json.dumps(value, separators=(",", ":"))
    return Row(rule, op, None, state.now_nanos, total, manager_bytes=total, value=text)


ROWS: Final[dict[type[ops.Op], Rows]] = {
    **dict.fromkeys(ops.OPS, of_nothing),
    **dict.fromkeys(REMOVING, of_removal),
    **dict.fromkeys(COUNTING, of_count),
    **dict.fromkeys((ops.CursorAdd, ops.CursorMove, ops.CursorRemove), of_cursor),
    **dict.fromkeys((ops.Configure, ops.Metrics), of_values),
    ops.Insert: of_insert,
    ops.Get: of_get,
    ops.GetRange: of_range,
}
"""The rows of each operation; those of the passes stand beside this module, those of its parts in `whole`."""


def told(config: Config, pre: State, event: ops.Op, step: Step, said: Said = OWN) -> tuple[Row, ...]:
    """The rows that this operation tells of itself in a step like this; a refused one tells nothing."""
    if refusable(config, pre, event):
        return ()
    return ROWS[type(event)](config, pre, event, step, said)


def opening(pre: State, cache: CacheName) -> Row:
    """The row of the first step that names a cache, or that names it again after it was taken out."""
    total = pre.size_bytes
    return Row(Rule.STATE_9, "CACHE_OPEN", None, pre.now_nanos, total, None, cache, manager_bytes=total)
