"""Planted violations of `kafka-streams`, each beside a twin: a clean trace that looks alike.

A story writes a trace into a script; where `planted` it breaks its rule and returns what an audit must find, else the
trace keeps every rule by a hair.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stream_script import Row, StreamScript

Found = list[tuple[str, Row]]
Story = Callable[[StreamScript, bool], Found]

STORIES: list[tuple[Story, dict[str, Any]]] = []
"""Each story with the configuration of its script."""

ORDER_FREE = ("K-PUT-1", "K-EVICT-3")
"""Rules that rows of several threads decide as well, but for the place of the evicted entry."""


def story(**config: Any) -> Callable[[Story], Story]:
    """Enter a story into the list."""

    def enter(tell: Story) -> Story:
        STORIES.append((tell, config))
        return tell

    return enter


def wrong(planted: bool, rule: str, *rows: Row) -> Found:
    """What is to be found, if it was planted."""
    return [(rule, row) for row in rows if planted]


# --- lookups and writes


@story()
def hit_after_the_end(s: StreamScript, planted: bool) -> Found:
    """What was deleted is missed."""
    life = s.put("a", "k")["life"]
    s.delete("a", "k")
    row = s.get("a", "k")
    if planted:
        row |= {"op": "HIT", "life": life, "size_bytes": 100, "dirty": True}
    return wrong(planted, "K-GET-1", row)


@story()
def hit_of_the_former_life(s: StreamScript, planted: bool) -> Found:
    """A write ends the life of the entry it replaces."""
    former = s.put("a", "k")["life"]
    s.put("a", "k")
    row = s.get("a", "k")
    if planted:
        row["life"] = former
    s.get("a", "k")
    return wrong(planted, "K-GET-1", row)


@story()
def miss_while_cached(s: StreamScript, planted: bool) -> Found:
    """What is cached is found, also right after another key of the same name elsewhere has left."""
    life = s.put("a", "k")["life"]
    s.put("b", "k")
    s.delete("b", "k")
    row = s.get("a", "k")
    if planted:
        row |= {"op": "MISS", "life": None, "size_bytes": None, "dirty": None}
    else:
        assert row["life"] == life
    return wrong(planted, "K-GET-2", row)


@story()
def write_without_a_life_of_its_own(s: StreamScript, planted: bool) -> Found:
    """A write over a cached key begins another life."""
    first = s.put("a", "k")
    row = s.put("a", "k")
    if planted:
        row["life"] = first["life"]
    s.get("a", "k")
    return wrong(planted, "K-PUT-1", row)


@story()
def clean_over_dirty(s: StreamScript, planted: bool) -> Found:
    """A clean write over a dirty entry would lose it; over one that was handed over it does not."""
    s.put("a", "k")
    if not planted:
        s.flush("a")
    return wrong(planted, "K-PUT-4", s.put("a", "k", dirty=False))


@story()
def size_that_changes(s: StreamScript, planted: bool) -> Found:
    """An entry has the size of its last write."""
    s.put("a", "k", 100)
    s.put("a", "k", 101)
    row = s.get("a", "k")
    if planted:
        row["size_bytes"] = 100
    s.get("a", "k")
    return wrong(planted, "K-SIZE-1", row)


@story()
def deleted_twice(s: StreamScript, planted: bool) -> Found:
    """What was deleted and written again can be deleted again."""
    row = s.put("a", "k")
    s.delete("a", "k")
    if planted:
        s.call()
        row = s.at("DELETE", "a", "k", cause="CALL", life=row["life"], size_bytes=100, dirty=True)
    else:
        s.put("a", "k")
        row = s.delete("a", "k")
    return wrong(planted, "K-DELETE-1", row)


# --- handing over


@story()
def tombstone_written_again(s: StreamScript, planted: bool) -> Found:
    """A tombstone is dropped after its call; what the listener wrote under its key is not."""
    s.put("a", "k", 50)
    s.flush("a")
    if planted:
        s.put("a", "k", 90, inside=True)
    row = s.delete("a", "k", "FLUSH", inside=True)
    return wrong(planted, "K-FLUSH-4", row)


@story()
def cleaned_by_nobody(s: StreamScript, planted: bool) -> Found:
    """An entry is clean after it was handed over, and not before; only its first clean row is told."""
    s.put("a", "k")
    s.put("a", "l")
    if not planted:
        s.flush("a")
    row = s.get("a", "k")
    row["dirty"] = False
    s.spaces["a"]["k"]["dirty"] = False
    s.get("a", "k")
    return wrong(planted, "K-FLUSH-3", row)


@story(max_size_bytes=250)
def failed_and_dropped(s: StreamScript, planted: bool) -> Found:
    """Marked clean before the listener threw, the other entry is dropped later without a call."""
    s.put("a", "k")
    s.put("a", "l")
    s.call()
    s.fail("a", ["k", "l"])
    if planted:
        for key in ("k", "l"):
            s.spaces["a"][key]["dirty"] = False
    s.put("a", "m")
    rows = [row for row in s.rows if row["op"] == "EVICT"]
    return wrong(planted, "K-FLUSH-3", *rows)


@story()
def dirty_after_it_was_handed_over(s: StreamScript, planted: bool) -> Found:
    """What was handed over is clean, until it is written again."""
    s.put("a", "k")
    s.flush("a")
    if not planted:
        s.put("a", "k")
    row = s.get("a", "k")
    row["dirty"] = True
    return wrong(planted, "K-FLUSH-2", row)


@story()
def handed_over_twice(s: StreamScript, planted: bool) -> Found:
    """What was handed over is not handed over again by the next flush, unless it was written in between."""
    s.put("a", "k")
    s.flush("a")
    if not planted:
        s.put("a", "k")
    return wrong(planted, "K-FLUSH-2", *s.flush("a", ["k"]))


@story()
def out_of_order(s: StreamScript, planted: bool) -> Found:
    """Dirty entries are handed over in the order of their last writes; a lookup does not change it."""
    for key in ("k", "l", "m"):
        s.put("a", key)
    s.put("a", "k")
    s.get("a", "l")
    rows = s.flush("a", ["k", "l", "m"] if planted else ["l", "m", "k"])
    return wrong(planted, "K-FLUSH-1", rows[1])


@story()
def left_dirty(s: StreamScript, planted: bool) -> Found:
    """A flush leaves nothing dirty, but what its listener has written."""
    s.put("a", "k")
    s.put("a", "l")
    rows = s.flush("a", ["k"] if planted else None)
    s.put("a", "k", inside=True)
    return wrong(planted, "K-FLUSH-1", rows[-1])


@story()
def flush_of_the_deleted(s: StreamScript, planted: bool) -> Found:
    """What was deleted is not handed over."""
    life = s.put("a", "k")["life"]
    s.put("a", "l")
    s.delete("a", "k")
    s.call()
    row = s.at("FLUSH", "a", "k", cause="CALL", life=life, size_bytes=100, dirty=True) if planted else s.rows[-1]
    s.hand("a", ["l"])
    return wrong(planted, "K-FLUSH-1", row)


# --- eviction


@story(max_size_bytes=300)
def not_the_eldest(s: StreamScript, planted: bool) -> Found:
    """The least recently used entry leaves: a lookup is a use, being handed over is none."""
    for key in ("k", "l", "m"):
        s.put("a", key)
    s.get("a", "k")
    s.flush("a")
    s.put("a", "n", relieve=False)
    row = s.evict("a", "k" if planted else "l")
    s.counts["evicts"] += 1
    return wrong(planted, "K-EVICT-1", row)


@story(max_size_bytes=200)
def evicted_twice(s: StreamScript, planted: bool) -> Found:
    """An entry leaves once."""
    life = s.put("a", "k", dirty=False)["life"]
    s.put("a", "l", dirty=False)
    s.put("a", "m", dirty=False)
    row = s.call().at("EVICT", "a", "k", life=life, size_bytes=100, dirty=False) if planted else s.rows[-1]
    return wrong(planted, "K-EVICT-1", row)


@story(max_size_bytes=200)
def lost_by_an_eviction(s: StreamScript, planted: bool) -> Found:
    """A dirty entry that is evicted is handed over in the same call."""
    s.put("a", "k")
    s.flush("a")
    s.put("a", "l")
    s.put("a", "k")
    s.put("a", "m", relieve=False)
    row = s.evict("a", handed=not planted)
    s.counts["evicts"] += 1
    return wrong(planted, "K-EVICT-3", row)


@story(max_size_bytes=200)
def handed_over_in_another_call(s: StreamScript, planted: bool) -> Found:
    """A FLUSH of a call before does not make up for it: the entry was written again."""
    s.put("a", "k")
    s.put("a", "l")
    life = s.spaces["a"]["k"]["life"]
    s.put("a", "m", relieve=False)
    row = s.evict("a", handed=not planted)
    s.counts["evicts"] += 1
    if planted:
        late = s.call().at("FLUSH", "a", "k", cause="EVICT", life=life, size_bytes=100, dirty=True)
        s.hand("a", ["l", "m"])
        return [("K-EVICT-3", row), ("K-FLUSH-1", late)]
    return []


@story(max_size_bytes=300)
def the_evicted_one_comes_later(s: StreamScript, planted: bool) -> Found:
    """The evicted entry is handed over first, though it was written last; its EVICT may stand behind."""
    s.put("a", "l")
    s.put("a", "m")
    s.put("a", "k")
    s.get("a", "l")
    s.get("a", "m")
    s.put("a", "n", relieve=False)
    entry = dict(s.spaces["a"]["k"])
    if not planted:
        s.evict("a", late=True)
        return []
    s._gone("EVICT", "a", "k")
    s.hand("a", ["l"])
    row = s.at("FLUSH", "a", "k", cause="EVICT", **entry)
    s.hand("a", ["m", "n"])
    return wrong(planted, "K-EVICT-3", row)


@story(max_size_bytes=300)
def over_the_limit(s: StreamScript, planted: bool) -> Found:
    """The limit itself is allowed; one byte more is not."""
    s.put("a", "k")
    row = s.put("a", "l", 201 if planted else 200, relieve=False)
    return wrong(planted, "K-EVICT-4", row)


@story(max_size_bytes=100)
def over_the_limit_for_a_reason(s: StreamScript, planted: bool) -> Found:
    """Above the limit after a failed handing over, or with nothing left in the namespace written, is no violation."""
    s.put("a", "k", relieve=False)
    s.put("a", "l", relieve=False)
    if not planted:
        s.fail("a", ["k", "l"])
    row = s.rows[-1]
    s.put("b", "m")
    assert not s.spaces["b"]
    return wrong(planted, "K-EVICT-4", row)


@story(max_size_bytes=200)
def somebody_else_pays(s: StreamScript, planted: bool) -> Found:
    """The namespace that was written pays, though another one holds the eldest entry."""
    s.put("b", "k", dirty=False)
    s.put("a", "k", dirty=False)
    s.put("a", "l", dirty=False, relieve=False)
    row = s.evict("b" if planted else "a")
    s.counts["evicts"] += 1
    return wrong(planted, "K-EVICT-4", row)


@story(max_size_bytes=300)
def eviction_at_the_limit(s: StreamScript, planted: bool) -> Found:
    """At the limit nothing is evicted; one byte above it is."""
    s.put("a", "k", dirty=False)
    s.put("a", "l", 200 if planted else 201, dirty=False, relieve=False)
    row = s.evict("a")
    s.counts["evicts"] += 1
    return wrong(planted, "K-EVICT-5", row)


@story(max_size_bytes=300)
def shrunk_too_little(s: StreamScript, planted: bool) -> Found:
    """A smaller limit holds when its call has ended."""
    for key in ("k", "l", "m"):
        s.put("a", key, dirty=False)
    s.resize(199 if planted else 200)
    row = s.evict("a")
    s.limit = 300
    return wrong(planted, "K-RESIZE-2", row)


# --- namespaces


@story()
def left_by_a_clear(s: StreamScript, planted: bool) -> Found:
    """A clear takes out everything."""
    s.put("a", "k")
    s.put("a", "l")
    rows = s.clear("a", ["l"] if planted else None)
    return wrong(planted, "K-CLOSE-1", rows[-1])


@story()
def cleared_twice(s: StreamScript, planted: bool) -> Found:
    """What a clear takes out was there."""
    life = s.put("a", "k")["life"]
    s.delete("a", "k")
    s.put("a", "l")
    s.clear("a")
    row = s.rows[-1]
    if planted:
        row = s.at("REMOVE", "a", "k", cause="CLEAR", life=life, size_bytes=100, dirty=True)
    return wrong(planted, "K-CLOSE-1", row)


@story()
def left_by_a_close(s: StreamScript, planted: bool) -> Found:
    """A closed namespace is empty."""
    s.put("a", "k")
    s.put("a", "l")
    return wrong(planted, "K-CLOSE-2", s.close("a", ["l"] if planted else None))


@story()
def left_by_a_close_told_first(s: StreamScript, planted: bool) -> Found:
    """A recorder may tell of the close before it tells what leaves by it."""
    for key in ("k", "l", "m"):
        s.put("a", key)
    s.call()
    s.row("CACHE_CLOSE", cache="a")
    rows = [s.at("REMOVE", "a", key, cause="CLOSE") for key in (("l", "k") if planted else ("m", "l", "k"))]
    for row in rows:
        s.bytes -= 100
        row["bytes_after"] = row["manager_bytes"] = s.bytes
    s.spaces["a"] = {"m": s.spaces["a"]["m"]} if planted else {}
    return wrong(planted, "K-CLOSE-2", rows[-1])


# --- sums, counters, calls


@story()
def wrong_sum(s: StreamScript, planted: bool) -> Found:
    """An overwrite takes off what was there before."""
    s.put("a", "k")
    s.put("b", "l")
    row = s.put("a", "k", 120)
    if planted:
        row["bytes_after"] += 100
        row["manager_bytes"] = row["bytes_after"]
    return wrong(planted, "K-METRICS-1", row)


@story()
def sum_that_drifts(s: StreamScript, planted: bool) -> Found:
    """Counted twice once, the sum stays wrong: the row where it begins is told, and END, not all that follow."""
    s.put("a", "k")
    if planted:
        s.bytes += 7
    row = s.put("a", "l")
    s.put("a", "m")
    return wrong(planted, "K-METRICS-1", row, {"seq": len(s.rows)})


@story()
def running_total_that_drifts(s: StreamScript, planted: bool) -> Found:
    """The cache's own total may lag behind inside of a call, not between two."""
    s.put("a", "k")
    s.flush("a")
    inner = s.put("b", "l", inside=True)
    last = s.put("b", "m", inside=True)
    inner["manager_bytes"] += 100
    if planted:
        last["manager_bytes"] += 100
    return wrong(planted, "K-METRICS-1", last)


@story()
def counter_that_falls(s: StreamScript, planted: bool) -> Found:
    """Counters never fall."""
    s.get("a", "k")
    s.put("a", "k")
    s.metrics()
    return wrong(planted, "K-METRICS-2", s.metrics(gets=s.counts["gets"] - planted))


@story(max_size_bytes=200)
def writes_not_counted(s: StreamScript, planted: bool) -> Found:
    """Each write counts; more than the rows show may have been refused, and that is inconclusive."""
    s.put("a", "k")
    s.put("a", "l")
    return wrong(planted, "K-METRICS-2", s.metrics(puts=s.counts["puts"] - planted))


@story(max_size_bytes=200)
def evictions_not_counted(s: StreamScript, planted: bool) -> Found:
    """Evictions by overflow count."""
    for key in ("k", "l", "m", "n"):
        s.put("a", key, dirty=False)
    return wrong(planted, "K-METRICS-2", s.metrics(evicts=s.counts["evicts"] - planted))


@story(max_size_bytes=200)
def evictions_made_up(s: StreamScript, planted: bool) -> Found:
    """No more are counted than there were."""
    for key in ("k", "l", "m", "n"):
        s.put("a", key)
    return wrong(planted, "K-METRICS-2", s.metrics(evicts=s.counts["evicts"] + planted))


@story()
def overwrites_not_counted(s: StreamScript, planted: bool) -> Found:
    """A write over a cached key is an overwrite, one over what has left is none; a close starts anew."""
    s.put("a", "k")
    s.put("a", "k")
    s.close("a")
    s.put("a", "k")
    s.delete("a", "k")
    s.put("a", "k")
    s.put("a", "k")
    return wrong(planted, "K-METRICS-3", s.metrics("a", overwrites=2 if planted else 1))


@story()
def misses_not_counted(s: StreamScript, planted: bool) -> Found:
    """A miss counts from the first write of its namespace on."""
    s.put("a", "k")
    s.get("a", "l")
    s.get("a", "m")
    return wrong(planted, "K-METRICS-3", s.metrics("a", misses=1 if planted else 2))


@story(max_size_bytes=300)
def hits_of_the_evicted(s: StreamScript, planted: bool) -> Found:
    """What is handed over was looked up, but for the evicted entry."""
    for key in ("k", "l", "m", "n"):
        s.put("a", key)
    s.get("a", "n")
    return wrong(planted, "K-METRICS-3", s.metrics("a", hits=s.own["a"]["hits"] + planted))


@story()
def time_goes_back(s: StreamScript, planted: bool) -> Found:
    """Time may stand still."""
    s.put("a", "k")
    row = s.put("a", "l")
    row["ts_ns"] = s.rows[-2]["ts_ns"] - planted
    return wrong(planted, "K-LIVENESS-1", row)


@story()
def call_that_goes_on(s: StreamScript, planted: bool) -> Found:
    """A call has ended when the next one begins."""
    first = s.put("a", "k")
    s.put("a", "l")
    row = s.get("a", "k")
    if planted:
        row["call_id"] = first["call_id"]
    return wrong(planted, "K-LIVENESS-1", row)
