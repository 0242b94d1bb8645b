"""The site's page of numbers and its picture, made from a `BenchResult`.

`render_page` writes tables of measurements, of cursors, and of Kafka Streams. `draw_picture` draws the cost of cursors
and the ratios as SVG.
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from entrycache_dev.bench import measurement, pulsar_cursors
from entrycache_dev.bench.result import BenchResult
from entrycache_protocol import errors, files

HEAD = """# Numbers

This page is rendered from `conformance/entrycache_dev/bench/numbers.json`, which `python -m entrycache_dev
bench{beside} --json` printed. `python -m entrycache_dev bench --from FILE --page PAGE` renders such a file.

One run: {rounds} interleaved rounds of {operations:,} operations, {python}, {processors} processors{load}. Every ratio
compares times of the same rounds. Rates differ from machine to machine; they are printed with the speed of a loop that
is the same everywhere. Only ratios with a target are judged.

The costs of audits have [a page of their own](audit-speed.md).

![The cost of cursors and of a linked list; the fast cache and cachetools]({picture})

## Caches and suite

| what | value | target | note |
|---|---:|---|---|
"""


def render_page(result: BenchResult, chart: str) -> str:
    """Return the page in Markdown; `chart` is the file name of its picture."""
    head = HEAD.format(
        rounds=result.rounds,
        operations=result.operations,
        python=result.python,
        processors=result.processors,
        load="" if result.load is None else f", {result.load:.0f} programs waiting for one at the start",
        picture=chart,
        beside=_release_options(result),
    )
    rows = [*map(measurement_row, result.measurements), *cursor_lines(result.cursors, result.released)]
    return head + "\n".join(rows) + "\n" + _streams_section(result)


def _release_options(result: BenchResult) -> str:
    """Return the options that name the compared releases."""
    of_streams = None if result.streams is None else result.streams.released
    options = {"--released": result.released, "--streams": of_streams}
    return "".join(f" {option} {version}" for option, version in options.items() if version is not None)


def _streams_section(result: BenchResult) -> str:
    """Return the section of separately measured rounds; return "" if there are none."""
    part = result.streams
    if part is None:
        return ""
    load = "" if part.load is None else f", {part.load:.0f} programs waiting for a processor at the start"
    return streams_section(part.measurements, part.rounds, part.operations, part.released, load)


def measurement_row(item: measurement.Measurement) -> str:
    """Return a measurement as a row of a table."""
    value = f"**{item.value_text}** (missed)" if item.missed else item.value_text
    return f"| {item.what} | {value} | {item.target} | {item.note} |"


STREAMS_HEAD = """
## Kafka Streams

A separate run: {rounds} interleaved rounds of {operations:,} operations{load}. It compares the fast cache of
`kafka-streams` (`entrycache_fast.kafka`, plain Python), cachetools' LRU cache, and the `ThreadCache` of Kafka Streams
{released}. The latter is compiled code in its own JVM, warmed up; the processor time of that whole process counts. All
play the same puts and gets of the same keys with the same number of live entries, so their shares of hits agree.
*Dirty*: every put is a write that a listener must get, and an eviction hands over all dirty entries. A value says how
many times as quick the first is as the second.

| what | value | note |
|---|---:|---|
"""


def streams_section(
    measurements: list[measurement.Measurement], rounds: int, operations: int, released: str | None, load: str
) -> str:
    """Return the section about Kafka Streams."""
    head = STREAMS_HEAD.format(rounds=rounds, operations=operations, released=released, load=load)
    return head + "".join(f"| {item.what} | {item.value_text} | {item.note} |\n" for item in measurements)


CURSORS_TEXT = """
## Cursors of one cache

Nanoseconds of one turn. The first number is the fast cache's blocked order. The second is a sorted linked list in the
same language that applies moves only when a rank is asked for (`LinearCursors`, our own code after that approach).
*Tailing*: readers at the head of a log take 1 to 3 entries a turn. *Lockstep*: one reader after another moves to the
next entry. *Uniform*: any reader moves to any entry.

The linked list only notes a move, so with few cursors a bare move is cheaper there; the cost comes with the next rank.
If nothing has moved, it has each rank stored, while the blocked order searches.
"""

RELEASED_TEXT = """
The third number is the `ActiveManagedCursorContainerImpl` of Pulsar {released}, compiled code in its own JVM with the
same moves (`CursorCosts.java`). It is another language, so only the growth of a column counts. In lockstep it grows
less than our linked list does.
"""


def cursor_lines(costs: list[pulsar_cursors.CursorCost], released: str | None) -> Iterator[str]:
    """Yield the section about cursors; `released` is the version of the released container, if it was measured."""
    yield (CURSORS_TEXT if released is None else CURSORS_TEXT + RELEASED_TEXT.format(released=released)).rstrip()
    yield from _cursor_tables(costs)


def _cursor_tables(costs: list[pulsar_cursors.CursorCost]) -> Iterator[str]:
    """Yield a table for each mix, with a row per number of cursors and a column per pattern."""
    for mix, of_mix in groupby(costs, key=lambda item: item.mix):
        rows = list(of_mix)
        patterns = list(dict.fromkeys(item.pattern for item in rows))
        cells = {(item.cursors, item.pattern): _cost_cell(item) for item in rows}
        yield f"\n| {mix} cursors | {' | '.join(patterns)} |"
        yield f"|---:|{'---:|' * len(patterns)}"
        for cursors in dict.fromkeys(item.cursors for item in rows):
            yield f"| {cursors:,} | {' | '.join(cells.get((cursors, pattern), '') for pattern in patterns)} |"


def _cost_cell(item: pulsar_cursors.CursorCost) -> str:
    nanos = (item.fast_nanos, item.linear_nanos, item.released_nanos)
    return " / ".join(f"{one:,.0f}" for one in nanos if one is not None)


FAST_COLOUR = "#1b6ca8"
PEER_COLOUR = "#c8553d"
RELEASED_COLOUR = "#8a8a8a"
STYLES = {pulsar_cursors.MOVE_RANK: "-", pulsar_cursors.MOVES: "--"}


def draw_picture(result: BenchResult, path: Path) -> None:
    """Write the picture as SVG; the same result gives the same bytes with the same version of matplotlib."""
    matplotlib = errors.import_matplotlib("bench")
    matplotlib.use("svg")
    from matplotlib import pyplot  # noqa: PLC0415

    style: dict[Any, Any] = {
        "svg.hashsalt": "entrycache",
        "svg.fonttype": "none",
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with pyplot.rc_context(style):
        figure = pyplot.figure(figsize=(8, 8 if result.streams else 7), layout="constrained")
        parts: Any = figure.subfigures(2, 1, height_ratios=(3, 2))
        above, below = parts
        mixes = list(dict.fromkeys(item.mix for item in result.cursors))
        panels = above.subplots(1, len(mixes), sharey=True, squeeze=False)[0]
        for axes, mix in zip(panels, mixes, strict=True):
            _draw_cursors(axes, mix, [item for item in result.cursors if item.mix == mix], result.released)
        panels[0].set_ylabel("nanoseconds a turn")
        above.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
        _draw_ratios(below.subplots(), result)
        with files.atomic_path(path) as temporary:
            figure.savefig(temporary, format="svg", metadata={"Date": None, "Creator": None})
        pyplot.close(figure)


def _draw_cursors(axes: Any, mix: str, costs: list[pulsar_cursors.CursorCost], released: str | None) -> None:
    """Draw the cost of each container over the number of cursors."""
    for pattern, style in STYLES.items():
        rows = [item for item in costs if item.pattern == pattern]
        sizes = [item.cursors for item in rows]
        lines: list[tuple[str, str, list[float | None]]] = [
            ("fast", FAST_COLOUR, [item.fast_nanos for item in rows]),
            ("linked list", PEER_COLOUR, [item.linear_nanos for item in rows]),
        ]
        if released is not None:
            lines.append(
                (pulsar_cursors.RELEASED_NAME.format(released), RELEASED_COLOUR, [item.released_nanos for item in rows])
            )
        for name, color, nanos in lines:
            axes.plot(sizes, nanos, style, color=color, marker="o", markersize=3, label=f"{name}: {pattern}")
    axes.set(xscale="log", yscale="log", title=mix, xlabel="cursors in one cache")
    axes.grid(visible=True, which="major", alpha=0.25)


def _draw_ratios(axes: Any, result: BenchResult) -> None:
    """Draw the ratios between the fast caches and the others."""
    ratios = [item for item in result.measurements if item.what.startswith("fast cache") and not item.unit]
    streamed = [] if result.streams is None else result.streams.measurements
    rows = [item for item in reversed([*ratios, *streamed]) if item.at_most is None]
    axes.barh([item.what for item in rows], [item.value for item in rows], color=FAST_COLOUR, height=0.6)
    for at, item in enumerate(rows):
        axes.text(item.value, at, f" {item.value:.2f}", va="center")
        if item.at_least is not None:
            axes.plot([item.at_least] * 2, [at - 0.4, at + 0.4], color=PEER_COLOUR, linewidth=2)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("times as quick in the same rounds (the short line is the target)")
