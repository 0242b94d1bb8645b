"""Arguments of the operations on entries, passes and settings.

At least half of the numbers are thresholds of the reference's state, or next to one. The makers share an `Aim`, which
holds the draws, the small set of places and the limits of one case. Each table of makers belongs to one level: `range`,
`queue` and `manager`.
"""

from collections.abc import Callable
from typing import Any, Final

from entrycache_conformance.systems.pulsar import PlaceWalk, add_sizes, narrow_range, take_names
from entrycache_conformance.systems.pulsar_pip430 import workload
from entrycache_conformance.systems.pulsar_pip430.workload import HOLDS, Limits, WorkloadParameters
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import Draw, choose
from entrycache_reference.pulsar_pip430 import decision, ops
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.state import State
from entrycache_reference.vocabulary import ABSENT, INTEGER_MAX, Absent, CacheName, CursorName, HoldName, Position

FIRST_TOKEN = 1_001
"""The first payload of inserts; payloads of fills are smaller."""


class Aim:
    """The state of the makers of one case.

    `room_bytes` is what can still be inserted without crossing the trigger; None means that it may be crossed.
    `looked_at` holds the cursors of a cache at its last query. `pending_ops` are operations that are made already, the
    next one last. `names` are those of managed ledgers, of requests for permits and of reads that overlap in time,
    and `menu` names the operations that the case may have.
    """

    def __init__(
        self,
        draw: Draw,
        declaration: Declaration,
        config: Config,
        traits: WorkloadParameters,
        crosses: bool,
        cursor_count: int,
    ) -> None:
        self.draw = draw
        self.config = config
        self.declaration = declaration
        self.fresh = traits.fresh
        self.walk = PlaceWalk(draw, traits.fresh if traits.has_boundary_values else ())
        self.caches = traits.caches
        self.widths = traits.widths
        self.flood = traits.flood
        self.rollovers = traits.rollovers
        self.has_boundary_values = traits.has_boundary_values
        self.crosses = crosses
        self.cursor_caches = traits.caches[: traits.cursor_caches]
        self.cursors = tuple(CursorName(f"s{number}") for number in range(cursor_count))
        self.holds = HOLDS
        self.names = workload.LedgerNames()
        self.menu: frozenset[str] = frozenset()
        self.read_counts: tuple[int | None | Absent, ...] = READ_COUNTS
        if traits.has_boundary_values:
            self.cursors = tuple(map(CursorName, take_names(draw, cursor_count, self.cursors)))
            self.holds = tuple(map(HoldName, take_names(draw, len(HOLDS), HOLDS)))
            self.read_counts = (*READ_COUNTS, *BOUNDARY_COUNTS)
        self.limits: Limits = declaration.limits
        self.null_positions = declaration.limits.null_positions
        self.looked_at: dict[CacheName, dict[CursorName, Position | None]] = {}
        self.pending_ops: list[Any] = []
        self.max_size: int = declaration.limits.max_size
        self.sizes, self.boundary_sizes, self.small_sizes = (
            add_sizes(menu, declaration.sizes) for menu in (SIZES, workload.BOUNDARY_SIZES, SMALL_SIZES)
        )
        self.room_bytes = None if crosses or config.max_size_bytes == 0 else int(config.max_size_bytes * 0.98)
        self.token = FIRST_TOKEN

    def offers(self, *names: str) -> bool:
        """Return whether the subject has all these operations."""
        return self.declaration.ops.issuperset(names)

    def cache(self) -> CacheName:
        """Return a name of a cache, known or not."""
        return self.caches[self.draw(0, len(self.caches) - 1)]

    def place(self, state: State, live_weight: int = 4) -> tuple[CacheName, Position]:
        """Return a place, cached or not, by one number. Key spaces are small, so that operations meet."""
        if (near := self.walk.next_place()) is not None:
            return near
        fresh = self.fresh
        queue = state.queue
        at = self.draw(0, len(fresh) + live_weight * len(queue) - 1)
        slot = None if at < len(fresh) else queue[(at - len(fresh)) % len(queue)]
        place = slot or fresh[at % len(fresh)]
        self.walk.note((place[0], place[1]))
        return place

    def near(self, thresholds: list[int]) -> int:
        """Return a threshold, one above it, or one below it, by one number."""
        at = self.draw(0, 3 * len(thresholds) - 1)
        return thresholds[at % len(thresholds)] + (0, 1, -1)[at // len(thresholds)]

    def ages(self, state: State) -> list[int]:
        """Return the ages at which a time pass would decide differently."""
        ages = {0}
        for slot in state.queue:
            if slot is not None:
                ages.add(state.now_nanos - state.caches[slot.cache].entries[slot.pos].stamp_nanos)
        return sorted(ages)


def hold_of(aim: Aim, state: State) -> HoldName | Absent:
    """Return a hold for half of the reads, mostly under a free name."""
    at = aim.draw(0, 8)
    if at < 4:
        return ABSENT
    free = [name for name in aim.holds if name not in state.holds]
    if at == 8 or not free:
        return aim.holds[at % len(aim.holds)] if at == 8 else ABSENT
    return free[at % len(free)]


SIZES: Final = (1, 2, 3, 10, 0, 7, 1, 2, 0, 5, 100, 9_999, -1)
SMALL_SIZES: Final = (1, 2, 3, 10, 0, 7, 5, 30, -1)
READ_COUNTS: Final[tuple[int | None | Absent, ...]] = (ABSENT, 1, 2, 1, 3, None, 0, -1)
BOUNDARY_COUNTS: Final = (256 + 1, 65_536 + 2)
"""Expected reads that are 1 and 2 in shorter integers."""

AIMED_BYTES_MAX: Final = 10_000
"""The greatest limit that sizes aim at; no subject must hold more for that."""


def size_of(aim: Aim, state: State) -> int:
    """Return a size. If the trigger may be crossed, half of the sizes reach it, the target or the limit."""
    limit = state.settings.max_size_bytes
    if aim.has_boundary_values and aim.room_bytes is None and 0 < limit <= AIMED_BYTES_MAX and aim.draw(0, 1) == 1:
        return min(aim.max_size, max(0, aim.near(_to_the_target(state))))
    if aim.room_bytes is None and 0 < limit <= AIMED_BYTES_MAX:
        at = aim.draw(0, 2 * len(aim.small_sizes) - 1)
        if at < len(aim.small_sizes):
            return min(aim.max_size, aim.small_sizes[at])
        wanted = [
            bound - state.size_bytes for bound in (decision.trigger_bytes(state), decision.target_bytes(state), limit)
        ]
        return min(aim.max_size, max(0, aim.near(wanted)))
    size: int = min(aim.max_size, choose(aim.draw, aim.boundary_sizes if aim.has_boundary_values else aim.sizes))
    if aim.room_bytes is None:
        return size
    if size > aim.room_bytes:
        return 0
    aim.room_bytes -= max(0, size)
    return size


def _to_the_target(state: State) -> list[int]:
    """Return sizes that cross the trigger, and sizes with which a pass over the first entries ends at the target."""
    over = decision.trigger_bytes(state) - state.size_bytes
    wanted = [over]
    freed = 0
    for slot in state.queue:
        if slot is not None:
            freed += state.caches[slot.cache].entries[slot.pos].size_bytes
            size = decision.target_bytes(state) - state.size_bytes + freed
            if size > over:
                wanted.append(size)
    return wanted


def insert(aim: Aim, state: State) -> ops.Insert:
    """Make an insert, sometimes of what is cached already, or of what is held but no longer cached."""
    cache, pos = aim.place(state, live_weight=1)
    if state.holds:
        gone = [held.slot for kept in state.holds.values() for held in kept if not held.is_cached]
        at = aim.draw(0, 2 * len(gone))
        if 0 < at <= len(gone):
            cache, pos = gone[at - 1]
    size = size_of(aim, state)
    unopened = [name for name in aim.caches if name not in state.caches] if aim.has_boundary_values else []
    if unopened and aim.draw(0, 5) == 5:
        cache, size = unopened[0], -1
    count = choose(aim.draw, aim.read_counts)
    if not aim.declaration.payload:
        return ops.Insert(cache, pos, size, count)
    aim.token += 1
    return ops.Insert(cache, pos, size, count, aim.token)


def bounds(aim: Aim, state: State) -> tuple[CacheName, Position, Position]:
    """Return two bounds, mostly in order and at or next to a cached position or an end of everything."""
    cache, first = aim.place(state, live_weight=12)
    entries = state.caches[cache].entries if cache in state.caches else {}
    ends = [*sorted(entries), Position(first.ledger, first.entry + 1), Position(-1, -1), Position(3, 0)]
    at = aim.draw(0, 4 * len(ends) - 1)
    last = ends[at % len(ends)]
    if first > last and at < 3 * len(ends):
        first, last = last, first
    return cache, first, narrow_range(first, last)


RANGE_MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "insert": insert,
    "get": lambda aim, state: ops.Get(*aim.place(state)),
    "get_range": lambda aim, state: ops.GetRange(*bounds(aim, state)),
    "exists": lambda aim, state: ops.Exists(*aim.place(state)),
    "remove_range": lambda aim, state: ops.RemoveRange(*bounds(aim, state), aim.draw(0, 1) == 1),
    "clear": lambda aim, state: ops.Clear(aim.cache()),
    "usage": lambda aim, state: ops.Usage() if aim.draw(0, 1) == 0 else ops.Usage(aim.cache()),
    "observe": lambda aim, state: ops.Observe(),
}


MILLISECOND: Final = 1_000_000
LEAP_NANOS: Final = 10**12
LATE_NANOS: Final = 10**15
"""The time after which there are no more leaps, so that time stays within the integers of a case."""


def counted_place(aim: Aim, state: State) -> tuple[CacheName, Position]:
    """Return a place: three times in four that of an entry with a count, the lowest count first."""
    counts = []
    for slot in state.queue:
        if slot is not None:
            count = state.caches[slot.cache].entries[slot.pos].expected_reads
            if count is not None:
                counts.append((count, slot))
    at = aim.draw(0, 4 * max(1, len(counts)) - 1)
    if not counts or at >= 3 * len(counts):
        return aim.place(state)
    return sorted(counts)[at % len(counts)][1]


def expiry_waits(aim: Aim, state: State) -> list[int]:
    """Return the waits after which an entry is as old as the time to live."""
    return [max(0, state.settings.ttl_nanos - age) for age in aim.ages(state)]


def grace_waits(aim: Aim, state: State) -> list[int]:
    """Return the waits until the next whole millisecond, and until the grace period of each cache ends."""
    now = state.now_nanos
    waits = [MILLISECOND - now % MILLISECOND]
    grace_millis = aim.config.effective_grace_millis
    for cache in state.caches.values():
        end_nanos = (cache.grace_start_nanos // MILLISECOND + grace_millis) * MILLISECOND
        if now < end_nanos < LATE_NANOS:
            waits.append(end_nanos - now)
    return waits


def wait_for_grace(aim: Aim, state: State) -> ops.Advance:
    """Make a wait for the end of a grace period or of a millisecond, followed by `should_cache` of an unread cache."""
    unread = [name for name, cache in state.caches.items() if not cache.members]
    if unread and "should_cache" in aim.declaration.ops:
        aim.pending_ops.append(ops.ShouldCache(unread[aim.draw(0, len(unread) - 1)]))
    return ops.Advance(max(0, aim.near(grace_waits(aim, state))))


def wait_for_timeout(aim: Aim, state: State) -> ops.Advance:
    """Make a wait after which a request for permits is just late, or just not yet."""
    waiting = state.limiter.waiting
    since_millis = waiting[aim.draw(0, len(waiting) - 1)].since_nanos // MILLISECOND
    due_nanos = (since_millis + aim.config.acquire_timeout_millis) * MILLISECOND
    wait = max(0, due_nanos - state.now_nanos - aim.draw(0, 1))
    return ops.Advance(wait if state.now_nanos + wait < INTEGER_MAX else 1)


def advance(aim: Aim, state: State) -> ops.Advance:
    """Make a wait, mostly one after which a pass or the grace period would just decide differently."""
    kind = aim.draw(0, 14)
    if kind == 14:
        return ops.Advance(-1)
    if kind >= 6 and state.limiter.waiting and aim.config.acquire_timeout_millis > 0:
        return wait_for_timeout(aim, state)
    if kind >= 9 and aim.cursors:
        return wait_for_grace(aim, state)
    if kind >= 6:
        wait = max(0, aim.near(expiry_waits(aim, state)))
        return ops.Advance(wait if state.now_nanos + wait < INTEGER_MAX else 1)
    if kind in {3, 4} and aim.cursors:
        return ops.Advance(kind * MILLISECOND // 2)
    return ops.Advance(LEAP_NANOS if kind == 5 and state.now_nanos < LATE_NANOS else 1 + kind)


def expire(aim: Aim, state: State) -> ops.Expire:
    """Make a time pass, mostly with a cutoff at the age of an entry."""
    kind = aim.draw(0, 11)
    if kind == 11:
        return ops.Expire(-1)
    if kind >= 7:
        return ops.Expire()
    if kind >= 4:
        return ops.Expire(max(0, aim.near(aim.ages(state))))
    return ops.Expire(INTEGER_MAX if kind == 3 else kind)


def evict(aim: Aim, state: State) -> ops.Evict:
    """Make a size pass, mostly for exactly the bytes of the first entries of the queue."""
    kind = aim.draw(0, 11)
    if kind == 11:
        return ops.Evict(-aim.draw(0, 1))
    if kind >= 4:
        sums = [1]
        for slot in state.queue:
            if slot is not None:
                sums.append(sums[-1] + state.caches[slot.cache].entries[slot.pos].size_bytes)
        return ops.Evict(max(1, aim.near(sums) - 1))
    return ops.Evict(1 + kind)


QUEUE_MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "advance": advance,
    "expire": expire,
    "evict": evict,
    "mark_read": lambda aim, state: ops.MarkRead(*counted_place(aim, state)),
    "expect_read": lambda aim, state: ops.ExpectRead(*counted_place(aim, state)),
}


NEW_LIMITS: Final = (100, 10, 50, 1, 30, 2, 0, -1)
NEW_WATERMARKS: Final = (0.9, 0.5, 0.0, 0.98, 0.99, 1.0, 1.5, -0.1)
NEW_TTLS: Final = (5, 0, 1_000_000, -1)
NEW_BUDGETS: Final = (1, 0, 2, 5, 3, -1)


def limit_of(aim: Aim, state: State) -> int:
    """Return a new limit; half of them put the trigger or the target at the present bytes."""
    at = aim.draw(0, 2 * len(NEW_LIMITS) - 1)
    if at < len(NEW_LIMITS):
        return NEW_LIMITS[at]
    share = state.settings.watermark or 1.0
    return max(1, aim.near([int(state.size_bytes / 0.98), int(state.size_bytes / share), state.size_bytes]))


def ttl_of(aim: Aim, state: State) -> int:
    """Return a new time to live; half of them are the age of an entry."""
    at = aim.draw(0, 2 * len(NEW_TTLS) - 1)
    return NEW_TTLS[at] if at < len(NEW_TTLS) else max(0, aim.near(aim.ages(state)))


def budget_of(aim: Aim, state: State) -> int:
    """Return a new requeue budget; half of them are what an entry has used up."""
    at = aim.draw(0, 2 * len(NEW_BUDGETS) - 1)
    if at < len(NEW_BUDGETS):
        return NEW_BUDGETS[at]
    used = {0}
    for slot in state.queue:
        if slot is not None:
            used.add(state.caches[slot.cache].entries[slot.pos].requeues)
    return max(0, aim.near(sorted(used)))


SETTING_MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "max_size_bytes": limit_of,
    "watermark": lambda aim, state: choose(aim.draw, NEW_WATERMARKS),
    "ttl_nanos": ttl_of,
    "max_requeues": budget_of,
    "extend_recently_accessed": lambda aim, state: aim.draw(0, 1) == 1,
}


REFUSED_SETTINGS: Final[dict[str, Any]] = {"watermark": 1.5, "ttl_nanos": -1, "max_requeues": -1, "max_size_bytes": 0}


def configure(aim: Aim, state: State) -> ops.Configure:
    """Make a change of one setting, sometimes of two or none, among those that the subject lets vary.

    One in five is refused because of one setting, mostly together with a second one. If there are cursors, it mostly
    changes the time to live, because the grace period must not follow it.
    """
    varied = [key for key in SETTING_MAKERS if aim.declaration.varies(key)]
    if aim.cursors and "ttl_nanos" in varied:
        varied = ["ttl_nanos"] * 3 + varied
    changes: dict[str, Any] = {}
    for _ in range((1, 1, 1, 2, 0)[aim.draw(0, 4)] if varied else 0):
        key = choose(aim.draw, varied)
        changes[key] = SETTING_MAKERS[key](aim, state)
    wrong = [key for key in REFUSED_SETTINGS if key in varied]
    if wrong and aim.draw(0, 4) == 4:
        key = choose(aim.draw, wrong)
        changes.pop(key, None)
        if not changes:
            other = choose(aim.draw, varied)
            changes[other] = SETTING_MAKERS[other](aim, state)
        changes[key] = REFUSED_SETTINGS[key]
    return ops.Configure(**changes)


def cycle(aim: Aim, state: State) -> ops.Cycle:
    """Make a cycle. If a pass is scheduled, sometimes lower the limit and run the scheduled pass afterwards."""
    wanted = {"configure", "run_scheduled"} <= aim.declaration.ops and aim.declaration.varies("max_size_bytes")
    if state.is_scheduled and wanted and aim.draw(0, 3) == 3:
        aim.pending_ops += [ops.RunScheduled(), ops.Configure(max_size_bytes=1)]
    return ops.Cycle()


def run_scheduled(aim: Aim, state: State) -> Any:
    """Run the scheduled pass. If the bytes are at the trigger and nothing is scheduled, sometimes lower the limit
    first.
    """
    lowers = "configure" in aim.declaration.ops and aim.declaration.varies("max_size_bytes")
    is_at_trigger = state.size_bytes > 0 and state.size_bytes == decision.trigger_bytes(state)
    if is_at_trigger and not state.is_scheduled and lowers and aim.draw(0, 1) == 1:
        aim.pending_ops.append(ops.RunScheduled())
        return ops.Configure(max_size_bytes=1)
    return ops.RunScheduled()


def invalidate_before(aim: Aim, state: State) -> ops.InvalidateBefore:
    """Make a bound at or next to a cached position, or at an end of everything."""
    cache, pos = aim.place(state, live_weight=8)
    at = aim.draw(0, 5)
    if at == 4:
        return ops.InvalidateBefore(cache, Position(pos.ledger + 1, -1))
    if at == 5:
        return ops.InvalidateBefore(cache, Position(-1, -1))
    return ops.InvalidateBefore(cache, Position(pos.ledger, pos.entry + (0, 1, 1, -1)[at]))


def invalidate_ledger(aim: Aim, state: State) -> ops.InvalidateLedger:
    """Make an invalidation of a cached entry's ledger, or of another ledger."""
    cache, pos = aim.place(state, live_weight=8)
    return ops.InvalidateLedger(cache, (pos.ledger, pos.ledger, pos.ledger, 3, 0, -1)[aim.draw(0, 5)])


MANAGER_MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "cycle": cycle,
    "run_scheduled": run_scheduled,
    "configure": configure,
    "invalidate_before": invalidate_before,
    "invalidate_ledger": invalidate_ledger,
    "remove_cache": lambda aim, state: ops.RemoveCache(aim.cache()),
    "metrics": lambda aim, state: ops.Metrics(),
}
