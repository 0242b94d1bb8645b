"""What the cursors of the fast cache cost, beside a linked list, from one cursor to ten thousand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from typing import Any, Final, NamedTuple

from entrycache_bench.measurement import Measurement, interleaved, seconds_of
from entrycache_bench.pulsar_pip430.cursor_mix import MIXES, Mix, make_mix
from entrycache_bench.pulsar_pip430.linear import LinearCursors
from entrycache_fast.pulsar.cursors import Cursors

SIZES: Final = (1, 10, 100, 1_000, 10_000)
JUDGED_SIZES: Final = (1_000, 10_000)
TURNS: Final = 20_000
LINEAR_STEPS: Final = 1_000_000
"""The linked list plays as many turns as it takes to look at about so many cursors."""

LEDGER: Final = 5
QUICKER_AT_LEAST: Final = 2.0
RELEASED_NAME: Final = "Pulsar {} (Java)"
"""How a picture calls the released container of a version."""

MOVE_RANK: Final = "rank, then move"
MOVES: Final = "move, a rank in 16"
MOVE_SLOWEST: Final = "move, then slowest"
RANK: Final = "rank, nothing moved"


class CursorCost(NamedTuple):
    """The time of one turn, in nanoseconds, with so many cursors; the released container's in its own JVM."""

    mix: str
    pattern: str
    cursors: int
    fast_nanos: float
    linear_nanos: float
    released_nanos: float | None = None


def cursor_costs(rounds: int) -> Iterator[CursorCost]:
    """Every mix, pattern and number of cursors: medians of interleaved rounds."""
    return (cost(rounds, mix, pattern, cursors, TURNS) for mix in MIXES for pattern in PATTERNS for cursors in SIZES)


def cost(rounds: int, mix: str, pattern: str, cursors: int, turns: int) -> CursorCost:
    """One of them."""
    linear_turns = min(turns, max(100, LINEAR_STEPS // cursors))
    made = make_mix(mix, cursors, turns)
    names = [f"cursor-{number}" for number in range(cursors)]
    fast_moves = [(names[cursor], (LEDGER, entry)) for cursor, entry in made.moves]
    linear_moves = [(names[cursor], entry) for cursor, entry in made.moves[:linear_turns]]
    play = PATTERNS[pattern]
    seconds = interleaved(
        rounds,
        {
            "fast": lambda: seconds_of(play(fast_cursors(names, made), fast_moves)),
            "linear": lambda: seconds_of(play(linear_cursors(names, made), linear_moves)),
        },
    )
    fast_nanos = 1e9 * median(seconds["fast"]) / turns
    return CursorCost(mix, pattern, cursors, fast_nanos, 1e9 * median(seconds["linear"]) / linear_turns)


def judged(costs: list[CursorCost]) -> list[Measurement]:
    """The ratios that have a target: thousands of cursors, where each read asks for its rank."""
    return [
        Measurement(
            f"cursors, {item.mix}, {item.cursors:,}: {MOVE_RANK}, times as quick as a linked list",
            item.linear_nanos / item.fast_nanos,
            "",
            at_least=QUICKER_AT_LEAST,
            note=f"{item.fast_nanos:,.0f} ns and {item.linear_nanos:,.0f} ns",
        )
        for item in costs
        if item.pattern == MOVE_RANK and item.cursors in JUDGED_SIZES
    ]


def fast_cursors(names: list[str], mix: Mix) -> Cursors:
    """The container of the fast cache, filled."""
    cursors = Cursors(moves_untracked=True)
    for name, entry in zip(names, mix.start, strict=True):
        cursors.add(name, (LEDGER, entry))
    return cursors


def linear_cursors(names: list[str], mix: Mix) -> LinearCursors:
    """The linked list, filled."""
    cursors = LinearCursors()
    cursors.add_all(zip(names, mix.start, strict=True))
    return cursors


def _rank_and_move(cursors: Any, moves: list[tuple[str, Any]]) -> Callable[[], None]:
    rank, move = cursors.rank, cursors.move

    def play() -> None:
        for cursor, position in moves:
            rank(cursor)
            move(cursor, position)

    return play


def _moves(cursors: Any, moves: list[tuple[str, Any]]) -> Callable[[], None]:
    rank, move = cursors.rank, cursors.move

    def play() -> None:
        for turn, (cursor, position) in enumerate(moves):
            move(cursor, position)
            if turn & 15 == 15:
                rank(cursor)

    return play


def _move_and_slowest(cursors: Any, moves: list[tuple[str, Any]]) -> Callable[[], None]:
    slowest, move = cursors.slowest, cursors.move

    def play() -> None:
        for cursor, position in moves:
            move(cursor, position)
            slowest()

    return play


def _rank(cursors: Any, moves: list[tuple[str, Any]]) -> Callable[[], None]:
    rank = cursors.rank

    def play() -> None:
        for cursor, _ in moves:
            rank(cursor)

    return play


PATTERNS: Final[dict[str, Callable[[Any, list[tuple[str, Any]]], Callable[[], None]]]] = {
    MOVE_RANK: _rank_and_move,
    MOVES: _moves,
    MOVE_SLOWEST: _move_and_slowest,
    RANK: _rank,
}
"""What a turn does. A reader takes its rank when storage has answered and moves then; one that is served from the
cache only moves."""
