"""The rows of `kafka-streams`."""

from __future__ import annotations

from typing import Final

from entrycache_trace.format import Event, Format

ENTRY: Final = ("cache", "key_hash", "life", "size_bytes", "dirty")

EVENTS: Final = (
    Event("CONFIG", (), "first, and at each resize", ("value",)),
    Event("CACHE_OPEN", (), "a namespace is used for the first time", ("cache",)),
    Event("CACHE_CLOSE", (), "it is closed; behind the rows of its entries", ("cache",)),
    Event("PUT", (), "a write: it begins a life and ends the key's former one; `dirty` as it was written", ENTRY),
    Event("HIT", ("GET",), "a lookup that finds the key, also of an iteration", ENTRY),
    Event("MISS", ("GET",), "one that does not", ("cache", "key_hash")),
    Event("EVICT", (), "the eldest entry leaves; `dirty`: it was not handed over yet", ENTRY),
    Event(
        "FLUSH",
        ("CALL", "EVICT", "FAILED"),
        "an entry is handed to a listener: EVICT the evicted one, CALL another, FAILED it could not be",
        ENTRY,
    ),
    Event("DELETE", ("CALL", "FLUSH"), "a key is deleted, or a tombstone that was handed over is dropped", ENTRY),
    Event("REMOVE", ("CLEAR", "CLOSE"), "an entry leaves with its namespace", ENTRY),
    Event("METRICS", (), "the counters of the thread, or with `cache` of a namespace", ("value",), ("cache",)),
    Event("END", (), "last: entries and bytes", (), ("value",)),
)

MEANS: Final = {
    "broker": "the cache of one stream thread; the name of the part's folder, read as a text",
    "seq": "the order of its events; a trace that misses nothing has no gap",
    "ts_ns": "monotonic nanoseconds, never falling with `seq`",
    "op": "what happened; below",
    "cause": "why or how; below",
    "call_id": "the `seq` of the first event of the same call",
    "bytes_after": "the recorder's own sum of the sizes of all entries, after the event",
    "cache": "the namespace",
    "key_hash": "XXH64 of the key in UTF-8 with the seed 42, signed",
    "life": "the `seq` of the PUT that began it",
    "size_bytes": "what the entry counts",
    "dirty": "the flag before the event; of PUT as it was written",
    "manager_bytes": "the cache's own total",
    "value": "JSON: of CONFIG the settings, of METRICS the counters, of END `entries` and `bytes`",
}

FORMAT: Final = Format(EVENTS, MEANS, "K-FLUSH-4")
