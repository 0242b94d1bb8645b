"""The law of frames: a step changes what its operation declares, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from entrycache_reference.frame import Change, Key, Keyed, Record, comparing, undeclared
from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.ops import Op
from entrycache_reference.pulsar_legacy.ops.frame import ADDING, NOTHING, PASS, MayChange, Of, What, removal
from entrycache_reference.pulsar_legacy.state import Cache, State, Step

ENTRY: Final = Record((What.SIZE, What.STAMP, What.PAYLOAD))

STATE: Final = Record(
    (
        What.CLOCK,
        Keyed(What.CACHES, Record((Keyed(What.ENTRIES, ENTRY), What.CACHE_BYTES)), Cache({}, 0)),
        What.BYTES,
        What.SCHEDULED,
    )
)
"""The aspects of the state: one for each field of `State`, and of what it is made of, in their order."""

MAY_CHANGE: Final[Mapping[type[ops.Op], MayChange]] = {
    ops.Insert: ADDING,
    ops.Get: NOTHING,
    ops.GetRange: NOTHING,
    ops.Exists: NOTHING,
    ops.RemoveRange: removal(Of.RANGE),
    ops.Clear: removal(Of.CACHE),
    ops.InvalidateBefore: removal(Of.BELOW),
    ops.InvalidateLedger: removal(Of.LEDGER),
    ops.RemoveCache: removal(Of.CACHE),
    ops.Usage: NOTHING,
    ops.Observe: NOTHING,
    ops.Advance: {What.CLOCK: Of.ALL},
    ops.Expire: removal(Of.CACHE),
    ops.Evict: PASS,
    ops.EvictCache: removal(Of.CACHE),
    ops.RunScheduled: {**PASS, What.SCHEDULED: Of.ALL},
    ops.Read: ADDING,
    ops.ReadOne: NOTHING,
}
"""What each operation may change."""

BESIDE: Final[Mapping[type[ops.Op], MayChange]] = {}
"""What an operation may change beside its parts, where that is not what it may change without any."""

changes: Final = comparing(STATE)

IS_IN: Final[dict[Of, Callable[[Any, Key], bool]]] = {
    Of.RANGE: lambda event, key: key[0] == event.cache and event.first <= key[1] <= event.last,
    Of.BELOW: lambda event, key: key[0] == event.cache and key[1] < event.pos,
    Of.LEDGER: lambda event, key: key[0] == event.cache and key[1].ledger == event.ledger,
    Of.CACHE: lambda event, key: key[0] == event.cache,
    Of.ALL: lambda event, key: True,
}
"""What each word of a declaration means."""


def outside(pre: State, event: Op, step: Step) -> list[Change]:
    """Everything that a step changed outside the frame of its operation."""
    return undeclared(changes(pre, step.state), MAY_CHANGE[type(event)], lambda whose, key: IS_IN[whose](event, key))
