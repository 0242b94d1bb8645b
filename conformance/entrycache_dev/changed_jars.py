"""Released jars with one changed instruction each, which a conformance run must detect.

A `JarChange` names bytes of one class and their replacement. It keeps every length, so no offset, no stack map and no
constant of the class file moves. `write_changed_jar` copies the released jar and changes that class. The changes of
each system stand in a table; the comment above a change says which instructions it touches.
"""

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.java.driver import jar_under_test


class JarChange(NamedTuple):
    """Bytes that occur once in a class, and the bytes that replace them."""

    subject: str
    """The release whose jar is changed."""
    class_name: str
    """The name of the class with its folders."""
    instructions: bytes
    """A regular expression, whose group ``new`` is replaced."""
    new: bytes
    what: str = ""
    """The effect of the change, for the page of seeded faults; a change without it is not on the page."""
    levels: tuple[str, ...] = ()
    """The levels of the page's run."""


def write_changed_jars(out: Path, changes: Mapping[str, JarChange]) -> dict[str, Path]:
    """Write changed jars into a folder, except those that exist already; return them by name."""
    return {name: write_changed_jar(change, out / f"{name}.jar") for name, change in changes.items()}


def write_changed_jar(change: JarChange, jar: Path) -> Path:
    """Write the released jar with one class changed, unless it exists."""
    if not jar.exists():
        jar.parent.mkdir(parents=True, exist_ok=True)
        scratch = jar.with_suffix(".part")
        with (
            zipfile.ZipFile(jar_under_test(change.subject)) as released,
            zipfile.ZipFile(scratch, "w", zipfile.ZIP_DEFLATED) as changed,
        ):
            for name in released.namelist():
                content = released.read(name)
                if name == f"{change.class_name}.class":
                    content = _change_class(content, change)
                changed.writestr(name, content)
        scratch.replace(jar)
    return jar


def _change_class(content: bytes, change: JarChange) -> bytes:
    matches = list(re.finditer(change.instructions, content, re.DOTALL))
    if len(matches) != 1 or len(matches[0]["new"]) != len(change.new):
        raise ValueError(f"{len(matches)} places in {change.class_name} for {change.instructions!r}, expected one")
    start, end = matches[0].span("new")
    return content[:start] + change.new + content[end:]


PULSAR_PIP430_RELEASE: Final = "pulsar:4.2.4"
"""The release whose jar holds the bytes of these changes."""


def _pulsar_pip430_change(class_name: str, instructions: bytes, new: bytes, what: str = "") -> JarChange:
    name = f"org/apache/bookkeeper/mledger/impl/{class_name}"
    return JarChange(PULSAR_PIP430_RELEASE, name, instructions, new, what, ("range", "queue"))


PULSAR_PIP430_CHANGES: Final = {
    # stamp < cutoff becomes stamp <= cutoff: getfield stamp, lload_1, lcmp, ifge -> ifgt
    "time-cutoff-included": _pulsar_pip430_change(
        "cache/RangeCacheRemovalQueue",
        rb"\x2d\xb4..\x1f\x94(?P<new>\x9c)\x00\x07\x04\xa7",
        b"\x9d",
        "the time predicate compares with <= instead of <",
    ),
    # removed >= wanted becomes removed > wanted: getfield removedSize, lload_1, lcmp, iflt -> ifle
    "size-one-entry-too-many": _pulsar_pip430_change(
        "cache/RangeCacheRemovalQueue",
        rb"\x19\x04\xb4..\x1f\x94(?P<new>\x9b)",
        b"\x9e",
        "the size predicate compares with > instead of >=",
    ),
    # accessed = false is left out where an entry is requeued, but not where it is recycled:
    # aload_0, iconst_0, putfield accessed, aload_0, dup, getfield requeues, iconst_1, iadd
    "requeue-keeps-accessed": _pulsar_pip430_change(
        "cache/RangeCacheEntryWrapper",
        rb"(?P<new>\x2a\x03\xb5..)\x2a\x59\xb4..\x04\x60",
        b"\x00" * 5,
        "a requeue does not reset the accessed flag",
    ),
    # a cache's size keeps what the queue removes: iload updateSize, ifeq -> iconst_0, nop, ifeq
    "removal-keeps-size": _pulsar_pip430_change(
        "cache/RangeCache",
        rb"(?P<new>\x15\x05)\x99..\x2a\xb4..\x16\x06\x75\xb6",
        b"\x03\x00",
        "a removal by the queue does not lower the bytes of the cache",
    ),
    # the target is the limit: in maxSize * watermark aload_0, getfield watermark, dmul are left out
    "target-without-watermark": _pulsar_pip430_change(
        "cache/RangeEntryCacheManagerImpl", rb"\x8a(?P<new>\x2a\xb4..\x6b)\x8f\x65\x42", b"\x00" * 5
    ),
    # count > 0 becomes count >= 0 where a fill is cached: iload count, ifle -> iflt
    "fills-without-reads-cached": _pulsar_pip430_change(
        "cache/RangeEntryCacheImpl", rb"\x15\x06(?P<new>\x9e)\x00\x0a\x2a\x19\x0a\xb6", b"\x9b"
    ),
    # an insert keeps its own reference: after astore cached copy, aload_3, invokevirtual release, pop are left out
    "insert-keeps-a-reference": _pulsar_pip430_change(
        "cache/RangeEntryCacheImpl", rb"\x3a\x05(?P<new>\x2d\xb6..\x57)\x2a\xb4", b"\x00" * 5
    ),
    # passed < grace becomes passed <= grace: lload passed, getfield grace, lcmp, ifge -> ifgt
    "grace-one-milli-longer": _pulsar_pip430_change(
        "ActiveManagedCursorContainerImpl", rb"\x1f\x2a\xb4..\x94(?P<new>\x9c)\x00\x05\x04\xac", b"\x9d"
    ),
    # a rank before waiting moves are applied: after lstore_2, aload_0, invokevirtual processPendingPositions
    "rank-of-old-positions": _pulsar_pip430_change(
        "ActiveManagedCursorContainerImpl", rb"\x41(?P<new>\x2a\xb6..)\x2a\xb4..\x2b\xb9", b"\x00" * 4
    ),
}
"""The changes of `pulsar-pip430` by name; they change instructions only."""

NO_CLOCK_CALL: Final = _pulsar_pip430_change("cache/RangeCacheEntryWrapper", rb"(?P<new>nanoTime)", b"nanoTimf")
"""A change after which a class never asks for the time, which the agent must refuse."""


PULSAR_LEGACY_RELEASE: Final = "pulsar:4.0.8"
"""The release whose jar holds the bytes of these changes."""

LEGACY_POLICY_CLASS: Final = "impl/cache/EntryCacheDefaultEvictionPolicy"
LEGACY_MANAGER_CLASS: Final = "impl/cache/RangeEntryCacheManagerImpl"
LEGACY_MAP_CLASS: Final = "util/RangeCache"


def _pulsar_legacy_change(class_name: str, instructions: bytes, new: bytes, what: str) -> JarChange:
    return JarChange(
        PULSAR_LEGACY_RELEASE, f"org/apache/bookkeeper/mledger/{class_name}", instructions, new, what, ("all",)
    )


PULSAR_LEGACY_CHANGES: Final = {
    # stamp <= cutoff becomes stamp < cutoff: lload_1, lcmp, ifgt -> ifge
    "legacy-cutoff-is-young": _pulsar_legacy_change(
        LEGACY_MAP_CLASS,
        rb"\x1f\x94(?P<new>\x9d)\x00\x07\x04\xa7",
        b"\x9c",
        "an entry whose stamp is at the cutoff stays",
    ),
    # removed < wanted becomes removed <= wanted: getfield removedSize, lload_1, lcmp, ifge -> ifgt
    "legacy-one-entry-too-many": _pulsar_legacy_change(
        LEGACY_MAP_CLASS,
        rb"\x2d\xb4..\x1f\x94(?P<new>\x9c)",
        b"\x9d",
        "a cache that has given exactly what it was asked for gives one entry more",
    ),
    # taken < half becomes taken <= half: lload taken, lload half, lcmp, ifge -> ifgt
    "legacy-half-exceeded": _pulsar_legacy_change(
        LEGACY_POLICY_CLASS,
        rb"\x16\x07\x16\x09\x94(?P<new>\x9c)",
        b"\x9d",
        "caches are taken until they hold more than half of the bytes",
    ),
    # the order is the natural one: aload_1, invokestatic reverseOrder -> aconst_null
    "legacy-smallest-first": _pulsar_legacy_change(
        LEGACY_POLICY_CLASS, rb"\x2b(?P<new>\xb8..)\xb9", b"\x01\x00\x00", "the smallest caches give first"
    ),
    # the quotient is dropped: l2d, ddiv, dmul -> pop2, d2l
    "legacy-share-of-everything": _pulsar_legacy_change(
        LEGACY_POLICY_CLASS,
        rb"\x8a\x6f(?P<new>\x6b)\x8f",
        b"\x58",
        "each cache that gives is asked for all of the amount",
    ),
    # bytes > trigger becomes bytes >= trigger: lload_1, getfield evictionTriggerThreshold, lcmp, ifle -> iflt
    "legacy-asked-at-the-trigger": _pulsar_legacy_change(
        LEGACY_MANAGER_CLASS,
        rb"\x1f\x2a\xb4..\x94(?P<new>\x9e)",
        b"\x9b",
        "an insert that begins with the bytes at the trigger asks for a size pass",
    ),
    # bytes < limit becomes bytes <= limit: lload_1, getfield maxSize, lcmp, ifge -> ifgt
    "legacy-taken-at-the-limit": _pulsar_legacy_change(
        LEGACY_MANAGER_CLASS,
        rb"\x1f\x2a\xb4..\x94(?P<new>\x9c)\x00\x07\x04\xa7",
        b"\x9d",
        "an insert that begins with the bytes at the limit is taken",
    ),
}
"""The changes of `pulsar-legacy` by name; they change instructions only."""


KAFKA_STREAMS_RELEASE: Final = "kafka-streams:4.3.1"
"""The release whose jar holds the bytes of these changes."""


def _kafka_streams_change(
    class_name: str, instructions: bytes, new: bytes, what: str, levels: tuple[str, ...] = ("cache",)
) -> JarChange:
    return JarChange(
        KAFKA_STREAMS_RELEASE, f"org/apache/kafka/streams/state/internals/{class_name}", instructions, new, what, levels
    )


KAFKA_STREAMS_CHANGES: Final = {
    # total > limit becomes total >= limit after a write: getfield maxCacheSizeBytes, lcmp, ifle -> iflt
    "overflow-at-the-limit": _kafka_streams_change(
        "ThreadCache",
        rb"\x2a\xb4..\x94(?P<new>\x9e)\x00\x34\x2c",
        b"\x9b",
        "a write evicts while the total is >= the limit instead of >",
    ),
    # a dirty key that is written again keeps its turn: aload_0, getfield dirtyKeys, aload_1, remove, pop are left out
    "rewritten-key-keeps-its-turn": _kafka_streams_change(
        "NamedCache",
        rb"\x99\x00\x19(?P<new>\x2a\xb4..\x2b\xb9..\x02\x00\x57)\x2a\xb4..\x2b\xb9..\x02\x00\x57",
        b"\x00" * 11,
        "a dirty key that is written again keeps its turn",
    ),
    # no tombstone is remembered for after the call: aload deleted, aload node, getfield key, add, pop are left out
    "tombstones-stay-after-a-flush": _kafka_streams_change(
        "NamedCache",
        rb"\xc7\x00\x0f(?P<new>\x2d\x19\x06\xb4..\xb9..\x02\x00\x57)\xa7",
        b"\x00" * 12,
        "tombstones that were handed over stay in the cache",
    ),
    # an entry does not count the byte of its flag: lconst_1 -> lconst_0 before residentMemorySizeEstimate, ladd
    "flag-not-counted": _kafka_streams_change(
        "LRUCacheEntry",
        rb"\x2a(?P<new>\x0a)\x2a\xb4..\xb6..\x61\xb5",
        b"\x09",
        "an entry does not count the byte of its dirty flag",
    ),
    # a range of the store below does not hold its first key: subMap(from, true, to, true), iconst_1 -> iconst_0
    "range-below-without-its-first-key": _kafka_streams_change(
        "InMemoryKeyValueStore",
        rb"\x2a\xb4..\x2b(?P<new>\x04)\x2c\x04\xb9..\x05\x00",
        b"\x03",
        "a range of the store below does not hold its first key",
        ("store",),
    ),
    # a tombstone does not hide the key below: where both iterators stand at it storeIterator.next(), pop are left out
    "tombstone-does-not-hide": _kafka_streams_change(
        "AbstractMergedSortedCacheStoreIterator",
        rb"\x9a\x00\x1a(?P<new>\x2a\xb4..\xb9..\x01\x00\x57)\x2a\xb4",
        b"\x00" * 10,
        "a tombstone in the cache does not hide the key that lies below",
        ("store",),
    ),
}
"""The changes of `kafka-streams` by name; they change instructions only."""

ALL_CHANGES: Final = {**PULSAR_PIP430_CHANGES, **PULSAR_LEGACY_CHANGES, **KAFKA_STREAMS_CHANGES}
"""The changes of every system by name."""
