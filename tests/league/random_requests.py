"""Small random requests: each is decode_requests from one number, which Hypothesis or a seed gives."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from hypothesis import strategies as st

from entrycache_league.requests import ADD, EXPECT, PASSED, READ, Request, Requests, collect_requests

STEP_NS = 4_000_000
KINDS = (READ, READ, READ, READ, ADD, ADD, EXPECT, PASSED)
MAX_NUMBER = 1 << 12


def decode_requests(
    numbers: Iterable[int], sizes: int = 1, entries: int = 8, kinds: tuple[int, ...] = KINDS
) -> Requests:
    """Decode requests for `entries` entries of two topics and `sizes` sizes; a read has one to three entries."""
    sequence: list[Request] = []
    now = 0
    for at, number in enumerate([*numbers, 0]):
        kind, rest = kinds[number % 8 % len(kinds)], number // 8
        pause, count, entry = rest % 4 * (rest // 4 % 2), rest // 8 % 4, rest // 32 % entries
        now += pause * STEP_NS
        length = 1 + count % 3 if kind == READ and len(kinds) > 1 else 1
        for each in range(entry, entry + length):
            sequence.append(Request(now, kind, "ab"[each % 2], (1, each // 2), 1 + each * 7 % sizes, count, at))
    return collect_requests("decoded", sorted(sequence, key=lambda event: (event.time_ns, event.call, event.topic)))


def requests(sizes: int = 1, most: int = 40, kinds: tuple[int, ...] = KINDS) -> st.SearchStrategy[Requests]:
    """Return a strategy for requests."""
    return st.lists(st.integers(0, MAX_NUMBER - 1), max_size=most).map(
        lambda numbers: decode_requests(numbers, sizes, 8, kinds)
    )


def seeded_requests(seed: int, count: int, sizes: int = 1, entries: int = 40) -> Requests:
    """Make requests from a seed; some entries are requested much more often than others."""
    random = Random(seed)
    numbers = (
        random.randrange(32) + 32 * min(random.randrange(entries), random.randrange(entries)) for _ in range(count)
    )
    return decode_requests(numbers, sizes, entries)


def number_of(entry: int) -> int:
    """Return the number of a read of one entry, immediately after the request before."""
    return 8 * 32 * entry
