"""Runs of `pulsar-segmented` on which its rules' own checks are tried: random ones, by the norm and by each variant."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, Final

from entrycache_conformance.generate import make_case
from entrycache_conformance.systems.pulsar_segmented.generation import Theme
from entrycache_conformance.systems.pulsar_segmented.system import SYSTEM
from entrycache_conformance.systems.reference import has_payload
from entrycache_evidence.core.stress import each_by_chance
from entrycache_evidence.pulsar_segmented.bounded_models import AS_THE_BRANCH, BRANCH, LOOKS, VARIANTS, A, B, at
from entrycache_protocol.declaration import Declaration
from entrycache_reference.pulsar_segmented import Config, Mode, Variants, ops
from entrycache_reference.vocabulary import ABSENT, CacheName

SEED: Final = 174
CASES: Final = 120
VARIANT_CASES: Final = 12
STEPS: Final = 30
THEMES: Final = (Theme.DEFAULT, Theme.SMALL_KEYS, Theme.TURNS, Theme.RANGES)


def runs() -> Iterator[tuple[Config, tuple[Any, ...]]]:
    """The same runs every time."""
    source = random.Random(SEED)
    for variants, cases in (
        (Variants(), CASES),
        *((one.config.variants, VARIANT_CASES) for one in (*VARIANTS, BRANCH)),
    ):
        declaration = Declaration(SYSTEM, frozenset(SYSTEM.ops), variants=variants, payload=has_payload(SYSTEM))
        for number in range(cases):
            theme = THEMES[number % len(THEMES)]
            menu = SYSTEM.cases.menu(SYSTEM.ops)
            case = make_case(source.randint, declaration, menu, None, STEPS, theme=theme).case
            yield case.config, case.steps


# --- large
# Large runs of `pulsar-segmented`: what no small world holds, as many segments, hundreds of entries, great sizes.

Run = tuple[Config, tuple[ops.Op, ...]]

C: Final = CacheName("c")
CACHES: Final = (A, B, C)
CROWD: Final = 240
"""More entries than a segment, a turn or an answer might be bounded by."""


def filled(number: int, sizes: tuple[int, ...] = (100,), first: int = 0) -> Iterator[ops.Op]:
    """So many entries, cache after cache in turn; every fifth carries no payload."""
    for index in range(number):
        token = ABSENT if index % 5 == 4 else index
        yield ops.Insert(CACHES[index % 3], at(first + index // 3), sizes[index % len(sizes)], token)


def looked_at(first: int = 0) -> Iterator[ops.Op]:
    """Everything that only looks: long ranges, short ones, over two ledgers, reversed; single positions."""
    for cache in CACHES:
        for begin, length in ((0, 80), (0, 3), (10, 25), (41, 12), (0, 81), (5, 2)):
            yield ops.GetRange(cache, at(first + begin), at(first + begin + length - 1))
        yield from (ops.Get(cache, at(first + entry)) for entry in (0, 1, 4, 33, 79, 500))
    yield from (ops.GetRange(A, at(0), at(1, 2)), ops.GetRange(A, at(9), at(3)), ops.GetRange(A, at(-1), at(20)))
    yield from LOOKS


def crowd() -> Iterator[ops.Op]:
    """Hundreds of entries in one segment, then over several, then turn after turn."""
    yield from (*filled(CROWD), *looked_at(), *filled(30), *looked_at())
    yield from (*filled(CROWD, (1, 99, 64, 65, 200, 0), 80), *looked_at(80), *looked_at())
    yield from (*filled(CROWD, (4_000, 1), 160), *looked_at(160), *looked_at(80))
    yield from (ops.Insert(A, at(3, ledger), 50, ledger) for ledger in range(12))
    yield from (ops.GetRange(A, at(3, ledger), at(3, ledger)) for ledger in range(12))
    yield from (ops.GetRange(A, at(3, 2), at(3 + more, 5)) for more in range(5))


def again() -> Iterator[ops.Op]:
    """Places that come again and again with other sizes and payloads, among others, so that some stand twice."""
    chance = random.Random(16)
    for number in range(150):
        entry, size = chance.randrange(14), chance.choice((0, 1, 63, 64, 65, 128, 300, 511, 700))
        yield ops.Insert(chance.choice(CACHES[:2]), at(entry), size, chance.choice((ABSENT, number)))
        if number % 3 == 0:
            low = chance.randrange(10)
            yield from (ops.GetRange(A, at(low), at(low + chance.randrange(5))), ops.Get(A, at(entry)), *LOOKS)


def twice() -> Iterator[ops.Op]:
    """A position that stands in two segments with two payloads, in a range and alone."""
    yield from (ops.Insert(A, at(0), 10, 1), ops.Insert(A, at(1), 10, 2), ops.Insert(A, at(1), 10, 3), *LOOKS)
    yield from (ops.GetRange(A, at(0), at(1)), ops.GetRange(A, at(1), at(1)), ops.Get(A, at(1)))


def gaps() -> Iterator[ops.Op]:
    """Ranges of hundreds of positions, of which none, the last, one in the middle or the first is missing."""
    places = [*range(1, 150), *range(151, 300)]
    yield from (ops.Insert(A, at(entry), 10, entry) for entry in places)
    for first, last in ((1, 149), (1, 150), (1, 299), (0, 149), (151, 299), (150, 299), (151, 300)):
        yield ops.GetRange(A, at(first), at(last))


def ring() -> Iterator[ops.Op]:
    """Ranges over more segments than a walk might be bounded by; the last two positions stand in one."""
    yield from (ops.Insert(A, at(entry), 700, entry) for entry in range(6))
    yield from (ops.GetRange(A, at(first), at(last)) for first in range(6) for last in range(first, 6))
    yield from (ops.Insert(B, at(entry), 700 if entry < 4 else 300, entry) for entry in (4, 5, 3, 2, 1, 0))
    yield from (ops.GetRange(B, at(first), at(last)) for first in range(6) for last in range(first, 6))


def amounts() -> Iterator[ops.Op]:
    """Sizes beyond what 16, 20, 31 and 32 bits hold, at both ends of a segment of 2^30 bytes and of larger ones."""
    for number, size in enumerate((70_000, 3 << 20, (1 << 30) - 1, 1 << 30, (1 << 30) + 1, 2 << 30, 5 << 30, 9, 63)):
        yield from (ops.Insert(A, at(number), size, number), ops.Insert(B, at(number), size - 1), *LOOKS)
    yield from looked_at()


def large() -> Iterator[Run]:
    """Every run in both modes, in few segments and in many; then each reading of the branch, and all of them."""
    yield Config(10**9, 3), (*gaps(), *crowd())
    for number, mode in ((2, Mode.COPY), (40, Mode.REFERENCE)):
        yield Config(number * 8_200, number, mode), tuple(crowd())
    for mode in Mode:
        yield Config(2_111, 3, mode), tuple(again())
        for limit, segments in ((0, None), (2**31 - 1, None), (5 << 30, None), ((7 << 30) + 12, None), (1 << 35, 3)):
            yield Config(limit, segments, mode), tuple(amounts())
        for variants in readings():
            yield Config(2_111, 3, mode, variants), (*twice(), *again())
            yield Config(6 * 1_000, 6, mode, variants), tuple(ring())
    yield Config(3 * 8_200 + 1, 3, Mode.COPY, AS_THE_BRANCH), tuple(crowd())


def readings() -> Iterator[Variants]:
    """Each reading of the branch alone, and all of them together."""
    norm = Variants()
    for field in fields(norm):
        held = getattr(norm, field.name)
        yield from (replace(norm, **{field.name: value}) for value in type(held) if value is not held)
    yield AS_THE_BRANCH


# --- crowds
# Runs with hundreds of segments, each of which is turned to, and with hundreds of positions in a range.

SEGMENTS: Final = 300
STORMS: Final = 200
MORE: Final = 600
"""Entries of one segment."""


def turns() -> Iterator[ops.Op]:
    """An entry a segment, once around and on; those of the oldest, the middle and the newest are looked up."""
    for entry in range(SEGMENTS + 40):
        yield ops.Insert((A, B)[entry % 7 == 0], at(entry), 700, entry)
        if entry in {64, 130, 257, SEGMENTS - 1, SEGMENTS + 39}:
            yield from (ops.Get(A, at(one)) for one in range(1, entry, 31))
            yield from (ops.GetRange(A, at(1), at(6)), ops.GetRange(A, at(entry - 3), at(entry)), *LOOKS)
    yield from (ops.GetRange(A, at(0), at(SEGMENTS)), ops.GetRange(B, at(0), at(SEGMENTS)))


def full() -> Iterator[ops.Op]:
    """One segment of many entries, listed by one range; then it is left behind."""
    yield from (ops.Insert(A, at(entry), 60, entry) for entry in range(MORE))
    yield from (
        ops.GetRange(A, at(0), at(MORE - 1)),
        ops.GetRange(A, at(5), at(MORE)),
        ops.Get(A, at(MORE - 1)),
        *LOOKS,
    )
    yield from (ops.Insert(B, at(entry), 20_000, entry) for entry in range(12))
    yield from (ops.GetRange(A, at(0), at(MORE - 1)), ops.Get(A, at(3)), *LOOKS)


def storms() -> Iterator[Run]:
    """Short runs of few places and sizes at the edges, most of them under several readings together."""
    for number in range(STORMS):
        source = random.Random(f"storm {number}")
        made: list[ops.Op] = []
        for token in range(26):
            cache, pos = source.choice((A, A, B)), at(source.randrange(4), source.choice((1, 1, 2)))
            insert = ops.Insert(cache, pos, source.choice((0, 1, 63, 64, 65, 130)), source.choice((token, ABSENT)))
            listed = ops.GetRange(cache, at(source.randrange(4) - 1), at(source.randrange(4)))
            made.append(source.choice((insert, insert, insert, ops.Get(cache, pos), listed, *LOOKS)))
        mode = source.choice(list(Mode))
        yield (
            Config(source.choice((257, 400, 777)), source.choice((2, 3, 4)), mode, each_by_chance(Variants(), source)),
            tuple(made),
        )


def crowds() -> Iterator[Run]:
    """Both in both modes, the turns as the branch does them too; storms under every reading."""
    for mode in Mode:
        yield Config(SEGMENTS * 1_000, SEGMENTS, mode), tuple(turns())
        yield Config(3 * 80_000, 3, mode), tuple(full())
    yield Config(SEGMENTS * 1_000, SEGMENTS, Mode.COPY, AS_THE_BRANCH), tuple(turns())
    yield from storms()
