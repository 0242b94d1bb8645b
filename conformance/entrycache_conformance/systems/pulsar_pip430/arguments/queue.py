"""Level `queue`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from entrycache_conformance.systems.pulsar_pip430.arguments.arguments import Aim
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.state import State
from entrycache_reference.vocabulary import INTEGER_MAX, CacheName, Position

MILLISECOND: Final = 1_000_000
LEAP_NANOS: Final = 10**12
LATE_NANOS: Final = 10**15
"""After that there are no more leaps: the present stays within the integers of a case."""


def counted(aim: Aim, state: State) -> tuple[CacheName, Position]:
    """A place, three times in four that of an entry that carries a count, the lowest count first."""
    counts = []
    for slot in state.queue:
        if slot is not None:
            count = state.caches[slot.cache].entries[slot.pos].expected_reads
            if count is not None:
                counts.append((count, slot))
    at = aim.draw(0, 4 * max(1, len(counts)) - 1)
    if not counts or at >= 3 * len(counts):
        return aim.place(state)
    return sorted(counts)[at % len(counts)][1]


def waits(aim: Aim, state: State) -> list[int]:
    """The times after which an entry is as old as the time to live."""
    return [max(0, state.settings.ttl_nanos - age) for age in aim.ages(state)]


def grace_waits(aim: Aim, state: State) -> list[int]:
    """The times to the next whole millisecond, and to where the grace period of each cache ends."""
    now = state.now_nanos
    found = [MILLISECOND - now % MILLISECOND]
    grace_millis = aim.config.effective_grace_millis
    for cache in state.caches.values():
        end_nanos = (cache.grace_start_nanos // MILLISECOND + grace_millis) * MILLISECOND
        if now < end_nanos < LATE_NANOS:
            found.append(end_nanos - now)
    return found


def to_the_end_of_grace(aim: Aim, state: State) -> ops.Advance:
    """A wait for the end of a grace period, or for the next millisecond; where nobody reads it is asked about then."""
    unread = [name for name, cache in state.caches.items() if not cache.members]
    if unread and "should_cache" in aim.declaration.ops:
        aim.to_come.append(ops.ShouldCache(unread[aim.draw(0, len(unread) - 1)]))
    return ops.Advance(max(0, aim.near(grace_waits(aim, state))))


def advance(aim: Aim, state: State) -> ops.Advance:
    """A wait, mostly one after which a pass or the grace period would just have changed its mind."""
    kind = aim.draw(0, 14)
    if kind == 14:
        return ops.Advance(-1)
    if kind >= 9 and aim.cursors:
        return to_the_end_of_grace(aim, state)
    if kind >= 6:
        wait = max(0, aim.near(waits(aim, state)))
        return ops.Advance(wait if state.now_nanos + wait < INTEGER_MAX else 1)
    if kind in {3, 4} and aim.cursors:
        return ops.Advance(kind * MILLISECOND // 2)
    return ops.Advance(LEAP_NANOS if kind == 5 and state.now_nanos < LATE_NANOS else 1 + kind)


def expire(aim: Aim, state: State) -> ops.Expire:
    """A time pass, mostly with a cutoff at an entry's age."""
    kind = aim.draw(0, 11)
    if kind == 11:
        return ops.Expire(-1)
    if kind >= 7:
        return ops.Expire()
    if kind >= 4:
        return ops.Expire(max(0, aim.near(aim.ages(state))))
    return ops.Expire(INTEGER_MAX if kind == 3 else kind)


def evict(aim: Aim, state: State) -> ops.Evict:
    """A size pass, mostly for as much as the entries from the head have, to the byte."""
    kind = aim.draw(0, 11)
    if kind == 11:
        return ops.Evict(-aim.draw(0, 1))
    if kind >= 4:
        sums = [1]
        for slot in state.queue:
            if slot is not None:
                sums.append(sums[-1] + state.caches[slot.cache].entries[slot.pos].size_bytes)
        return ops.Evict(max(1, aim.near(sums) - 1))
    return ops.Evict(1 + kind)


MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "advance": advance,
    "expire": expire,
    "evict": evict,
    "mark_read": lambda aim, state: ops.MarkRead(*counted(aim, state)),
    "expect_read": lambda aim, state: ops.ExpectRead(*counted(aim, state)),
}
