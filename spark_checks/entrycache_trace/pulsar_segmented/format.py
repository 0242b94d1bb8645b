"""The rows of `pulsar-segmented`."""

from __future__ import annotations

from typing import Final

from entrycache_trace.format import Event, Format

PLACE: Final = ("cache", "ledger_id", "entry_id")
ENTRY: Final = (*PLACE, "life", "size_bytes")

EVENTS: Final = (
    Event("CONFIG", (), "first: the settings", ("value",)),
    Event(
        "INSERT",
        ("ADD",),
        "the current segment takes an entry",
        (*ENTRY, "bound"),
        ("tail_no", "key_hash"),
    ),
    Event("REJECT", ("DUPLICATE",), "it was there already", PLACE, ("size_bytes",)),
    Event(
        "SKIP",
        ("DISABLED", "FULL"),
        "it is not taken: caching is off, or no segment has room for it",
        (*PLACE, "size_bytes"),
    ),
    Event(
        "PASS_BEGIN",
        ("TURN",),
        "the current segment has no room for an entry of `size_bytes`: the ring turns; a turn that drops nothing is "
        "told too",
        ("pass_id", "size_bytes", "bound"),
        ("tail_no", "ticket", "trigger_bytes"),
    ),
    Event(
        "EVICT",
        ("TURN",),
        "the segment that becomes current drops an entry, one row each",
        (*ENTRY, "pass_id"),
        ("bound", "ticket"),
    ),
    Event(
        "PASS_END",
        ("TURN",),
        "the segment is cleared and current; the INSERT for which the ring turned follows in the same call",
        ("pass_id",),
        ("tail_no", "ticket", "trigger_bytes"),
    ),
    Event("HIT", ("GET", "READ"), "a lookup finds the entry; READ: one row an entry of a range that is answered",
          (*PLACE, "life"), ("size_bytes", "key_hash")),
    Event("MISS", ("GET",), "a lookup does not; a range that is not answered has its ASK rows only", PLACE),
    Event("ASK", ("FIRST", "LAST"), "a range is asked for: its first position and its last one, one row each", PLACE),
    Event("METRICS", (), "what `usage` answered: entries and bytes", ("value",)),
    Event(
        "SNAPSHOT",
        ("END",),
        "before END, one row an entry, the oldest first",
        ENTRY,
        ("bound", "tail_no"),
    ),
    Event("END", (), "last: entries, bytes, and segments that were used as slots", (), ("value",)),
)  # fmt: skip

MEANS: Final = {
    "broker": "the run of one broker: one ring; the name of the part's folder, read as a text",
    "seq": "the order of its events; a trace that misses nothing has no gap",
    "ts_ns": "monotonic nanoseconds, never falling with `seq`",
    "op": "what happened; below",
    "cause": "why or how; below",
    "cache": "the name of the managed ledger",
    "ledger_id": "the position: its ledger",
    "entry_id": "the position: its entry; -1 in an ASK row is a position that never is",
    "key_hash": "a number that stands for the payload: of INSERT what came with it, of HIT what is handed over",
    "life": "the `seq` of the INSERT that began this stay",
    "size_bytes": "the length of the entry, not rounded up",
    "pass_id": "the `seq` of the PASS_BEGIN of the turn that the row belongs to, its own there",
    "call_id": "the `seq` of the first event of the same call",
    "bound": "the byte of its segment at which the entry starts; of PASS_BEGIN the offset of the segment without room",
    "trigger_bytes": "what a segment has room for: an entry that would end beyond it turns the ring",
    "bytes_after": "the recorder's own sum of the sizes of all entries, after the event",
    "manager_bytes": "the sum of the offsets of all segments, after the event",
    "tail_no": "the number of the turn by which the segment that takes the entry became current, 0 before the first",
    "ticket": "the number of the turn by which the segment that is cleared had become current; null: it was never used",
    "value": "JSON: of CONFIG the settings, of METRICS and END `entries` and `bytes`, of END `slots` too",
}

FORMAT: Final = Format(EVENTS, MEANS, "S-RING-2")
