"""Explore every interleaving of a read with the turns of a small ring, in mode "copy".

Segments are bytes in one buffer, with an index from an entry to the place of its bytes. One writer inserts, one byte in
each step. Readers look an entry up, take its bytes one by one, and may compare the turn of the segment with the one at
the lookup. The answer of a reader has to be the inserted bytes or a miss. A view is a read whose bytes are taken later,
with the same steps and states.

`python -m entrycache_evidence.pulsar_segmented.interleavings` prints the result for each guard.
"""

import sys
from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

BYTES: Final = 2
"""The number of bytes of an entry: the fewest that can belong to two entries."""


class TurnCheck(Enum):
    """The moment at which a reader compares the turn of the segment that it reads."""

    BEHIND = "behind its bytes"
    BEFORE = "before its bytes"
    NEVER = "never"


class Ring(NamedTuple):
    """The scope and the guards of a ring.

    It has this many segments and room for this many entries; readers read `entries_read`. `turn_check` is when a reader
    compares turns. `turns_first`: a segment begins its next turn before its bytes change. `indexes_last`: an entry is
    found only when all its bytes are written.
    """

    segments: int = 2
    room: int = 1
    inserts: int = 4
    entries_read: tuple[int, ...] = (0, 1)
    turn_check: TurnCheck = TurnCheck.BEHIND
    turns_first: bool = True
    indexes_last: bool = True

    def describe(self) -> str:
        """Describe the bounds."""
        entries = "entry" if self.room == 1 else "entries"
        return (
            f"{self.segments} segments of {self.room} {entries}, {BYTES} bytes an entry, {self.inserts} inserts, "
            f"{len(self.entries_read)} readers"
        )


class EntryPlace(NamedTuple):
    """The place of an entry: its segment, its first byte, and the turn of the segment."""

    segment: int
    start: int
    turn: int


Byte = tuple[int, int] | None
"""The entry and the index of a byte, or None."""


class Reader(NamedTuple):
    """A reader: its entry, the place of the entry, the bytes read so far, and its `answer`."""

    entry: int
    where: EntryPlace | None = None
    bytes_read: tuple[Byte, ...] = ()
    answer: str = ""


class RingState(NamedTuple):
    """The whole state; `remaining` are the next steps of the current insert, and `number` counts inserts."""

    turns: tuple[int, ...]
    bytes: tuple[tuple[Byte, ...], ...]
    entry_index: tuple[tuple[int, EntryPlace], ...]
    current: int
    offset: int
    number: int
    remaining: tuple[str, ...]
    readers: tuple[Reader, ...]


EXACT, MISS, WRONG = "exact", "miss", "wrong"


class Exploration(NamedTuple):
    """The result of an exploration: states, steps, the answers, and a shortest path to a wrong answer."""

    states: int
    steps: int
    answers: frozenset[str]
    wrong: tuple[str, ...]


def empty_ring(ring: Ring) -> RingState:
    """Return the empty ring, before any read or write."""
    empty = tuple((None,) * ring.room * BYTES for _ in range(ring.segments))
    return RingState((0,) * ring.segments, empty, (), 0, 0, 0, (), tuple(Reader(entry) for entry in ring.entries_read))


def list_steps(ring: Ring, now: RingState) -> Iterator[tuple[str, RingState]]:
    """Yield every step that a writer or reader can take."""
    if now.remaining:
        yield (
            f"writer: {now.remaining[0]}",
            write_step(ring, now._replace(remaining=now.remaining[1:]), now.remaining[0]),
        )
    elif now.number < ring.inserts:
        yield f"writer: begins {now.number}", now._replace(number=now.number + 1, remaining=insert_steps(ring, now))
    for at, reader in enumerate(now.readers):
        if not reader.answer:
            what, after = read_step(ring, now, reader)
            yield f"reader {at}: {what}", now._replace(readers=(*now.readers[:at], after, *now.readers[at + 1 :]))


def insert_steps(ring: Ring, now: RingState) -> tuple[str, ...]:
    """Return the steps of the next insert."""
    turn = ("next", "turn", "clear") if ring.turns_first else ("next", "clear")
    bytes_of_it = tuple(f"byte {at}" for at in range(BYTES))
    write = (*bytes_of_it, "index") if ring.indexes_last else ("index", *bytes_of_it)
    if now.offset + BYTES <= ring.room * BYTES:
        return (*write, "offset")
    return (*turn, *write, *(() if ring.turns_first else ("turn",)), "offset")


def write_step(ring: Ring, now: RingState, task: str) -> RingState:
    """Make one step of the writer."""
    here, entry = now.current, now.number - 1
    if task == "next":
        return now._replace(current=(here + 1) % ring.segments, offset=0)
    if task == "turn":
        return now._replace(turns=_with(now.turns, here, now.turns[here] + 1))
    if task == "clear":
        return now._replace(entry_index=tuple(pair for pair in now.entry_index if pair[1].segment != here))
    if task == "index":
        return now._replace(entry_index=(*now.entry_index, (entry, EntryPlace(here, now.offset, now.turns[here]))))
    if task == "offset":
        return now._replace(offset=now.offset + BYTES)
    at = int(task.removeprefix("byte "))
    return now._replace(bytes=_with(now.bytes, here, _with(now.bytes[here], now.offset + at, (entry, at))))


def _with(items: tuple, at: int, item: object) -> tuple:  # type: ignore[type-arg]
    return (*items[:at], item, *items[at + 1 :])


def read_step(ring: Ring, now: RingState, reader: Reader) -> tuple[str, Reader]:
    """Make one step of a reader: a lookup, a byte, or an answer."""
    if reader.where is None:
        where = dict(now.entry_index).get(reader.entry)
        return "looks up", reader._replace(where=where, answer="" if where else MISS)
    in_turn = now.turns[reader.where.segment] == reader.where.turn
    if ring.turn_check is TurnCheck.BEFORE and not reader.bytes_read and not in_turn:
        return "asks for the turn", reader._replace(answer=MISS)
    if len(reader.bytes_read) < BYTES:
        byte = now.bytes[reader.where.segment][reader.where.start + len(reader.bytes_read)]
        return f"takes byte {len(reader.bytes_read)}", reader._replace(bytes_read=(*reader.bytes_read, byte))
    if ring.turn_check is TurnCheck.BEHIND and not in_turn:
        return "asks for the turn", reader._replace(answer=MISS)
    is_exact = reader.bytes_read == tuple((reader.entry, at) for at in range(BYTES))
    return "answers", reader._replace(answer=EXACT if is_exact else WRONG)


def explore_ring(ring: Ring) -> Exploration:
    """Explore every interleaving breadth first, so that the first wrong answer is a nearest one."""
    first = empty_ring(ring)
    came_from: dict[RingState, tuple[RingState, str] | None] = {first: None}
    frontier, steps, answers = [first], 0, set[str]()
    wrong: tuple[str, ...] = ()
    while frontier:
        following = []
        for now in frontier:
            for what, after in list_steps(ring, now):
                steps += 1
                if after not in came_from:
                    came_from[after] = now, what
                    following.append(after)
                    answers |= {reader.answer for reader in after.readers} - {""}
                    if not wrong and any(reader.answer == WRONG for reader in after.readers):
                        wrong = _path_to(came_from, after)
        frontier = following
    return Exploration(len(came_from), steps, frozenset(answers), wrong)


def _path_to(came_from: dict[RingState, tuple[RingState, str] | None], now: RingState) -> tuple[str, ...]:
    way: list[str] = []
    while (before := came_from[now]) is not None:
        now, what = before
        way.append(what)
    return tuple(reversed(way))


GUARDED: Final = (Ring(), Ring(room=2, inserts=6), Ring(segments=3, inserts=5, entries_read=(0, 1, 0)))
"""Rings with every guard: each answer is exact, or a miss."""

UNGUARDED: Final = {
    "a copy, or a view, that never asks for the turn": Ring(turn_check=TurnCheck.NEVER),
    "a view that asks for the turn when it is handed out, and not behind its bytes": Ring(turn_check=TurnCheck.BEFORE),
    "a turn that is counted when the new bytes are written": Ring(turns_first=False),
    "an entry that is found before its bytes are written": Ring(indexes_last=False),
}
"""Rings without one of the guards: some answer is wrong. The first is what pull request 15955 does."""


def describe_exploration(name: str, ring: Ring, result: Exploration) -> str:
    """Describe an exploration in one line."""
    outcome = f"wrong in {len(result.wrong)} steps" if result.wrong else "exact or a miss"
    return f"{name}: {ring.describe()}; {result.states} states, {result.steps} steps: {outcome}"


def build_report() -> tuple[list[str], list[str]]:
    """Return a line for each exploration, and the lines of unexpected results."""
    lines, failures = [], []
    for name, ring in (*(("every guard", ring) for ring in GUARDED), *UNGUARDED.items()):
        result = explore_ring(ring)
        lines.append(describe_exploration(name, ring, result))
        is_right = result.answers == {EXACT, MISS} if name == "every guard" else WRONG in result.answers
        failures += [] if is_right else lines[-1:]
    return lines, failures


def list_failures() -> list[str]:
    """Return a line for each unexpected result."""
    return build_report()[1]


if __name__ == "__main__":
    describe, wrong_ones = build_report()
    print("\n".join(describe))
    sys.exit(1 if wrong_ones else 0)
