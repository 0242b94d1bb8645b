"""Stories of namespaces."""

from __future__ import annotations

from tests.support.traces.kafka_script import StreamScript
from tests.support.traces.kafka_twins.story import Found, story, wrong


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
