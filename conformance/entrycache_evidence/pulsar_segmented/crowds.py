"""Runs with hundreds of segments, each of which is turned to, and with hundreds of positions in a range."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from entrycache_evidence.pulsar_segmented.large import Run
from entrycache_evidence.pulsar_segmented.worlds import AS_THE_BRANCH, LOOKS, A, B, at
from entrycache_evidence.variants import each_by_chance
from entrycache_reference.pulsar_segmented import Config, Mode, Variants, ops
from entrycache_reference.vocabulary import ABSENT

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
