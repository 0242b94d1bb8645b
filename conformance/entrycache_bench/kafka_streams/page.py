"""The part of the page about the record cache of a stream thread."""

from __future__ import annotations

from entrycache_bench.measurement import Measurement

HEAD = """
## Kafka Streams

A run of its own: {rounds} interleaved rounds of {operations:,} operations{load}. The fast cache of `kafka-streams`
(`entrycache_fast.kafka`, plain Python), cachetools' LRU cache, and the `ThreadCache` of Kafka Streams {released},
compiled code in its own JVM, warmed up, with the processor time of that whole process. All play the same puts and gets
of the same keys, each bounded to the same number of live entries, so their shares of hits agree. *Dirty*: every put is
a write that a listener has to get; an eviction hands over all that is dirty then. A value is how many times as quick
the first is as the other.

| what | value | note |
|---|---:|---|
"""


def lines_of(measurements: list[Measurement], rounds: int, operations: int, released: str | None, load: str) -> str:
    """What is said, and the table."""
    head = HEAD.format(rounds=rounds, operations=operations, released=released, load=load)
    return head + "".join(f"| {item.what} | {item.shown} | {item.note} |\n" for item in measurements)
