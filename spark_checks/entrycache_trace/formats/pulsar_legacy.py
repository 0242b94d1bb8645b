"""The rows of `pulsar-legacy`: those of `pulsar-pip430` that a cache without a removal queue has."""

from __future__ import annotations

from functools import partial
from typing import Final

from entrycache_trace.formats.pulsar_pip430 import COLUMN_MEANINGS as WITH_QUEUE
from entrycache_trace.recording import WriteCaseTrace
from entrycache_trace.recording import write_case_trace as write_numbered
from entrycache_trace.schema import EventFormat, TraceFormat

POSITION_COLUMNS: Final = ("cache", "ledger_id", "entry_id")
ENTRY_COLUMNS: Final = (*POSITION_COLUMNS, "life", "size_bytes")
PASS_COLUMNS: Final = ("origin", "cache", "trigger_bytes", "target_bytes")

EVENTS: Final = (
    EventFormat("CONFIG", (), "first", ("value",)),
    EventFormat("SNAPSHOT", ("END",), "one row an entry that is cached, before END", ENTRY_COLUMNS, ("stamp_ns",)),
    EventFormat(
        "INSERT",
        ("ADD", "FILL"),
        "an entry enters: added by a producer, or filled by a read from storage",
        ENTRY_COLUMNS,
        ("new_stamp_ns",),
    ),
    EventFormat("REJECT", ("DUPLICATE",), "it was there already", POSITION_COLUMNS, ("size_bytes",)),
    EventFormat(
        "SKIP",
        ("FULL", "NOT_WANTED"),
        "it is not cached: FULL the bytes were at the limit, NOT_WANTED a single read from storage",
        POSITION_COLUMNS,
        ("size_bytes",),
    ),
    EventFormat(
        "HIT",
        ("GET", "READ"),
        "an entry that was asked for is cached, and taken from there",
        (*POSITION_COLUMNS, "life"),
        ("size_bytes", "stamp_ns"),
    ),
    EventFormat(
        "MISS",
        ("GET", "READ"),
        "it is not, or of a range another one is not; a lookup of a range writes its hits only",
        POSITION_COLUMNS,
    ),
    EventFormat(
        "PASS_BEGIN",
        ("TIME", "SIZE"),
        "a pass begins, each that is asked for; one over one cache names it",
        ("pass_id", "bound"),
        PASS_COLUMNS,
    ),
    EventFormat("EVICT", ("TIME", "SIZE"), "the pass removes it", (*ENTRY_COLUMNS, "pass_id"), ("stamp_ns",)),
    EventFormat(
        "PASS_END",
        ("TIME", "SIZE"),
        "the pass ends; over one cache, `stamp_ns` is that of its lowest position",
        ("pass_id",),
        ("bound", "stamp_ns", *PASS_COLUMNS),
    ),
    EventFormat(
        "REMOVE",
        ("RANGE", "CLEAR", "CURSOR", "LEDGER", "CLOSE"),
        "an entry leaves by a call",
        ENTRY_COLUMNS,
        ("stamp_ns",),
    ),
    EventFormat("END", (), "last: entries, bytes", (), ("value",)),
)

_OWN_MEANINGS: Final = {
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
_USED_COLUMNS: Final = {name for event in EVENTS for name in (*event.needs, *event.may)}

COLUMN_MEANINGS: Final = {
    name: _OWN_MEANINGS.get(name, means)
    for name, means in WITH_QUEUE.items()
    if name in {"broker", "seq", "ts_ns", "op", "cause", "call_id", "bytes_after", "manager_bytes"} | _USED_COLUMNS
}

FORMAT: Final = TraceFormat(EVENTS, COLUMN_MEANINGS, "L-EVICT-5")


# --- recorder
# Turns the steps of a case into a recorded trace; there is no removal queue, so no slot has a number.

write_case_trace: Final[WriteCaseTrace] = partial(write_numbered, numbers_slots=False)
