"""Scenarios of passes: the entries that a time pass may remove, and the share of each cache in a size pass."""

from __future__ import annotations

from tests.support.traces.legacy_scenarios.scenario import Violations, scenario, wrong
from tests.support.traces.legacy_script import LegacyScript, at


def _aged(s: LegacyScript) -> int:
    """Entries of 100 bytes, 10 ns apart; the stamp of the second."""
    for entry in range(4):
        s.offer(at(entry))
    s.offer(at(0, cache="b"))
    stamp: int = s.cached[at(1)]["stamp_ns"]
    return stamp


@scenario()
def young_one_expires(s: LegacyScript, violating: bool) -> Violations:
    """An entry exactly as old as the limit expires; a younger one does not."""
    cutoff = _aged(s) - violating
    s.call()
    rows = s.passing("TIME", cutoff, at(0), at(1), cache="a")
    return wrong(violating, ("L-EXPIRE-1", rows[2]))


@scenario()
def old_one_stays_in_front(s: LegacyScript, violating: bool) -> Violations:
    """Nothing old is left in front."""
    cutoff = _aged(s)
    s.call()
    rows = s.passing("TIME", cutoff, at(0), *(() if violating else (at(1),)), cache="a")
    return wrong(violating, ("L-EXPIRE-1", rows[-1]))


@scenario()
def expires_behind_the_young(s: LegacyScript, violating: bool) -> Violations:
    """A young entry hides the old ones behind it."""
    s.offer(at(1))
    cutoff = s.now
    s.offer(at(0))
    s.offer(at(2), 1)
    s.call()
    rows = s.passing("TIME", cutoff, *((at(1),) if violating else ()), cache="a")
    return wrong(violating, ("L-EXPIRE-2", rows[1]))


@scenario()
def expires_from_the_other_end(s: LegacyScript, violating: bool) -> Violations:
    """A time pass takes the lowest first."""
    cutoff = _aged(s)
    s.call()
    rows = s.passing("TIME", cutoff, *((at(1), at(0)) if violating else (at(0), at(1))), cache="a")
    return wrong(violating, ("L-EXPIRE-2", rows[2]))


@scenario()
def gives_the_newest(s: LegacyScript, violating: bool) -> Violations:
    """A cache gives from its lowest position up."""
    _aged(s)
    s.call()
    rows = s.passing("SIZE", 100, at(3 if violating else 0), cache="a")
    return wrong(violating, ("L-EVICT-1", rows[1]))


@scenario()
def gives_too_little(s: LegacyScript, violating: bool) -> Violations:
    """A cache gives until enough is freed, or nothing is left."""
    _aged(s)
    s.call()
    rows = s.passing("SIZE", 101, at(0), *(() if violating else (at(1),)), cache="a")
    s.call()
    s.passing("SIZE", 500, at(0, cache="b"), cache="b")
    return wrong(violating, ("L-EVICT-1", rows[-1]))


@scenario()
def gives_one_too_many(s: LegacyScript, violating: bool) -> Violations:
    """No entry leaves without need."""
    _aged(s)
    s.call()
    rows = s.passing("SIZE", 100 if violating else 101, at(0), at(1), cache="a")
    return wrong(violating, ("L-EVICT-2", rows[2]))


@scenario()
def another_cache_gives(s: LegacyScript, violating: bool) -> Violations:
    """If a pass names one cache, only that cache removes entries."""
    _aged(s)
    s.call()
    rows = s.passing("SIZE", 100, at(0), *((at(0, cache="b"),) if violating else ()), cache="a")
    return wrong(violating, ("L-EVICT-2", rows[2]))


@scenario()
def small_cache_gives(s: LegacyScript, violating: bool) -> Violations:
    """The largest caches give that hold half of all bytes together."""
    _aged(s)
    s.call()
    rows = s.passing("SIZE", 100, at(0), *((at(0, cache="b"),) if violating else ()))
    return wrong(violating, ("L-EVICT-3", rows[2]))


@scenario()
def large_cache_is_spared(s: LegacyScript, violating: bool) -> Violations:
    """Each cache with a share removes entries."""
    for cache, size in (("a", 300), ("b", 200), ("c", 199)):
        s.offer(at(0, cache=cache), size)
    s.call()
    # half of 699 is 349: a and b give, c does not
    rows = s.passing("SIZE", 10, at(0, cache="a"), *(() if violating else (at(0, cache="b"),)))
    return wrong(violating, ("L-EVICT-3", rows[-1]))


@scenario()
def later_name_gives(s: LegacyScript, violating: bool) -> Violations:
    """Of two caches of one size the first by name gives."""
    for cache in ("b", "a"):
        s.offer(at(0, cache=cache), 200)
    s.call()
    rows = s.passing("SIZE", 10, at(0, cache="b" if violating else "a"))
    return wrong(violating, ("L-EVICT-4", rows[1]), ("L-EVICT-4", rows[-1]))


def _unequal(s: LegacyScript) -> None:
    """Half of 900 is 450: a and b give, 60 and 40 of each hundred."""
    for cache, n_entries in (("a", 30), ("b", 20), ("c", 19)):
        for entry in range(n_entries):
            s.call().insert(at(entry, cache=cache), 10)


@scenario(max_size_bytes=10_000)
def shares_alike(s: LegacyScript, violating: bool) -> Violations:
    """Shares are proportional."""
    _unequal(s)
    own = {"a": 50, "b": 50} if violating else {"a": 60, "b": 40}
    s.call()
    rows = s.passing("SIZE", 100, *(place for cache, need in own.items() for place in s.need(cache, need)))
    return wrong(violating, ("L-EVICT-5", rows[5]), ("L-EVICT-5", rows[10]))


@scenario()
def quotient_in_whole_numbers(s: LegacyScript, violating: bool) -> Violations:
    """The quotient comes first, in doubles: 50 * (29 / 50) is 28.99.., truncated 28, which the first entry gives."""
    for place, size in ((at(0), 28), (at(1), 1), (at(0, cache="b"), 21), (at(0, cache="c"), 20)):
        s.call().insert(place, size)
    s.call()
    rows = s.passing("SIZE", 50, at(0), *((at(1),) if violating else ()), at(0, cache="b"))
    return wrong(violating, ("L-EVICT-5", rows[2]))
