"""What an operation makes of a state and answers, where its rules leave something open: one definition an operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws.law import Check, always, cached, entries_of, refusable
from entrycache_reference.pulsar_pip430.outcomes import (
    CacheView,
    Counted,
    Existing,
    Hit,
    Hits,
    Observed,
    Served,
    SlotView,
)
from entrycache_reference.pulsar_pip430.state import Entry, Slot, State, Step
from entrycache_reference.vocabulary import Position


def hits_or_misses(config: Config, pre: State, event: ops.Get, step: Step) -> bool:
    """A hit with its payload, if it carries one; else a miss with none."""
    entry = cached(pre, event.cache, event.pos)
    if entry is None:
        return step.outcome == Hit(False)
    return step.outcome == Hit(True, None if entry.token is None else (entry.token,))


def lists_what_is_there(config: Config, pre: State, event: ops.GetRange, step: Step) -> bool:
    """The cached positions between the bounds, ascending; their payloads only if all of them carry one."""
    entries = entries_of(pre, event.cache)
    found = sorted({pos for pos in entries if not (pos < event.first or pos > event.last)})
    carried = [entry.token for pos in found if (entry := entries[pos]).token is not None]
    tokens = tuple(carried) if found and len(carried) == len(found) else None
    return step.outcome == Hits(tuple(found), tokens)


def tells_if_cached(config: Config, pre: State, event: ops.Exists, step: Step) -> bool:
    """Whether the position is one of those of its cache."""
    return step.outcome == Existing(event.pos in entries_of(pre, event.cache))


def tells_the_count(config: Config, pre: State, event: ops.MarkRead | ops.ExpectRead, step: Step) -> bool:
    """The count as the step leaves it."""
    entry = cached(step.state, event.cache, event.pos)
    return step.outcome == Counted(None if entry is None else entry.expected_reads)


def shows_everything(config: Config, pre: State, event: ops.Observe, step: Step) -> bool:
    """Time, bytes, every cache that holds entries, every live slot in its place, and how many are dead."""
    filled = {name: cache for name, cache in pre.caches.items() if cache.entries}
    views = {
        name: CacheView(sum([entry.size_bytes for entry in cache.entries.values()]), tuple(sorted(cache.entries)))
        for name, cache in filled.items()
    }
    slots = [slot for slot in pre.queue if slot is not None]
    total = sum([view.bytes for view in views.values()])
    live = tuple([_view(slot, pre.caches[slot.cache].entries[slot.pos], pre.now_nanos) for slot in slots])
    shown = Observed(pre.now_nanos, total, views, live, len(pre.queue) - len(slots))
    answer = step.outcome
    return answer == shown and isinstance(answer, Observed) and list(answer.caches) == sorted(views)


def _view(slot: Slot, entry: Entry, now: int) -> SlotView:
    size, stamp, requeues, mark, count, _ = entry
    return SlotView(slot.cache, slot.pos, size, now - stamp, requeues, mark, count)


def serves(config: Config, pre: State, event: ops.Read | ops.ReadOne, step: Step) -> bool:
    """Hits and fills part the positions asked for; payloads are handed over if every hit carries one."""
    if refusable(config, pre, event):
        return True
    wanted = positions(event)
    entries = entries_of(pre, event.cache)
    hits = [pos for pos in wanted if pos in entries]
    fills = [pos for pos in wanted if pos not in entries]
    carried = [token for pos in hits if (token := entries[pos].token) is not None]
    tokens = (*carried, *(pos.entry for pos in fills)) if len(carried) == len(hits) else None
    return step.outcome == Served(tuple(hits), tuple(fills), tokens)


def positions(event: ops.Read | ops.ReadOne) -> list[Position]:
    """The positions that a read asks for, ascending."""
    if type(event) is ops.ReadOne:
        return [event.pos]
    assert type(event) is ops.Read
    ledger, first = event.first
    return [Position(ledger, first + more) for more in range(event.last.entry - first + 1)]


def leaves_dead_slots(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Every slot stays in its place; that of an entry that has left is dead."""
    after = step.state
    if after.caches is pre.caches:
        return after.queue == pre.queue
    kept = entries_of(after, event.cache)
    return after.queue == tuple(
        [
            None if slot is not None and slot.cache == event.cache and slot.pos not in kept else slot
            for slot in pre.queue
        ]
    )


def keeps_what_is_held(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Nothing but reads and releases opens or frees a hold; what is held stays, position by position, in its order."""
    before, after = pre.holds, step.state.holds
    if before is after or type(event) in HOLDING:
        return True
    return before.keys() == after.keys() and all(
        [held.slot for held in kept] == [held.slot for held in after[name]] for name, kept in before.items()
    )


HOLDING: Final = frozenset({ops.Read, ops.ReadOne, ops.Release})
"""The operations that open and free holds (R-COUNT-7)."""

REMOVALS: Final = (ops.RemoveRange, ops.Clear, ops.InvalidateBefore, ops.InvalidateLedger)

ANSWERS: Final[Mapping[type[ops.Op], Check]] = {
    **dict.fromkeys(ops.OPS, always),
    **dict.fromkeys(REMOVALS, leaves_dead_slots),
    ops.Get: hits_or_misses,
    ops.GetRange: lists_what_is_there,
    ops.Exists: tells_if_cached,
    ops.MarkRead: tells_the_count,
    ops.ExpectRead: tells_the_count,
    ops.Observe: shows_everything,
    ops.Read: serves,
    ops.ReadOne: serves,
}
"""The definition of each operation; what its laws say already is not said again."""
