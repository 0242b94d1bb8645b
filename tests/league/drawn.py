"""Small requests: each is decoded from one number, which Hypothesis draws or a seed gives."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from hypothesis import strategies as st

from entrycache_league.requests import ADD, EXPECT, PASSED, READ, Request, Requests, collect_requests

STEP_NS = 4_000_000
KINDS = (READ, READ, READ, READ, ADD, ADD, EXPECT, PASSED)
MOST = 1 << 12


def decoded(numbers: Iterable[int], sizes: int = 1, entries: int = 8, kinds: tuple[int, ...] = KINDS) -> Requests:
    """Requests about so many entries of two topics, of `sizes` different sizes; a read is of one to three entries."""
    made: list[Request] = []
    now = 0
    for at, number in enumerate([*numbers, 0]):
        kind, rest = kinds[number % 8 % len(kinds)], number // 8
        pause, count, entry = rest % 4 * (rest // 4 % 2), rest // 8 % 4, rest // 32 % entries
        now += pause * STEP_NS
        length = 1 + count % 3 if kind == READ and len(kinds) > 1 else 1
        for each in range(entry, entry + length):
            made.append(Request(now, kind, "ab"[each % 2], (1, each // 2), 1 + each * 7 % sizes, count, at))
    return collect_requests("decoded", sorted(made, key=lambda event: (event.time_ns, event.call, event.topic)))


def requests(sizes: int = 1, most: int = 40, kinds: tuple[int, ...] = KINDS) -> st.SearchStrategy[Requests]:
    """Requests that Hypothesis draws."""
    return st.lists(st.integers(0, MOST - 1), max_size=most).map(lambda numbers: decoded(numbers, sizes, 8, kinds))


def seeded(seed: int, count: int, sizes: int = 1, entries: int = 40) -> Requests:
    """Requests that a seed gives: some entries are asked for much more often than others."""
    chance = Random(seed)
    numbers = (
        chance.randrange(32) + 32 * min(chance.randrange(entries), chance.randrange(entries)) for _ in range(count)
    )
    return decoded(numbers, sizes, entries)


def number_of(entry: int) -> int:
    """The number of a read of one entry, at once after the one before."""
    return 8 * 32 * entry
