"""Time, and the passes over one cache and over all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import accumulate
from typing import Any, Final

from entrycache_conformance.systems.pulsar_legacy.arguments.arguments import Aim, offer
from entrycache_protocol.draw import choose
from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.policy import givers
from entrycache_reference.pulsar_legacy.state import Entry, State
from entrycache_reference.vocabulary import INTEGER_MAX, CacheName, Position

GROWN: Final = (6, 14, 12, 10, 8, 5, 13, 4, 22, 9)
"""Sizes that, with one byte more, make shares which are no round numbers."""

SHORT_MAX: Final = 100
"""Up to here amounts are looked through for shares that fall short."""

LEAP_NANOS: Final = 10**12
LATE_NANOS: Final = 10**15
"""After that there are no more leaps: the present stays within the integers of a case."""


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
    """Amounts of which a cache would give one entry more, but for the rounding of its share in doubles."""
    names = givers(state)
    total = sum(state.caches[name].size_bytes for name in names)
    found = set()
    for name in names if len(names) > 1 else ():
        cache = state.caches[name]
        for freed in sums_up(cache.entries):
            for amount in range(1, min(2 * total, SHORT_MAX) + 1):
                if int(amount * (cache.size_bytes / total)) == freed < amount * cache.size_bytes // total:
                    found.add(amount)
    return sorted(found)


def sums_up(entries: Mapping[Position, Entry]) -> list[int]:
    """The bytes of the lowest entry, of the two lowest, and so on."""
    return list(accumulate(entries[pos].size_bytes for pos in sorted(entries)))


def evict(aim: Aim, state: State) -> ops.Evict:
    """A size pass, mostly for what the largest caches hold together, or where a share falls short by its rounding."""
    short = falling_short(state)
    if short and aim.draw(0, 3) > 0:
        return ops.Evict(short[aim.draw(0, len(short) - 1)])
    kind = aim.draw(0, 9)
    if kind == 9:
        return ops.Evict(-aim.draw(0, 1))
    if kind >= 3:
        sums = list(accumulate(sorted((cache.size_bytes for cache in state.caches.values()), reverse=True)))
        return ops.Evict(max(1, aim.near(sums or [1])))
    return ops.Evict(1 + kind * aim.draw(0, 40))


def several(aim: Aim, state: State) -> Any:
    """A size pass that has several caches to choose from: first each of some comes to a size of its own."""
    if len(givers(state)) > 1 or not aim.has_insert or aim.draw(0, 1) == 0:
        return evict(aim, state)
    aim.to_come = [partial(evict, aim)]
    for name in aim.caches[: aim.draw(2, len(aim.caches))]:
        aim.to_come += [partial(grown, aim, name, 1), partial(grown, aim, name, choose(aim.draw, GROWN))]
    return aim.to_come.pop()(state)


def grown(aim: Aim, cache: CacheName, size: int, state: State) -> ops.Insert:
    """An insert behind what its cache holds."""
    held = state.caches[cache].entries if cache in state.caches else {}
    last = max(held, default=Position(1, -1))
    return offer(aim, cache, last._replace(entry=last.entry + 1), min(aim.max_size, size))


def evict_cache(aim: Aim, state: State) -> ops.EvictCache:
    """A pass over one cache, mostly for as much as its lowest entries have, to the byte."""
    cache = aim.cache(state)
    kind = aim.draw(0, 9)
    if kind == 9:
        return ops.EvictCache(cache, -aim.draw(0, 1))
    if kind >= 3 and cache in state.caches:
        return ops.EvictCache(cache, max(1, aim.near(sums_up(state.caches[cache].entries))))
    return ops.EvictCache(cache, 1 + kind)


MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "advance": advance,
    "expire": expire,
    "evict": several,
    "evict_cache": evict_cache,
    "run_scheduled": lambda aim, state: ops.RunScheduled(),
}
