"""The worlds that are exhausted. Each is small in its own direction; together they fire every law."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from entrycache_evidence.explore.parts import AnyWorld, bounded
from entrycache_evidence.pulsar_pip430.worlds.later import LATER, READS
from entrycache_evidence.pulsar_pip430.worlds.world import World, slot
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

_A: Final = CacheName("a")
_LOW: Final = Position(0, 0)
_HIGH: Final = Position(1, 0)

WRONG: Final[tuple[ops.Op, ...]] = (
    ops.Insert(_A, _LOW, -1),
    ops.Advance(-1),
    ops.Expire(-1),
    ops.Evict(0),
)
"""Events that the protocol refuses."""

RANGES: Final[tuple[ops.Op, ...]] = (
    ops.GetRange(_A, _LOW, _HIGH),
    ops.GetRange(_A, _HIGH, _LOW),
    ops.RemoveRange(_A, _LOW, _HIGH, False),
    ops.RemoveRange(_A, _LOW, _HIGH, True),
    ops.RemoveRange(_A, _HIGH, _LOW, True),
    ops.Clear(_A),
    ops.Clear(CacheName("b")),
)
"""Ranges over two ledgers, in order and reversed."""

ALL: Final = World(
    "every operation",
    Config(max_size_bytes=1000, max_requeues=1, ttl_nanos=1),
    (slot("a", 0, 0), slot("a", 1, 0), slot("b", 0, 0)),
    (0, 1),
    (ABSENT, 0, 2),
    (-1, 2),
    3,
    (ABSENT, 0),
    (1, 2),
    RANGES,
    WRONG,
    looks=True,
    depth=4,
)
"""Refused events, ranges, lookups of what is absent and all else, up to a depth."""

PAIR: Final = World(
    "two entries of one cache",
    Config(max_size_bytes=1000, max_requeues=1, ttl_nanos=1),
    (slot("a", 0, 0), slot("a", 1, 0)),
    (1,),
    (ABSENT, 1),
    (0, 1),
    2,
    (ABSENT,),
    (1,),
    (*RANGES[:5], ops.Observe()),
    WRONG,
    looks=True,
)
"""Every operation on two entries, to the end."""

ACCESS_OFF: Final = replace(
    PAIR,
    name="access extends nothing",
    config=Config(max_size_bytes=1000, max_requeues=1, ttl_nanos=1, extend_recently_accessed=False),
    ranges=(),
    wrong=(),
    looks=False,
)
"""The setting off: the mark is kept, and nobody looks at it."""

CACHING_OFF: Final = replace(PAIR, name="caching switched off", config=Config(max_size_bytes=0, ttl_nanos=1))
"""A limit of 0."""

WIDE: Final = World(
    "three entries of two caches",
    Config(max_size_bytes=1000, max_requeues=1, ttl_nanos=1),
    (slot("a", 0, 0), slot("a", 0, 1), slot("b", 0, 0)),
    (1,),
    (ABSENT, 1),
    (0, 1),
    3,
    (ABSENT,),
    (2,),
)
"""A large world: every order of three entries, with all that keeps them."""

TWO_CACHES: Final = replace(WIDE, name="two entries of two caches", keys=(slot("a", 0, 0), slot("b", 0, 0)))
"""All that can happen to two entries whose caches differ."""

UNAWAITED: Final = replace(WIDE, name="three entries of two caches, no reads expected", expected=(ABSENT,))
"""Every order of three entries that only access keeps."""

UNBUDGETED: Final = replace(
    WIDE, name="three entries of two caches, no budget", config=replace(WIDE.config, max_requeues=0)
)
"""Every order of three entries that are read and expected, and not kept for it."""

VAST: Final = replace(
    WIDE,
    name="three entries of two caches, budget 2, four slots",
    config=Config(max_size_bytes=1000, max_requeues=2, ttl_nanos=2),
    sizes=(1, 2),
    slots=4,
    needs=(1, 3),
    counts=(0, 2),
    depth=8,
)
"""The large world of a night."""

NO_BUDGET: Final = replace(
    PAIR,
    name="no budget",
    config=Config(max_size_bytes=1000, max_requeues=0, ttl_nanos=1),
    ranges=(),
    wrong=(),
    looks=False,
)
"""Expected reads extend nothing."""

WHOLE: Final[tuple[AnyWorld, ...]] = (
    *(CACHING_OFF, ALL, NO_BUDGET, ACCESS_OFF, PAIR),
    *LATER,
    *(TWO_CACHES, UNAWAITED, UNBUDGETED),
)
"""As far as a long run goes with them."""

BOUNDED: Final[Mapping[str, int]] = {READS.name: 7, UNAWAITED.name: 8, UNBUDGETED.name: 5}
"""The most steps of the largest ones in a pull request."""

CI: Final = bounded(WHOLE, BOUNDED)
LONG: Final[tuple[AnyWorld, ...]] = (*WHOLE, WIDE)
NIGHTLY: Final[tuple[AnyWorld, ...]] = (*LONG, VAST)
