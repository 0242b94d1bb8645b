"""The plan of one case, and rows of operations that follow a single one.

`plan_case` chooses the configuration, the menu of operations and the maker of arguments. After an insert a flood of
entries may follow: they exceed bounds inside an implementation. Under the boundary profile a sequel may follow, which
shows whether a step left behind what it had to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any, Final

from entrycache_conformance.systems.pulsar import make_boundary_places
from entrycache_conformance.systems.pulsar_pip430 import entry_arguments, reader_arguments
from entrycache_conformance.systems.pulsar_pip430.entry_arguments import Aim
from entrycache_conformance.systems.pulsar_pip430.reader_arguments import within_limits
from entrycache_conformance.systems.pulsar_pip430.workload import (
    LEVEL_OF,
    ROW_LENGTHS,
    WORKLOADS,
    WorkloadProfile,
    last_level,
    make_config,
    own_menu,
)
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import CasePlan, Draw, choose
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.state import State
from entrycache_reference.vocabulary import ABSENT, CursorName, Position

FLOOD_SIZES: Final = (1, 10, 0, 7, 30)
FLOOD_COUNTS: Final = (ABSENT, 1, 101, None, 2, 1_001, 70_000)
FLOOD_OFFSET: Final = 10
"""The distance of the first entry of a flood from the places that other operations use."""


def make_flood(aim: Aim, first: ops.Insert) -> list[ops.Insert]:
    """Return inserts that follow one, in its cache and ledger; the first to play is the last of the list."""
    number = aim.draw(0, aim.flood)
    size = min(aim.max_size, choose(aim.draw, FLOOD_SIZES))
    if aim.room_bytes is not None:
        size = min(size, aim.room_bytes // max(1, number))
        aim.room_bytes -= number * size
    count = choose(aim.draw, FLOOD_COUNTS)
    start = first.pos.entry + FLOOD_OFFSET
    offers = []
    for index in range(number):
        pos = Position(first.pos.ledger, start + index)
        offer = replace(first, pos=pos, size=size, expected_reads=count if index % 3 else ABSENT)
        if aim.declaration.payload:
            aim.token += 1
            offer = replace(offer, token=aim.token)
        offers.append(offer)
    return offers[::-1]


MILLISECOND: Final = 1_000_000
MAX_GRACE_MILLIS: Final = 10**9
"""The longest grace period that is waited for."""


def make_sequel(aim: Aim, state: State, op: Any) -> list[Any]:
    """Return the steps that follow an operation; mostly none, and none if the subject lacks one of them."""
    steps = _choose_sequel(aim, state, op)
    return steps if all(type(step).name in aim.declaration.ops for step in steps) else []


def _choose_sequel(aim: Aim, state: State, op: Any) -> list[Any]:
    if isinstance(op, ops.Insert) and op.size < 0:
        return _unopened(aim, state, op)
    if isinstance(op, ops.Insert) and aim.draw(0, 7) == 7:
        return _row_of_entries(aim, op)
    if isinstance(op, ops.RunScheduled | ops.Clear) and state.is_scheduled:
        return _nothing_scheduled(aim, op)
    if isinstance(op, ops.CursorAdd) and aim.draw(0, 5) == 5:
        return _many_cursors(aim, op)
    if isinstance(op, ops.Configure):
        return [ops.Observe()]
    return []


def _unopened(aim: Aim, state: State, op: ops.Insert) -> list[Any]:
    """Return steps that show that a refused step opens nothing: the grace period begins with the next one."""
    grace_millis = aim.config.effective_grace_millis
    if not aim.cursors or op.cache in state.caches or not 2 <= grace_millis <= MAX_GRACE_MILLIS:
        return []
    rest = (grace_millis - 1) * MILLISECOND
    return [ops.Advance(2 * MILLISECOND), ops.ShouldCache(op.cache), ops.Advance(rest), ops.ShouldCache(op.cache)]


def _row_of_entries(aim: Aim, first: ops.Insert) -> list[Any]:
    """Return a row of neighbouring entries, and steps that read, show, and evict or remove all of them."""
    number = choose(aim.draw, ROW_LENGTHS)
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
    queries: list[Any] = [ops.GetRange(first.cache, *ends), ops.Observe()]
    return (
        [*offers, *queries, ops.Evict(number), ops.Observe()]
        if kind
        else [*offers, *queries, ops.RemoveRange(first.cache, *ends, True)]
    )


def _offer(aim: Aim, first: ops.Insert, pos: Position) -> ops.Insert:
    if not aim.declaration.payload:
        return replace(first, pos=pos, size=1)
    aim.token += 1
    return replace(first, pos=pos, size=1, token=aim.token)


def _nothing_scheduled(aim: Aim, op: Any) -> list[Any]:
    """Return steps below a lowered limit that show whether a pass is still scheduled."""
    if not aim.declaration.varies("max_size_bytes"):
        return []
    cache, pos = aim.fresh[0]
    refill = [_offer(aim, ops.Insert(cache, pos, 1), pos)] if isinstance(op, ops.Clear) else []
    return [*refill, ops.Configure(max_size_bytes=1), ops.RunScheduled()]


def _many_cursors(aim: Aim, op: ops.CursorAdd) -> list[Any]:
    """Return so many cursors, each behind the last, that a small table of them is full, and queries of their ranks."""
    if not aim.config.evict_by_expected_reads or not aim.limits.tail_ties or op.pos is None or op.pos.entry < 0:
        return []
    number = choose(aim.draw, ROW_LENGTHS[:5])
    names = [CursorName(f"s{100 + at}") for at in range(number)]
    adds: list[Any] = [
        ops.CursorAdd(op.cache, name, Position(op.pos.ledger, op.pos.entry + at)) for at, name in enumerate(names)
    ]
    queries = [ops.CursorRank(op.cache, names[-1]), ops.CursorRank(op.cache, names[0]), ops.Slowest(op.cache)]
    return [*adds, *queries, ops.Cursors(op.cache)]


MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    **entry_arguments.RANGE_MAKERS,
    **entry_arguments.QUEUE_MAKERS,
    **entry_arguments.MANAGER_MAKERS,
    **reader_arguments.READ_MAKERS,
    **reader_arguments.CURSOR_MAKERS,
}
"""The maker of each operation."""


USUAL_STEPS = 40
"""The usual length of a case of the default profile: about one in so many steps ends it."""

MANY_CURSORS = 12
"""The number of cursor names from which a case goes on longer, so that they meet."""


@cache
def case_menus(whole: tuple[str, ...], traits_of: WorkloadProfile) -> tuple[tuple[str, ...], ...]:
    """Return the menus of a case: everything, or one time in three the last level with what it needs.

    The levels range and queue need each other.
    """
    often = WORKLOADS[traits_of].often
    weighted = tuple(name for name in whole for _ in range(often.get(name, 1)))
    if last_level(whole) in {"range", "queue"}:
        return (weighted,)
    return weighted, weighted, own_menu(weighted)


def plan_case(
    draw: Draw, declaration: Declaration, menu: tuple[str, ...], workload: WorkloadProfile | None
) -> CasePlan:
    """Plan a case of these operations."""
    profile = WorkloadProfile.DEFAULT if workload is None else workload
    traits = (
        WORKLOADS[profile]._replace(fresh=make_boundary_places(draw))
        if WORKLOADS[profile].has_boundary_values
        else WORKLOADS[profile]
    )
    levels = {LEVEL_OF[name] for name in menu}
    crosses = bool(levels - {"range", "queue"})
    config = make_config(draw, declaration, menu, traits)
    chosen = choose(draw, case_menus(menu, profile))
    cursor_count = choose(draw, traits.cursor_counts) if "cursors" in levels else 0
    aim = Aim(draw, declaration, config, traits, crosses, cursor_count)
    longer = 3 if cursor_count >= MANY_CURSORS and traits.patience == 1 else 1
    return CasePlan(
        config, chosen, traits.steps_max * longer, USUAL_STEPS * traits.patience * longer, partial(make_operation, aim)
    )


def make_operation(aim: Aim, name: str, state: State) -> Any:
    """Make an operation of that name for that state."""
    if aim.pending_ops:
        return aim.pending_ops.pop()
    op = within_limits(aim, state, MAKERS[name](aim, state))
    if aim.flood and isinstance(op, ops.Insert) and aim.draw(0, 2) == 2:
        aim.pending_ops = make_flood(aim, op)
    if aim.has_boundary_values and not aim.pending_ops:
        aim.pending_ops = make_sequel(aim, state, op)[::-1]
    return op


__all__ = ["MAKERS", "Aim"]
