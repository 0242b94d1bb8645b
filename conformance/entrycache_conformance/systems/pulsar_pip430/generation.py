"""The plan of one case, the arguments of readers' operations, and rows of operations that follow a single one.

`plan_case` chooses the configuration, the menu of operations and the maker of arguments. Operations of readers are
reads, holds and cursors; cursors are aimed at each other, so that their order matters. `within_limits` replaces an
operation that the limits of the subject do not allow, or puts other operations before it. After an insert a flood of
entries may follow: they exceed bounds inside an implementation. Under the boundary profile a sequel may follow, which
shows whether a step left behind what it had to.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any, Final

from entrycache_conformance.systems.pulsar import make_boundary_places, take_caches
from entrycache_conformance.systems.pulsar_pip430 import entry_arguments, ledger_arguments
from entrycache_conformance.systems.pulsar_pip430.entry_arguments import Aim, hold_of
from entrycache_conformance.systems.pulsar_pip430.workload import (
    ROW_LENGTHS,
    WORKLOADS,
    WorkloadProfile,
    last_level,
    levels_of,
    make_config,
    own_menu,
)
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import CasePlan, Draw, choose
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.state import State
from entrycache_reference.vocabulary import ABSENT, CacheName, CursorName, Position

EXPECTED_READS: Final = (1, 2, 0, 3, 1, -1)


def read(aim: Aim, state: State) -> ops.Read:
    """Make a read near a place: whole hits, partial hits, misses, and sometimes a range that is refused."""
    cache, pos = aim.place(state, live_weight=3)
    first = Position(pos.ledger, max(0, pos.entry - (0, 0, 1, 2)[aim.draw(0, 3)]))
    last = Position(pos.ledger, first.entry + choose(aim.draw, aim.widths))
    kind = aim.draw(0, 19)
    if kind == 18:
        last = Position(pos.ledger + 1, last.entry)
    elif kind == 19:
        first, last = last, first
    counts = (*EXPECTED_READS, *entry_arguments.BOUNDARY_COUNTS) if aim.has_boundary_values else EXPECTED_READS
    count = choose(aim.draw, counts)
    return ops.Read(cache, first, last, count, hold_of(aim, state))


def release(aim: Aim, state: State) -> ops.Release:
    """Release mostly a hold that is open."""
    opened = list(state.holds)
    at = aim.draw(0, 4 * len(opened) + len(aim.holds) - 1)
    return ops.Release(opened[at % len(opened)] if at < 4 * len(opened) else aim.holds[at % len(aim.holds)])


READ_MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "read": read,
    "read_one": lambda aim, state: ops.ReadOne(*aim.place(state), hold_of(aim, state)),
    "release": release,
}


def cache_of(aim: Aim) -> CacheName:
    """Return mostly the first cache, so that cursors meet."""
    at = aim.draw(0, 2 * len(aim.cursor_caches) + 1)
    return aim.cursor_caches[at if at < len(aim.cursor_caches) else 0]


def queried_cache(aim: Aim, state: State) -> CacheName:
    """Return mostly a managed cache if there is one, else a cache whose cursors operations move."""
    return ledger_arguments.managed_cache(aim) if state.managed and aim.draw(0, 2) else cache_of(aim)


def tracked_cursors(state: State, cache: CacheName) -> list[tuple[Position, CursorName]]:
    """Return the tracked cursors of a cache, ascending."""
    if cache not in state.caches:
        return []
    return sorted((pos, name) for name, pos in state.caches[cache].members.items() if pos is not None)


def member(aim: Aim, state: State, cache: CacheName) -> CursorName:
    """Return mostly a member of that cache, else any name."""
    members = list(state.caches[cache].members) if cache in state.caches else []
    at = aim.draw(0, 5 * len(members) + len(aim.cursors) - 1)
    return members[at % len(members)] if at < 5 * len(members) else aim.cursors[at % len(aim.cursors)]


def position(aim: Aim, state: State, cache: CacheName) -> Position | None:
    """Return a position: half of them at or next to another cursor, the rest at places, at ends, or null."""
    kind = aim.draw(0, 9)
    if kind in ((2,) if aim.config.evict_by_expected_reads else (1, 2, 3)) and aim.null_positions:
        return None
    if kind == 3:
        return Position(aim.draw(0, 2) or -1, -1)
    others = tracked_cursors(state, cache) if kind >= 4 else []
    if not others:
        return aim.place(state)[1]
    at = aim.draw(0, 3 * len(others) - 1)
    pos = others[at % len(others)][0]
    return Position(pos.ledger, max(-1, pos.entry + (0, 1, -1)[at // len(others)]))


def cursor_add(aim: Aim, state: State) -> ops.CursorAdd:
    """Make a `cursor_add` of one of a few names, a member or not."""
    cache = cache_of(aim)
    name = aim.cursors[aim.draw(0, len(aim.cursors) - 1)]
    return ops.CursorAdd(cache, name, position(aim, state, cache))


def cursor_move(aim: Aim, state: State) -> ops.CursorMove:
    """Make a move to anywhere or in lockstep, where the last cursor catches up with the first."""
    cache = cache_of(aim)
    others = tracked_cursors(state, cache)
    if aim.draw(0, 2) < 2 or not others:
        return ops.CursorMove(cache, member(aim, state, cache), position(aim, state, cache))
    lowest, last = others[0]
    highest = others[-1][0]
    return ops.CursorMove(cache, last, Position(lowest.ledger, lowest.entry + 1) if lowest == highest else highest)


def cursor_remove(aim: Aim, state: State) -> ops.CursorRemove:
    """Make a `cursor_remove`, mostly of a member; half of them are the only member of their cache."""
    alone = [name for name, cache in state.caches.items() if len(cache.members) == 1]
    at = aim.draw(0, 2 * len(alone)) if alone else 0
    cache = alone[(at - 1) // 2] if at else cache_of(aim)
    return ops.CursorRemove(cache, member(aim, state, cache))


def cursor_rank(aim: Aim, state: State) -> ops.CursorRank:
    """Make a `cursor_rank`, mostly of a member."""
    cache = queried_cache(aim, state)
    return ops.CursorRank(cache, member(aim, state, cache))


MILLISECOND: Final = 1_000_000
MAX_GRACE_MILLIS: Final = 10**9
"""The longest grace period that is waited for."""


def first_use(aim: Aim, state: State) -> list[Any]:
    """Return steps that show that a query opens a cache of a new name: the grace period begins with it."""
    grace_millis = aim.config.effective_grace_millis
    unknown = [name for name in aim.caches if name not in state.caches]
    if not unknown or not aim.menu.issuperset({"usage", "exists", "advance"}):
        return []
    if not 1 <= grace_millis <= MAX_GRACE_MILLIS or aim.draw(0, 3) < 3:
        return []
    cache = unknown[-1]
    looking = (ops.Usage(cache), ops.Exists(cache, aim.fresh[0][1]))[aim.draw(0, 1)]
    return [looking, ops.Advance(grace_millis * MILLISECOND), ops.ShouldCache(cache)]


def should_cache(aim: Aim, state: State) -> Any:
    """Make a `should_cache`, mostly of a cache without readers, where the grace period decides."""
    if steps := first_use(aim, state):
        aim.pending_ops = steps[::-1]
        return aim.pending_ops.pop()
    unread = [name for name, cache in state.caches.items() if not cache.members]
    at = aim.draw(0, 3 * len(unread))
    return ops.ShouldCache(unread[(at - 1) % len(unread)] if at else aim.cache())


CURSOR_MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "cursor_add": cursor_add,
    "cursor_move": cursor_move,
    "cursor_remove": cursor_remove,
    "cursor_rank": cursor_rank,
    "slowest": lambda aim, state: ops.Slowest(queried_cache(aim, state)),
    "cursors": lambda aim, state: ops.Cursors(queried_cache(aim, state)),
    "should_cache": should_cache,
}


Members = Mapping[CursorName, Position | None]


LIMITED: Final = frozenset({ops.CursorAdd, ops.Configure, ops.CursorRank, ops.Slowest})
"""The operations that limits of a subject may replace."""


def within_limits(aim: Aim, state: State, op: Any) -> Any:
    """Return the operation, or its replacement within the limits of the subject."""
    if type(op) not in LIMITED:
        return op
    if isinstance(op, ops.CursorAdd) and not aim.config.evict_by_expected_reads:
        return _into_the_heap(aim, state, op)
    if isinstance(op, ops.Configure) and op.max_requeues is not ABSENT and aim.limits.max_requeues is not None:
        return replace(op, max_requeues=min(aim.limits.max_requeues, op.max_requeues))
    if isinstance(op, ops.CursorRank | ops.Slowest) and not aim.limits.tail_ties and op.cache not in state.managed:
        return _break_ties(aim, state, op)
    return op


def members_of(state: State, cache: CacheName) -> Members:
    """Return the members of a cache."""
    return state.caches[cache].members if cache in state.caches else {}


def _into_the_heap(aim: Aim, state: State, op: ops.CursorAdd) -> Any:
    """Return a move instead of a repeated add, and a removal instead of an add for which there is no room."""
    members = members_of(state, op.cache)
    if op.cursor in members:
        return op if aim.limits.readd_members else ops.CursorMove(op.cache, op.cursor, op.pos)
    full = aim.limits.heap_members is not None and len(members) >= aim.limits.heap_members
    return ops.CursorRemove(op.cache, next(iter(members))) if full else op


def _break_ties(aim: Aim, state: State, op: ops.CursorRank | ops.Slowest) -> Any:
    """Return the query, after a move of every tracked cursor if the foremost one has left a tie or come to one."""
    now = members_of(state, op.cache)
    before = aim.looked_at.get(op.cache, {})
    aim.looked_at[op.cache] = dict(now)
    if not at_risk(before, now):
        return op
    tracked = [(name, pos) for name, pos in now.items() if pos is not None]
    aim.pending_ops = [op, *(ops.CursorMove(op.cache, name, pos) for name, pos in tracked)]
    return aim.pending_ops.pop()


def at_risk(before: Members, now: Members) -> bool:
    """Return whether a cursor at the tail may have moved since the last query while a tie is possible.

    A cursor may have been at the tail if no cursor before it has stayed where it was.
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


def make_sequel(aim: Aim, state: State, op: Any) -> list[Any]:
    """Return the steps that follow an operation, of those in the menu; mostly none."""
    return [step for step in _choose_sequel(aim, state, op) if type(step).name in aim.menu]


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
    size = min(1, aim.max_size)
    if not aim.declaration.payload:
        return replace(first, pos=pos, size=size)
    aim.token += 1
    return replace(first, pos=pos, size=size, token=aim.token)


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
    **READ_MAKERS,
    **CURSOR_MAKERS,
    **ledger_arguments.LEDGER_MAKERS,
    **ledger_arguments.LIMIT_MAKERS,
    **ledger_arguments.PENDING_MAKERS,
}
"""The maker of each operation."""


USUAL_STEPS = 40
"""The usual length of a case of the default profile: about one in so many steps ends it."""

MANY_CURSORS = 12
"""The number of cursor names from which a case goes on longer, so that they meet."""


@cache
def case_menus(whole: tuple[str, ...], traits_of: WorkloadProfile) -> tuple[tuple[str, ...], ...]:
    """Return the menus of a case: everything, or one time in three the last level with what it needs.

    The levels range and queue need each other; two cases in three of levels ledger, inflight and limits stay there.
    """
    often = WORKLOADS[traits_of].often
    weighted = tuple(name for name in whole for _ in range(often.get(name, 1)))
    if last_level(whole) in {"range", "queue"}:
        return (weighted,)
    if last_level(whole) in {"ledger", "inflight", "limits"}:
        return own_menu(weighted), weighted, own_menu(weighted)
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
    traits = traits._replace(fresh=take_caches(traits.fresh, declaration))
    levels = levels_of(menu)
    crosses = bool(levels - {"range", "queue"})
    config = make_config(draw, declaration, menu, traits)
    chosen = choose(draw, case_menus(menu, profile))
    cursor_count = choose(draw, traits.cursor_counts) if "cursors" in levels else 0
    aim = Aim(draw, declaration, config, traits, crosses, cursor_count)
    aim.menu = frozenset(menu)
    if traits.has_boundary_values:
        aim.names = ledger_arguments.draw_boundary_names(draw)
    longer = 3 if cursor_count >= MANY_CURSORS and traits.patience == 1 else 1
    return CasePlan(
        config,
        chosen,
        traits.steps_max * longer,
        USUAL_STEPS * traits.patience * longer * aim.walk.patience,
        partial(make_operation, aim),
        pending=lambda: len(aim.pending_ops),
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
