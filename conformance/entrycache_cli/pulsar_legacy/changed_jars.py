"""The released jar with one instruction changed at a time."""

from __future__ import annotations

from typing import Final

from entrycache_cli.faults.change import Change

SUBJECT: Final = "pulsar:4.0.8"
"""The bytes of a change stand in this one jar."""

POLICY: Final = "impl/cache/EntryCacheDefaultEvictionPolicy"
MANAGER: Final = "impl/cache/RangeEntryCacheManagerImpl"
MAP: Final = "util/RangeCache"


def _changed(class_name: str, instructions: bytes, new: bytes, what: str) -> Change:
    return Change(SUBJECT, f"org/apache/bookkeeper/mledger/{class_name}", instructions, new, what, ("all",))


CHANGES: Final = {
    # stamp <= cutoff becomes stamp < cutoff: lload_1, lcmp, ifgt -> ifge
    "legacy-cutoff-is-young": _changed(
        MAP, rb"\x1f\x94(?P<new>\x9d)\x00\x07\x04\xa7", b"\x9c", "an entry whose stamp is at the cutoff stays"
    ),
    # removed < wanted becomes removed <= wanted: getfield removedSize, lload_1, lcmp, ifge -> ifgt
    "legacy-one-entry-too-many": _changed(
        MAP,
        rb"\x2d\xb4..\x1f\x94(?P<new>\x9c)",
        b"\x9d",
        "a cache that has given exactly what it was asked for gives one entry more",
    ),
    # taken < half becomes taken <= half: lload taken, lload half, lcmp, ifge -> ifgt
    "legacy-half-exceeded": _changed(
        POLICY,
        rb"\x16\x07\x16\x09\x94(?P<new>\x9c)",
        b"\x9d",
        "caches are taken until they hold more than half of the bytes",
    ),
    # the order is the natural one: aload_1, invokestatic reverseOrder -> aconst_null
    "legacy-smallest-first": _changed(
        POLICY, rb"\x2b(?P<new>\xb8..)\xb9", b"\x01\x00\x00", "the smallest caches give first"
    ),
    # the quotient is dropped: l2d, ddiv, dmul -> pop2, d2l
    "legacy-share-of-everything": _changed(
        POLICY, rb"\x8a\x6f(?P<new>\x6b)\x8f", b"\x58", "each cache that gives is asked for all of the amount"
    ),
    # bytes > trigger becomes bytes >= trigger: lload_1, getfield evictionTriggerThreshold, lcmp, ifle -> iflt
    "legacy-asked-at-the-trigger": _changed(
        MANAGER,
        rb"\x1f\x2a\xb4..\x94(?P<new>\x9e)",
        b"\x9b",
        "an insert that begins with the bytes at the trigger asks for a size pass",
    ),
    # bytes < limit becomes bytes <= limit: lload_1, getfield maxSize, lcmp, ifge -> ifgt
    "legacy-taken-at-the-limit": _changed(
        MANAGER,
        rb"\x1f\x2a\xb4..\x94(?P<new>\x9c)\x00\x07\x04\xa7",
        b"\x9d",
        "an insert that begins with the bytes at the limit is taken",
    ),
}
"""By name, of instructions only."""
