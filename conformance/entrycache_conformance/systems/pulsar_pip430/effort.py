"""How much playing a case of `pulsar-pip430` may cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.vocabulary import CacheName, Position

FEW: Final = 1_000
"""Positions of one read that are looked at one by one."""


def effort(config: Config, steps: Sequence[Any]) -> int:
    """How many entries the reference copies at most: each step copies the cache once, a read once a position.

    Beside that a pass puts entries with a count back, each as often as the budget of requeues lets it.
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
            if times > FEW:
                others += times
            else:
                named |= {(op.cache, op.first._replace(entry=op.first.entry + at)) for at in range(times)}
        elif isinstance(op, ops.ExpectRead):
            counted += 1
        elif isinstance(op, ops.Configure) and isinstance(op.max_requeues, int):
            budgets.append(op.max_requeues)
        copied += times * (len(named) + others + 1)
    return copied + counted * max(0, *budgets) * (len(named) + others)
