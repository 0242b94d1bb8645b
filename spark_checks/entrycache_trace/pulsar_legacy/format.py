"""The rows of `pulsar-legacy`: those of `pulsar-pip430` that a cache without a removal queue has."""

from __future__ import annotations

from typing import Final

from entrycache_trace.format import Event, Format
from entrycache_trace.pulsar_pip430.format import MEANS as WITH_QUEUE

PLACE: Final = ("cache", "ledger_id", "entry_id")
ENTRY: Final = (*PLACE, "life", "size_bytes")
OF_PASS: Final = ("origin", "cache", "trigger_bytes", "target_bytes")

EVENTS: Final = (
    Event("CONFIG", (), "first", ("value",)),
    Event("SNAPSHOT", ("END",), "one row an entry that is cached, before END", ENTRY, ("stamp_ns",)),
    Event(
        "INSERT",
        ("ADD", "FILL"),
        "an entry enters: added by a producer, or filled by a read from storage",
        ENTRY,
        ("new_stamp_ns",),
    ),
    Event("REJECT", ("DUPLICATE",), "it was there already", PLACE, ("size_bytes",)),
    Event(
        "SKIP",
        ("FULL", "NOT_WANTED"),
        "it is not cached: FULL the bytes were at the limit, NOT_WANTED a single read from storage",
        PLACE,
        ("size_bytes",),
    ),
    Event(
        "HIT",
        ("GET", "READ"),
        "an entry that was asked for is cached, and taken from there",
        (*PLACE, "life"),
        ("size_bytes", "stamp_ns"),
    ),
    Event(
        "MISS",
        ("GET", "READ"),
        "it is not, or of a range another one is not; a lookup of a range writes its hits only",
        PLACE,
    ),
    Event(
        "PASS_BEGIN",
        ("TIME", "SIZE"),
        "a pass begins, each that is asked for; one over one cache names it",
        ("pass_id", "bound"),
        OF_PASS,
    ),
    Event("EVICT", ("TIME", "SIZE"), "the pass removes it", (*ENTRY, "pass_id"), ("stamp_ns",)),
    Event(
        "PASS_END",
        ("TIME", "SIZE"),
        "the pass ends; over one cache, `stamp_ns` is that of its lowest position",
        ("pass_id",),
        ("bound", "stamp_ns", *OF_PASS),
    ),
    Event("REMOVE", ("RANGE", "CLEAR", "CURSOR", "LEDGER", "CLOSE"), "an entry leaves by a call", ENTRY, ("stamp_ns",)),
    Event("END", (), "last: entries, bytes", (), ("value",)),
)

_OTHERS: Final = {
    "broker": "the run of one broker; the name of the part's folder, read as a text",
    "origin": "who asked for a pass: TRIGGER an insert, CALL a call",
    "cache": "the name of the managed ledger; of a pass, the one cache that it is about",
    "entry_id": "the position: its entry",
    "life": "the `seq` of the INSERT that began this stay",
    "stamp_ns": "the entry's stamp; of PASS_END that of the lowest position of its cache, null where none is left",
    "new_stamp_ns": "its stamp after INSERT; null: `ts_ns`",
    "bound": "on PASS_BEGIN and PASS_END: the cutoff of a time pass, what a size pass is to free in all",
    "trigger_bytes": "of a size pass: above which bytes an insert asks for one",
    "target_bytes": "of a size pass: down to which bytes one that is asked for frees",
    "value": "JSON: of CONFIG the settings, of END `entries`, `bytes`",
}
_TOLD: Final = {name for event in EVENTS for name in (*event.needs, *event.may)}

MEANS: Final = {
    name: _OTHERS.get(name, means)
    for name, means in WITH_QUEUE.items()
    if name in {"broker", "seq", "ts_ns", "op", "cause", "call_id", "bytes_after", "manager_bytes"} | _TOLD
}

FORMAT: Final = Format(EVENTS, MEANS, "L-EVICT-5")
