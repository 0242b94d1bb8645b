"""Arguments of operations: at least half of the numbers are thresholds of the reference's state, or next to one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any, Final

from entrycache_conformance.systems.pulsar_legacy.weights import Traits
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.draw import Draw, choose
from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.policy import givers
from entrycache_reference.pulsar_legacy.state import State
from entrycache_reference.vocabulary import INTEGER_MAX, CacheName, Position

FIRST_TOKEN: Final = 1_001
"""Payloads of inserts; those of fills are small."""

SIZES: Final = (1, 2, 3, 10, 0, 7, 5, 30, 49, -1)
AIMED_BYTES_MAX: Final = 10_000
"""Sizes are aimed at limits up to here; no subject is asked to hold more for that."""

SHORT_MAX: Final = 200
"""Up to here amounts are looked through for shares that fall short."""

LEAP_NANOS: Final = 10**12
LATE_NANOS: Final = 10**15
"""After that there are no more leaps: the present stays within the integers of a case."""


class Aim:
    """The draws of one case."""

    def __init__(self, draw: Draw, declaration: Declaration, config: Config, traits: Traits) -> None:
        self.draw = draw
        self.config = config
        self.has_payload = declaration.payload
        self.max_size: int = declaration.limits.max_size
        self.fresh = traits.fresh
        self.caches = traits.caches
        self.token = FIRST_TOKEN

    def cache(self, state: State) -> CacheName:
        """A name of a cache, mostly of one that holds entries."""
        names = [*self.caches, *sorted(state.caches), *sorted(state.caches)]
        return CacheName(choose(self.draw, names))

    def place(self, state: State, live_weight: int = 4) -> tuple[CacheName, Position]:
        """A place, cached or not, by one number: small key spaces make places meet."""
        live = [(name, pos) for name in sorted(state.caches) for pos in sorted(state.caches[name].entries)]
        return (*self.fresh, *live * live_weight)[self.draw(0, len(self.fresh) + live_weight * len(live) - 1)]

    def near(self, thresholds: list[int]) -> int:
        """A threshold, one above it, or one below it, by one number."""
        at = self.draw(0, 3 * len(thresholds) - 1)
        return thresholds[at % len(thresholds)] + (0, 1, -1)[at // len(thresholds)]


def size_of(aim: Aim, state: State, cache: CacheName) -> int:
    """A size: half of them bring the bytes to a threshold, or the cache to the bytes of another one."""
    limit = aim.config.max_size_bytes
    at = aim.draw(0, 2 * len(SIZES) - 1)
    if at < len(SIZES):
        return min(aim.max_size, SIZES[at])
    own = state.caches[cache].size_bytes if cache in state.caches else 0
    wanted = [other.size_bytes - own for other in state.caches.values() if other.size_bytes > own]
    if wanted and aim.draw(0, 1) == 1:
        return min(aim.max_size, wanted[aim.draw(0, len(wanted) - 1)])
    if not 0 < limit <= AIMED_BYTES_MAX:
        return min(aim.max_size, at)
    bounds = [int(limit * 0.98), int(limit * aim.config.watermark), limit, limit - 1]
    return min(aim.max_size, max(0, aim.near([bound - state.size_bytes for bound in bounds])))


def insert(aim: Aim, state: State) -> ops.Insert:
    """An offer; while a pass is due that leaves room, mostly of what that pass may evict."""
    cache, pos = aim.place(state, live_weight=1)
    kind = aim.draw(0, 5)
    if kind >= 4 and state.caches:
        cache = min(aim.caches, key=lambda name: state.caches[name].size_bytes if name in state.caches else 0)
    elif kind == 3 and cache in state.caches:
        lowest = min(state.caches[cache].entries)
        pos = lowest._replace(entry=max(0, lowest.entry - 1))
    is_due = int(aim.config.max_size_bytes * 0.98) < state.size_bytes < aim.config.max_size_bytes
    if is_due and aim.draw(0, 3) > 0:
        cache = max(sorted(state.caches), key=lambda name: state.caches[name].size_bytes)
        pos = min(state.caches[cache].entries)
    size = size_of(aim, state, cache)
    if not aim.has_payload:
        return ops.Insert(cache, pos, size)
    aim.token += 1
    return ops.Insert(cache, pos, size, aim.token)


def bounds(aim: Aim, state: State) -> tuple[CacheName, Position, Position]:
    """Two bounds, mostly in order, mostly at a cached position, next to one, or at an end of everything."""
    cache, first = aim.place(state, live_weight=12)
    entries = state.caches[cache].entries if cache in state.caches else {}
    ends = [*sorted(entries), Position(first.ledger, first.entry + 1), Position(-1, -1), Position(3, 0)]
    at = aim.draw(0, 4 * len(ends) - 1)
    last = ends[at % len(ends)]
    if first > last and at < 3 * len(ends):
        first, last = last, first
    return cache, first, last


def ages(aim: Aim, state: State, caches: list[CacheName]) -> list[int]:
    """The ages of the entries of these caches, and 0."""
    stamps = {entry.stamp_nanos for name in caches for entry in state.caches[name].entries.values()}
    return sorted({0, *(state.now_nanos - stamp for stamp in stamps)})


def advance(aim: Aim, state: State) -> ops.Advance:
    """A wait, mostly one after which an entry is just as old as the time to live."""
    kind = aim.draw(0, 11)
    if kind == 11:
        return ops.Advance(-1)
    if kind >= 6:
        waits = [max(0, aim.config.ttl_nanos - age) for age in ages(aim, state, list(state.caches))]
        wait = max(0, aim.near(waits))
        return ops.Advance(wait if state.now_nanos + wait < INTEGER_MAX else 1)
    return ops.Advance(LEAP_NANOS if kind == 5 and state.now_nanos < LATE_NANOS else 1 + kind)


def overtaken(state: State) -> list[tuple[CacheName, int]]:
    """The caches in which a higher position is older than the lowest one, each with that older one's stamp."""
    found = []
    for name, cache in sorted(state.caches.items()):
        first = cache.entries[min(cache.entries)].stamp_nanos
        found += [(name, entry.stamp_nanos) for entry in cache.entries.values() if entry.stamp_nanos < first]
    return found


def expire(aim: Aim, state: State) -> ops.Expire:
    """A time pass, mostly with a cutoff at the stamp of an entry of its cache, or of one behind a younger one."""
    behind = overtaken(state)
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


def falling_short(state: State) -> list[int]:
    """Amounts of which a share would be a whole number but for its doubles."""
    sizes = [state.caches[name].size_bytes for name in givers(state)]
    total = sum(sizes)
    if len(sizes) < 2:
        return []
    amounts = range(1, min(2 * total, SHORT_MAX) + 1)
    return [
        amount for amount in amounts if any(int(amount * (size / total)) < amount * size // total for size in sizes)
    ]


def evict(aim: Aim, state: State) -> ops.Evict:
    """A size pass, mostly for what the largest caches hold together, or where a share falls short by its rounding."""
    short = falling_short(state)
    if short and aim.draw(0, 1) == 1:
        return ops.Evict(short[aim.draw(0, len(short) - 1)])
    kind = aim.draw(0, 9)
    if kind == 9:
        return ops.Evict(-aim.draw(0, 1))
    if kind >= 3:
        sums = list(accumulate(sorted((cache.size_bytes for cache in state.caches.values()), reverse=True)))
        return ops.Evict(max(1, aim.near(sums or [1])))
    return ops.Evict(1 + kind * aim.draw(0, 40))


def evict_cache(aim: Aim, state: State) -> ops.EvictCache:
    """A pass over one cache, mostly for as much as its lowest entries have, to the byte."""
    cache = aim.cache(state)
    kind = aim.draw(0, 9)
    if kind == 9:
        return ops.EvictCache(cache, -aim.draw(0, 1))
    if kind >= 3 and cache in state.caches:
        entries = state.caches[cache].entries
        sums = list(accumulate(entries[pos].size_bytes for pos in sorted(entries)))
        return ops.EvictCache(cache, max(1, aim.near(sums)))
    return ops.EvictCache(cache, 1 + kind)


def read(aim: Aim, state: State) -> ops.Read:
    """A range about a place, cached or not: whole hits, partial ones, misses; now and then one that is refused."""
    cache, pos = aim.place(state, live_weight=3)
    first = Position(pos.ledger, max(0, pos.entry - (0, 0, 1)[aim.draw(0, 2)]))
    last = Position(pos.ledger, first.entry + (0, 1, 2, 3)[aim.draw(0, 3)])
    odd = aim.draw(0, 19)
    if odd == 18:
        last = Position(pos.ledger + 1, last.entry)
    elif odd == 19:
        first, last = last, first
    return ops.Read(cache, first, last)


def ledger(aim: Aim, state: State) -> ops.InvalidateLedger:
    """A ledger of a place, or one that holds nothing."""
    cache, pos = aim.place(state)
    return ops.InvalidateLedger(cache, (pos.ledger, pos.ledger, -1, 9)[aim.draw(0, 3)])


def below(aim: Aim, state: State) -> ops.InvalidateBefore:
    """A position that is cached, or near one."""
    cache, first, last = bounds(aim, state)
    return ops.InvalidateBefore(cache, (first, last)[aim.draw(0, 1)])


MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "insert": insert,
    "get": lambda aim, state: ops.Get(*aim.place(state)),
    "get_range": lambda aim, state: ops.GetRange(*bounds(aim, state)),
    "exists": lambda aim, state: ops.Exists(*aim.place(state)),
    "remove_range": lambda aim, state: ops.RemoveRange(*bounds(aim, state), aim.draw(0, 1) == 1),
    "clear": lambda aim, state: ops.Clear(aim.cache(state)),
    "invalidate_before": below,
    "invalidate_ledger": ledger,
    "remove_cache": lambda aim, state: ops.RemoveCache(aim.cache(state)),
    "usage": lambda aim, state: ops.Usage() if aim.draw(0, 1) == 0 else ops.Usage(aim.cache(state)),
    "observe": lambda aim, state: ops.Observe(),
    "advance": advance,
    "expire": expire,
    "evict": evict,
    "evict_cache": evict_cache,
    "run_scheduled": lambda aim, state: ops.RunScheduled(),
    "read": read,
    "read_one": lambda aim, state: ops.ReadOne(*aim.place(state)),
}
"""The maker of each operation."""
