"""What follows an odd step: the steps that show whether it left behind what it had to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from entrycache_conformance.systems.pulsar_pip430.arguments.arguments import Aim
from entrycache_conformance.systems.pulsar_pip430.odd import ROWS
from entrycache_protocol.draw import choose
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.state import State
from entrycache_reference.vocabulary import ABSENT, CursorName, Position

MILLISECOND: Final = 1_000_000
SHORT_MILLIS: Final = 10**9
"""Grace periods up to here are waited for."""


def sequel(aim: Aim, state: State, op: Any) -> list[Any]:
    """The steps that follow, in their order; none where the subject lacks one of them, and mostly none."""
    steps = _sequel(aim, state, op)
    return steps if all(type(step).name in aim.declaration.ops for step in steps) else []


def _sequel(aim: Aim, state: State, op: Any) -> list[Any]:
    if isinstance(op, ops.Insert) and op.size < 0:
        return _unopened(aim, state, op)
    if isinstance(op, ops.Insert) and aim.draw(0, 7) == 7:
        return _row(aim, op)
    if isinstance(op, ops.RunScheduled | ops.Clear) and state.is_scheduled:
        return _nothing_scheduled(aim, op)
    if isinstance(op, ops.CursorAdd) and aim.draw(0, 5) == 5:
        return _crowd(aim, op)
    if isinstance(op, ops.Configure):
        return [ops.Observe()]
    return []


def _unopened(aim: Aim, state: State, op: ops.Insert) -> list[Any]:
    """A refused step opens nothing: the grace period begins with the next one that names the cache."""
    grace_millis = aim.config.effective_grace_millis
    if not aim.cursors or op.cache in state.caches or not 2 <= grace_millis <= SHORT_MILLIS:
        return []
    rest = (grace_millis - 1) * MILLISECOND
    return [ops.Advance(2 * MILLISECOND), ops.ShouldCache(op.cache), ops.Advance(rest), ops.ShouldCache(op.cache)]


def _row(aim: Aim, first: ops.Insert) -> list[Any]:
    """So many entries side by side, then all of them read, looked at and evicted, or removed, or read for storage."""
    number = choose(aim.draw, ROWS)
    if aim.room_bytes is not None:
        if aim.room_bytes < number:
            return []
        aim.room_bytes -= number
    start = first.pos.entry + 10
    offers: list[Any] = [_offer(aim, first, Position(first.pos.ledger, start + at)) for at in range(number)]
    ends = (Position(first.pos.ledger, start), Position(first.pos.ledger, start + number - 1))
    kind = aim.draw(0, 2)
    if kind == 2 and aim.crosses and "read" in aim.declaration.ops:
        return [ops.Read(first.cache, *ends, 1, ABSENT), ops.Observe()]
    looks: list[Any] = [ops.GetRange(first.cache, *ends), ops.Observe()]
    return (
        [*offers, *looks, ops.Evict(number), ops.Observe()]
        if kind
        else [*offers, *looks, ops.RemoveRange(first.cache, *ends, True)]
    )


def _offer(aim: Aim, first: ops.Insert, pos: Position) -> ops.Insert:
    if not aim.declaration.payload:
        return replace(first, pos=pos, size=1)
    aim.token += 1
    return replace(first, pos=pos, size=1, token=aim.token)


def _nothing_scheduled(aim: Aim, op: Any) -> list[Any]:
    """Below a lowered limit a pass that is scheduled still, or no more, is seen."""
    if not aim.declaration.varies("max_size_bytes"):
        return []
    cache, pos = aim.fresh[0]
    refill = [_offer(aim, ops.Insert(cache, pos, 1), pos)] if isinstance(op, ops.Clear) else []
    return [*refill, ops.Configure(max_size_bytes=1), ops.RunScheduled()]


def _crowd(aim: Aim, op: ops.CursorAdd) -> list[Any]:
    """So many cursors that a small table of them is full, each behind the last; then their ranks."""
    if not aim.config.evict_by_expected_reads or not aim.limits.tail_ties or op.pos is None or op.pos.entry < 0:
        return []
    number = choose(aim.draw, ROWS[:5])
    names = [CursorName(f"s{100 + at}") for at in range(number)]
    adds: list[Any] = [
        ops.CursorAdd(op.cache, name, Position(op.pos.ledger, op.pos.entry + at)) for at, name in enumerate(names)
    ]
    looks = [ops.CursorRank(op.cache, names[-1]), ops.CursorRank(op.cache, names[0]), ops.Slowest(op.cache)]
    return [*adds, *looks, ops.Cursors(op.cache)]
