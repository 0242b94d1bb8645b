"""How much playing a case of `kafka-streams` may cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from entrycache_reference.kafka_streams import Config, ops
from entrycache_reference.vocabulary import ABSENT


def effort(config: Config, steps: Sequence[Any]) -> int:
    """How many entries the reference copies at most: each step, and each that a listener performs, copies all once.

    In one step listeners perform their steps as often as the reentry budget lets them.
    """
    every = [inner for op in steps for inner in _with_inner(op)]
    most = max((len(held_by(op)) for op in every), default=0)
    entries = {place for op in every for place in _written(op)}
    return len(steps) * (1 + most * config.reentry_budget) * (1 + len(entries))


def held_by(op: Any) -> tuple[Any, ...]:
    """The operations that an operation holds."""
    held = op.on_flush if isinstance(op, ops.Listen) else op.steps if isinstance(op, ops.OnForward) else ABSENT
    return () if held is ABSENT else held


def _with_inner(op: Any) -> Iterator[Any]:
    yield op
    for inner in held_by(op):
        yield from _with_inner(inner)


def _written(op: Any) -> Iterator[tuple[Any, Any]]:
    """The places that an operation may write to: namespace or store, and key."""
    if isinstance(op, ops.PutAll):
        yield from ((op.ns, write.key) for write in op.entries)
    elif hasattr(op, "key"):
        yield (getattr(op, "ns", None), op.key)
