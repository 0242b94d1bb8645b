"""The cost of the fast cache's cursors beside a linked list, and beside the released container in its own JVM.

`make_cursor_mix` generates positions and moves of one to ten thousand cursors. `LinearCursors` is the peer: a sorted
linked list that notes moves and applies them when somebody asks for a rank or the slowest position. `measure_cursors`
times all mixes and patterns, `judge_costs` turns some into ratios with targets, and `add_released` adds the times of a
Pulsar release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from statistics import median
from typing import Any, Final, NamedTuple

from entrycache_conformance.java.program import build_program
from entrycache_dev.bench.measurement import Measurement, interleaved, seconds_of
from entrycache_fast.pulsar.store import Cursors
from entrycache_protocol.errors import BrokenSubject

SIZES: Final = (1, 10, 100, 1_000, 10_000)
JUDGED_SIZES: Final = (1_000, 10_000)
TURNS: Final = 20_000
LINEAR_STEPS: Final = 1_000_000
"""The number of cursors that the linked list looks at; it plays as many turns as that takes."""

LEDGER: Final = 5
QUICKER_AT_LEAST: Final = 2.0
RELEASED_NAME: Final = "Pulsar {} (Java)"
"""The name of the released container in a picture."""

MOVE_RANK: Final = "rank, then move"
MOVES: Final = "move, a rank in 16"
MOVE_SLOWEST: Final = "move, then slowest"
RANK: Final = "rank, nothing moved"


class CursorCost(NamedTuple):
    """The nanoseconds of one turn for a number of cursors; the released container runs in its own JVM."""

    mix: str
    pattern: str
    cursors: int
    fast_nanos: float
    linear_nanos: float
    released_nanos: float | None = None


def measure_cursors(rounds: int) -> Iterator[CursorCost]:
    """Yield the cost of every mix, pattern and number of cursors, from medians of interleaved rounds."""
    return (
        measure_cost(rounds, mix, pattern, cursors, TURNS) for mix in MIXES for pattern in PATTERNS for cursors in SIZES
    )


def measure_cost(rounds: int, mix: str, pattern: str, cursors: int, turns: int) -> CursorCost:
    """Measure one mix, pattern and number of cursors."""
    linear_turns = min(turns, max(100, LINEAR_STEPS // cursors))
    cursor_mix = make_cursor_mix(mix, cursors, turns)
    names = [f"cursor-{number}" for number in range(cursors)]
    fast_moves = [(names[cursor], (LEDGER, entry)) for cursor, entry in cursor_mix.moves]
    linear_moves = [(names[cursor], entry) for cursor, entry in cursor_mix.moves[:linear_turns]]
    play = PATTERNS[pattern]
    seconds = interleaved(
        rounds,
        {
            "fast": lambda: seconds_of(play(make_fast_cursors(names, cursor_mix), fast_moves)),
            "linear": lambda: seconds_of(play(make_linear_cursors(names, cursor_mix), linear_moves)),
        },
    )
    fast_nanos = 1e9 * median(seconds["fast"]) / turns
    return CursorCost(mix, pattern, cursors, fast_nanos, 1e9 * median(seconds["linear"]) / linear_turns)


def judge_costs(costs: list[CursorCost]) -> list[Measurement]:
    """Return the ratios with a target: thousands of cursors, where each read asks for its rank."""
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


def make_fast_cursors(names: list[str], mix: CursorMix) -> Cursors:
    """Return the container of the fast cache, filled."""
    cursors = Cursors(moves_untracked=True)
    for name, entry in zip(names, mix.start, strict=True):
        cursors.add(name, (LEDGER, entry))
    return cursors


def make_linear_cursors(names: list[str], mix: CursorMix) -> LinearCursors:
    """Return the linked list, filled."""
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
"""The actions of one turn.

A reader takes its rank when storage has answered and moves then. A reader that is served from the cache only moves.
"""


START: Final = 1_000
SPREAD: Final = 1_000_000
LONGEST_STEP: Final = 3


class CursorMix(NamedTuple):
    """The entries at which cursors stand first, by number of the cursor, and moves of a cursor to a new entry."""

    start: list[int]
    moves: list[tuple[int, int]]


def tailing(cursors: int, random: Random) -> Iterator[tuple[int, int]]:
    """Yield moves of readers at the head of a log: each turn one of them reads 1 to 3 entries, up to the head.

    The head moves as quickly as they do, so many stand on one entry, and all within a few.
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
    """Yield moves of readers one after another to the next entry; half of them have moved already."""
    turn = cursors // 2
    while True:
        yield turn % cursors, START + 1 + turn // cursors
        turn += 1


def uniform(cursors: int, random: Random) -> Iterator[tuple[int, int]]:
    """Yield moves of any reader to any entry."""
    while True:
        yield random.randrange(cursors), random.randrange(SPREAD)


MIXES: Final[Mapping[str, Callable[[int, Random], Iterator[tuple[int, int]]]]] = {
    "tailing": tailing,
    "lockstep": lockstep,
    "uniform": uniform,
}


def make_cursor_mix(name: str, cursors: int, count: int, seed: int = 1) -> CursorMix:
    """Return moves of cursors that start on different entries, because earlier moves have spread them."""
    random = Random(seed)
    moves = MIXES[name](cursors, random)
    start = [START] * cursors
    if name == "lockstep":
        start[: cursors // 2] = [START + 1] * (cursors // 2)
    else:
        for _ in range(2 * cursors):
            cursor, entry = next(moves)
            start[cursor] = entry
    return CursorMix(start, [next(moves) for _ in range(count)])


class Node:
    """A cursor in the list, with the number of cursors at or before it."""

    __slots__ = ("after", "before", "position", "rank", "wanted")

    def __init__(self, position: int) -> None:
        self.position = position
        self.wanted = position
        self.rank = 0
        self.before: Node | None = None
        self.after: Node | None = None


class LinearCursors:
    """Cursors in a linked list, ascending by position."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._moved: list[Node] = []
        self._head: Node | None = None

    def add_all(self, cursors: Iterable[tuple[str, int]]) -> None:
        """Add cursors."""
        self._nodes.update((cursor, Node(position)) for cursor, position in cursors)
        self._sort()

    def move(self, cursor: str, position: int) -> None:
        """Note where a cursor stands from now on."""
        node = self._nodes[cursor]
        if node.wanted == node.position:
            self._moved.append(node)
        node.wanted = position

    def rank(self, cursor: str) -> int:
        """Return the number of cursors at or before this one, itself included."""
        self._apply()
        return self._nodes[cursor].rank

    def slowest(self) -> int | None:
        """Return the lowest position."""
        self._apply()
        return None if self._head is None else self._head.position

    def _apply(self) -> None:
        """Apply the noted moves."""
        if not self._moved:
            return
        if len(self._moved) >= len(self._nodes) // 2:
            self._sort()
            return
        for node in sorted(self._moved, key=lambda moved: -moved.position):
            if node.wanted > node.position:
                self._walk_up(node)
            elif node.wanted < node.position:
                self._walk_down(node)
        self._moved.clear()

    def _sort(self) -> None:
        """Build the list anew."""
        for node in self._moved:
            node.position = node.wanted
        self._moved.clear()
        ordered = sorted(self._nodes.values(), key=lambda node: node.position)
        before: Node | None = None
        for node in ordered:
            node.before = before
            if before is not None:
                before.after = node
            before = node
        if before is not None:
            before.after = None
        self._head = ordered[0] if ordered else None
        rank = len(ordered)
        for at in range(len(ordered) - 1, -1, -1):
            if at + 1 < len(ordered) and ordered[at].position != ordered[at + 1].position:
                rank = at + 1
            ordered[at].rank = rank

    def _walk_up(self, node: Node) -> None:
        """Move a node towards the tail; each passed node, and each node at its old position, loses one rank."""
        neighbour = node.before
        while neighbour is not None and neighbour.position == node.position:
            neighbour.rank -= 1
            neighbour = neighbour.before
        last, at = node.before, node.after
        self._unlink(node)
        rank = node.rank - 1
        while at is not None and at.position < node.wanted:
            at.rank -= 1
            last, rank = at, max(rank, at.rank)
            at = at.after
        self._link(node, last, at)
        node.position = node.wanted
        node.rank = at.rank if at is not None and at.position == node.position else rank + 1

    def _walk_down(self, node: Node) -> None:
        """Move a node towards the head; each passed node, and each node at its new position, gains one rank."""
        last, at = node.after, node.before
        self._unlink(node)
        while at is not None and at.position > node.wanted:
            if at.position < node.position:
                at.rank += 1
            last, at = at, at.before
        self._link(node, at, last)
        node.position = node.wanted
        rank = 1 if at is None else at.rank + 1
        node.rank = rank
        while at is not None and at.position == node.position:
            at.rank = rank
            at = at.before

    def _unlink(self, node: Node) -> None:
        """Take a node out of the chain."""
        if node.before is None:
            self._head = node.after
        else:
            node.before.after = node.after
        if node.after is not None:
            node.after.before = node.before

    def _link(self, node: Node, before: Node | None, after: Node | None) -> None:
        """Put a node between two neighbours."""
        node.before, node.after = before, after
        if before is None:
            self._head = node
        else:
            before.after = node
        if after is not None:
            after.before = node


FAMILY: Final = "pulsar"
MODULE: Final = "bench"
MAIN: Final = "org.apache.bookkeeper.mledger.impl.CursorCosts"
"""The main class of the program in that module of the Maven project."""

RELEASED_TURNS: Final = 20_000
RELEASED_STEPS: Final = 20_000_000
"""The number of cursors that the container looks at; with many cursors it plays fewer turns."""

PATTERN_NAMES: Final = {MOVE_RANK: "rank-move", MOVES: "moves", MOVE_SLOWEST: "move-slowest", RANK: "rank"}


def add_released(costs: Sequence[CursorCost], version: str, rounds: int) -> list[CursorCost]:
    """Add the costs of the container of Pulsar `version`.

    Raises:
        UsageError: there is no driver for that version.
        MissingPrerequisite: Java or the jars are missing.
        BrokenSubject: the container fails.
    """
    questions = "".join(_question(item, rounds) for item in costs)
    done = build_program(f"{FAMILY}:{version}", MODULE).run(MAIN, text=questions)
    answers = [line for line in done.stdout.splitlines() if line.isdigit()]
    if done.returncode or len(answers) != len(costs):
        raise BrokenSubject(f"the cursors of Pulsar {version} could not be measured: {_last_line(done.stderr)}")
    return [item._replace(released_nanos=float(nanos)) for item, nanos in zip(costs, answers, strict=True)]


def _question(item: CursorCost, rounds: int) -> str:
    """Return the three input lines of a measurement: pattern and rounds, positions, and moves."""
    turns = min(RELEASED_TURNS, max(500, RELEASED_STEPS // item.cursors))
    mix = make_cursor_mix(item.mix, item.cursors, turns)
    moves = " ".join(f"{cursor}:{entry}" for cursor, entry in mix.moves)
    return f"{PATTERN_NAMES[item.pattern]} {rounds}\n{' '.join(map(str, mix.start))}\n{moves}\n"


def _last_line(text: str) -> str:
    """Return the last line of a program's output."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"
