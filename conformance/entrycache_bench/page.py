"""The page of the numbers, as text."""

from __future__ import annotations

from entrycache_bench.kafka_streams.page import lines_of
from entrycache_bench.measurement import Measurement
from entrycache_bench.pulsar_pip430.page import cursor_lines
from entrycache_bench.result import Result

HEAD = """# Numbers

Written by `entrycache bench --from docs/numbers.json --page docs/reference/numbers.md`; the measurements themselves are
`entrycache bench{beside} --json > docs/numbers.json`.

One run: {rounds} interleaved rounds of {operations:,} operations, {python}, {processors} processors{load}. Every ratio
compares times of the same rounds; bare rates differ from machine to machine and are printed beside a loop that is the
same everywhere. Only ratios with a target are judged.

Audits have a page of their own: [what they cost](audit-speed.md).

![Cost of cursors beside a linked list, and the fast cache beside cachetools]({picture})

## Caches and suite

| what | value | target | note |
|---|---:|---|---|
"""


def page(result: Result, picture: str) -> str:
    """The page in Markdown; `picture` is the name of the picture beside it."""
    head = HEAD.format(
        rounds=result.rounds,
        operations=result.operations,
        python=result.python,
        processors=result.processors,
        load="" if result.load is None else f", {result.load:.0f} programs wanting one when it began",
        picture=picture,
        beside=_beside(result),
    )
    rows = [*map(row, result.measurements), *cursor_lines(result.cursors, result.released)]
    return head + "\n".join(rows) + "\n" + _streams(result)


def _beside(result: Result) -> str:
    """The options that name the releases which stand beside ours."""
    of_streams = None if result.streams is None else result.streams.released
    options = {"--released": result.released, "--streams": of_streams}
    return "".join(f" {option} {version}" for option, version in options.items() if version is not None)


def _streams(result: Result) -> str:
    """What was measured in rounds of its own; nothing where it was not asked for."""
    part = result.streams
    if part is None:
        return ""
    load = "" if part.load is None else f", {part.load:.0f} programs wanting a processor when it began"
    return lines_of(part.measurements, part.rounds, part.operations, part.released, load)


def row(item: Measurement) -> str:
    """One measurement as a line of a table."""
    value = f"**{item.shown}** (missed)" if item.missed else item.shown
    return f"| {item.what} | {value} | {item.target} | {item.note} |"
