"""What a step leaves, made in another way than the reference makes it.

The content is one flat table here, by cache and position, and every number is summed anew.
"""

from __future__ import annotations

from collections.abc import Callable
from math import trunc
from typing import Any, Final, NamedTuple

from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.config import Config, Eviction
from entrycache_reference.pulsar_legacy.laws.law import content, refusable
from entrycache_reference.pulsar_legacy.state import Entry, State
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

Table = dict[tuple[CacheName, Position], Entry]


class Defined(NamedTuple):
    """What a step leaves: the clock, the content, and the pass that waits."""

    now_nanos: int
    table: Table
    scheduled_bytes: int | None


def total(table: Table, name: CacheName | None = None) -> int:
    """The bytes of all entries, or of one cache."""
    if name is None:
        return sum([entry.size_bytes for entry in table.values()])
    return sum([entry.size_bytes for (cache, _), entry in table.items() if cache == name])


def without(table: Table, name: CacheName, leaves: Callable[[Position], bool]) -> Table:
    """The table without those entries of one cache."""
    return {place: entry for place, entry in table.items() if place[0] != name or not leaves(place[1])}


def freed(table: Table, name: CacheName, need_bytes: int) -> Table:
    """An entry leaves where what lies below it in its cache is not enough."""

    def leaves(pos: Position) -> bool:
        below = [entry.size_bytes for (cache, other), entry in table.items() if cache == name and other < pos]
        return sum(below) < need_bytes

    return without(table, name, leaves)


def given(table: Table, need_bytes: int) -> list[tuple[CacheName, int]]:
    """What each cache gives, if anything: where the larger ones, and those of its size before it, hold less than half.

    Those of one size stand by their names.
    """
    held = {name: total(table, name) for name in {cache for cache, _ in table}}
    ranked = sorted(held, key=lambda name: (-held[name], name))
    half = trunc(total(table) * 0.5)
    taken = [name for at, name in enumerate(ranked) if sum(held[other] for other in ranked[:at]) < half]
    whole = float(sum(held[name] for name in taken))
    shares = [(name, trunc(need_bytes * (float(held[name]) / whole))) for name in taken]
    return [(name, share) for name, share in shares if share > 0]


def givers(table: Table, need_bytes: int) -> list[tuple[CacheName, int, Table]]:
    """The caches that give, one after another: how much each is to give, and the content after it."""
    found: list[tuple[CacheName, int, Table]] = []
    for name, share in given(table, need_bytes):
        table = freed(table, name, share)
        found.append((name, share, table))
    return found


def evicted(table: Table, need_bytes: int) -> Table:
    """The content after a size pass over all caches."""
    return [table, *(after for _, _, after in givers(table, need_bytes))][-1]


def triggered(config: Config, pre: Defined) -> int | None:
    """What the pass is to free that an insert asks for; None: it asks for none."""
    size_bytes = total(pre.table)
    if size_bytes > trunc(config.max_size_bytes * 0.98) and pre.scheduled_bytes is None:
        return size_bytes - trunc(config.max_size_bytes * config.watermark)
    return None


def passed(config: Config, pre: Defined, need_bytes: int | None) -> Defined:
    """What an insert meets once it has asked for so much."""
    if need_bytes is None:
        return pre
    if config.eviction is Eviction.MANUAL:
        return pre._replace(scheduled_bytes=need_bytes)
    return pre._replace(table=evicted(pre.table, need_bytes) if need_bytes > 0 else pre.table)


def is_taken(config: Config, pre: Defined, met: Defined, event: ops.Insert) -> bool:
    """Whether an entry comes in that began in one state and has met another."""
    return total(pre.table) < config.max_size_bytes and (event.cache, event.pos) not in met.table


def inserted(config: Config, pre: Defined, event: ops.Insert) -> Defined:
    """What an insert leaves."""
    met = passed(config, pre, triggered(config, pre))
    if not is_taken(config, pre, met, event):
        return met
    entry = Entry(event.size, pre.now_nanos, None if event.token is ABSENT else event.token)
    return met._replace(table={**met.table, (event.cache, event.pos): entry})


def cutoff(config: Config, pre: Defined, event: ops.Expire) -> int:
    """The latest stamp that is old."""
    return pre.now_nanos - (config.ttl_nanos if event.older_than_nanos is ABSENT else event.older_than_nanos)


def expired(config: Config, pre: Defined, event: ops.Expire) -> Defined:
    """An entry leaves where neither it nor one below it is younger than the cutoff."""
    latest = cutoff(config, pre, event)
    young = [
        pos for (cache, pos), entry in pre.table.items() if cache == event.cache and not entry.stamp_nanos <= latest
    ]
    first = min(young, default=None)
    return pre._replace(table=without(pre.table, event.cache, lambda pos: first is None or pos < first))


def wanted(event: ops.Read) -> list[Position]:
    """The positions of a read."""
    return [Position(event.first.ledger, entry) for entry in range(event.first.entry, event.last.entry + 1)]


def offers(pre: Defined, event: ops.Read) -> list[ops.Insert]:
    """What a read offers to the cache: nothing where all is cached, else each position."""
    asked = wanted(event)
    if all((event.cache, pos) in pre.table for pos in asked):
        return []
    return [ops.Insert(event.cache, pos, 100, pos.entry) for pos in asked]


def was_read(config: Config, pre: Defined, event: ops.Read) -> Defined:
    """Whatever it offers was inserted, one after another."""
    after = pre
    for offer in offers(pre, event):
        after = inserted(config, after, offer)
    return after


LEAVES: Final[dict[type[ops.Op], Callable[[Any, Position], bool]]] = {
    ops.RemoveRange: lambda event, pos: (
        event.first <= pos <= event.last and (event.last_inclusive or pos != event.last)
    ),
    ops.Clear: lambda event, pos: True,
    ops.InvalidateBefore: lambda event, pos: pos < event.pos,
    ops.InvalidateLedger: lambda event, pos: pos.ledger == event.ledger,
    ops.RemoveCache: lambda event, pos: True,
}
"""Which entries of its cache leave by a call."""


def removed(config: Config, pre: Defined, event: Any) -> Defined:
    """What a removal by a call leaves."""
    leaves = LEAVES[type(event)]
    return pre._replace(table=without(pre.table, event.cache, lambda pos: leaves(event, pos)))


def run(config: Config, pre: Defined, event: ops.RunScheduled) -> Defined:
    """The pass that waited has run."""
    need = pre.scheduled_bytes or 0
    return Defined(pre.now_nanos, evicted(pre.table, need) if need > 0 else pre.table, None)


DEFINED: Final[dict[type[ops.Op], Callable[[Config, Defined, Any], Defined]]] = {
    ops.Insert: inserted,
    ops.Advance: lambda config, pre, event: pre._replace(now_nanos=pre.now_nanos + event.nanos),
    ops.Expire: expired,
    ops.Evict: lambda config, pre, event: pre._replace(table=evicted(pre.table, event.bytes)),
    ops.EvictCache: lambda config, pre, event: pre._replace(table=freed(pre.table, event.cache, event.bytes)),
    ops.RunScheduled: run,
    ops.Read: was_read,
    **dict.fromkeys(LEAVES, removed),
}
"""What each operation leaves that changes something."""


def content_of(state: State) -> Defined:
    """The clock, the content, and the pass that waits, of a state."""
    return Defined(state.now_nanos, content(state), state.scheduled_bytes)


def left_by(config: Config, pre: Defined, event: ops.Op) -> Defined:
    """What an operation leaves."""
    define = DEFINED.get(type(event))
    return pre if define is None or refusable(event) else define(config, pre, event)
