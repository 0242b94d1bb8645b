"""Stories of passes: what a time pass may take, and who gives how much in a size pass."""

from __future__ import annotations

from tests.support.traces.legacy_script import LegacyScript, at
from tests.support.traces.legacy_twins.story import Found, story, wrong


def _aged(s: LegacyScript) -> int:
    """Entries of 100 bytes, 10 ns apart; the stamp of the second."""
    for entry in range(4):
        s.offer(at(entry))
    s.offer(at(0, cache="b"))
    stamp: int = s.cached[at(1)]["stamp_ns"]
    return stamp


@story()
def young_one_expires(s: LegacyScript, planted: bool) -> Found:
    """What is exactly as old as the limit expires, what is younger does not."""
    cutoff = _aged(s) - planted
    s.call()
    rows = s.passing("TIME", cutoff, at(0), at(1), cache="a")
    return wrong(planted, ("L-EXPIRE-1", rows[2]))


@story()
def old_one_stays_in_front(s: LegacyScript, planted: bool) -> Found:
    """Nothing old is left in front."""
    cutoff = _aged(s)
    s.call()
    rows = s.passing("TIME", cutoff, at(0), *(() if planted else (at(1),)), cache="a")
    return wrong(planted, ("L-EXPIRE-1", rows[-1]))


@story()
def expires_behind_the_young(s: LegacyScript, planted: bool) -> Found:
    """A young entry hides the old ones behind it."""
    s.offer(at(1))
    cutoff = s.now
    s.offer(at(0))
    s.offer(at(2), 1)
    s.call()
    rows = s.passing("TIME", cutoff, *((at(1),) if planted else ()), cache="a")
    return wrong(planted, ("L-EXPIRE-2", rows[1]))


@story()
def expires_from_the_other_end(s: LegacyScript, planted: bool) -> Found:
    """A time pass takes the lowest first."""
    cutoff = _aged(s)
    s.call()
    rows = s.passing("TIME", cutoff, *((at(1), at(0)) if planted else (at(0), at(1))), cache="a")
    return wrong(planted, ("L-EXPIRE-2", rows[2]))


@story()
def gives_the_newest(s: LegacyScript, planted: bool) -> Found:
    """A cache gives from its lowest position up."""
    _aged(s)
    s.call()
    rows = s.passing("SIZE", 100, at(3 if planted else 0), cache="a")
    return wrong(planted, ("L-EVICT-1", rows[1]))


@story()
def gives_too_little(s: LegacyScript, planted: bool) -> Found:
    """A cache gives until enough is freed, or nothing is left."""
    _aged(s)
    s.call()
    rows = s.passing("SIZE", 101, at(0), *(() if planted else (at(1),)), cache="a")
    s.call()
    s.passing("SIZE", 500, at(0, cache="b"), cache="b")
    return wrong(planted, ("L-EVICT-1", rows[-1]))


@story()
def gives_one_too_many(s: LegacyScript, planted: bool) -> Found:
    """No entry leaves without need."""
    _aged(s)
    s.call()
    rows = s.passing("SIZE", 100 if planted else 101, at(0), at(1), cache="a")
    return wrong(planted, ("L-EVICT-2", rows[2]))


@story()
def another_cache_gives(s: LegacyScript, planted: bool) -> Found:
    """A cache that is asked alone gives alone."""
    _aged(s)
    s.call()
    rows = s.passing("SIZE", 100, at(0), *((at(0, cache="b"),) if planted else ()), cache="a")
    return wrong(planted, ("L-EVICT-2", rows[2]))


@story()
def small_cache_gives(s: LegacyScript, planted: bool) -> Found:
    """The largest caches give that hold half of all bytes together."""
    _aged(s)
    s.call()
    rows = s.passing("SIZE", 100, at(0), *((at(0, cache="b"),) if planted else ()))
    return wrong(planted, ("L-EVICT-3", rows[2]))


@story()
def large_cache_is_spared(s: LegacyScript, planted: bool) -> Found:
    """Each cache gives that is asked for something."""
    for cache, size in (("a", 300), ("b", 200), ("c", 199)):
        s.offer(at(0, cache=cache), size)
    s.call()
    # half of 699 is 349: a and b give, c does not
    rows = s.passing("SIZE", 10, at(0, cache="a"), *(() if planted else (at(0, cache="b"),)))
    return wrong(planted, ("L-EVICT-3", rows[-1]))


@story()
def later_name_gives(s: LegacyScript, planted: bool) -> Found:
    """Of two caches of one size the first by name gives."""
    for cache in ("b", "a"):
        s.offer(at(0, cache=cache), 200)
    s.call()
    rows = s.passing("SIZE", 10, at(0, cache="b" if planted else "a"))
    return wrong(planted, ("L-EVICT-4", rows[1]), ("L-EVICT-4", rows[-1]))


def _unequal(s: LegacyScript) -> None:
    """Half of 900 is 450: a and b give, 60 and 40 of each hundred."""
    for cache, n_entries in (("a", 30), ("b", 20), ("c", 19)):
        for entry in range(n_entries):
            s.call().insert(at(entry, cache=cache), 10)


@story(max_size_bytes=10_000)
def shares_alike(s: LegacyScript, planted: bool) -> Found:
    """Shares are proportional."""
    _unequal(s)
    own = {"a": 50, "b": 50} if planted else {"a": 60, "b": 40}
    s.call()
    rows = s.passing("SIZE", 100, *(place for cache, need in own.items() for place in s.need(cache, need)))
    return wrong(planted, ("L-EVICT-5", rows[5]), ("L-EVICT-5", rows[10]))


@story()
def quotient_in_whole_numbers(s: LegacyScript, planted: bool) -> Found:
    """The quotient comes first, in doubles: 50 * (29 / 50) is 28.99.., truncated 28, which the first entry gives."""
    for place, size in ((at(0), 28), (at(1), 1), (at(0, cache="b"), 21), (at(0, cache="c"), 20)):
        s.call().insert(place, size)
    s.call()
    rows = s.passing("SIZE", 50, at(0), *((at(1),) if planted else ()), at(0, cache="b"))
    return wrong(planted, ("L-EVICT-5", rows[2]))
