"""The frames of `pulsar-legacy`: which aspects of the state each operation may change, and of which keys.

`Aspect` and `Extent` are the words of a declaration; `MAY_CHANGE` declares every operation. `STATE` is the shape of the
state. `changes_outside` compares the states before and after a step and returns every change that is not declared.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final

from entrycache_evidence.core.frame import Change, Key, KeyedValues, Record, build_comparison, undeclared_changes
from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.ops import Op
from entrycache_reference.pulsar_legacy.state import Cache, State, Step


class Aspect(Enum):
    """An aspect of the state, in words."""

    __hash__ = object.__hash__  # the fastest hash: frames are checked after every step

    CLOCK = "the clock"
    CACHES = "which caches hold entries"
    ENTRIES = "which entries are cached"
    SIZE = "the size"
    STAMP = "the stamp"
    PAYLOAD = "the payload"
    CACHE_BYTES = "the bytes"
    BYTES = "the manager's bytes"
    SCHEDULED = "the pass that is scheduled"


class Extent(Enum):
    """The part of the state in which an aspect may change, in words."""

    __hash__ = object.__hash__

    RANGE = "its range"
    BELOW = "what is below its position"
    LEDGER = "its ledger"
    CACHE = "its cache"
    ALL = "all"


MayChange = Mapping[Aspect, Extent]

NO_CHANGE: Final[MayChange] = {}

PASS: Final[MayChange] = {
    Aspect.CACHES: Extent.ALL,
    Aspect.ENTRIES: Extent.ALL,
    Aspect.CACHE_BYTES: Extent.ALL,
    Aspect.BYTES: Extent.ALL,
}
"""The changes that a size pass over all caches may make."""

ADDING: Final[MayChange] = {
    **PASS,
    Aspect.SIZE: Extent.CACHE,
    Aspect.STAMP: Extent.CACHE,
    Aspect.PAYLOAD: Extent.CACHE,
    Aspect.SCHEDULED: Extent.ALL,
}
"""The changes of an insert: its pass removes entries, and one of these may be inserted anew."""


def removal(whose: Extent) -> MayChange:
    """Return the changes that a removal from one cache may make: these entries, and the sums."""
    return {
        Aspect.CACHES: Extent.CACHE,
        Aspect.ENTRIES: whose,
        Aspect.CACHE_BYTES: Extent.CACHE,
        Aspect.BYTES: Extent.ALL,
    }


# The shape of the state, and the comparison.

ENTRY: Final = Record((Aspect.SIZE, Aspect.STAMP, Aspect.PAYLOAD))

STATE: Final = Record(
    (
        Aspect.CLOCK,
        KeyedValues(Aspect.CACHES, Record((KeyedValues(Aspect.ENTRIES, ENTRY), Aspect.CACHE_BYTES)), Cache({}, 0)),
        Aspect.BYTES,
        Aspect.SCHEDULED,
    )
)
"""The aspects of the state, one for each field of `State` and of its parts, in order."""

MAY_CHANGE: Final[Mapping[type[ops.Op], MayChange]] = {
    ops.Insert: ADDING,
    ops.Get: NO_CHANGE,
    ops.GetRange: NO_CHANGE,
    ops.Exists: NO_CHANGE,
    ops.RemoveRange: removal(Extent.RANGE),
    ops.Clear: removal(Extent.CACHE),
    ops.InvalidateBefore: removal(Extent.BELOW),
    ops.InvalidateLedger: removal(Extent.LEDGER),
    ops.RemoveCache: removal(Extent.CACHE),
    ops.Usage: NO_CHANGE,
    ops.Observe: NO_CHANGE,
    ops.Advance: {Aspect.CLOCK: Extent.ALL},
    ops.Expire: removal(Extent.CACHE),
    ops.Evict: PASS,
    ops.EvictCache: removal(Extent.CACHE),
    ops.RunScheduled: {**PASS, Aspect.SCHEDULED: Extent.ALL},
    ops.Read: ADDING,
    ops.ReadOne: NO_CHANGE,
}
"""The changes that each operation may make."""

BETWEEN_PARTS: Final[Mapping[type[ops.Op], MayChange]] = {}
"""The changes that an operation may make between its parts, if they differ from those without parts."""

changes: Final = build_comparison(STATE)

IS_IN: Final[dict[Extent, Callable[[Any, Key], bool]]] = {
    Extent.RANGE: lambda event, key: key[0] == event.cache and event.first <= key[1] <= event.last,
    Extent.BELOW: lambda event, key: key[0] == event.cache and key[1] < event.pos,
    Extent.LEDGER: lambda event, key: key[0] == event.cache and key[1].ledger == event.ledger,
    Extent.CACHE: lambda event, key: key[0] == event.cache,
    Extent.ALL: lambda event, key: True,
}
"""The meaning of each word of a declaration."""


def changes_outside(pre: State, event: Op, step: Step) -> list[Change]:
    """Return every change of a step that its operation does not declare."""
    return undeclared_changes(
        changes(pre, step.state), MAY_CHANGE[type(event)], lambda whose, key: IS_IN[whose](event, key)
    )
