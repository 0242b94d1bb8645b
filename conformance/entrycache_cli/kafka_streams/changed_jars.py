"""The released jar with one place changed at a time."""

from __future__ import annotations

from typing import Final

from entrycache_cli.faults.change import Change

SUBJECT: Final = "kafka-streams:4.3.1"
"""The bytes of a change stand in this one jar."""


def _changed(
    class_name: str, instructions: bytes, new: bytes, what: str, levels: tuple[str, ...] = ("cache",)
) -> Change:
    return Change(SUBJECT, f"org/apache/kafka/streams/state/internals/{class_name}", instructions, new, what, levels)


CHANGES: Final = {
    # total > limit becomes total >= limit after a write: getfield maxCacheSizeBytes, lcmp, ifle -> iflt
    "overflow-at-the-limit": _changed(
        "ThreadCache",
        rb"\x2a\xb4..\x94(?P<new>\x9e)\x00\x34\x2c",
        b"\x9b",
        "a write evicts while the total is >= the limit instead of >",
    ),
    # a dirty key that is written again keeps its turn: aload_0, getfield dirtyKeys, aload_1, remove, pop are left out
    "rewritten-key-keeps-its-turn": _changed(
        "NamedCache",
        rb"\x99\x00\x19(?P<new>\x2a\xb4..\x2b\xb9..\x02\x00\x57)\x2a\xb4..\x2b\xb9..\x02\x00\x57",
        b"\x00" * 11,
        "a dirty key that is written again keeps its turn",
    ),
    # no tombstone is remembered for after the call: aload deleted, aload node, getfield key, add, pop are left out
    "tombstones-stay-after-a-flush": _changed(
        "NamedCache",
        rb"\xc7\x00\x0f(?P<new>\x2d\x19\x06\xb4..\xb9..\x02\x00\x57)\xa7",
        b"\x00" * 12,
        "tombstones that were handed over stay in the cache",
    ),
    # an entry does not count the byte of its flag: lconst_1 -> lconst_0 before residentMemorySizeEstimate, ladd
    "flag-not-counted": _changed(
        "LRUCacheEntry",
        rb"\x2a(?P<new>\x0a)\x2a\xb4..\xb6..\x61\xb5",
        b"\x09",
        "an entry does not count the byte of its dirty flag",
    ),
    # a range of the store below does not hold its first key: subMap(from, true, to, true), iconst_1 -> iconst_0
    "range-below-without-its-first-key": _changed(
        "InMemoryKeyValueStore",
        rb"\x2a\xb4..\x2b(?P<new>\x04)\x2c\x04\xb9..\x05\x00",
        b"\x03",
        "a range of the store below does not hold its first key",
        ("store",),
    ),
    # a tombstone does not hide the key below: where both iterators stand at it storeIterator.next(), pop are left out
    "tombstone-does-not-hide": _changed(
        "AbstractMergedSortedCacheStoreIterator",
        rb"\x9a\x00\x1a(?P<new>\x2a\xb4..\xb9..\x01\x00\x57)\x2a\xb4",
        b"\x00" * 10,
        "a tombstone in the cache does not hide the key that lies below",
        ("store",),
    ),
}
"""By name, of instructions only."""
