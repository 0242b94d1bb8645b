"""Released jars with one instruction changed each: what a conformance run must find.

    python -m entrycache_cli.faults.jars FOLDER

writes them and prints a line each: what is changed, and the jar. A change keeps every length, so no offset, no
stack map and no constant of the class file moves.
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.java.classpath import jar_under_test

PULSAR: Final = "pulsar:4.2.4"
KAFKA: Final = "kafka-streams:4.3.1"
"""The jars that are changed: the bytes of a change stand in this one jar."""

_PACKAGE: Final = {
    PULSAR: "org/apache/bookkeeper/mledger/impl/",
    KAFKA: "org/apache/kafka/streams/state/internals/",
}


class Change(NamedTuple):
    """Bytes of one class that occur once there, and the bytes to put in their place."""

    class_name: str
    """With the folder below that of the released classes under test."""
    instructions: bytes
    """A regular expression; what its group ``new`` matches is replaced."""
    new: bytes
    subject: str = PULSAR
    """The release whose jar is changed."""


CHANGES: Final = {
    # stamp < cutoff becomes stamp <= cutoff: getfield stamp, lload_1, lcmp, ifge -> ifgt
    "time-cutoff-included": Change(
        "cache/RangeCacheRemovalQueue", rb"\x2d\xb4..\x1f\x94(?P<new>\x9c)\x00\x07\x04\xa7", b"\x9d"
    ),
    # removed >= wanted becomes removed > wanted: getfield removedSize, lload_1, lcmp, iflt -> ifle
    "size-one-entry-too-many": Change("cache/RangeCacheRemovalQueue", rb"\x19\x04\xb4..\x1f\x94(?P<new>\x9b)", b"\x9e"),
    # accessed = false is left out where an entry is requeued, but not where it is recycled:
    # aload_0, iconst_0, putfield accessed, aload_0, dup, getfield requeues, iconst_1, iadd
    "requeue-keeps-accessed": Change(
        "cache/RangeCacheEntryWrapper", rb"(?P<new>\x2a\x03\xb5..)\x2a\x59\xb4..\x04\x60", b"\x00" * 5
    ),
    # a cache's size keeps what the queue removes: iload updateSize, ifeq -> iconst_0, nop, ifeq
    "removal-keeps-size": Change(
        "cache/RangeCache", rb"(?P<new>\x15\x05)\x99..\x2a\xb4..\x16\x06\x75\xb6", b"\x03\x00"
    ),
    # the target is the limit: in maxSize * watermark aload_0, getfield watermark, dmul are left out
    "target-without-watermark": Change(
        "cache/RangeEntryCacheManagerImpl", rb"\x8a(?P<new>\x2a\xb4..\x6b)\x8f\x65\x42", b"\x00" * 5
    ),
    # count > 0 becomes count >= 0 where a fill is cached: iload count, ifle -> iflt
    "fills-without-reads-cached": Change(
        "cache/RangeEntryCacheImpl", rb"\x15\x06(?P<new>\x9e)\x00\x0a\x2a\x19\x0a\xb6", b"\x9b"
    ),
    # an insert keeps its own reference: after astore cached copy, aload_3, invokevirtual release, pop are left out
    "insert-keeps-a-reference": Change(
        "cache/RangeEntryCacheImpl", rb"\x3a\x05(?P<new>\x2d\xb6..\x57)\x2a\xb4", b"\x00" * 5
    ),
    # passed < grace becomes passed <= grace: lload passed, getfield grace, lcmp, ifge -> ifgt
    "grace-one-milli-longer": Change(
        "ActiveManagedCursorContainerImpl", rb"\x1f\x2a\xb4..\x94(?P<new>\x9c)\x00\x05\x04\xac", b"\x9d"
    ),
    # a rank before waiting moves are applied: after lstore_2, aload_0, invokevirtual processPendingPositions
    "rank-of-old-positions": Change(
        "ActiveManagedCursorContainerImpl", rb"\x41(?P<new>\x2a\xb6..)\x2a\xb4..\x2b\xb9", b"\x00" * 4
    ),
}
"""The changes of Pulsar by name, of instructions only."""

KAFKA_CHANGES: Final = {
    # total > limit becomes total >= limit after a write: getfield maxCacheSizeBytes, lcmp, ifle -> iflt
    "overflow-at-the-limit": Change("ThreadCache", rb"\x2a\xb4..\x94(?P<new>\x9e)\x00\x34\x2c", b"\x9b", KAFKA),
    # a dirty key that is written again keeps its turn: aload_0, getfield dirtyKeys, aload_1, remove, pop are left out
    "rewritten-key-keeps-its-turn": Change(
        "NamedCache",
        rb"\x99\x00\x19(?P<new>\x2a\xb4..\x2b\xb9..\x02\x00\x57)\x2a\xb4..\x2b\xb9..\x02\x00\x57",
        b"\x00" * 11,
        KAFKA,
    ),
    # no tombstone is remembered for after the call: aload deleted, aload node, getfield key, add, pop are left out
    "tombstones-stay-after-a-flush": Change(
        "NamedCache", rb"\xc7\x00\x0f(?P<new>\x2d\x19\x06\xb4..\xb9..\x02\x00\x57)\xa7", b"\x00" * 12, KAFKA
    ),
    # an entry does not count the byte of its flag: lconst_1 -> lconst_0 before residentMemorySizeEstimate, ladd
    "flag-not-counted": Change("LRUCacheEntry", rb"\x2a(?P<new>\x0a)\x2a\xb4..\xb6..\x61\xb5", b"\x09", KAFKA),
    # a range of the store below does not hold its first key: subMap(from, true, to, true), iconst_1 -> iconst_0
    "range-below-without-its-first-key": Change(
        "InMemoryKeyValueStore", rb"\x2a\xb4..\x2b(?P<new>\x04)\x2c\x04\xb9..\x05\x00", b"\x03", KAFKA
    ),
    # a tombstone does not hide the key below: where both iterators stand at it storeIterator.next(), pop are left out
    "tombstone-does-not-hide": Change(
        "AbstractMergedSortedCacheStoreIterator",
        rb"\x9a\x00\x1a(?P<new>\x2a\xb4..\xb9..\x01\x00\x57)\x2a\xb4",
        b"\x00" * 10,
        KAFKA,
    ),
}
"""The changes of Kafka Streams by name, of instructions only."""

NO_CLOCK_CALL: Final = Change("cache/RangeCacheEntryWrapper", rb"(?P<new>nanoTime)", b"nanoTimf")
"""A class that never asks for the time: the agent must refuse it."""


def write_changed_jars(out: Path, changes: Mapping[str, Change] = CHANGES) -> dict[str, Path]:
    """The changed jars by name; those that stand in the folder already are taken as they are."""
    return {name: write_changed_jar(change, out / f"{name}.jar") for name, change in changes.items()}


def write_changed_jar(change: Change, jar: Path) -> Path:
    """The released jar with one class changed."""
    if not jar.exists():
        jar.parent.mkdir(parents=True, exist_ok=True)
        scratch = jar.with_suffix(".part")
        with (
            zipfile.ZipFile(jar_under_test(change.subject)) as released,
            zipfile.ZipFile(scratch, "w", zipfile.ZIP_DEFLATED) as changed,
        ):
            for name in released.namelist():
                content = released.read(name)
                if name == f"{_PACKAGE[change.subject]}{change.class_name}.class":
                    content = _changed(content, change)
                changed.writestr(name, content)
        scratch.replace(jar)
    return jar


def _changed(content: bytes, change: Change) -> bytes:
    found = list(re.finditer(change.instructions, content, re.DOTALL))
    if len(found) != 1 or len(found[0]["new"]) != len(change.new):
        raise ValueError(f"{len(found)} places in {change.class_name} for {change.instructions!r}, expected one")
    start, end = found[0].span("new")
    return content[:start] + change.new + content[end:]


if __name__ == "__main__":
    for changed_name, changed_jar in write_changed_jars(Path(sys.argv[1]), {**CHANGES, **KAFKA_CHANGES}).items():
        print(f"{changed_name}\t{changed_jar}")
