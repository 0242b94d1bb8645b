"""What a released container of active cursors costs, in its own JVM, with the same moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from entrycache_bench.pulsar_pip430.cursor_mix import make_mix
from entrycache_bench.pulsar_pip430.cursors import MOVE_RANK, MOVE_SLOWEST, MOVES, RANK, CursorCost
from entrycache_conformance.java.program import program_of
from entrycache_protocol.errors import BrokenSubject

FAMILY: Final = "pulsar"
MODULE: Final = "bench"
MAIN: Final = "org.apache.bookkeeper.mledger.impl.CursorCosts"
"""The program, in that module of the Maven project."""

TURNS: Final = 20_000
STEPS: Final = 20_000_000
"""With many cursors the container plays as many turns as it takes to look at about so many of them."""

NAMES: Final = {MOVE_RANK: "rank-move", MOVES: "moves", MOVE_SLOWEST: "move-slowest", RANK: "rank"}


def with_released(costs: Sequence[CursorCost], version: str, rounds: int) -> list[CursorCost]:
    """The same costs, with those of the container of Pulsar `version` beside them.

    Raises:
        UsageError: there is no driver for that version.
        MissingPrerequisite: Java or the jars are not there.
        BrokenSubject: the container fails.
    """
    questions = "".join(_question(item, rounds) for item in costs)
    done = program_of(f"{FAMILY}:{version}", MODULE).run(MAIN, text=questions)
    answers = [line for line in done.stdout.splitlines() if line.isdigit()]
    if done.returncode or len(answers) != len(costs):
        raise BrokenSubject(f"the cursors of Pulsar {version} could not be measured: {_last(done.stderr)}")
    return [item._replace(released_nanos=float(nanos)) for item, nanos in zip(costs, answers, strict=True)]


def _question(item: CursorCost, rounds: int) -> str:
    """Three lines: pattern and rounds, where the cursors stand, and their moves."""
    turns = min(TURNS, max(500, STEPS // item.cursors))
    mix = make_mix(item.mix, item.cursors, turns)
    moves = " ".join(f"{cursor}:{entry}" for cursor, entry in mix.moves)
    return f"{NAMES[item.pattern]} {rounds}\n{' '.join(map(str, mix.start))}\n{moves}\n"


def _last(text: str) -> str:
    """The last line of what a program said."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"
