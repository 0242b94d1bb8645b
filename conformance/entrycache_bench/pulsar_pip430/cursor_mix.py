"""Where cursors stand and how they move, the same for each container that is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Final, NamedTuple

START: Final = 1_000
SPREAD: Final = 1_000_000
LONGEST_STEP: Final = 3


class Mix(NamedTuple):
    """Entries at which cursors stand at first, by number of the cursor, and moves: a cursor and its new entry."""

    start: list[int]
    moves: list[tuple[int, int]]


def tailing(cursors: int, random: Random) -> Iterator[tuple[int, int]]:
    """Readers at the head of a log: each turn one of them reads 1 to 3 entries, at most up to the head.

    The head moves on as quickly as they do, so many stand on one entry, and all within a few.
    """
    at = [START] * cursors
    head_turns = 0
    head = START + LONGEST_STEP
    while True:
        cursor = random.randrange(cursors)
        at[cursor] = min(head, at[cursor] + random.randrange(1, LONGEST_STEP + 1))
        yield cursor, at[cursor]
        head_turns += 2
        if head_turns >= cursors:
            head, head_turns = head + 1, 0


def lockstep(cursors: int, _random: Random) -> Iterator[tuple[int, int]]:
    """Readers one after another move from one entry to the next one; half of them have moved already."""
    turn = cursors // 2
    while True:
        yield turn % cursors, START + 1 + turn // cursors
        turn += 1


def uniform(cursors: int, random: Random) -> Iterator[tuple[int, int]]:
    """Readers seek, anyone to anywhere."""
    while True:
        yield random.randrange(cursors), random.randrange(SPREAD)


MIXES: Final[Mapping[str, Callable[[int, Random], Iterator[tuple[int, int]]]]] = {
    "tailing": tailing,
    "lockstep": lockstep,
    "uniform": uniform,
}


def make_mix(name: str, cursors: int, count: int, seed: int = 1) -> Mix:
    """So many moves of so many cursors. What went before has mixed them: they do not all stand on one entry."""
    random = Random(seed)
    moves = MIXES[name](cursors, random)
    start = [START] * cursors
    if name == "lockstep":
        start[: cursors // 2] = [START + 1] * (cursors // 2)
    else:
        for _ in range(2 * cursors):
            cursor, entry = next(moves)
            start[cursor] = entry
    return Mix(start, [next(moves) for _ in range(count)])
