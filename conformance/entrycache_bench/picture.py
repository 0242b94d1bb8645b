"""The picture of the numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from entrycache_bench.pulsar_pip430.cursors import MOVE_RANK, MOVES, RELEASED_NAME, CursorCost
from entrycache_bench.result import Result
from entrycache_protocol.extras import missing
from entrycache_protocol.output import whole

FAST = "#1b6ca8"
PEER = "#c8553d"
RELEASED = "#8a8a8a"
STYLES = {MOVE_RANK: "-", MOVES: "--"}


def require_matplotlib() -> Any:
    """The library that draws.

    Raises:
        MissingPrerequisite: it is not installed.
    """
    try:
        import matplotlib  # noqa: PLC0415 - an extra
    except ImportError:
        raise missing("the picture", "matplotlib", "bench") from None
    return matplotlib


def draw(result: Result, path: Path) -> None:
    """Write the picture as SVG; the same result gives the same bytes with the same version of matplotlib."""
    matplotlib = require_matplotlib()
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
        figure = pyplot.figure(figsize=(10, 8 if result.streams else 7), layout="constrained")
        parts: Any = figure.subfigures(2, 1, height_ratios=(3, 2))
        above, below = parts
        mixes = list(dict.fromkeys(item.mix for item in result.cursors))
        panels = above.subplots(1, len(mixes), sharey=True, squeeze=False)[0]
        for axes, mix in zip(panels, mixes, strict=True):
            _draw_cursors(axes, mix, [item for item in result.cursors if item.mix == mix], result.released)
        panels[0].set_ylabel("nanoseconds a turn")
        above.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
        _draw_ratios(below.subplots(), result)
        with whole(path) as beside:
            figure.savefig(beside, format="svg", metadata={"Date": None, "Creator": None})
        pyplot.close(figure)


def _draw_cursors(axes: Any, mix: str, costs: list[CursorCost], released: str | None) -> None:
    """The cost of each container, over the number of cursors."""
    for pattern, style in STYLES.items():
        rows = [item for item in costs if item.pattern == pattern]
        sizes = [item.cursors for item in rows]
        lines: list[tuple[str, str, list[float | None]]] = [
            ("fast", FAST, [item.fast_nanos for item in rows]),
            ("linked list", PEER, [item.linear_nanos for item in rows]),
        ]
        if released is not None:
            lines.append((RELEASED_NAME.format(released), RELEASED, [item.released_nanos for item in rows]))
        for name, color, nanos in lines:
            axes.plot(sizes, nanos, style, color=color, marker="o", markersize=3, label=f"{name}: {pattern}")
    axes.set(xscale="log", yscale="log", title=mix, xlabel="cursors in one cache")
    axes.grid(visible=True, which="major", alpha=0.25)


def _draw_ratios(axes: Any, result: Result) -> None:
    """How many times as quick as the other side of the same rounds."""
    ratios = [item for item in result.measurements if item.what.startswith("fast cache") and not item.unit]
    streamed = [] if result.streams is None else result.streams.measurements
    rows = [item for item in reversed([*ratios, *streamed]) if item.at_most is None]
    axes.barh([item.what for item in rows], [item.value for item in rows], color=FAST, height=0.6)
    for at, item in enumerate(rows):
        axes.text(item.value, at, f" {item.value:.2f}", va="center")
        if item.at_least is not None:
            axes.plot([item.at_least] * 2, [at - 0.4, at + 0.4], color=PEER, linewidth=2)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("times as quick in the same rounds (the short line is the target)")
