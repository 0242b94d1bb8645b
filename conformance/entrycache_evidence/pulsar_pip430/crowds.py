"""Runs with hundreds of whatever can be counted: caches, cursors, holds and reads of an entry, turns, positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from entrycache_evidence.pulsar_pip430.large import READINGS, A, B, Run, at
from entrycache_evidence.pulsar_pip430.storms import storms
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.vocabulary import CacheName, CursorName, HoldName

MANY: Final = 300
"""Of what takes a step each."""
MORE: Final = 270
"""Of what one step makes."""


def positions() -> Iterator[ops.Op]:
    """One read, and what takes, holds, drops or lists all that it has filled."""
    last = at(MORE - 1)
    yield from (ops.Read(A, at(0), last, 1), ops.Read(A, at(0), last, 1, HoldName("h")), ops.GetRange(A, at(0), last))
    yield from (ops.Evict(MORE * 50), ops.Release(HoldName("h")), ops.Evict(10**9), ops.Metrics(), ops.Observe())
    for drop in (
        ops.RemoveRange(A, at(1), last, False),
        ops.InvalidateBefore(A, last),
        ops.Clear(A),
        ops.RemoveCache(A),
    ):
        yield from (ops.Read(A, at(0), last, 0), drop, ops.Usage(), ops.Read(A, at(0), last, 2), ops.Observe())
        yield from (ops.Advance(10**10), ops.Expire(), ops.Metrics())


def caches() -> Iterator[ops.Op]:
    """An entry in each of many caches, in an order that is not that of their names."""
    names = [CacheName(f"{number * 7 % MANY}") for number in range(MANY)]
    yield from (ops.Insert(name, at(0), 100 + number % 3, number % 2) for number, name in enumerate(names))
    yield from (ops.Get(name, at(0)) for name in names[::40])
    yield from (ops.Observe(), ops.Usage(), ops.Usage(names[-1]), ops.Metrics(), ops.Evict(20_000), ops.Observe())
    yield from (ops.Clear(names[-2]), ops.Advance(10**10), ops.Expire(), ops.Observe(), ops.Metrics())


def cursors() -> Iterator[ops.Op]:
    """Many cursors of one cache, added out of order, asked, moved and removed."""
    names = [CursorName(f"c{number}") for number in range(MANY)]
    yield from (ops.CursorAdd(A, name, at(number * 7 % MANY)) for number, name in enumerate(names))
    asked = (*names[::60], names[-1])
    for moved in (names[:9], names[-9:]):
        yield from (ops.CursorRank(A, name) for name in asked)
        yield from (ops.Slowest(A), ops.Cursors(A), ops.ShouldCache(A), ops.Insert(A, at(0), 100))
        yield from (ops.CursorMove(A, name, at(MANY + number)) for number, name in enumerate(moved))
    yield from (ops.CursorRemove(A, name) for name in names[5:-5:9])
    yield from (ops.CursorRank(A, name) for name in (names[0], names[-1]))
    yield from (ops.Slowest(A), ops.Cursors(A))


def claims() -> Iterator[ops.Op]:
    """Many holds, expectations and reads of one entry."""
    yield from (ops.Insert(A, at(0), 100, 2, 7), ops.Insert(B, at(0), 100))
    holds = [HoldName(f"h{number}") for number in range(MANY)]
    yield from (ops.Read(A, at(0), at(0), 0, hold) for hold in holds)
    yield from (ops.Evict(150), ops.Observe(), ops.Clear(A))
    yield from (ops.Release(hold) for hold in (*holds[::2], *holds[1::2]))
    yield ops.Insert(A, at(0), 100, 2)
    yield from (ops.ExpectRead(A, at(0)) for _ in range(MANY))
    yield from (ops.MarkRead(A, at(0)) for _ in range(MANY + 5))
    yield from (ops.Observe(), ops.Advance(2 * 10**9), ops.Expire(), ops.Metrics())


def turns() -> Iterator[ops.Op]:
    """One entry that is put back pass after pass, beside one that leaves at once."""
    yield from (ops.Insert(A, at(0), 100, MANY), ops.Insert(A, at(1), 100))
    for _ in range(MANY + 20):
        yield from (ops.Advance(2 * 10**9), ops.Expire())
    yield from (ops.Observe(), ops.Metrics())


def crowds() -> Iterator[Run]:
    """All of them under the norm, turns under readings too; and storms."""
    config = Config(max_size_bytes=10**12, max_requeues=MANY, ttl_nanos=10**9, storage_entry_size=100)
    for played in (cursors, caches, claims, turns, positions):
        yield config, tuple(played())
    for variants in READINGS[1:]:
        yield replace(config, variants=variants), tuple(turns())
    yield from storms()
