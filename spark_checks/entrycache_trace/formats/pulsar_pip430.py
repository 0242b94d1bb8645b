"""The rows of `pulsar-pip430`."""

from __future__ import annotations

from typing import Final

from entrycache_trace.schema import EventFormat, TraceFormat

POSITION_COLUMNS: Final = ("cache", "ledger_id", "entry_id")
ENTRY_COLUMNS: Final = (*POSITION_COLUMNS, "life", "size_bytes")
STATE_COLUMNS: Final = ("expected_reads", "requeues", "accessed", "stamp_ns")
PASS_COLUMNS: Final = ("bound", "max_requeues", "extend_accessed")

EVENTS: Final = (
    EventFormat("CONFIG", (), "first, and at each change of a setting", ("value",)),
    EventFormat(
        "SNAPSHOT",
        ("OPEN", "ROTATE", "END"),
        "one row a slot of the removal queue, head to tail: after the first CONFIG of a trace that does not begin "
        "empty, at each rotation of a file, before END; a dead slot has no entry",
        (),
        (*ENTRY_COLUMNS, *STATE_COLUMNS, "tail_no"),
    ),
    EventFormat("CACHE_OPEN", (), "a managed ledger's cache is used for the first time", ("cache",)),
    EventFormat("CACHE_CLOSE", (), "it is removed; behind the rows of its entries", ("cache",)),
    EventFormat(
        "INSERT",
        ("ADD", "FILL"),
        "an entry enters: added by a producer, or filled by a read from storage",
        ENTRY_COLUMNS,
        ("expected_reads", "requeues", "accessed", "new_stamp_ns", "tail_no", "cursor"),
    ),
    EventFormat("REJECT", ("DUPLICATE",), "it was there already", POSITION_COLUMNS, ("size_bytes",)),
    EventFormat("SKIP", ("DISABLED", "FULL", "NOT_WANTED"), "it is not cached", POSITION_COLUMNS, ("size_bytes",)),
    EventFormat(
        "HIT",
        ("GET", "READ", "REPLAY"),
        "an entry that was asked for is cached, and taken from there",
        (*POSITION_COLUMNS, "life"),
        ("size_bytes", *STATE_COLUMNS, "cursor"),
    ),
    EventFormat(
        "MISS",
        ("GET", "READ", "REPLAY"),
        "it is not; a lookup of a range writes its hits only",
        POSITION_COLUMNS,
        ("cursor",),
    ),
    EventFormat(
        "READ_DONE",
        ("DELIVERED", "REMOVED", "REJECTED"),
        "a count of expected reads falls: a delivery, the cached copy's own release, a rejected duplicate (no `life`)",
        ("ledger_id", "entry_id"),
        ("cache", "life", "size_bytes", *STATE_COLUMNS),
    ),
    EventFormat(
        "EXPECT",
        (),
        "a count of expected reads grows by one",
        (*POSITION_COLUMNS, "life"),
        ("size_bytes", *STATE_COLUMNS),
    ),
    EventFormat(
        "PASS_BEGIN",
        ("TIME", "SIZE"),
        "a pass begins; one that does nothing may be left out with its end",
        ("pass_id", "bound"),
        ("origin", "max_requeues", "extend_accessed", "trigger_bytes", "target_bytes"),
    ),
    EventFormat(
        "REQUEUE",
        ("ACCESSED", "EXPECTED_READS"),
        "the pass puts the entry at the head back to the tail; where both hold, ACCESSED",
        (*POSITION_COLUMNS, "life", "pass_id"),
        ("size_bytes", *STATE_COLUMNS, "new_stamp_ns", *PASS_COLUMNS, "tail_no", "head_no", "ticket"),
    ),
    EventFormat(
        "EVICT",
        ("TIME", "SIZE"),
        "the pass removes it",
        (*ENTRY_COLUMNS, "pass_id"),
        (*STATE_COLUMNS, *PASS_COLUMNS, "head_no", "ticket"),
    ),
    EventFormat(
        "TOMBSTONE",
        ("TIME", "SIZE"),
        "the pass drops a slot whose entry had left already",
        ("pass_id",),
        ("life", *PASS_COLUMNS, "head_no", "ticket"),
    ),
    EventFormat(
        "PASS_END",
        ("TIME", "SIZE"),
        "the pass ends; `stamp_ns` is that of the entry at the head, `tail_no` and `head_no` count the slots numbered "
        "and dequeued so far",
        ("pass_id",),
        ("origin", "stamp_ns", *PASS_COLUMNS, "trigger_bytes", "target_bytes", "tail_no", "head_no"),
    ),
    EventFormat(
        "REMOVE",
        ("RANGE", "CLEAR", "CURSOR", "LEDGER", "CLOSE"),
        "an entry leaves by a call; a queue that unlinks its slot at once gives `ticket`",
        ENTRY_COLUMNS,
        (*STATE_COLUMNS, "ticket"),
    ),
    EventFormat("CURSOR_ADD", (), "a cursor becomes active", ("cache", "cursor"), ("ledger_id", "entry_id")),
    EventFormat("CURSOR_MOVE", (), "it has a new position", ("cache", "cursor"), ("ledger_id", "entry_id")),
    EventFormat("CURSOR_REMOVE", (), "it is active no more", ("cache", "cursor")),
    EventFormat("METRICS", (), "the counters of this moment", ("value",)),
    EventFormat("END", (), "last: entries, bytes, slots", (), ("value",)),
)

COLUMN_MEANINGS: Final = {
    "broker": "the run of one broker: one removal queue; the name of the part's folder, read as a text",
    "seq": "the order of its events; a trace that misses nothing has no gap",
    "ts_ns": "monotonic nanoseconds, never falling with `seq`",
    "op": "what happened; below",
    "cause": "why or how; below",
    "origin": "who asked for a pass: TRIGGER, CYCLE or CALL",
    "cache": "the name of the managed ledger",
    "ledger_id": "the position: its ledger",
    "entry_id": "the position: its entry; of CURSOR rows, the cursor's new position",
    "life": "the `seq` of the INSERT that began this stay; one that began before the trace: -1 - `tail_no`",
    "size_bytes": "the accounted length",
    "expected_reads": "the count after the event; null where the entry carries none",
    "requeues": "the requeue count after the event",
    "accessed": "the flag before the event",
    "stamp_ns": "the entry's stamp before the event; of PASS_END that of the head, null where none is left",
    "new_stamp_ns": "its stamp after INSERT and REQUEUE; null: `ts_ns`",
    "pass_id": "the `seq` of the PASS_BEGIN that the row belongs to, its own there",
    "call_id": "the `seq` of the first event of the same call",
    "bound": "in a time pass the cutoff; in a size pass the bytes still to free before the event",
    "max_requeues": "the setting in force, on each row of a pass",
    "extend_accessed": "the setting in force, on each row of a pass",
    "trigger_bytes": "of a size pass: above which bytes one is asked for",
    "target_bytes": "of a size pass: down to which bytes it frees",
    "bytes_after": "the recorder's own sum of accounted bytes over all caches, after the event",
    "manager_bytes": "the manager's own counter at that moment",
    "tail_no": "the number of the slot that the event gave the entry, from 0, in the queue's own order",
    "head_no": "the number of this dequeue, from 0",
    "ticket": "the number of the slot that was taken",
    "cursor": "the cursor that reads, or that the row is about",
    "value": "JSON: of CONFIG the settings, of METRICS the counters, of END `entries`, `bytes`, `slots`",
}

FORMAT: Final = TraceFormat(EVENTS, COLUMN_MEANINGS, "R-REQUEUE-1")
