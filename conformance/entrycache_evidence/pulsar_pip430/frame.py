"""The frame conditions of `pulsar-pip430`: the changes that each operation may make to the state.

An `Aspect` is a part of the state, such as the mark or the removal queue. An `Extent` says of which keys an aspect may
change, such as the operation's position or its cache. `MAY_CHANGE` holds the declaration of each operation, `STATE` the
shape of the state. `changes_outside` compares the states of a step and returns what no declaration allows. A step with
parts is compared part by part; what lies between two parts is compared with the declaration of the whole operation.
"""

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
from entrycache_reference.pulsar_pip430 import ops, outcomes
from entrycache_reference.pulsar_pip430.laws.law import decides_ranges, removed_entries, walk
from entrycache_reference.pulsar_pip430.ops import Op
from entrycache_reference.pulsar_pip430.state import Cache, State, Step
from entrycache_reference.vocabulary import ABSENT


class Aspect(Enum):
    """An aspect of the state, in words."""

    __hash__ = object.__hash__  # the fastest hash: frames are checked after every step

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
    MANAGED = "the ledgers, and their cursors' positions"
    PERMITS = "the permits, and who waits for them"
    PENDING = "what is asked of storage, and the reads that are open"
    INSERTED = "the inserted entries counted"
    EVICTED = "the evicted entries counted"
    CYCLES = "the eviction cycles counted"
    HITS = "the hits counted, and their bytes"
    MISSES = "the misses counted, and their bytes"


class Extent(Enum):
    """The keys of which an aspect may change, in words; each extent is narrower than the later ones that contain it."""

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
"""The changes that any operation may make in addition when it names a cache that is not open."""

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
"""The changes that a pass may make."""

TRIGGERING: Final[MayChange] = {Aspect.CYCLES: Extent.ALL, Aspect.IS_SCHEDULED: Extent.ALL}
"""The changes that the trigger of an insert may make, besides those of the pass."""

READ_CHANGES: Final[MayChange] = {Aspect.HITS: Extent.ALL, Aspect.MISSES: Extent.ALL, Aspect.HOLDS: Extent.HOLD}
"""The changes that a read may make, besides those of its parts."""


OF_LEDGER: Final[MayChange] = {Aspect.MANAGED: Extent.CACHE}
"""The changes that an operation on a managed ledger may make, besides those of its parts."""

DROPPING: Final[MayChange] = {**OF_LEDGER, Aspect.PENDING: Extent.ALL}
"""The changes of an operation by which all of a cache may be dropped, besides those of its parts."""


BEGINNING: Final[MayChange] = {
    **OF_LEDGER,
    **dict.fromkeys((Aspect.PENDING, Aspect.HOLDS, Aspect.HITS, Aspect.PERMITS), Extent.ALL),
}
"""The changes that the begin of a read in flight may make, besides those of its parts: nothing is filled by then."""

ANSWERING: Final[MayChange] = {**BEGINNING, **dict.fromkeys((Aspect.MANAGED, Aspect.MISSES), Extent.ALL), **TRIGGERING}
"""The changes that an answer of storage may make, besides those of its parts."""


DECIDING: Final[MayChange] = {**BEGINNING, Aspect.MANAGED: Extent.ALL}
"""The changes that any operation may make in addition when reads by cursors get permits by it, or wait too long."""


def removal(whose: Extent) -> MayChange:
    """Return the changes that a removal by a call may make: these entries, and what follows from it."""
    return {Aspect.ENTRIES: whose, Aspect.CACHE_BYTES: Extent.CACHE, **_LEAVING}


# The shape of the state, and the comparison.

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
        KeyedValues(Aspect.MANAGED),
        Record((Aspect.PERMITS, KeyedValues(Aspect.PERMITS), Aspect.PERMITS)),
        Record(
            (KeyedValues(Aspect.PENDING), Aspect.PENDING, KeyedValues(Aspect.PENDING), KeyedValues(Aspect.PENDING)),
        ),
    )
)
"""The shape of the state: one aspect for each field of `State`, and for the fields of its parts, in order."""

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
    ops.Advance: {Aspect.CLOCK: Extent.ALL, Aspect.PERMITS: Extent.ALL},
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
    ops.Read: {**READ_CHANGES, **TRIGGERING},
    ops.ReadOne: READ_CHANGES,
    ops.Release: {Aspect.HOLDS: Extent.HOLD, Aspect.PERMITS: Extent.ALL},
    **dict.fromkeys(
        (
            ops.CursorOpen,
            ops.CursorSeek,
            ops.CursorReset,
            ops.MarkDelete,
            ops.Ack,
            ops.DeleteLedger,
            ops.CheckBacklogs,
        ),
        OF_LEDGER,
    ),
    ops.Append: {**OF_LEDGER, **TRIGGERING},
    ops.CursorRead: {**OF_LEDGER, **READ_CHANGES, **TRIGGERING},
    ops.ReplayRead: {**OF_LEDGER, **READ_CHANGES, **TRIGGERING},
    ops.ReplayAdd: {Aspect.HOLDS: Extent.HOLD, Aspect.PERMITS: Extent.ALL},
    ops.Activate: NOTHING,
    **dict.fromkeys((ops.CursorClose, ops.Deactivate, ops.RunInvalidations), DROPPING),
    ops.CursorState: NOTHING,
    ops.Acquire: {Aspect.PERMITS: Extent.ALL},
    ops.GiveBack: {Aspect.PERMITS: Extent.ALL},
    ops.LimiterState: NOTHING,
    ops.Fetch: {Aspect.PENDING: Extent.ALL},
    **dict.fromkeys((ops.ReadBegin, ops.ReplayBegin), BEGINNING),
    ops.StorageAnswer: ANSWERING,
}
"""The changes that each operation may make."""

BETWEEN_PARTS: Final[Mapping[type[ops.Op], MayChange]] = {
    ops.Insert: TRIGGERING,
}
"""The changes that an operation may make between its parts, if they differ from those without parts."""

changes: Final = build_comparison(STATE)

IsWithin = Callable[[State, Any, Step, Key], bool]
"""Return whether a key is in an extent, given the state before a step, its event and the step."""


def _is_in_range(pre: State, event: Any, step: Step, key: Key) -> bool:
    return key[0] == event.cache and bool(event.first <= key[1] <= event.last)


def _is_taken(pre: State, event: Any, step: Step, key: Key) -> bool:
    """Return whether the pass took this entry, or an entry of this cache."""
    return key in _taken_keys(pre, step)


_taken_memo: list[tuple[Any, frozenset[Key]]] = []


def _taken_keys(pre: State, step: Step) -> frozenset[Key]:
    """Return the entries that the pass took, and their caches; the last result is kept for the next key."""
    if not (_taken_memo and _taken_memo[0][0] is step):
        slots = [take.slot for take in walk(pre, step).takes if take.slot is not None]
        _taken_memo[:] = [(step, frozenset([*slots, *((slot.cache,) for slot in slots)]))]
    return _taken_memo[0][1]


def _is_held_position(pre: State, event: Any, step: Step, key: Key) -> bool:
    return any(held.slot == (event.cache, event.pos) for held in pre.holds.get(key[0], ()))


def _has_left(pre: State, event: Any, step: Step, key: Key) -> bool:
    gone = _gone_entries(pre, step)
    return any(held.slot in gone for held in pre.holds.get(key[0], ()))


_gone_memo: list[tuple[Any, Any, Mapping[Any, int]]] = []


def _gone_entries(pre: State, step: Step) -> Mapping[Any, int]:
    """Return the entries that left in a step; the last result is kept for the next key."""
    if not (_gone_memo and _gone_memo[0][0] is pre and _gone_memo[0][1] is step):
        _gone_memo[:] = [(pre, step, removed_entries(pre, step))]
    return _gone_memo[0][2]


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
"""The meaning of each extent; `Extent.ALL` excludes nothing."""


def is_opening(pre: State, event: Op, step: Step) -> bool:
    """Return whether the step opens the cache that its event names: it is not open, and the step is not refused."""
    name = getattr(event, "cache", ABSENT)
    if name is ABSENT or type(step.outcome) is outcomes.Refused:
        return False
    cache = pre.caches.get(name)
    return cache is None or not cache.is_open


class FramedStep(NamedTuple):
    """A step without parts, one part, or the gap between two parts, with the changes that it may make."""

    pre: State
    event: Op
    step: Step
    may_change: MayChange


def framed_steps(pre: State, event: Op, step: Step) -> Iterator[FramedStep]:
    """Yield every section of a step that has a frame."""
    own = MAY_CHANGE[type(event)]
    if decides_ranges(pre, step):
        own = {**own, **DECIDING}
    if not step.parts:
        yield FramedStep(pre, event, step, own)
        return
    may_change = BETWEEN_PARTS.get(type(event), own)
    previous = pre
    for part in step.parts:
        if previous is not part.pre:
            yield FramedStep(previous, event, step._replace(state=part.pre), may_change)
        yield FramedStep(part.pre, part.event, part.step, MAY_CHANGE[type(part.event)])
        previous = part.step.state
    if previous is not step.state:
        yield FramedStep(previous, event, step, may_change)


def changes_outside_frame(one: FramedStep) -> list[Change]:
    """Return the changes that are not declared."""
    pre, event, step, may_change = one
    differences = changes(pre, step.state)
    if not differences:
        return []

    def is_in(whose: Extent, key: Key) -> bool:
        return whose is Extent.ALL or IS_IN[whose](pre, event, step, key)

    wrong = undeclared_changes(differences, may_change, is_in)
    return undeclared_changes(wrong, OPENED, is_in) if wrong and is_opening(pre, event, step) else wrong


def changes_outside(pre: State, event: Op, step: Step) -> list[Change]:
    """Return the changes of a step outside its frame and the frames of its parts."""
    if step.state is pre and not step.parts:
        return []
    return [change for one in framed_steps(pre, event, step) for change in changes_outside_frame(one)]
