"""The law of frames: a step changes what its operation declares, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from entrycache_reference.frame import Change, Key, Keyed, Record, comparing, undeclared
from entrycache_reference.pulsar_segmented import ops
from entrycache_reference.pulsar_segmented.ops import Op
from entrycache_reference.pulsar_segmented.ops.frame import NOTHING, TAKES, MayChange, Of, What
from entrycache_reference.pulsar_segmented.state import State, Step

STATE: Final = Record(
    (Keyed(What.SEGMENTS, Record((What.ENTRIES, What.OFFSET))), What.CURRENT, What.SEGMENT_BYTES),
)
"""The aspects of the state: one for each field of `State`, and of what it is made of, in their order."""

MAY_CHANGE: Final[Mapping[type[ops.Op], MayChange]] = {
    ops.Insert: TAKES,
    ops.Get: NOTHING,
    ops.GetRange: NOTHING,
    ops.Usage: NOTHING,
    ops.Observe: NOTHING,
}
"""What each operation may change."""

BESIDE: Final[Mapping[type[ops.Op], MayChange]] = {}
"""What an operation may change beside its parts, where that is not what it may change without any."""

changes: Final = comparing(STATE)


def outside(pre: State, event: Op, step: Step) -> list[Change]:
    """Everything that a step changed outside the frame of its operation."""
    if step.state is pre:
        return []
    taking = step.state.current

    def is_in(whose: Of, key: Key) -> bool:
        return {Of.ALL: True, Of.TAKING: key == (taking,), Of.TRIED: key in {(taking,), (pre.current,)}}[whose]

    return undeclared(changes(pre, step.state), MAY_CHANGE[type(event)], is_in)
