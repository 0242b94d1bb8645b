"""The rows of `pulsar-pip430`: the events of a broker's cache with one removal queue.

`EVENTS` says which columns each event needs and may have. The meanings of the columns and the recorder are those of any
cache of managed ledgers, in `entrycache_trace.recording`.
"""

from typing import Final

from entrycache_trace.recording import LEDGER_COLUMN_MEANINGS
from entrycache_trace.schema import EventFormat, TraceFormat

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
        ("expected_reads", "requeues", "accessed", "new_stamp_ns", "tail_no", "cursor"),
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
        ("size_bytes", *STATE_COLUMNS, "cursor"),
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
    EventFormat("METRICS", (), "the current counters", ("value",)),
    EventFormat("END", (), "the last row: entries, bytes, slots", (), ("value",)),
)

FORMAT: Final = TraceFormat(EVENTS, LEDGER_COLUMN_MEANINGS, "R-REQUEUE-1")
