"""Scenarios of caching stores: what they write to the underlying store and forward, and what their views answer."""

from __future__ import annotations

import json

from entrycache_trace.formats.kafka_streams import key_hash
from tests.support.traces.kafka_scenarios.scenario import Violations, scenario, wrong
from tests.support.traces.kafka_script import Row, StreamScript


def open_store(s: StreamScript, ns: str = "s", kind: str = "kv", **settings: int) -> Row:
    value = json.dumps({"listens": 1, "old_values": 0, **settings})
    return s.call().row("STORE_OPEN", cache=ns, store_kind=kind, value=value)


def times(key: str) -> Row:
    """Return the times of `KEY@START` or `KEY@START-END`."""
    start, _, end = key.partition("@")[2].partition("-")
    return {"window_start": int(start) if start else None, "window_end": int(end) if end else None}


def put(s: StreamScript, key: str, deletes: bool = False, ns: str = "s", inside: bool = False) -> Row:
    row = s.put(ns, key, inside=inside)
    row.update(cause="DELETE" if deletes else "VALUE", **times(key))
    return row


def take(s: StreamScript, *keys: str, inside: bool = False) -> list[Row]:
    """Hand these keys over to the store in a call of its own."""
    rows = s.flush("s", list(keys), inside)
    for row, key in zip(rows, keys, strict=True):
        row.update(times(key))
    return rows


def stored(s: StreamScript, op: str, key: str, life: int, value: str | None = "v", **columns: object) -> Row:
    """Write BELOW or FORWARD."""
    causes = {"BELOW": ("DELETE", "PUT"), "FORWARD": ("DELETE", "VALUE")}[op]
    named = {"key_hash": key_hash(key), "life": life, "cause": causes[value is not None], **times(key)}
    value_hash = None if value is None else key_hash(value)
    return s.row(op, cache="s", **named, value_hash=value_hash, **columns)


def finish_entry(s: StreamScript, key: str, life: int, value: str | None = "v", **columns: object) -> tuple[Row, Row]:
    return stored(s, "BELOW", key, life, value), stored(s, "FORWARD", key, life, value, **columns)


def view(s: StreamScript, *keys: str, backward: bool = False) -> list[Row]:
    """Write a view that answers these keys."""
    cause = "BACKWARD" if backward else "FORWARD"
    begin = s.call().row("VIEW", cache="s", cause=cause, value="{}")
    begin["pass_id"] = begin["seq"]
    return [show(s, begin["seq"], key, cause) for key in keys]


def show(s: StreamScript, begin: int, key: str, cause: str = "FORWARD") -> Row:
    value = json.dumps(key.partition("@")[0].encode().hex())
    return s.row("VIEW_ENTRY", cache="s", cause=cause, pass_id=begin, key_hash=key_hash(key), value=value, **times(key))


@scenario()
def not_written_below(s: StreamScript, violating: bool) -> Violations:
    """A store writes what it takes to the underlying store."""
    open_store(s)
    lives = [put(s, key)["life"] for key in "kl"]
    rows = take(s, "k", "l")
    if not violating:
        finish_entry(s, "k", lives[0])
    finish_entry(s, "l", lives[1])
    return wrong(violating, "K-STORE-2", rows[0])


@scenario()
def forwarded_before_it_is_written(s: StreamScript, violating: bool) -> Violations:
    """An entry lies below before it is forwarded."""
    open_store(s)
    life = put(s, "k")["life"]
    take(s, "k")
    rows = [stored(s, op, "k", life) for op in (("FORWARD", "BELOW") if violating else ("BELOW", "FORWARD"))]
    return [("K-STORE-2", rows[0]), ("K-STORE-4", rows[1])] if violating else []


@scenario()
def tombstone_of_the_unknown(s: StreamScript, violating: bool) -> Violations:
    """The tombstone of a key that does not lie below goes nowhere; that of another one is written."""
    open_store(s)
    life = put(s, "k")["life"]
    if violating:
        take(s, "k")
        finish_entry(s, "k", life)
    put(s, "k", deletes=True)
    rows = take(s, "k")
    return wrong(violating, "K-STORE-2", rows[0])


@scenario()
def not_forwarded(s: StreamScript, violating: bool) -> Violations:
    """An entry that is written below is forwarded, unless its key was written again in the call."""
    open_store(s)
    lives = [put(s, key)["life"] for key in "kl"]
    take(s, "k", "l")
    rows = [stored(s, "BELOW", key, life) for key, life in zip("kl", lives, strict=True)]
    stored(s, "FORWARD", "k", lives[0])
    put(s, "l" if not violating else "k", inside=True)
    return wrong(violating, "K-STORE-4", rows[1])


@scenario()
def expired_and_forwarded(s: StreamScript, violating: bool) -> Violations:
    """A window that expires while it is cached is neither written nor forwarded."""
    open_store(s, kind="window", retention=10, segment_interval=1)
    lives = [put(s, key)["life"] for key in ("k@5", "k@15" if violating else "k@14")]
    take(s, "k@5", "k@15" if violating else "k@14")
    first = finish_entry(s, "k@5", lives[0])
    finish_entry(s, "k@15" if violating else "k@14", lives[1])
    return wrong(violating, "K-WINDOW-6", *first)


@scenario()
def chain_of_old_values(s: StreamScript, violating: bool) -> Violations:
    """The old value of a forward is the value of the one before; after a deletion there is none."""
    open_store(s, old_values=1)
    old: str | None = None
    rows: list[Row] = []
    for value in ("1", "2", None, "3", "4"):
        life = put(s, "k", deletes=value is None)["life"]
        take(s, "k")
        rows.append(finish_entry(s, "k", life, value, old_hash=None if old is None else key_hash(old))[1])
        old = value
    if violating:
        rows[1]["old_hash"] = key_hash("2")
        rows[3]["old_hash"] = key_hash("2")
    return wrong(violating, "K-OLD-2", rows[1], rows[3])


@scenario()
def old_value_after_a_clear(s: StreamScript, violating: bool) -> Violations:
    """A chain begins anew after a clear."""
    open_store(s, old_values=1)
    row: Row = {}
    for value in "12":
        life = put(s, "k")["life"]
        if not violating:
            put(s, "l")
        take(s, "k", *([] if violating else ["l"]))
        row = finish_entry(s, "k", life, value, old_hash=key_hash("0") if value == "2" else None)[1]
        if not violating:
            stored(s, "BELOW", "l", life + 1)
            stored(s, "FORWARD", "l", life + 1)
            s.clear("s")
    return wrong(violating, "K-OLD-2", row)


@scenario()
def view_of_a_closed_store(s: StreamScript, violating: bool) -> Violations:
    """A closed store answers nothing until it opens again."""
    open_store(s)
    put(s, "k")
    s.clear("s")
    s.call().row("STORE_CLOSE", cache="s")
    if not violating:
        open_store(s)
    view(s)
    return wrong(violating, "K-CLOSE-3", s.rows[-1])


@scenario()
def deleted_key_shown(s: StreamScript, violating: bool) -> Violations:
    """A view answers no deleted key; an open view may if the key was deleted after the opening."""
    open_store(s)
    put(s, "k")
    if violating:
        put(s, "k", deletes=True)
    view(s)
    begin = s.rows[-1]["seq"]
    if not violating:
        put(s, "k", deletes=True)
    s.call()
    return wrong(violating, "K-VIEW-1", show(s, begin, "k"))


@scenario()
def key_shown_twice(s: StreamScript, violating: bool) -> Violations:
    """A view answers a key once; another view may answer it again."""
    open_store(s)
    put(s, "k")
    row = view(s, "k")[0]
    row = show(s, row["pass_id"], "k") if violating else view(s, "k")[0]
    return wrong(violating, "K-VIEW-1", row)


@scenario()
def keys_out_of_order(s: StreamScript, violating: bool) -> Violations:
    """Keys come in the order of their bytes: `k` before `kk`."""
    open_store(s)
    for key in ("k", "kk"):
        put(s, key)
    return wrong(violating, "K-VIEW-1", view(s, "k", "kk", backward=violating)[1])


@scenario()
def windows_out_of_order(s: StreamScript, violating: bool) -> Violations:
    """Windows come by segment, then by key: l@5 and k@12 are of two segments of 10, of one of 20."""
    open_store(s, kind="window", retention=100, segment_interval=20 if violating else 10)
    for key in ("l@5", "k@12"):
        put(s, key)
    return wrong(violating, "K-WINDOW-1", view(s, "l@5", "k@12")[1])


@scenario()
def deleted_session_shown(s: StreamScript, violating: bool) -> Violations:
    """A view answers no deleted session, and each once; sessions of one end come in any order."""
    open_store(s, kind="session", retention=100, segment_interval=1)
    for key in ("k@3-9", "k@1-9"):
        put(s, key)
    if violating:
        put(s, "k@1-9", deletes=True)
    rows = view(s, "k@3-9", "k@1-9")
    again = show(s, rows[0]["pass_id"], "k@3-9") if violating else rows[0]
    return wrong(violating, "K-WINDOW-2", rows[1], again)


@scenario()
def closing_takes_the_bytes_of_another_store(s: StreamScript, violating: bool) -> Violations:
    """The stores of a thread add up to its total; closing one takes its own bytes alone."""
    for ns in "st":
        open_store(s, ns)
        put(s, "k", ns=ns)
    s.clear("s", cause="CLOSE")
    s.row("CACHE_CLOSE", cache="s")
    row = s.row("STORE_CLOSE", cache="s")
    if violating:
        row["bytes_after"] = row["manager_bytes"] = 0
    return wrong(violating, "K-METRICS-1", row)
