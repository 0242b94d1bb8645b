"""The limits of a subject of `pulsar-pip430`, and the bounds of a case.

`Limits` are what a subject declares that it cannot take. `unsupported_reason` says why a subject cannot
play a case, and `cost_bound` how much playing it may cost.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from entrycache_protocol import system
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import bounded_field
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.ops import OPS
from entrycache_reference.vocabulary import CacheName, Position


@dataclass(frozen=True, slots=True)
class Limits(system.Limits):
    """The limits of `pulsar-pip430`.

    Without `readd_members` a member of the heap container must not be added again. `heap_members` is the largest number
    of members of a heap container. Without `tail_ties`, ties at the foremost cursor are avoided: when it has left a tie
    or come to one, every tracked cursor moves before the next query, if only to its own position.
    """

    null_positions: bool = True
    readd_members: bool = True
    heap_members: int | None = bounded_field(1, None)
    tail_ties: bool = True
    max_requeues: int | None = bounded_field(0, None)

    @property
    def hides_rules(self) -> bool:
        """True without null positions: their rules can hardly fire."""
        return not self.null_positions

    def lifted(self) -> Limits:
        """Return the limits lifted for a comparison: ties at the tail make wrong ranks, but still an answer."""
        return dataclasses.replace(self, max_steps=None, tail_ties=True)


OPS_BELOW_TRIGGER: Final = frozenset(op.name for op in OPS if op.level in {"range", "queue"})
"""The operations of the levels at which no insert crosses the trigger."""


def unsupported_reason(declaration: Declaration, config: Config, steps: Sequence[Any]) -> str:
    """Return the reason why the subject cannot play the case; empty if it can."""
    trigger = int(config.max_size_bytes * 0.98)
    inserted = sum(max(0, step.size) for step in steps if step.name == "insert")
    if config.max_size_bytes and inserted > trigger and not declaration.ops - OPS_BELOW_TRIGGER:
        return (
            f"the case inserts {inserted} bytes, above the trigger of {trigger}: it is one of level manager, and "
            "the subject offers no operation of that level; "
            "expected max_size_bytes 0, or a trigger not below the sizes inserted"
        )
    nulls = [index for index, op in enumerate(steps) if getattr(op, "pos", op) is None]
    if nulls and not declaration.limits.null_positions and "limits.null_positions" not in declaration.findings:
        return f"the subject takes no null positions, and step {nulls[0]} of the case has one"
    return ""


MAX_LISTED_POSITIONS: Final = 1_000
"""The number of positions of one read that are counted one by one."""


def cost_bound(config: Config, steps: Sequence[Any]) -> int:
    """Return how many entries the reference copies at most.

    Each step copies the cache once, and a read once per position. In addition a pass puts entries with a count back as
    often as the requeue budget allows.
    """
    named: set[tuple[CacheName, Position]] = set()
    others = counted = copied = 0
    budgets = [config.max_requeues]
    for op in steps:
        times = 1
        if isinstance(op, ops.Insert):
            named.add((op.cache, op.pos))
            counted += isinstance(op.expected_reads, int) and op.expected_reads > 0
        elif isinstance(op, ops.Read):
            times = max(1, op.last.entry - op.first.entry + 1)
            counted += times if op.expected_reads > 0 else 0
            if times > MAX_LISTED_POSITIONS:
                others += times
            else:
                named |= {(op.cache, op.first._replace(entry=op.first.entry + at)) for at in range(times)}
        elif isinstance(op, ops.ExpectRead):
            counted += 1
        elif isinstance(op, ops.Configure) and isinstance(op.max_requeues, int):
            budgets.append(op.max_requeues)
        copied += times * (len(named) + others + 1)
    return copied + counted * max(0, *budgets) * (len(named) + others)
