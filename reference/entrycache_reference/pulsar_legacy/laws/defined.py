"""The definition: what a step is, made in another way than the reference makes it.

The content is one flat table here, by cache and position, and every number is summed anew. It speaks where no law of a
rule has spoken, and then names the rule of the operation.
"""

from __future__ import annotations

from collections.abc import Callable
from math import trunc
from typing import Any, Final, NamedTuple

from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.config import Config, Eviction
from entrycache_reference.pulsar_legacy.laws.law import content, refusable
from entrycache_reference.pulsar_legacy.state import Entry, State, Step
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

Table = dict[tuple[CacheName, Position], Entry]


class Defined(NamedTuple):
    """What a step leaves: the clock, the content, and the pass that waits."""

    now_nanos: int
    table: Table
    scheduled_bytes: int | None


def total(table: Table, name: CacheName | None = None) -> int:
    """The bytes of all entries, or of one cache."""
    return sum(entry.size_bytes for (cache, _), entry in table.items() if name in {None, cache})


def without(table: Table, name: CacheName, leaves: Callable[[Position], bool]) -> Table:
    """The table without those entries of one cache."""
    return {place: entry for place, entry in table.items() if place[0] != name or not leaves(place[1])}


def freed(table: Table, name: CacheName, need_bytes: int) -> Table:
    """An entry leaves where what lies below it in its cache is not enough."""

    def leaves(pos: Position) -> bool:
        below = [entry.size_bytes for (cache, other), entry in table.items() if cache == name and other < pos]
        return sum(below) < need_bytes

    return without(table, name, leaves)


def evicted(table: Table, need_bytes: int) -> Table:
    """A cache gives where the larger ones, and those of its size before it by name, hold less than half."""
    ranked = sorted({cache for cache, _ in table}, key=lambda name: (-total(table, name), name))
    half = trunc(total(table) * 0.5)
    taken = [name for at, name in enumerate(ranked) if sum(total(table, other) for other in ranked[:at]) < half]
    sum_bytes = sum(total(table, name) for name in taken)
    after = table
    for name in taken:
        after = freed(after, name, trunc(need_bytes * (float(total(table, name)) / float(sum_bytes))))
    return after


def inserted(config: Config, pre: Defined, event: ops.Insert) -> Defined:
    """What an insert leaves."""
    size_bytes, table, scheduled = total(pre.table), pre.table, pre.scheduled_bytes
    if size_bytes > trunc(config.max_size_bytes * 0.98) and scheduled is None:
        need = size_bytes - trunc(config.max_size_bytes * config.watermark)
        if config.eviction is Eviction.MANUAL:
            scheduled = need
        else:
            table = evicted(table, need)
    if size_bytes < config.max_size_bytes and (event.cache, event.pos) not in table:
        entry = Entry(event.size, pre.now_nanos, None if event.token is ABSENT else event.token)
        table = {**table, (event.cache, event.pos): entry}
    return Defined(pre.now_nanos, table, scheduled)


def expired(config: Config, pre: Defined, event: ops.Expire) -> Defined:
    """An entry leaves where neither it nor one below it is younger than the cutoff."""
    cutoff = pre.now_nanos - (config.ttl_nanos if event.older_than_nanos is ABSENT else event.older_than_nanos)
    young = [
        pos for (cache, pos), entry in pre.table.items() if cache == event.cache and not entry.stamp_nanos <= cutoff
    ]
    first = min(young, default=None)
    return pre._replace(table=without(pre.table, event.cache, lambda pos: first is None or pos < first))


def was_read(config: Config, pre: Defined, event: ops.Read) -> Defined:
    """Nothing differs where all is cached; else each position of the range was inserted."""
    ledger = event.first.ledger
    wanted = [Position(ledger, entry) for entry in range(event.first.entry, event.last.entry + 1)]
    if all((event.cache, pos) in pre.table for pos in wanted):
        return pre
    after = pre
    for pos in wanted:
        after = inserted(config, after, ops.Insert(event.cache, pos, 100, pos.entry))
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


def is_defined(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Whether a step leaves what its operation is defined to leave."""
    if step.state is pre and type(event) not in DEFINED:
        return True
    before = Defined(pre.now_nanos, content(pre), pre.scheduled_bytes)
    define = DEFINED.get(type(event))
    right = before if define is None or refusable(event) else define(config, before, event)
    left = step.state
    return right == (left.now_nanos, content(left), left.scheduled_bytes) and total(right.table) == left.size_bytes
