"""The cases of `pulsar-legacy`: workload profiles, the plan of a case, and the arguments of its operations.

A `WorkloadProfile` has `WorkloadParameters`. At least half of the numbers are thresholds of the reference's
state, or next to one. Sizes and amounts aim at the size pass, which takes from the largest caches and rounds their
shares in doubles.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import partial
from itertools import accumulate
from typing import Any, Final, NamedTuple

from entrycache_conformance.systems.pulsar import (
    NAMES_IN_ONE_ORDER,
    PlaceWalk,
    add_sizes,
    make_boundary_places,
    make_places,
    narrow_range,
    take_caches,
)
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import CasePlan, Draw, choose
from entrycache_reference.pulsar_legacy import ops, passes
from entrycache_reference.pulsar_legacy.config import Config, Eviction
from entrycache_reference.pulsar_legacy.state import Entry, State
from entrycache_reference.vocabulary import INTEGER_MAX, CacheName, Position

WEIGHTS: Final[dict[str, int]] = {
    "insert": 18,
    "get": 2,
    "get_range": 2,
    "exists": 2,
    "remove_range": 1,
    "clear": 1,
    "invalidate_before": 2,
    "invalidate_ledger": 2,
    "remove_cache": 1,
    "usage": 2,
    "observe": 2,
    "advance": 4,
    "expire": 5,
    "evict": 6,
    "evict_cache": 4,
    "run_scheduled": 4,
    "read": 5,
    "read_one": 2,
}
"""The weights of the operations: half of the steps add or evict."""


def menu(names: Iterable[str], level: str | None = None) -> tuple[str, ...]:
    """Return the operations, each as often as its weight says; `insert` comes first."""
    wanted = frozenset(names)
    return tuple(name for name, weight in WEIGHTS.items() if name in wanted for _ in range(weight))


class WorkloadProfile(Enum):
    """The workload profiles."""

    DEFAULT = "default"
    SMALL_KEYS = "small-keys"
    MANY_CACHES = "many-caches"
    LONG_RUNS = "long-runs"
    BOUNDARY = "odd"


class WorkloadParameters(NamedTuple):
    """The parameters of a profile: its places, the simplest first, and the length of its cases.

    `has_boundary_values` gives a profile names and numbers at which implementations go wrong.
    """

    fresh: tuple[tuple[CacheName, Position], ...]
    steps_max: int = 60
    typical_steps: int = 40
    has_boundary_values: bool = False

    @property
    def caches(self) -> tuple[CacheName, ...]:
        """The names of caches, in order."""
        return tuple(dict.fromkeys(cache for cache, _ in self.fresh))


WORKLOADS: Final = {
    WorkloadProfile.DEFAULT: WorkloadParameters(make_places(3, 2, 4)),
    WorkloadProfile.SMALL_KEYS: WorkloadParameters(make_places(2, 1, 2)),
    WorkloadProfile.MANY_CACHES: WorkloadParameters(make_places(8, 1, 3), steps_max=120, typical_steps=80),
    WorkloadProfile.LONG_RUNS: WorkloadParameters(make_places(4, 2, 6), steps_max=4_000, typical_steps=2_000),
    WorkloadProfile.BOUNDARY: WorkloadParameters(make_places(4, 2, 3), has_boundary_values=True),
}
"""The parameters of each profile."""


FIRST_TOKEN: Final = 1_001
"""The first payload of inserts; payloads of fills are smaller."""


class Aim:
    """The state of the makers of one case. `pending_ops` are makers of operations that follow one another, the next
    last.
    """

    def __init__(self, draw: Draw, declaration: Declaration, config: Config, traits: WorkloadParameters) -> None:
        self.draw = draw
        self.config = config
        self.has_payload = declaration.payload
        self.has_insert = "insert" in declaration.ops
        self.max_size: int = declaration.limits.max_size
        self.sizes = add_sizes(BOUNDARY_SIZES if traits.has_boundary_values else SIZES, declaration.sizes)
        self.fresh = traits.fresh
        self.walk = PlaceWalk(draw, traits.fresh if traits.has_boundary_values else ())
        self.caches = traits.caches
        self.token = FIRST_TOKEN
        self.pending_ops: list[Callable[[State], Any]] = []

    def cache(self, state: State) -> CacheName:
        """Return a name of a cache, mostly of one that holds entries."""
        names = [*self.caches, *sorted(state.caches), *sorted(state.caches)]
        return CacheName(choose(self.draw, names))

    def place(self, state: State, live_weight: int = 4) -> tuple[CacheName, Position]:
        """Return a place, cached or not, by one number. Key spaces are small, so that operations meet."""
        if (near := self.walk.next_place()) is not None:
            return near
        live = [(name, pos) for name in sorted(state.caches) for pos in sorted(state.caches[name].entries)]
        place = (*self.fresh, *live * live_weight)[self.draw(0, len(self.fresh) + live_weight * len(live) - 1)]
        self.walk.note(place)
        return place

    def near(self, thresholds: list[int]) -> int:
        """Return a threshold, one above it, or one below it, by one number."""
        at = self.draw(0, 3 * len(thresholds) - 1)
        return thresholds[at % len(thresholds)] + (0, 1, -1)[at // len(thresholds)]


def make_insert(aim: Aim, cache: CacheName, pos: Position, size: int) -> ops.Insert:
    """Make an insert, with a payload of its own if payloads are carried."""
    if not aim.has_payload:
        return ops.Insert(cache, pos, size)
    aim.token += 1
    return ops.Insert(cache, pos, size, aim.token)


SIZES: Final = (1, 2, 3, 10, 0, 7, 5, 30, 49, -1)
BOUNDARY_SIZES: Final = (*SIZES, 2**31 - 1, 2**24 + 1, 2**30, 2**31 - 1, 65_536)
AIMED_BYTES_MAX: Final = 10_000
"""The greatest limit that sizes aim at; no subject must hold more for that."""


def size_of(aim: Aim, state: State, cache: CacheName) -> int:
    """Return a size; half of them bring the bytes to a threshold, or the cache to the bytes of another one."""
    limit = aim.config.max_size_bytes
    at = aim.draw(0, 2 * len(aim.sizes) - 1)
    if at < len(aim.sizes):
        return min(aim.max_size, aim.sizes[at])
    own = state.caches[cache].size_bytes if cache in state.caches else 0
    wanted = [other.size_bytes - own for other in state.caches.values() if other.size_bytes > own]
    if wanted and aim.draw(0, 1) == 1:
        return min(aim.max_size, wanted[aim.draw(0, len(wanted) - 1)])
    if not 0 < limit <= AIMED_BYTES_MAX:
        return min(aim.max_size, at)
    bounds = [int(limit * 0.98), int(limit * aim.config.watermark), limit, limit - 1]
    return min(aim.max_size, max(0, aim.near([bound - state.size_bytes for bound in bounds])))


def insert(aim: Aim, state: State) -> ops.Insert:
    """Make an insert; two in seven bring the bytes above the trigger, mostly with what a pass would evict."""
    cache, pos = aim.place(state, live_weight=1)
    brink = size_to_brink(aim, state)
    if brink == 0 and state.scheduled_bytes is None and aim.draw(0, 7) > 0:
        return first_victim(aim, state)
    kind = aim.draw(0, 6)
    if kind >= 5 and brink > 0:
        return make_insert(aim, cache, pos, min(aim.max_size, brink))
    if kind == 4 and state.caches:
        cache = min(aim.caches, key=lambda name: state.caches[name].size_bytes if name in state.caches else 0)
    elif kind == 3 and cache in state.caches:
        lowest = min(state.caches[cache].entries)
        pos = lowest._replace(entry=max(0, lowest.entry - 1))
    return make_insert(aim, cache, pos, size_of(aim, state, cache))


def size_to_brink(aim: Aim, state: State) -> int:
    """Return the size that brings the bytes to one below the limit if that is above the trigger; else below 0."""
    most = aim.config.max_size_bytes - 1
    is_above = int(aim.config.max_size_bytes * 0.98) < most <= AIMED_BYTES_MAX
    return most - state.size_bytes if is_above else -1


def first_victim(aim: Aim, state: State) -> ops.Insert:
    """Make an insert of what the size pass takes first: the lowest position of the largest cache."""
    cache = max(sorted(state.caches), key=lambda name: state.caches[name].size_bytes)
    return make_insert(aim, cache, min(state.caches[cache].entries), min(aim.max_size, SIZES[aim.draw(0, 4)]))


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


def read(aim: Aim, state: State) -> ops.Read:
    """Make a read near a place: whole hits, partial hits, misses, and sometimes a range that is refused."""
    cache, pos = aim.place(state, live_weight=3)
    first = Position(pos.ledger, max(0, pos.entry - (0, 0, 1)[aim.draw(0, 2)]))
    last = Position(pos.ledger, first.entry + (0, 1, 2, 3)[aim.draw(0, 3)])
    kind = aim.draw(0, 19)
    if kind == 18:
        last = Position(pos.ledger + 1, last.entry)
    elif kind == 19:
        first, last = last, first
    return ops.Read(cache, first, last)


def invalidate_ledger(aim: Aim, state: State) -> ops.InvalidateLedger:
    """Make an invalidation of the ledger of a place, or of an empty one."""
    cache, pos = aim.place(state)
    return ops.InvalidateLedger(cache, (pos.ledger, pos.ledger, -1, 9)[aim.draw(0, 3)])


def invalidate_before(aim: Aim, state: State) -> ops.InvalidateBefore:
    """Make an invalidation before a position that is cached or near one."""
    cache, first, last = bounds(aim, state)
    return ops.InvalidateBefore(cache, (first, last)[aim.draw(0, 1)])


ENTRY_MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "insert": insert,
    "get": lambda aim, state: ops.Get(*aim.place(state)),
    "get_range": lambda aim, state: ops.GetRange(*bounds(aim, state)),
    "exists": lambda aim, state: ops.Exists(*aim.place(state)),
    "remove_range": lambda aim, state: ops.RemoveRange(*bounds(aim, state), aim.draw(0, 1) == 1),
    "clear": lambda aim, state: ops.Clear(aim.cache(state)),
    "invalidate_before": invalidate_before,
    "invalidate_ledger": invalidate_ledger,
    "remove_cache": lambda aim, state: ops.RemoveCache(aim.cache(state)),
    "read": read,
    "read_one": lambda aim, state: ops.ReadOne(*aim.place(state)),
}


GROWN_SIZES: Final = (6, 14, 12, 10, 8, 5, 13, 4, 22, 9)
"""Sizes that, with one byte more, make shares that are no round numbers."""

MAX_SEARCHED_AMOUNT: Final = 100
"""The largest amount that is searched for shares that fall short."""

LEAP_NANOS: Final = 10**12
LATE_NANOS: Final = 10**15
"""The time after which there are no more leaps, so that time stays within the integers of a case."""


def ages(aim: Aim, state: State, caches: list[CacheName]) -> list[int]:
    """Return the ages of the entries of these caches, and 0."""
    stamps = {entry.stamp_nanos for name in caches for entry in state.caches[name].entries.values()}
    return sorted({0, *(state.now_nanos - stamp for stamp in stamps)})


def advance(aim: Aim, state: State) -> ops.Advance:
    """Make a wait, mostly one after which an entry is just as old as the time to live."""
    kind = aim.draw(0, 11)
    if kind == 11:
        return ops.Advance(-1)
    if kind >= 6:
        waits = [max(0, aim.config.ttl_nanos - age) for age in ages(aim, state, list(state.caches))]
        wait = max(0, aim.near(waits))
        return ops.Advance(wait if state.now_nanos + wait < INTEGER_MAX else 1)
    return ops.Advance(LEAP_NANOS if kind == 5 and state.now_nanos < LATE_NANOS else 1 + kind)


def overtaken_stamps(state: State) -> list[tuple[CacheName, int]]:
    """Return the caches in which a higher position is older than the lowest one, with the older one's stamp."""
    overtaken = []
    for name, cache in sorted(state.caches.items()):
        first = cache.entries[min(cache.entries)].stamp_nanos
        overtaken += [(name, entry.stamp_nanos) for entry in cache.entries.values() if entry.stamp_nanos < first]
    return overtaken


def expire(aim: Aim, state: State) -> ops.Expire:
    """Make a time pass, mostly with a cutoff at the stamp of an entry, or of one behind a younger one."""
    behind = overtaken_stamps(state)
    if behind and aim.draw(0, 1) == 1:
        name, stamp_nanos = behind[aim.draw(0, len(behind) - 1)]
        return ops.Expire(name, state.now_nanos - stamp_nanos)
    cache = aim.cache(state)
    kind = aim.draw(0, 11)
    if kind == 11:
        return ops.Expire(cache, -1)
    if kind >= 8:
        return ops.Expire(cache)
    if kind >= 2:
        held = [cache] if cache in state.caches else []
        return ops.Expire(cache, max(0, aim.near(ages(aim, state, held))))
    return ops.Expire(cache, INTEGER_MAX if kind == 1 else 0)


def short_amounts(state: State) -> list[int]:
    """Return the amounts for which a cache gives one entry less because its share is computed in doubles."""
    names = passes.choose_givers(state)
    total = sum(state.caches[name].size_bytes for name in names)
    amounts = set()
    for name in names if len(names) > 1 else ():
        cache = state.caches[name]
        for freed in running_sums(cache.entries):
            for amount in range(1, min(2 * total, MAX_SEARCHED_AMOUNT) + 1):
                if int(amount * (cache.size_bytes / total)) == freed < amount * cache.size_bytes // total:
                    amounts.add(amount)
    return sorted(amounts)


def running_sums(entries: Mapping[Position, Entry]) -> list[int]:
    """Return the bytes of the lowest entry, of the two lowest, and so on."""
    return list(accumulate(entries[pos].size_bytes for pos in sorted(entries)))


def evict(aim: Aim, state: State) -> ops.Evict:
    """Make a size pass, mostly for what the largest caches hold, or where rounding makes a share fall short."""
    short = short_amounts(state)
    if short and aim.draw(0, 3) > 0:
        return ops.Evict(short[aim.draw(0, len(short) - 1)])
    kind = aim.draw(0, 9)
    if kind == 9:
        return ops.Evict(-aim.draw(0, 1))
    if kind >= 3:
        sums = list(accumulate(sorted((cache.size_bytes for cache in state.caches.values()), reverse=True)))
        return ops.Evict(max(1, aim.near(sums or [1])))
    return ops.Evict(1 + kind * aim.draw(0, 40))


def evict_from_several(aim: Aim, state: State) -> Any:
    """Make a size pass with several caches to choose from; first each of some grows to a size of its own."""
    is_alone = len(aim.caches) < 2 or not aim.has_insert
    if len(passes.choose_givers(state)) > 1 or is_alone or aim.draw(0, 1) == 0:
        return evict(aim, state)
    aim.pending_ops = [partial(evict, aim)]
    for name in aim.caches[: aim.draw(2, len(aim.caches))]:
        aim.pending_ops += [
            partial(grow_cache, aim, name, 1),
            partial(grow_cache, aim, name, choose(aim.draw, GROWN_SIZES)),
        ]
    return aim.pending_ops.pop()(state)


def grow_cache(aim: Aim, cache: CacheName, size: int, state: State) -> ops.Insert:
    """Make an insert behind the content of its cache."""
    held = state.caches[cache].entries if cache in state.caches else {}
    last = max(held, default=Position(1, -1))
    return make_insert(aim, cache, last._replace(entry=last.entry + 1), min(aim.max_size, size))


def evict_cache(aim: Aim, state: State) -> ops.EvictCache:
    """Make a pass over one cache, mostly for exactly the bytes of its lowest entries."""
    cache = aim.cache(state)
    kind = aim.draw(0, 9)
    if kind == 9:
        return ops.EvictCache(cache, -aim.draw(0, 1))
    if kind >= 3 and cache in state.caches:
        return ops.EvictCache(cache, max(1, aim.near(running_sums(state.caches[cache].entries))))
    return ops.EvictCache(cache, 1 + kind)


PASS_MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "advance": advance,
    "expire": expire,
    "evict": evict_from_several,
    "evict_cache": evict_cache,
    "run_scheduled": lambda aim, state: ops.RunScheduled(),
}


MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    **ENTRY_MAKERS,
    **PASS_MAKERS,
    "usage": lambda aim, state: ops.Usage() if aim.draw(0, 1) == 0 else ops.Usage(aim.cache(state)),
    "observe": lambda aim, state: ops.Observe(),
}
"""The maker of each operation."""


def make_operation(aim: Aim, name: str, state: State) -> Any:
    """Make an operation of that name for that state, or the next pending one."""
    return aim.pending_ops.pop()(state) if aim.pending_ops else MAKERS[name](aim, state)


CONFIG_CHOICES: Final[dict[str, tuple[Any, ...]]] = {
    "max_size_bytes": (100, 1_000, 51, 10, 250, 101, 400, 33, 0),
    "watermark": (0.9, 0.5, 0.0, 0.98, 0.99, 1.0, 0.57),
    "ttl_nanos": (1_000_000_000, 5, 1, 0, 20),
    "eviction": (Eviction.INLINE, Eviction.MANUAL),
}
"""Small limits, so that a few entries cross them, and amounts below, at and above 0."""

BOUNDARY_LIMITS: Final = (2**33, 2**33, 100, 2**32, 2**40)
"""Limits below which the bytes of a few entries leave the integers of 32 bits, and a small one."""

BOUNDARY_TTLS: Final = (1_000_000_000, 2**32, 2**31, 2**32 + 1, 65_536, 256, 0)
"""Times to live, some of which are another number in a shorter integer."""


def plan_case(
    draw: Draw, declaration: Declaration, menu: tuple[str, ...], workload: WorkloadProfile | None
) -> CasePlan:
    """Plan a case of these operations."""
    traits = WORKLOADS[WorkloadProfile.DEFAULT if workload is None else workload]
    if traits.has_boundary_values:
        traits = traits._replace(fresh=make_boundary_places(draw, NAMES_IN_ONE_ORDER))
    traits = traits._replace(fresh=take_caches(traits.fresh, declaration))
    base: Config = declaration.base_config()
    options = {**CONFIG_CHOICES, "max_size_bytes": (base.max_size_bytes, *CONFIG_CHOICES["max_size_bytes"])}
    if traits.has_boundary_values:
        options |= {"max_size_bytes": BOUNDARY_LIMITS, "ttl_nanos": BOUNDARY_TTLS}
    changes = {key: choose(draw, values) for key, values in options.items() if declaration.varies(key)}
    if "max_size_bytes" in changes:
        changes["max_size_bytes"] = declaration.limits.clamp(changes["max_size_bytes"])
    config = dataclasses.replace(base, **changes)
    aim = Aim(draw, declaration, config, traits)
    make = partial(make_operation, aim)
    steps_max, typical_steps = (number * aim.walk.patience for number in (traits.steps_max, traits.typical_steps))
    return CasePlan(config, menu, steps_max, typical_steps, make, pending=lambda: len(aim.pending_ops))


__all__ = ["MAKERS", "Aim", "make_operation"]
