"""The page of the numbers, as text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from entrycache_bench.cursors import CursorCost
from entrycache_bench.measurement import Measurement
from entrycache_bench.result import Result

HEAD = """# Numbers

Written by `entrycache bench --from docs/numbers.json --page docs/numbers.md`; the measurements themselves are
`entrycache bench{released} --json > docs/numbers.json`.

One run: {rounds} interleaved rounds of {operations:,} operations, {python}, {processors} processors{load}. Every ratio
compares times of the same rounds; bare rates differ from machine to machine and are printed beside a loop that is the
same everywhere. Only ratios with a target are judged.

![Cost of cursors beside a linked list, and the fast cache beside cachetools]({picture})

## Caches and suite

| what | value | target | note |
|---|---:|---|---|
"""

CURSORS = """
## Cursors of one cache

Nanoseconds of one turn. First the fast cache's blocked order; second a sorted linked list in the same language that is
brought up to date when somebody asks (`bench/linear.py`, our own code after that approach). *Tailing*: readers at the
head of a log take 1 to 3 entries a turn. *Lockstep*: one after another moves from one entry to the next. *Uniform*:
anyone goes anywhere.

The linked list only notes a move, so with few cursors a bare move is cheaper there; it pays when somebody asks. At rest
it knows each rank by heart, where the blocked order searches.
"""

RELEASED = """
Third, the `ActiveManagedCursorContainerImpl` of Pulsar {released}, compiled code in its own JVM with the same moves
(`jvm/pulsar/bench`). It is another language, so what counts is how a column grows. In lockstep it grows less than
our linked list does.
"""

STREAMS = """
## Kafka Streams

A run of its own: {rounds} interleaved rounds of {operations:,} operations{load}. The fast cache of `kafka-streams`
(`entrycache_fast.kafka`, plain Python), cachetools' LRU cache, and the `ThreadCache` of Kafka Streams {released},
compiled code in its own JVM, warmed up, with the processor time of that whole process. All play the same puts and gets
of the same keys, each bounded to the same number of live entries, so their shares of hits agree. *Dirty*: every put is
a write that a listener has to get; an eviction hands over all that is dirty then. A value is how many times as quick
the first is as the other.

| what | value | note |
|---|---:|---|
"""


def page(result: Result, picture: str) -> str:
    """The page in Markdown; `picture` is the name of the picture beside it."""
    released = "" if result.released is None else f" --released {result.released}"
    if result.streams is not None and result.streams.released is not None:
        released += f" --streams {result.streams.released}"
    head = HEAD.format(
        released=released,
        rounds=result.rounds,
        operations=result.operations,
        python=result.python,
        processors=result.processors,
        load="" if result.load is None else f", {result.load:.0f} programs wanting one when it began",
        picture=picture,
    )
    cursors = CURSORS if result.released is None else CURSORS + RELEASED.format(released=result.released)
    rows = [*map(_row, result.measurements), cursors.rstrip(), *_cursor_tables(result.cursors)]
    return head + "\n".join(rows) + "\n" + _streams(result)


def _streams(result: Result) -> str:
    """The part of `kafka-streams`; nothing where it was not measured."""
    part = result.streams
    if part is None:
        return ""
    load = "" if part.load is None else f", {part.load:.0f} programs wanting a processor when it began"
    head = STREAMS.format(rounds=part.rounds, operations=part.operations, released=part.released, load=load)
    return head + "".join(f"| {item.what} | {item.shown} | {item.note} |\n" for item in part.measurements)


def _row(item: Measurement) -> str:
    value = f"**{item.shown}** (missed)" if item.missed else item.shown
    return f"| {item.what} | {value} | {item.target} | {item.note} |"


def _cursor_tables(costs: list[CursorCost]) -> Iterator[str]:
    """One table a mix: a row a number of cursors, a column a pattern."""
    for mix, of_mix in groupby(costs, key=lambda item: item.mix):
        rows = list(of_mix)
        patterns = list(dict.fromkeys(item.pattern for item in rows))
        cells = {(item.cursors, item.pattern): _cell(item) for item in rows}
        yield f"\n| {mix} cursors | {' | '.join(patterns)} |"
        yield f"|---:|{'---:|' * len(patterns)}"
        for cursors in dict.fromkeys(item.cursors for item in rows):
            yield f"| {cursors:,} | {' | '.join(cells[cursors, pattern] for pattern in patterns)} |"


def _cell(item: CursorCost) -> str:
    nanos = (item.fast_nanos, item.linear_nanos, item.released_nanos)
    return " / ".join(f"{one:,.0f}" for one in nanos if one is not None)
