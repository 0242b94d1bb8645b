"""Stories of what is handed over."""

from __future__ import annotations

from tests.support.traces.kafka_script import StreamScript
from tests.support.traces.kafka_twins.story import Found, story, wrong


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
