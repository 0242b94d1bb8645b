"""Short runs over two caches of two positions, in which every operation meets every other, under readings together."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Final

from entrycache_evidence.pulsar_pip430.large import A, B, Run, at
from entrycache_evidence.variants import each_by_chance
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config, Eviction, Variants
from entrycache_reference.vocabulary import ABSENT, HoldName

STORMS: Final = 260
STEPS: Final = 26
TTL_NANOS: Final = 10


def steps(source: random.Random) -> Iterator[ops.Op]:
    """Steps over few places, counts from below 0 to 3, holds that overlap, passes of little, and all that looks."""
    for number in range(STEPS):
        cache, pos, hold = source.choice((A, A, B)), at(source.randrange(2)), HoldName(source.choice("hi"))
        insert = ops.Insert(cache, pos, source.choice((1, 2, 3)), source.choice((None, ABSENT, 0, 1, 1, 2, 3)), number)
        made: Sequence[ops.Op] = (
            insert,
            insert,
            insert,
            ops.Read(cache, at(0), at(source.randrange(2)), source.choice((-1, 0, 1, 2)), hold),
            ops.Read(cache, pos, pos, source.choice((0, 1))),
            ops.Release(hold),
            ops.Release(hold),
            ops.Get(cache, pos),
            ops.MarkRead(cache, pos),
            ops.ExpectRead(cache, pos),
            ops.Evict(source.choice((1, 2, 5))),
            ops.Expire(),
            ops.Cycle(),
            ops.Advance(source.choice((1, TTL_NANOS - 1, TTL_NANOS))),
            ops.RemoveRange(cache, at(0), pos, source.random() < 0.5),
            source.choice(
                (ops.Clear(cache), ops.RemoveCache(cache), ops.InvalidateLedger(cache, 1), ops.RunScheduled())
            ),
        )
        yield source.choice(made)
    yield from (ops.Observe(), ops.Metrics(), ops.Evict(3), ops.Advance(TTL_NANOS + 1), ops.Expire(), ops.Observe())


def storms() -> Iterator[Run]:
    """Most under two or more readings, some with a limit that inserts come to."""
    for number in range(STORMS):
        source = random.Random(f"storm {number}")
        yield (
            Config(
                max_size_bytes=source.choice((6, 10, 1_000, 1_000)),
                ttl_nanos=TTL_NANOS,
                max_requeues=source.choice((0, 1, 2)),
                storage_entry_size=source.choice((1, 2)),
                extend_recently_accessed=source.random() < 0.8,
                evict_by_expected_reads=source.random() < 0.9,
                eviction=source.choice((Eviction.INLINE, Eviction.INLINE, Eviction.MANUAL)),
                variants=each_by_chance(Variants(), source),
            ),
            tuple(steps(source)),
        )
