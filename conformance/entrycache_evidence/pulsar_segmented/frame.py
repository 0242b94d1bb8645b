"""The frames of `pulsar-segmented`: which aspects of the state each operation may change, and of which segments.

`Aspect` and `Extent` are the words of a declaration; `MAY_CHANGE` declares every operation. `STATE` is the shape of the
state. `changes_outside` compares the states before and after a step and returns every change that is not declared.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from entrycache_evidence.core.frame import Change, Key, KeyedValues, Record, build_comparison, undeclared_changes
from entrycache_reference.pulsar_segmented import ops
from entrycache_reference.pulsar_segmented.ops import Op
from entrycache_reference.pulsar_segmented.state import State, Step


class Aspect(Enum):
    """An aspect of the state, in words."""

    __hash__ = object.__hash__  # the fastest hash: frames are checked after every step

    SEGMENTS = "which segments there are"
    ENTRIES = "which entries are cached"
    OFFSET = "the offset"
    CURRENT = "which segment is current"
    SEGMENT_BYTES = "the bytes of a segment"


class Extent(Enum):
    """The part of the state in which an aspect may change, in words."""

    __hash__ = object.__hash__

    TAKING = "the segment that is current afterwards"
    BOTH_CURRENT = "the segments that are current before and afterwards"
    ALL = "all"


MayChange = Mapping[Aspect, Extent]

NO_CHANGE: Final[MayChange] = {}

TAKES: Final[MayChange] = {
    Aspect.ENTRIES: Extent.TAKING,
    Aspect.OFFSET: Extent.BOTH_CURRENT,
    Aspect.CURRENT: Extent.ALL,
}
"""The changes that an insert may make."""


# The shape of the state, and the comparison.

STATE: Final = Record(
    (KeyedValues(Aspect.SEGMENTS, Record((Aspect.ENTRIES, Aspect.OFFSET))), Aspect.CURRENT, Aspect.SEGMENT_BYTES),
)
"""The aspects of the state, one for each field of `State` and of its parts, in order."""

MAY_CHANGE: Final[Mapping[type[ops.Op], MayChange]] = {
    ops.Insert: TAKES,
    ops.Get: NO_CHANGE,
    ops.GetRange: NO_CHANGE,
    ops.Usage: NO_CHANGE,
    ops.Observe: NO_CHANGE,
}
"""The changes that each operation may make."""

BETWEEN_PARTS: Final[Mapping[type[ops.Op], MayChange]] = {}
"""The changes that an operation may make between its parts, if they differ from those without parts."""

changes: Final = build_comparison(STATE)


def changes_outside(pre: State, event: Op, step: Step) -> list[Change]:
    """Return every change of a step that its operation does not declare."""
    if step.state is pre:
        return []
    taking = step.state.current

    def is_in(whose: Extent, key: Key) -> bool:
        return {
            Extent.ALL: True,
            Extent.TAKING: key == (taking,),
            Extent.BOTH_CURRENT: key in {(taking,), (pre.current,)},
        }[whose]

    return undeclared_changes(changes(pre, step.state), MAY_CHANGE[type(event)], is_in)
