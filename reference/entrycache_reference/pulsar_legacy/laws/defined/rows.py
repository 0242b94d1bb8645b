"""What the rows of a step say, made of the content before and after it.

A row about an entry shows the bytes of what has not left up to it. What a pass asked of each cache is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import trunc
from typing import Any, Final, NamedTuple

from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.config import Config, Eviction, SingleLookup
from entrycache_reference.pulsar_legacy.laws.defined.content import (
    LEAVES,
    Defined,
    Table,
    cutoff,
    freed,
    givers,
    inserted,
    is_taken,
    left_by,
    offers,
    passed,
    total,
    triggered,
)
from entrycache_reference.pulsar_legacy.laws.law import refusable
from entrycache_reference.pulsar_legacy.state import Row
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, Position


class Said(NamedTuple):
    """What kind of an event a row tells: its rule, its operation and its cause."""

    rule: Rule
    op: str
    cause: str


Rows = Iterator[Row]


def about(said: Said, pre: Defined, cache: CacheName, pos: Position, **more: Any) -> Row:
    """A row about a position, by the bytes of this content."""
    sums = total(pre.table)
    row = Row(*said, pre.now_nanos, sums, cache=cache, ledger_id=pos[0], entry_id=pos[1], manager_bytes=sums)
    return row._replace(**more)


def of_entry(said: Said, pre: Defined, cache: CacheName, pos: Position) -> Row:
    """A row about an entry that is there."""
    size, stamp, _ = pre.table[cache, pos]
    return about(said, pre, cache, pos, size_bytes=size, stamp_ns=stamp)


def of_gone(said: Said, pre: Defined, after: Table) -> Rows:
    """A row for each entry that has left, ascending."""
    left = total(pre.table)
    for place in sorted(pre.table.keys() - after.keys()):
        left -= pre.table[place].size_bytes
        yield of_entry(said, pre, *place)._replace(bytes_after=left, manager_bytes=left)


def bound(said: Said, origin: str, now: Defined, number: int, cache: CacheName | None = None) -> Row:
    """The beginning or the end of a pass; the end of one over a cache shows the stamp of the lowest position there."""
    there = [(pos, entry.stamp_nanos) for (name, pos), entry in now.table.items() if name == cache]
    stamp = min(there)[1] if there and said.op == "PASS_END" else None
    sums = total(now.table)
    row = Row(*said, now.now_nanos, sums, origin, cache, bound=number, stamp_ns=stamp)
    return row._replace(manager_bytes=sums)


def with_limits(row: Row, config: Config) -> Row:
    """The row of a size pass, with the bytes above which one is asked for, and those down to which it is to free."""
    limit = config.max_size_bytes
    return row._replace(trigger_bytes=trunc(limit * 0.98), target_bytes=trunc(limit * config.watermark))


def of_evict(config: Config, pre: Defined, need_bytes: int, origin: str) -> Rows:
    """A size pass over all caches: what each of them gave, between two rows of its own."""
    begin = bound(Said(Rule.L_EVICT_3, "PASS_BEGIN", "SIZE"), origin, pre, need_bytes)
    yield with_limits(begin, config)
    for _, _, after in givers(pre.table, need_bytes):
        yield from of_gone(Said(Rule.L_EVICT_1, "EVICT", "SIZE"), pre, after)
        pre = pre._replace(table=after)
    end = bound(Said(Rule.L_EVICT_5, "PASS_END", "SIZE"), origin, pre, need_bytes)
    yield with_limits(end, config)


def of_evict_cache(config: Config, pre: Defined, event: ops.EvictCache, within: type[ops.Op] | None) -> Rows:
    """A size pass over one cache."""
    after = pre._replace(table=freed(pre.table, event.cache, event.bytes))
    begin, end = (Said(rule, op, "SIZE") for rule, op in zip(EVICTS, ENDS, strict=True))
    yield with_limits(bound(begin, "CALL", pre, event.bytes, event.cache), config)
    yield from of_gone(Said(Rule.L_EVICT_1, "EVICT", "SIZE"), pre, after.table)
    yield with_limits(bound(end, "CALL", after, event.bytes, event.cache), config)


ENDS: Final = ("PASS_BEGIN", "PASS_END")
EVICTS: Final = (Rule.L_EVICT_1, Rule.L_EVICT_2)


def of_expire(config: Config, pre: Defined, event: ops.Expire, within: type[ops.Op] | None) -> Rows:
    """A time pass."""
    after, latest = left_by(config, pre, event), cutoff(config, pre, event)
    yield bound(Said(Rule.L_EXPIRE_1, "PASS_BEGIN", "TIME"), "CALL", pre, latest, event.cache)
    yield from of_gone(Said(Rule.L_EXPIRE_1, "EVICT", "TIME"), pre, after.table)
    yield bound(Said(Rule.L_EXPIRE_2, "PASS_END", "TIME"), "CALL", after, latest, event.cache)


def of_insert(config: Config, pre: Defined, event: ops.Insert, within: type[ops.Op] | None) -> Rows:
    """The pass that it has run, and what became of the entry."""
    need_bytes = triggered(config, pre)
    if need_bytes is not None and need_bytes > 0 and config.eviction is Eviction.INLINE:
        yield from of_evict(config, pre, need_bytes, "TRIGGER")
    met, cause = passed(config, pre, need_bytes), "FILL" if within is ops.Read else "ADD"
    if is_taken(config, pre, met, event):
        after = inserted(config, pre, event)
        row = of_entry(Said(Rule.L_INSERT_1, "INSERT", cause), after, event.cache, event.pos)
        yield row._replace(stamp_ns=None, new_stamp_ns=pre.now_nanos)
    else:
        is_full = not total(pre.table) < config.max_size_bytes
        said = Said(Rule.L_INSERT_3, "SKIP", "FULL") if is_full else Said(Rule.L_INSERT_2, "REJECT", "DUPLICATE")
        yield about(said, met, event.cache, event.pos, size_bytes=event.size)


def of_get(config: Config, pre: Defined, event: ops.Get, within: type[ops.Op] | None) -> Rows:
    """A hit or a miss."""
    if is_found(config, pre, event):
        yield of_entry(Said(Rule.L_READ_1, "HIT", "GET"), pre, event.cache, event.pos)
    else:
        yield about(Said(Rule.L_READ_1, "MISS", "GET"), pre, event.cache, event.pos)


def is_found(config: Config, pre: Defined, event: ops.Get | ops.ReadOne) -> bool:
    """Whether a single position is found."""
    by_position = config.variants.single_lookup is SingleLookup.POSITION
    return by_position and (event.cache, event.pos) in pre.table


def of_range(config: Config, pre: Defined, event: ops.GetRange, within: type[ops.Op] | None) -> Rows:
    """A hit for each position of the range that is cached, ascending."""
    for cache, pos in sorted(pre.table):
        if cache == event.cache and event.first <= pos <= event.last:
            yield of_entry(Said(Rule.L_READ_2, "HIT", "GET"), pre, cache, pos)


def of_read(config: Config, pre: Defined, event: ops.Read, within: type[ops.Op] | None) -> Rows:
    """Only hits, or only misses and then each insert; ascending."""
    missed = offers(pre, event)
    for entry in range(event.first[1], event.last[1] + 1):
        pos = Position(event.first[0], entry)
        if missed:
            yield about(Said(Rule.L_READ_5, "MISS", "READ"), pre, event.cache, pos)
        else:
            yield of_entry(Said(Rule.L_READ_4, "HIT", "READ"), pre, event.cache, pos)
    for offer in missed:
        yield from of_insert(config, pre, offer, ops.Read)
        pre = inserted(config, pre, offer)


def of_read_one(config: Config, pre: Defined, event: ops.ReadOne, within: type[ops.Op] | None) -> Rows:
    """A hit; or a miss, and what storage gave is left out."""
    if is_found(config, pre, event):
        yield of_entry(Said(Rule.L_READ_4, "HIT", "READ"), pre, event.cache, event.pos)
        return
    yield about(Said(Rule.L_READ_6, "MISS", "READ"), pre, event.cache, event.pos)
    yield about(Said(Rule.L_READ_6, "SKIP", "NOT_WANTED"), pre, event.cache, event.pos, size_bytes=100)


def of_removal(config: Config, pre: Defined, event: Any, within: type[ops.Op] | None) -> Rows:
    """A row for each entry that has left."""
    rule, cause = REMOVING[ops.RemoveCache if within is ops.RemoveCache else type(event)]
    yield from of_gone(Said(rule, "REMOVE", cause), pre, left_by(config, pre, event).table)


REMOVING: Final[dict[type[ops.Op], tuple[Rule, str]]] = {
    ops.RemoveRange: (Rule.L_INVALIDATE_1, "RANGE"),
    ops.Clear: (Rule.L_INVALIDATE_2, "CLEAR"),
    ops.InvalidateBefore: (Rule.L_INVALIDATE_3, "CURSOR"),
    ops.InvalidateLedger: (Rule.L_INVALIDATE_4, "LEDGER"),
    ops.RemoveCache: (Rule.L_INVALIDATE_5, "CLOSE"),
}


def of_pass(config: Config, pre: Defined, event: ops.Evict, within: type[ops.Op] | None) -> Rows:
    """A size pass that was called for, or triggered."""
    yield from of_evict(config, pre, event.bytes, "CALL" if within is None else "TRIGGER")


def of_scheduled(config: Config, pre: Defined, event: ops.RunScheduled, within: type[ops.Op] | None) -> Rows:
    """The pass that waited, if it is to free anything."""
    if (pre.scheduled_bytes or 0) > 0:
        yield from of_evict(config, pre, pre.scheduled_bytes or 0, "TRIGGER")


ROWS: Final[dict[type[ops.Op], Callable[[Config, Defined, Any, type[ops.Op] | None], Rows]]] = {
    ops.Insert: of_insert,
    ops.Get: of_get,
    ops.GetRange: of_range,
    ops.Expire: of_expire,
    ops.Evict: of_pass,
    ops.EvictCache: of_evict_cache,
    ops.RunScheduled: of_scheduled,
    ops.Read: of_read,
    ops.ReadOne: of_read_one,
    **dict.fromkeys(LEAVES, of_removal),
}
"""The rows of each operation that tells any."""


def told(config: Config, pre: Defined, event: ops.Op, within: type[ops.Op] | None) -> tuple[Row, ...]:
    """The rows that an operation tells, alone or `within` another; a refused one tells nothing."""
    tell = ROWS.get(type(event))
    return () if tell is None or refusable(event) else tuple(tell(config, pre, event, within))
