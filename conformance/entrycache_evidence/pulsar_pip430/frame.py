"""What the operations may change: the aspects of the state, and whose they may be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

from entrycache_evidence.core.frame import (
    Change,
    Key,
    KeyedValues,
    NamedFields,
    Record,
    build_comparison,
    undeclared_changes,
)
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.laws.steps import removed_entries, walk
from entrycache_reference.pulsar_pip430.ops import Op
from entrycache_reference.pulsar_pip430.outcomes import Refused
from entrycache_reference.pulsar_pip430.state import Cache, State, Step
from entrycache_reference.vocabulary import ABSENT


class Aspect(Enum):
    """An aspect of the state, in words."""

    __hash__ = object.__hash__  # as quick as can be: frames are asked after every step

    CLOCK = "the clock"
    SETTINGS = "the settings"
    CACHES = "which caches there are"
    ENTRIES = "which entries are cached"
    SIZE = "the size"
    STAMP = "the stamp"
    REQUEUES = "the number of requeues"
    MARK = "the mark"
    COUNT = "the count"
    PAYLOAD = "the payload"
    CACHE_BYTES = "the bytes"
    CURSORS = "the cursors"
    GRACE = "when the grace period began"
    IS_OPEN = "whether a cache is open"
    QUEUE = "the removal queue"
    BYTES = "the manager's bytes"
    IS_SCHEDULED = "whether a pass is scheduled"
    HOLDS = "what is held"
    INSERTED = "the inserted entries counted"
    EVICTED = "the evicted entries counted"
    CYCLES = "the eviction cycles counted"
    HITS = "the hits counted, and their bytes"
    MISSES = "the misses counted, and their bytes"


class Extent(Enum):
    """Whose aspect it may be, in words; each narrower than those after it that hold it."""

    __hash__ = object.__hash__

    ENTRY = "its position"
    RANGE = "its range"
    BELOW = "what is below its position"
    LEDGER = "its ledger"
    CURSOR = "its cursor"
    HOLD = "its hold"
    NAMED = "what it names"
    HOLDING = "holds of its position"
    GONE = "holds of what has left"
    CACHE = "its cache"
    TAKEN = "what the pass took"
    ALL = "all"


MayChange = Mapping[Aspect, Extent]

NOTHING: Final[MayChange] = {}

OPENED: Final[MayChange] = {Aspect.CACHES: Extent.CACHE, Aspect.GRACE: Extent.CACHE, Aspect.IS_OPEN: Extent.CACHE}
"""What any operation may change that names a cache which is not open, beside what it declares."""

_LEAVING: Final[MayChange] = {
    Aspect.QUEUE: Extent.ALL,
    Aspect.BYTES: Extent.ALL,
    Aspect.EVICTED: Extent.ALL,
    Aspect.HOLDS: Extent.GONE,
}

PASS: Final[MayChange] = {
    Aspect.ENTRIES: Extent.TAKEN,
    Aspect.STAMP: Extent.TAKEN,
    Aspect.REQUEUES: Extent.TAKEN,
    Aspect.MARK: Extent.TAKEN,
    Aspect.CACHE_BYTES: Extent.TAKEN,
    **_LEAVING,
}
"""What a pass may change."""

TRIGGERING: Final[MayChange] = {Aspect.CYCLES: Extent.ALL, Aspect.IS_SCHEDULED: Extent.ALL}
"""What the trigger of an insert may change beside the pass that it runs or schedules."""

READING: Final[MayChange] = {Aspect.HITS: Extent.ALL, Aspect.MISSES: Extent.ALL, Aspect.HOLDS: Extent.HOLD}
"""What a read may change beside what its parts do."""


def removal(whose: Extent) -> MayChange:
    """What a removal by a call may change: these entries, and what follows from it."""
    return {Aspect.ENTRIES: whose, Aspect.CACHE_BYTES: Extent.CACHE, **_LEAVING}


# --- frame
# The law of frames: a step changes what its operation declares, and nothing else.
#
# A step that names parts is looked at link by link: each part is held to the frame of its own operation, and what lies
# between two of them to what the operation of the step may change beside its parts.

ENTRY: Final = Record((Aspect.SIZE, Aspect.STAMP, Aspect.REQUEUES, Aspect.MARK, Aspect.COUNT, Aspect.PAYLOAD))

CACHE: Final = Record(
    (KeyedValues(Aspect.ENTRIES, ENTRY), Aspect.CACHE_BYTES, KeyedValues(Aspect.CURSORS), Aspect.GRACE, Aspect.IS_OPEN),
)

COUNTS: Final = Record(
    (Aspect.INSERTED, Aspect.EVICTED, Aspect.CYCLES, Aspect.HITS, Aspect.HITS, Aspect.MISSES, Aspect.MISSES),
)

STATE: Final = Record(
    (
        Aspect.CLOCK,
        NamedFields(Aspect.SETTINGS),
        KeyedValues(Aspect.CACHES, CACHE, Cache({}, 0)),
        Aspect.QUEUE,
        Aspect.BYTES,
        Aspect.IS_SCHEDULED,
        KeyedValues(Aspect.HOLDS),
        COUNTS,
    )
)
"""The aspects of the state: one for each field of `State`, and of what it is made of, in their order."""

MAY_CHANGE: Final[Mapping[type[ops.Op], MayChange]] = {
    ops.CursorAdd: {Aspect.CURSORS: Extent.CURSOR},
    ops.CursorMove: {Aspect.CURSORS: Extent.CURSOR},
    ops.CursorRemove: {Aspect.CURSORS: Extent.CURSOR, Aspect.GRACE: Extent.CACHE},
    ops.CursorRank: NOTHING,
    ops.Slowest: NOTHING,
    ops.Cursors: NOTHING,
    ops.ShouldCache: NOTHING,
    ops.Cycle: {Aspect.CYCLES: Extent.ALL},
    ops.RunScheduled: {Aspect.IS_SCHEDULED: Extent.ALL, Aspect.CYCLES: Extent.ALL},
    ops.Configure: {Aspect.SETTINGS: Extent.NAMED},
    ops.InvalidateBefore: removal(Extent.BELOW),
    ops.InvalidateLedger: removal(Extent.LEDGER),
    ops.RemoveCache: {Aspect.IS_OPEN: Extent.CACHE},
    ops.Metrics: NOTHING,
    ops.Advance: {Aspect.CLOCK: Extent.ALL},
    ops.Expire: PASS,
    ops.Evict: PASS,
    ops.MarkRead: {Aspect.COUNT: Extent.ENTRY},
    ops.ExpectRead: {Aspect.COUNT: Extent.ENTRY},
    ops.Insert: {
        Aspect.ENTRIES: Extent.ENTRY,
        Aspect.COUNT: Extent.ENTRY,
        Aspect.CACHE_BYTES: Extent.CACHE,
        Aspect.QUEUE: Extent.ALL,
        Aspect.BYTES: Extent.ALL,
        Aspect.INSERTED: Extent.ALL,
        Aspect.HOLDS: Extent.HOLDING,
    },
    ops.Get: {Aspect.MARK: Extent.ENTRY},
    ops.GetRange: {Aspect.MARK: Extent.RANGE},
    ops.Exists: NOTHING,
    ops.RemoveRange: removal(Extent.RANGE),
    ops.Clear: removal(Extent.CACHE),
    ops.Usage: NOTHING,
    ops.Observe: NOTHING,
    ops.Read: {**READING, **TRIGGERING},
    ops.ReadOne: READING,
    ops.Release: {Aspect.HOLDS: Extent.HOLD},
}
"""What each operation may change."""

BESIDE: Final[Mapping[type[ops.Op], MayChange]] = {
    ops.Insert: TRIGGERING,
}
"""What an operation may change beside its parts, where that is not what it may change without any."""

changes: Final = build_comparison(STATE)

IsWithin = Callable[[State, Any, Step, Key], bool]
"""Whether a key belongs to whose aspect may change, by the state before a step, its event, and what it made."""


def _is_in_range(pre: State, event: Any, step: Step, key: Key) -> bool:
    return key[0] == event.cache and bool(event.first <= key[1] <= event.last)


def _is_taken(pre: State, event: Any, step: Step, key: Key) -> bool:
    """An entry that the pass took; the bytes of a cache: of one of which it took an entry."""
    taken = walk(pre, step).takes
    if len(key) == 2:
        return any(take.slot == key for take in taken)
    return any(take.slot is not None and take.slot.cache == key[0] for take in taken)


def _is_held_position(pre: State, event: Any, step: Step, key: Key) -> bool:
    return any(held.slot == (event.cache, event.pos) for held in pre.holds.get(key[0], ()))


def _has_left(pre: State, event: Any, step: Step, key: Key) -> bool:
    gone = removed_entries(pre, step)
    return any(held.slot in gone for held in pre.holds.get(key[0], ()))


IS_IN: Final[dict[Extent, IsWithin]] = {
    Extent.ENTRY: lambda pre, event, step, key: key == (event.cache, event.pos),
    Extent.RANGE: _is_in_range,
    Extent.BELOW: lambda pre, event, step, key: key[0] == event.cache and key[1] < event.pos,
    Extent.LEDGER: lambda pre, event, step, key: key[0] == event.cache and key[1].ledger == event.ledger,
    Extent.CURSOR: lambda pre, event, step, key: key == (event.cache, event.cursor),
    Extent.HOLD: lambda pre, event, step, key: key == (event.hold,),
    Extent.NAMED: lambda pre, event, step, key: getattr(event, key[0]) is not ABSENT,
    Extent.HOLDING: _is_held_position,
    Extent.GONE: _has_left,
    Extent.CACHE: lambda pre, event, step, key: key[0] == event.cache,
    Extent.TAKEN: _is_taken,
}
"""What each word of a declaration means; `Of.ALL` leaves nothing out."""


def is_opening(pre: State, event: Op, step: Step) -> bool:
    """Whether the step opens the cache that its event names: it is not open, and the step is not refused."""
    name = getattr(event, "cache", ABSENT)
    if name is ABSENT or type(step.outcome) is Refused:
        return False
    cache = pre.caches.get(name)
    return cache is None or not cache.is_open


class FramedStep(NamedTuple):
    """A step without parts, one part of a step, or what lies between two parts; and what that may change."""

    pre: State
    event: Op
    step: Step
    may_change: MayChange


def framed_steps(pre: State, event: Op, step: Step) -> Iterator[FramedStep]:
    """Everything in a step that has a frame."""
    if not step.parts:
        yield FramedStep(pre, event, step, MAY_CHANGE[type(event)])
        return
    beside = BESIDE.get(type(event), MAY_CHANGE[type(event)])
    met = pre
    for part in step.parts:
        if met is not part.pre:
            yield FramedStep(met, event, step._replace(state=part.pre), beside)
        yield FramedStep(part.pre, part.event, part.step, MAY_CHANGE[type(part.event)])
        met = part.step.state
    if met is not step.state:
        yield FramedStep(met, event, step, beside)


def changes_outside_frame(one: FramedStep) -> list[Change]:
    """What changed though it is not declared."""
    pre, event, step, may_change = one
    found = changes(pre, step.state)
    if not found:
        return []

    def is_in(whose: Extent, key: Key) -> bool:
        return whose is Extent.ALL or IS_IN[whose](pre, event, step, key)

    wrong = undeclared_changes(found, may_change, is_in)
    return undeclared_changes(wrong, OPENED, is_in) if wrong and is_opening(pre, event, step) else wrong


def changes_outside(pre: State, event: Op, step: Step) -> list[Change]:
    """Everything that a step changed outside the frames: its own, and those of its parts."""
    if step.state is pre and not step.parts:
        return []
    return [change for one in framed_steps(pre, event, step) for change in changes_outside_frame(one)]
