"""The rows of `pulsar-legacy`: those of `pulsar-pip430` that a cache without a removal queue has.

Most columns have the meanings of any cache of managed ledgers; `_OWN_MEANINGS` has the others. There is no removal
queue, so `write_case_trace` records the steps of a case without numbers of slots.
"""

from functools import partial
from typing import Final

from entrycache_trace.recording import LEDGER_COLUMN_MEANINGS, WriteCaseTrace
from entrycache_trace.recording import write_case_trace as write_numbered
from entrycache_trace.schema import EventFormat, TraceFormat

POSITION_COLUMNS: Final = ("cache", "ledger_id", "entry_id")
ENTRY_COLUMNS: Final = (*POSITION_COLUMNS, "life", "size_bytes")
PASS_COLUMNS: Final = ("origin", "cache", "trigger_bytes", "target_bytes")

EVENTS: Final = (
    EventFormat("CONFIG", (), "the first row", ("value",)),
    EventFormat("SNAPSHOT", ("END",), "before END, one row for each cached entry", ENTRY_COLUMNS, ("stamp_ns",)),
    EventFormat(
        "INSERT",
        ("ADD", "FILL"),
        "an entry enters: added by a producer, or filled by a read from storage",
        ENTRY_COLUMNS,
        ("new_stamp_ns",),
    ),
    EventFormat("REJECT", ("DUPLICATE",), "the position was cached already", POSITION_COLUMNS, ("size_bytes",)),
    EventFormat(
        "SKIP",
        ("FULL", "NOT_WANTED"),
        "the entry is not cached: FULL the bytes were at the limit, NOT_WANTED it was a single read from storage",
        POSITION_COLUMNS,
        ("size_bytes",),
    ),
    EventFormat(
        "HIT",
        ("GET", "READ"),
        "a requested entry is cached and served from the cache",
        (*POSITION_COLUMNS, "life"),
        ("size_bytes", "stamp_ns"),
    ),
    EventFormat(
        "MISS",
        ("GET", "READ"),
        "a requested entry, or another one of its range, is not cached; a lookup of a range writes its hits only",
        POSITION_COLUMNS,
    ),
    EventFormat(
        "PASS_BEGIN",
        ("TIME", "SIZE"),
        "a pass begins, one row for each requested pass; a pass over one cache names it",
        ("pass_id", "bound"),
        PASS_COLUMNS,
    ),
    EventFormat("EVICT", ("TIME", "SIZE"), "the pass removes the entry", (*ENTRY_COLUMNS, "pass_id"), ("stamp_ns",)),
    EventFormat(
        "PASS_END",
        ("TIME", "SIZE"),
        "the pass ends; for one cache, `stamp_ns` is that of its lowest position",
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
    EventFormat("END", (), "the last row: entries, bytes", (), ("value",)),
)

_OWN_MEANINGS: Final = {
    "broker": "the run of one broker; the name of the part's folder, read as a text",
    "origin": "who asked for a pass: TRIGGER an insert, CALL a call",
    "cache": "the name of the managed ledger; for a pass, the one cache that it is about",
    "entry_id": "the position: its entry",
    "life": "the `seq` of the INSERT that began this life",
    "stamp_ns": "the entry's stamp; for PASS_END that of the lowest position of its cache, null if none is left",
    "new_stamp_ns": "its stamp after INSERT; null: `ts_ns`",
    "bound": "for PASS_BEGIN and PASS_END: the cutoff of a time pass, or all bytes that a size pass is to free",
    "trigger_bytes": "for a size pass: an insert asks for one above these bytes",
    "target_bytes": "for a size pass: a pass that an insert asked for frees down to these bytes",
    "value": "JSON: for CONFIG the settings, for END `entries`, `bytes`",
}
_USED_COLUMNS: Final = {name for event in EVENTS for name in (*event.needs, *event.may)}

COLUMN_MEANINGS: Final = {
    name: _OWN_MEANINGS.get(name, means)
    for name, means in LEDGER_COLUMN_MEANINGS.items()
    if name in {"broker", "seq", "ts_ns", "op", "cause", "call_id", "bytes_after", "manager_bytes"} | _USED_COLUMNS
}

FORMAT: Final = TraceFormat(EVENTS, COLUMN_MEANINGS, "L-EVICT-5")

write_case_trace: Final[WriteCaseTrace] = partial(write_numbered, numbers_slots=False)
"""The recorder of a case, without numbers of slots."""
