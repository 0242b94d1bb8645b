"""Runs with hundreds of caches, and with hundreds of positions in one step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from entrycache_evidence.pulsar_legacy.scenario import A, B, at
from entrycache_reference.pulsar_legacy import Config, Variants, ops
from entrycache_reference.pulsar_legacy.config import SingleLookup
from entrycache_reference.vocabulary import CacheName

Run = tuple[Config, tuple[ops.Op, ...]]

MANY: Final = 200
"""Of what takes a step each."""
MORE: Final = 350
"""Of what one step makes."""


def caches() -> Iterator[ops.Op]:
    """An entry of like size in each of many caches, of which most give in one pass."""
    names = [CacheName(f"{number * 7 % MANY}") for number in range(MANY)]
    yield from (ops.Insert(name, at(number % 5), 100, number) for number, name in enumerate(names))
    yield from (ops.Usage(), ops.Observe(), ops.Evict(19_000), ops.Observe(), ops.Advance(2 * 10**9))
    yield from (ops.Expire(name) for name in names[:9])
    yield from (ops.Usage(names[-1]), ops.Observe())


def positions() -> Iterator[ops.Op]:
    """One read, and what takes, drops or lists all that it has filled."""
    last = at(MORE - 1)
    yield from (ops.Read(A, at(0), last), ops.GetRange(A, at(0), last), ops.Read(A, at(0), last), ops.Evict(20_000))
    for drop in (ops.RemoveRange(A, at(1), last, False), ops.InvalidateBefore(A, last), ops.InvalidateLedger(A, 1)):
        yield from (ops.Read(A, at(0), last), drop, ops.Usage(A), ops.Read(B, at(0), last), ops.Observe())
        yield from (ops.EvictCache(B, 30_000), ops.Advance(10**10), ops.Expire(B), ops.Clear(A), ops.Usage())


def crowds() -> Iterator[Run]:
    """Both, the second under the variant too."""
    yield Config(10**12), tuple(caches())
    yield Config(10**12), tuple(positions())
    yield Config(10**12, variants=Variants(SingleLookup.OBJECT)), tuple(positions())
