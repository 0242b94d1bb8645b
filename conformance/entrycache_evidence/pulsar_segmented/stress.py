"""Stress runs of `pulsar-segmented`: more segments, entries and bytes than any bounded model has.

`generate_runs` yields random runs that try the rules. `generate_large_runs` yields runs that were written by hand, each
for an edge that a bounded model cannot reach. `generate_crowded_runs` yields runs with hundreds of segments or
positions, and short random runs. `generate_runs_from_large_states` begins in states with thousands of items, or with
great numbers.
"""

import random
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, Final

from entrycache_conformance.generate import make_case
from entrycache_conformance.systems.pulsar_segmented import generation, system
from entrycache_conformance.systems.reference import has_payload
from entrycache_evidence.core.stress import choose_each_variant
from entrycache_evidence.pulsar_segmented.bounded_models import BRANCH, BRANCH_VARIANTS, QUERIES, VARIANTS, A, B, at
from entrycache_protocol.declaration import Declaration
from entrycache_reference.pulsar_segmented import Config, Mode, Variants, ops
from entrycache_reference.pulsar_segmented.config import segment_bytes
from entrycache_reference.pulsar_segmented.state import Entry, Place, Segment, State
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

SEED: Final = 174
CASES: Final = 120
VARIANT_CASES: Final = 12
STEPS: Final = 30
PROFILES: Final = (
    generation.WorkloadProfile.DEFAULT,
    generation.WorkloadProfile.SMALL_KEYS,
    generation.WorkloadProfile.TURNS,
    generation.WorkloadProfile.RANGES,
)


def generate_runs() -> Iterator[tuple[Config, tuple[Any, ...]]]:
    """Generate the same runs every time."""
    source = random.Random(SEED)
    for variants, cases in (
        (Variants(), CASES),
        *((one.config.variants, VARIANT_CASES) for one in (*VARIANTS, BRANCH)),
    ):
        declaration = Declaration(
            system.SYSTEM, frozenset(system.SYSTEM.ops), variants=variants, payload=has_payload(system.SYSTEM)
        )
        for number in range(cases):
            profile = PROFILES[number % len(PROFILES)]
            menu = system.SYSTEM.cases.menu(system.SYSTEM.ops)
            case = make_case(source.randint, declaration, menu, None, STEPS, workload=profile).case
            yield case.config, case.steps


# --- Large runs

Run = tuple[Config, tuple[ops.Op, ...]]

C: Final = CacheName("c")
CACHES: Final = (A, B, C)
CROWD: Final = 240
"""More entries than a bound of a segment, a turn or an answer might allow."""


def fill_caches(number: int, sizes: tuple[int, ...] = (100,), first: int = 0) -> Iterator[ops.Op]:
    """Insert this many entries, in one cache after another; every fifth carries no payload."""
    for index in range(number):
        token = ABSENT if index % 5 == 4 else index
        yield ops.Insert(CACHES[index % 3], at(first + index // 3), sizes[index % len(sizes)], token)


def query_all(first: int = 0) -> Iterator[ops.Op]:
    """Query long and short ranges, over two ledgers, reversed, and single positions."""
    for cache in CACHES:
        for begin, length in ((0, 80), (0, 3), (10, 25), (41, 12), (0, 81), (5, 2)):
            yield ops.GetRange(cache, at(first + begin), at(first + begin + length - 1))
        yield from (ops.Get(cache, at(first + entry)) for entry in (0, 1, 4, 33, 79, 500))
    yield from (ops.GetRange(A, at(0), at(1, 2)), ops.GetRange(A, at(9), at(3)), ops.GetRange(A, at(-1), at(20)))
    yield from QUERIES


def mix_hundreds() -> Iterator[ops.Op]:
    """Insert hundreds of entries into one segment, then over several, then turn after turn."""
    yield from (*fill_caches(CROWD), *query_all(), *fill_caches(30), *query_all())
    yield from (*fill_caches(CROWD, (1, 99, 64, 65, 200, 0), 80), *query_all(80), *query_all())
    yield from (*fill_caches(CROWD, (4_000, 1), 160), *query_all(160), *query_all(80))
    yield from (ops.Insert(A, at(3, ledger), 50, ledger) for ledger in range(12))
    yield from (ops.GetRange(A, at(3, ledger), at(3, ledger)) for ledger in range(12))
    yield from (ops.GetRange(A, at(3, 2), at(3 + more, 5)) for more in range(5))


def repeat_places() -> Iterator[ops.Op]:
    """Insert the same places again and again with other sizes and payloads."""
    chance = random.Random(16)
    for number in range(150):
        entry, size = chance.randrange(14), chance.choice((0, 1, 63, 64, 65, 128, 300, 511, 700))
        yield ops.Insert(chance.choice(CACHES[:2]), at(entry), size, chance.choice((ABSENT, number)))
        if number % 3 == 0:
            low = chance.randrange(10)
            yield from (ops.GetRange(A, at(low), at(low + chance.randrange(5))), ops.Get(A, at(entry)), *QUERIES)


def duplicate_positions() -> Iterator[ops.Op]:
    """Read a position that two segments hold with different payloads, in a range and alone."""
    yield from (ops.Insert(A, at(0), 10, 1), ops.Insert(A, at(1), 10, 2), ops.Insert(A, at(1), 10, 3), *QUERIES)
    yield from (ops.GetRange(A, at(0), at(1)), ops.GetRange(A, at(1), at(1)), ops.Get(A, at(1)))


def gaps() -> Iterator[ops.Op]:
    """Read ranges of hundreds of positions with none, the last, a middle or the first one missing."""
    places = [*range(1, 150), *range(151, 300)]
    yield from (ops.Insert(A, at(entry), 10, entry) for entry in places)
    for first, last in ((1, 149), (1, 150), (1, 299), (0, 149), (151, 299), (150, 299), (151, 300)):
        yield ops.GetRange(A, at(first), at(last))


def ring() -> Iterator[ops.Op]:
    """Read ranges over more segments than a bound of a walk might allow."""
    yield from (ops.Insert(A, at(entry), 700, entry) for entry in range(6))
    yield from (ops.GetRange(A, at(first), at(last)) for first in range(6) for last in range(first, 6))
    yield from (ops.Insert(B, at(entry), 700 if entry < 4 else 300, entry) for entry in (4, 5, 3, 2, 1, 0))
    yield from (ops.GetRange(B, at(first), at(last)) for first in range(6) for last in range(first, 6))


def amounts() -> Iterator[ops.Op]:
    """Use sizes beyond 16, 20, 31 and 32 bits, at both ends of a segment of 2^30 bytes and of larger ones."""
    for number, size in enumerate((70_000, 3 << 20, (1 << 30) - 1, 1 << 30, (1 << 30) + 1, 2 << 30, 5 << 30, 9, 63)):
        yield from (ops.Insert(A, at(number), size, number), ops.Insert(B, at(number), size - 1), *QUERIES)
    yield from query_all()


def generate_large_runs() -> Iterator[Run]:
    """Generate every run in both modes, in few segments and in many, then under each variant and under all."""
    yield Config(10**9, 3), (*gaps(), *mix_hundreds())
    for number, mode in ((2, Mode.COPY), (40, Mode.REFERENCE)):
        yield Config(number * 8_200, number, mode), tuple(mix_hundreds())
    for mode in Mode:
        yield Config(2_111, 3, mode), tuple(repeat_places())
        for limit, segments in ((0, None), (2**31 - 1, None), (5 << 30, None), ((7 << 30) + 12, None), (1 << 35, 3)):
            yield Config(limit, segments, mode), tuple(amounts())
        for variants in list_variants():
            yield Config(2_111, 3, mode, variants), (*duplicate_positions(), *repeat_places())
            yield Config(6 * 1_000, 6, mode, variants), tuple(ring())
    yield Config(3 * 8_200 + 1, 3, Mode.COPY, BRANCH_VARIANTS), tuple(mix_hundreds())


def list_variants() -> Iterator[Variants]:
    """Yield each variant of the branch alone, and all of them together."""
    default = Variants()
    for field in fields(default):
        held = getattr(default, field.name)
        yield from (replace(default, **{field.name: value}) for value in type(held) if value is not held)
    yield BRANCH_VARIANTS


# --- Crowded runs

SEGMENTS: Final = 300
RANDOM_RUNS: Final = 200
MORE: Final = 600
"""The number of entries of one segment."""


def turn_around() -> Iterator[ops.Op]:
    """Insert one entry for each segment, once around and further, and look up old and new ones."""
    for entry in range(SEGMENTS + 40):
        yield ops.Insert((A, B)[entry % 7 == 0], at(entry), 700, entry)
        if entry in {64, 130, 257, SEGMENTS - 1, SEGMENTS + 39}:
            yield from (ops.Get(A, at(one)) for one in range(1, entry, 31))
            yield from (ops.GetRange(A, at(1), at(6)), ops.GetRange(A, at(entry - 3), at(entry)), *QUERIES)
    yield from (ops.GetRange(A, at(0), at(SEGMENTS)), ops.GetRange(B, at(0), at(SEGMENTS)))


def fill_one_segment() -> Iterator[ops.Op]:
    """Fill one segment with many entries, list them by one range, and leave it behind."""
    yield from (ops.Insert(A, at(entry), 60, entry) for entry in range(MORE))
    yield from (
        ops.GetRange(A, at(0), at(MORE - 1)),
        ops.GetRange(A, at(5), at(MORE)),
        ops.Get(A, at(MORE - 1)),
        *QUERIES,
    )
    yield from (ops.Insert(B, at(entry), 20_000, entry) for entry in range(12))
    yield from (ops.GetRange(A, at(0), at(MORE - 1)), ops.Get(A, at(3)), *QUERIES)


def generate_random_runs() -> Iterator[Run]:
    """Generate short random runs of few places and edge sizes, most under several variants together."""
    for number in range(RANDOM_RUNS):
        source = random.Random(f"storm {number}")
        steps: list[ops.Op] = []
        for token in range(26):
            cache, pos = source.choice((A, A, B)), at(source.randrange(4), source.choice((1, 1, 2)))
            insert = ops.Insert(cache, pos, source.choice((0, 1, 63, 64, 65, 130)), source.choice((token, ABSENT)))
            range_query = ops.GetRange(cache, at(source.randrange(4) - 1), at(source.randrange(4)))
            steps.append(source.choice((insert, insert, insert, ops.Get(cache, pos), range_query, *QUERIES)))
        mode = source.choice(list(Mode))
        yield (
            Config(
                source.choice((257, 400, 777)), source.choice((2, 3, 4)), mode, choose_each_variant(Variants(), source)
            ),
            tuple(steps),
        )


# --- Runs that begin in a state with thousands of items, or with great numbers

GREAT: Final = 2**53 + 2**31 + 7
"""A number that neither an integer of 32 bits nor a double holds."""


def build_entry(number: int, start: int) -> Entry:
    """Build an entry of 60 bytes at this byte of its segment."""
    return Entry(Place(A, at(number)), 60, start, number)


def begin_with_segments(config: Config, large: int) -> Iterator[State | ops.Op]:
    """Look up old and new entries of many segments, each with one, and turn the full ring."""
    segments = {number: Segment((build_entry(number, 0),), 64) for number in range(large)}
    yield State(segments, large - 1, segment_bytes(config, large))
    yield from (ops.Get(A, at(number)) for number in (0, 1, large // 2, large - 1, large))
    yield from (ops.GetRange(A, at(0), at(large - 1)), ops.GetRange(A, at(9), at(11)), *QUERIES)
    yield from (ops.Insert(B, at(0), 60, 1), ops.Insert(A, at(1), 60, 2), ops.Get(A, at(0)), *QUERIES)


def begin_with_entries(config: Config, large: int) -> Iterator[State | ops.Op]:
    """Look up and insert among many entries of one segment, then leave it behind."""
    entries = tuple(build_entry(number, 64 * number) for number in range(large))
    size = segment_bytes(config, 3)
    yield State({0: Segment(entries, 64 * large), 1: Segment(), 2: Segment()}, 0, size)
    yield from (ops.Insert(B, at(0), 60, 1), ops.Get(A, at(0)), ops.GetRange(A, at(0), at(large - 1)), *QUERIES)
    yield from (*(ops.Insert(B, at(number), size, 1) for number in range(1, 4)), ops.Get(A, at(0)), *QUERIES)


def begin_with_great_numbers(config: Config, large: int) -> Iterator[State | ops.Op]:
    """Play every operation on sizes, offsets, ids and payloads that neither 32 bits nor a double hold."""
    places = tuple(Place(A, Position(GREAT, GREAT + number)) for number in range(3))
    entries = tuple(Entry(place, GREAT, GREAT * number, GREAT + number) for number, place in enumerate(places))
    full = Segment(entries, 3 * GREAT)
    for current in (0, 1):
        state = State({0: full, 1: Segment(), 2: full}, current, segment_bytes(config, 3))
        for size in (GREAT, GREAT + 64, 2 * GREAT, 5 * GREAT):
            yield from (state, ops.Get(A, places[1].pos), ops.GetRange(A, places[0].pos, places[2].pos), *QUERIES)
            yield from (ops.Insert(B, Position(GREAT, GREAT + 5), size, GREAT), *QUERIES)
            yield from (ops.Insert(B, Position(GREAT, GREAT + 6), size, GREAT), *QUERIES)


def begin_with_every_magnitude(config: Config, large: int) -> Iterator[State | ops.Op]:
    """Look up positions whose ids have from one to sixteen digits, in each combination, over two segments."""
    magnitudes = (0, 7, 2**16 + 1, 2**31 + 1, 2**32 + 1, 10**10 - 1, 10**11, GREAT)
    places = [at(entry + more, ledger) for entry in magnitudes for ledger in magnitudes for more in (0, 1)]
    entries = [Entry(Place(A, pos), 60, 64 * number, number) for number, pos in enumerate(places)]
    half = len(entries) // 2
    segments = {0: Segment(tuple(entries[half:]), 64 * half), 1: Segment(tuple(entries[:half]), 64 * half)}
    yield State({**segments, 2: Segment()}, 1, segment_bytes(config, 3))
    yield from (ops.Get(A, pos) for pos in places[::5])
    yield from (ops.GetRange(A, pos, pos._replace(entry=pos.entry + 1)) for pos in places[::3])
    yield from (ops.GetRange(A, at(0, 0), at(7, 7)), *QUERIES)


def generate_runs_from_large_states(large: int) -> Iterator[tuple[Config, tuple[State | ops.Op, ...]]]:
    """Generate the runs that begin in a large state, with as many items of each collection."""
    for number, begin in ((large, begin_with_segments), (3, begin_with_entries)):
        config = Config(number * (64 if number > 3 else 64 * (large + 9)), number)
        for used in (config, replace(config, variants=BRANCH_VARIANTS)):
            yield used, tuple(begin(used, large))
    for mode in Mode:
        great = Config(15 * GREAT, 3, mode)
        for begin in (begin_with_great_numbers, begin_with_every_magnitude):
            yield great, tuple(begin(great, large))


def generate_crowded_runs() -> Iterator[tuple[Config, tuple[State | ops.Op, ...]]]:
    """Generate the crowded runs in both modes, and the short random runs."""
    for mode in Mode:
        yield Config(SEGMENTS * 1_000, SEGMENTS, mode), tuple(turn_around())
        yield Config(3 * 80_000, 3, mode), tuple(fill_one_segment())
    yield Config(SEGMENTS * 1_000, SEGMENTS, Mode.COPY, BRANCH_VARIANTS), tuple(turn_around())
    yield from generate_random_runs()
