"""The law of frames: a step changes what its operation declares, and nothing else.

A step that names parts is looked at link by link: each part is held to the frame of its own operation, and what lies
between two of them to what the operation of the step may change beside its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from entrycache_reference.frame import Change, Key, Keyed, Named, Record, comparing, undeclared
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.laws.walk import left, walk
from entrycache_reference.pulsar_pip430.ops import Op
from entrycache_reference.pulsar_pip430.ops.frame import (
    NOTHING,
    OPENED,
    PASS,
    READING,
    TRIGGERING,
    MayChange,
    Of,
    What,
    removal,
)
from entrycache_reference.pulsar_pip430.outcomes import Refused
from entrycache_reference.pulsar_pip430.state import Cache, State, Step
from entrycache_reference.vocabulary import ABSENT

ENTRY: Final = Record((What.SIZE, What.STAMP, What.REQUEUES, What.MARK, What.COUNT, What.PAYLOAD))

CACHE: Final = Record(
    (Keyed(What.ENTRIES, ENTRY), What.CACHE_BYTES, Keyed(What.CURSORS), What.GRACE, What.IS_OPEN),
)

COUNTS: Final = Record(
    (What.INSERTED, What.EVICTED, What.CYCLES, What.HITS, What.HITS, What.MISSES, What.MISSES),
)

STATE: Final = Record(
    (
        What.CLOCK,
        Named(What.SETTINGS),
        Keyed(What.CACHES, CACHE, Cache({}, 0)),
        What.QUEUE,
        What.BYTES,
        What.IS_SCHEDULED,
        Keyed(What.HOLDS),
        COUNTS,
    )
)
"""The aspects of the state: one for each field of `State`, and of what it is made of, in their order."""

MAY_CHANGE: Final[Mapping[type[ops.Op], MayChange]] = {
    ops.CursorAdd: {What.CURSORS: Of.CURSOR},
    ops.CursorMove: {What.CURSORS: Of.CURSOR},
    ops.CursorRemove: {What.CURSORS: Of.CURSOR, What.GRACE: Of.CACHE},
    ops.CursorRank: NOTHING,
    ops.Slowest: NOTHING,
    ops.Cursors: NOTHING,
    ops.ShouldCache: NOTHING,
    ops.Cycle: {What.CYCLES: Of.ALL},
    ops.RunScheduled: {What.IS_SCHEDULED: Of.ALL, What.CYCLES: Of.ALL},
    ops.Configure: {What.SETTINGS: Of.NAMED},
    ops.InvalidateBefore: removal(Of.BELOW),
    ops.InvalidateLedger: removal(Of.LEDGER),
    ops.RemoveCache: {What.IS_OPEN: Of.CACHE},
    ops.Metrics: NOTHING,
    ops.Advance: {What.CLOCK: Of.ALL},
    ops.Expire: PASS,
    ops.Evict: PASS,
    ops.MarkRead: {What.COUNT: Of.ENTRY},
    ops.ExpectRead: {What.COUNT: Of.ENTRY},
    ops.Insert: {
        What.ENTRIES: Of.ENTRY,
        What.COUNT: Of.ENTRY,
        What.CACHE_BYTES: Of.CACHE,
        What.QUEUE: Of.ALL,
        What.BYTES: Of.ALL,
        What.INSERTED: Of.ALL,
        What.HOLDS: Of.HOLDING,
    },
    ops.Get: {What.MARK: Of.ENTRY},
    ops.GetRange: {What.MARK: Of.RANGE},
    ops.Exists: NOTHING,
    ops.RemoveRange: removal(Of.RANGE),
    ops.Clear: removal(Of.CACHE),
    ops.Usage: NOTHING,
    ops.Observe: NOTHING,
    ops.Read: {**READING, **TRIGGERING},
    ops.ReadOne: READING,
    ops.Release: {What.HOLDS: Of.HOLD},
}
"""What each operation may change."""

BESIDE: Final[Mapping[type[ops.Op], MayChange]] = {
    ops.Insert: TRIGGERING,
}
"""What an operation may change beside its parts, where that is not what it may change without any."""

changes: Final = comparing(STATE)

Whose = Callable[[State, Any, Step, Key], bool]
"""Whether a key belongs to whose aspect may change, by the state before a step, its event, and what it made."""


def _between(pre: State, event: Any, step: Step, key: Key) -> bool:
    return key[0] == event.cache and bool(event.first <= key[1] <= event.last)


def _taken(pre: State, event: Any, step: Step, key: Key) -> bool:
    """An entry that the pass took; the bytes of a cache: of one of which it took an entry."""
    taken = walk(pre, step).takes
    if len(key) == 2:
        return any(take.slot == key for take in taken)
    return any(take.slot is not None and take.slot.cache == key[0] for take in taken)


def _holding(pre: State, event: Any, step: Step, key: Key) -> bool:
    return any(held.slot == (event.cache, event.pos) for held in pre.holds.get(key[0], ()))


def _gone(pre: State, event: Any, step: Step, key: Key) -> bool:
    gone = left(pre, step)
    return any(held.slot in gone for held in pre.holds.get(key[0], ()))


IS_IN: Final[dict[Of, Whose]] = {
    Of.ENTRY: lambda pre, event, step, key: key == (event.cache, event.pos),
    Of.RANGE: _between,
    Of.BELOW: lambda pre, event, step, key: key[0] == event.cache and key[1] < event.pos,
    Of.LEDGER: lambda pre, event, step, key: key[0] == event.cache and key[1].ledger == event.ledger,
    Of.CURSOR: lambda pre, event, step, key: key == (event.cache, event.cursor),
    Of.HOLD: lambda pre, event, step, key: key == (event.hold,),
    Of.NAMED: lambda pre, event, step, key: getattr(event, key[0]) is not ABSENT,
    Of.HOLDING: _holding,
    Of.GONE: _gone,
    Of.CACHE: lambda pre, event, step, key: key[0] == event.cache,
    Of.TAKEN: _taken,
}
"""What each word of a declaration means; `Of.ALL` leaves nothing out."""


def opens(pre: State, event: Op, step: Step) -> bool:
    """Whether the step opens the cache that its event names: it is not open, and the step is not refused."""
    name = getattr(event, "cache", ABSENT)
    if name is ABSENT or type(step.outcome) is Refused:
        return False
    cache = pre.caches.get(name)
    return cache is None or not cache.is_open


class Framed(NamedTuple):
    """A step without parts, one part of a step, or what lies between two parts; and what that may change."""

    pre: State
    event: Op
    step: Step
    may_change: MayChange


def framed(pre: State, event: Op, step: Step) -> Iterator[Framed]:
    """Everything in a step that has a frame."""
    if not step.parts:
        yield Framed(pre, event, step, MAY_CHANGE[type(event)])
        return
    beside = BESIDE.get(type(event), MAY_CHANGE[type(event)])
    met = pre
    for part in step.parts:
        if met is not part.pre:
            yield Framed(met, event, step._replace(state=part.pre), beside)
        yield Framed(part.pre, part.event, part.step, MAY_CHANGE[type(part.event)])
        met = part.step.state
    if met is not step.state:
        yield Framed(met, event, step, beside)


def unframed(one: Framed) -> list[Change]:
    """What changed though it is not declared."""
    pre, event, step, may_change = one
    found = changes(pre, step.state)
    if not found:
        return []

    def is_in(whose: Of, key: Key) -> bool:
        return whose is Of.ALL or IS_IN[whose](pre, event, step, key)

    wrong = undeclared(found, may_change, is_in)
    return undeclared(wrong, OPENED, is_in) if wrong and opens(pre, event, step) else wrong


def outside(pre: State, event: Op, step: Step) -> list[Change]:
    """Everything that a step changed outside the frames: its own, and those of its parts."""
    if step.state is pre and not step.parts:
        return []
    return [change for one in framed(pre, event, step) for change in unframed(one)]
