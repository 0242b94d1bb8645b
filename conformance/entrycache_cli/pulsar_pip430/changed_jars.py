"""The released jar with one instruction changed at a time."""

from __future__ import annotations

from typing import Final

from entrycache_cli.faults.change import Change

SUBJECT: Final = "pulsar:4.2.4"
"""The bytes of a change stand in this one jar."""


def _changed(class_name: str, instructions: bytes, new: bytes, what: str = "") -> Change:
    name = f"org/apache/bookkeeper/mledger/impl/{class_name}"
    return Change(SUBJECT, name, instructions, new, what, ("range", "queue"))


CHANGES: Final = {
    # stamp < cutoff becomes stamp <= cutoff: getfield stamp, lload_1, lcmp, ifge -> ifgt
    "time-cutoff-included": _changed(
        "cache/RangeCacheRemovalQueue",
        rb"\x2d\xb4..\x1f\x94(?P<new>\x9c)\x00\x07\x04\xa7",
        b"\x9d",
        "the time predicate compares with <= instead of <",
    ),
    # removed >= wanted becomes removed > wanted: getfield removedSize, lload_1, lcmp, iflt -> ifle
    "size-one-entry-too-many": _changed(
        "cache/RangeCacheRemovalQueue",
        rb"\x19\x04\xb4..\x1f\x94(?P<new>\x9b)",
        b"\x9e",
        "the size predicate compares with > instead of >=",
    ),
    # accessed = false is left out where an entry is requeued, but not where it is recycled:
    # aload_0, iconst_0, putfield accessed, aload_0, dup, getfield requeues, iconst_1, iadd
    "requeue-keeps-accessed": _changed(
        "cache/RangeCacheEntryWrapper",
        rb"(?P<new>\x2a\x03\xb5..)\x2a\x59\xb4..\x04\x60",
        b"\x00" * 5,
        "a requeue does not reset the accessed flag",
    ),
    # a cache's size keeps what the queue removes: iload updateSize, ifeq -> iconst_0, nop, ifeq
    "removal-keeps-size": _changed(
        "cache/RangeCache",
        rb"(?P<new>\x15\x05)\x99..\x2a\xb4..\x16\x06\x75\xb6",
        b"\x03\x00",
        "a removal by the queue does not lower the bytes of the cache",
    ),
    # the target is the limit: in maxSize * watermark aload_0, getfield watermark, dmul are left out
    "target-without-watermark": _changed(
        "cache/RangeEntryCacheManagerImpl", rb"\x8a(?P<new>\x2a\xb4..\x6b)\x8f\x65\x42", b"\x00" * 5
    ),
    # count > 0 becomes count >= 0 where a fill is cached: iload count, ifle -> iflt
    "fills-without-reads-cached": _changed(
        "cache/RangeEntryCacheImpl", rb"\x15\x06(?P<new>\x9e)\x00\x0a\x2a\x19\x0a\xb6", b"\x9b"
    ),
    # an insert keeps its own reference: after astore cached copy, aload_3, invokevirtual release, pop are left out
    "insert-keeps-a-reference": _changed(
        "cache/RangeEntryCacheImpl", rb"\x3a\x05(?P<new>\x2d\xb6..\x57)\x2a\xb4", b"\x00" * 5
    ),
    # passed < grace becomes passed <= grace: lload passed, getfield grace, lcmp, ifge -> ifgt
    "grace-one-milli-longer": _changed(
        "ActiveManagedCursorContainerImpl", rb"\x1f\x2a\xb4..\x94(?P<new>\x9c)\x00\x05\x04\xac", b"\x9d"
    ),
    # a rank before waiting moves are applied: after lstore_2, aload_0, invokevirtual processPendingPositions
    "rank-of-old-positions": _changed(
        "ActiveManagedCursorContainerImpl", rb"\x41(?P<new>\x2a\xb6..)\x2a\xb4..\x2b\xb9", b"\x00" * 4
    ),
}
"""By name, of instructions only."""

NO_CLOCK_CALL: Final = _changed("cache/RangeCacheEntryWrapper", rb"(?P<new>nanoTime)", b"nanoTimf")
"""A class that never asks for the time: the agent must refuse it."""
