"""The rows of `pulsar-pip430`: the events of a broker's cache with one removal queue.

`EVENTS` says which columns each event needs and may have. The meanings of the columns and the recorder are those of any
cache of managed ledgers, in `entrycache_trace.recording`.
"""

from typing import Final

from entrycache_trace.recording import LEDGER_COLUMN_MEANINGS
from entrycache_trace.schema import EventFormat, TraceFormat

READ_COLUMN_MEANINGS: Final = {
    "entry_id": "the position: its entry; for CURSOR rows, the cursor's new position; for ASK and ANSWER the first "
    "entry",
    "tail_no": "the number of the slot that the event gave the entry, from 0, in the queue's own order; for PERMIT the "
    "number of the place that a waiting request gets",
    "ticket": "the number of the slot that was taken; for PERMIT that of the request which waits no longer",
    "read_id": "the `seq` of the READ_BEGIN of the read, its own there",
    "ask_id": "the `seq` of the ASK that brought the entry, its own there",
    "last_entry_id": "the last entry of the range that is asked for, or that came",
    "permits": "bytes: for TAKEN those that are granted, for QUEUED and REFUSED those that are requested, for GIVEN "
    "those that are given back",
}
"""The meanings of the columns in rows of reads that overlap in time."""

POSITION_COLUMNS: Final = ("cache", "ledger_id", "entry_id")
ENTRY_COLUMNS: Final = (*POSITION_COLUMNS, "life", "size_bytes")
STATE_COLUMNS: Final = ("expected_reads", "requeues", "accessed", "stamp_ns")
PASS_COLUMNS: Final = ("bound", "max_requeues", "extend_accessed")

EVENTS: Final = (
    EventFormat("CONFIG", (), "the first row, and each change of a setting", ("value",)),
    EventFormat(
        "SNAPSHOT",
        ("OPEN", "ROTATE", "END"),
        "one row for each slot of the removal queue, head to tail: after the first CONFIG of a trace that does not "
        "begin empty, at each rotation of a file, before END; a dead slot has no entry",
        (),
        (*ENTRY_COLUMNS, *STATE_COLUMNS, "tail_no"),
    ),
    EventFormat("CACHE_OPEN", (), "a managed ledger's cache is used for the first time", ("cache",)),
    EventFormat("CACHE_CLOSE", (), "the cache is removed; the rows of its entries come before", ("cache",)),
    EventFormat(
        "INSERT",
        ("ADD", "FILL"),
        "an entry enters: added by a producer, or filled by a read from storage",
        ENTRY_COLUMNS,
        ("expected_reads", "requeues", "accessed", "new_stamp_ns", "tail_no", "cursor", "ask_id"),
    ),
    EventFormat("REJECT", ("DUPLICATE",), "the position was cached already", POSITION_COLUMNS, ("size_bytes",)),
    EventFormat(
        "SKIP", ("DISABLED", "FULL", "NOT_WANTED"), "the entry is not cached", POSITION_COLUMNS, ("size_bytes",)
    ),
    EventFormat(
        "HIT",
        ("GET", "READ", "REPLAY"),
        "a requested entry is cached and served from the cache",
        (*POSITION_COLUMNS, "life"),
        ("size_bytes", *STATE_COLUMNS, "cursor", "read_id"),
    ),
    EventFormat(
        "MISS",
        ("GET", "READ", "REPLAY"),
        "a requested entry is not cached; a lookup of a range writes its hits only",
        POSITION_COLUMNS,
        ("cursor",),
    ),
    EventFormat(
        "READ_DONE",
        ("DELIVERED", "REMOVED", "REJECTED"),
        "a count of expected reads falls: a delivery, the cached copy's own release, a rejected duplicate (no `life`)",
        ("ledger_id", "entry_id"),
        ("cache", "life", "size_bytes", *STATE_COLUMNS, "ask_id", "read_id"),
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
        "a pass begins; a pass that does nothing may be left out with its end",
        ("pass_id", "bound"),
        ("origin", "max_requeues", "extend_accessed", "trigger_bytes", "target_bytes"),
    ),
    EventFormat(
        "REQUEUE",
        ("ACCESSED", "EXPECTED_READS"),
        "the pass puts the entry at the head back to the tail; ACCESSED if both causes hold",
        (*POSITION_COLUMNS, "life", "pass_id"),
        ("size_bytes", *STATE_COLUMNS, "new_stamp_ns", *PASS_COLUMNS, "tail_no", "head_no", "ticket"),
    ),
    EventFormat(
        "EVICT",
        ("TIME", "SIZE"),
        "the pass removes the entry",
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
    EventFormat("CURSOR_MOVE", (), "a cursor has a new position", ("cache", "cursor"), ("ledger_id", "entry_id")),
    EventFormat("CURSOR_REMOVE", (), "a cursor is no longer active", ("cache", "cursor")),
    EventFormat(
        "READ_BEGIN",
        (),
        "a cursor begins a read or a replay",
        ("cache", "read_id"),
        ("cursor",),
    ),
    EventFormat(
        "ASK",
        (),
        "one read of storage is sent, for the entries from `entry_id` to `last_entry_id` of one ledger",
        (*POSITION_COLUMNS, "last_entry_id", "ask_id"),
        ("cursor", "read_id"),
    ),
    EventFormat(
        "ANSWER",
        ("ALL", "FAIL", "BUSY", "SHORT"),
        "storage answers an ask; the rows of the entries that the answer brings come after it. SHORT: only the first "
        "entries came, up to `last_entry_id`; BUSY: too many requests",
        (*POSITION_COLUMNS, "last_entry_id", "ask_id"),
    ),
    EventFormat(
        "READ_END",
        ("DONE", "FAILED"),
        "a read ends; what it has got is released later",
        ("cache", "read_id"),
        ("cursor",),
    ),
    EventFormat(
        "PERMIT",
        ("TAKEN", "QUEUED", "REFUSED", "GIVEN"),
        "bytes of reads in flight are granted, asked for in vain (the request waits, or is refused), or given back; a "
        "request that waited is TAKEN, or REFUSED once it has timed out, with the `ticket` of its place in the queue",
        ("permits",),
        ("read_id", "tail_no", "ticket"),
    ),
    EventFormat("LEDGER_DELETE", (), "a ledger is deleted; the rows of its entries come after", ("cache", "ledger_id")),
    EventFormat("METRICS", (), "the current counters", ("value",)),
    EventFormat("END", (), "the last row: entries, bytes, slots", (), ("value",)),
)

FORMAT: Final = TraceFormat(EVENTS, {**LEDGER_COLUMN_MEANINGS, **READ_COLUMN_MEANINGS}, "R-REQUEUE-1")
