"""What a subject's limits make of an operation on cursors: another one, or some before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from entrycache_conformance.systems.pulsar_pip430.arguments.arguments import Aim
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.state import State
from entrycache_reference.vocabulary import ABSENT, CacheName, CursorName, Position

Members = Mapping[CursorName, Position | None]


def within_limits(aim: Aim, state: State, op: Any) -> Any:
    """The operation, or what stands for it within the limits of the subject."""
    if isinstance(op, ops.CursorAdd) and not aim.config.evict_by_expected_reads:
        return _into_the_heap(aim, state, op)
    if isinstance(op, ops.Configure) and op.max_requeues is not ABSENT and aim.limits.max_requeues is not None:
        return replace(op, max_requeues=min(aim.limits.max_requeues, op.max_requeues))
    if isinstance(op, ops.CursorRank | ops.Slowest) and not aim.limits.tail_ties:
        return _settled(aim, state, op)
    return op


def members_of(state: State, cache: CacheName) -> Members:
    """The members of a cache."""
    return state.caches[cache].members if cache in state.caches else {}


def _into_the_heap(aim: Aim, state: State, op: ops.CursorAdd) -> Any:
    """A member is moved where it must not be added again; a new one is no member where there is no room."""
    members = members_of(state, op.cache)
    if op.cursor in members:
        return op if aim.limits.readd_members else ops.CursorMove(op.cache, op.cursor, op.pos)
    full = aim.limits.heap_members is not None and len(members) >= aim.limits.heap_members
    return ops.CursorRemove(op.cache, next(iter(members))) if full else op


def _settled(aim: Aim, state: State, op: ops.CursorRank | ops.Slowest) -> Any:
    """The look; if the foremost cursor has left a tie or come to one, after a move of every tracked cursor."""
    now = members_of(state, op.cache)
    before = aim.looked_at.get(op.cache, {})
    aim.looked_at[op.cache] = dict(now)
    if not at_risk(before, now):
        return op
    tracked = [(name, pos) for name, pos in now.items() if pos is not None]
    aim.to_come = [op, *(ops.CursorMove(op.cache, name, pos) for name, pos in tracked)]
    return aim.to_come.pop()


def at_risk(before: Members, now: Members) -> bool:
    """Whether since the last look a cursor moved that may have been the last of the list, and a tie is about.

    It may have been if no cursor that stood before it and stands before it has stayed where it was.
    """
    for name, pos in now.items():
        former = before.get(name)
        if former is None or pos is None or former == pos:
            continue
        others = [other for other in now if other != name]
        if any(_stayed_ahead(before.get(other), now[other], former) for other in others):
            continue
        about = {before.get(other) for other in others} | {now[other] for other in others}
        if former in about or pos in about:
            return True
    return False


def _stayed_ahead(before: Position | None, now: Position | None, former: Position) -> bool:
    return before is not None and before == now and before > former
