"""The part of the page about cursors."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from entrycache_bench.pulsar_pip430.cursors import CursorCost

CURSORS = """
## Cursors of one cache

Nanoseconds of one turn. First the fast cache's blocked order; second a sorted linked list in the same language that is
brought up to date when somebody asks (`linear.py`, our own code after that approach). *Tailing*: readers at the
head of a log take 1 to 3 entries a turn. *Lockstep*: one after another moves from one entry to the next. *Uniform*:
anyone goes anywhere.

The linked list only notes a move, so with few cursors a bare move is cheaper there; it pays when somebody asks. At rest
it knows each rank by heart, where the blocked order searches.
"""

RELEASED = """
Third, the `ActiveManagedCursorContainerImpl` of Pulsar {released}, compiled code in its own JVM with the same moves
(`CursorCosts.java`). It is another language, so what counts is how a column grows. In lockstep it grows less than
our linked list does.
"""


def cursor_lines(costs: list[CursorCost], released: str | None) -> Iterator[str]:
    """What is said, and the tables; `released`: the version of the container that stands beside ours."""
    yield (CURSORS if released is None else CURSORS + RELEASED.format(released=released)).rstrip()
    yield from _tables(costs)


def _tables(costs: list[CursorCost]) -> Iterator[str]:
    """One table a mix: a row a number of cursors, a column a pattern."""
    for mix, of_mix in groupby(costs, key=lambda item: item.mix):
        rows = list(of_mix)
        patterns = list(dict.fromkeys(item.pattern for item in rows))
        cells = {(item.cursors, item.pattern): _cell(item) for item in rows}
        yield f"\n| {mix} cursors | {' | '.join(patterns)} |"
        yield f"|---:|{'---:|' * len(patterns)}"
        for cursors in dict.fromkeys(item.cursors for item in rows):
            yield f"| {cursors:,} | {' | '.join(cells.get((cursors, pattern), '') for pattern in patterns)} |"


def _cell(item: CursorCost) -> str:
    nanos = (item.fast_nanos, item.linear_nanos, item.released_nanos)
    return " / ".join(f"{one:,.0f}" for one in nanos if one is not None)
