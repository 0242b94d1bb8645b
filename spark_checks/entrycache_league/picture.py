"""The pictures of a league: miss ratios over capacities, and the cost of a request over topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from entrycache_bench.picture import require_matplotlib
from entrycache_league.cost import Cost
from entrycache_league.league import League
from entrycache_league.show import label
from entrycache_protocol.output import whole

PULSAR = ("#1b6ca8", "#3f97d3", "#7fbfe8", "#0b3c5d", "#5b8e7d", "#8cb369", "#2a9d8f", "#264653")
OTHERS = ("#c8553d", "#e09f3e", "#9e2a2b", "#b56576", "#6d597a", "#bc6c25", "#8a8a8a", "#606c38", "#dda15e", "#333333")
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "entrycache",
    "svg.fonttype": "none",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def draw_curves(league: League, path: Path) -> None:
    """Miss ratio over capacity, a line a policy: those of Pulsar whole, the others dashed, the optimum black."""

    def draw(axes: Any) -> None:
        names = list(dict.fromkeys(measured.policy for measured in league.curve))
        for policy in names:
            own = [measured for measured in league.curve if measured.policy == policy]
            mebibytes = [measured.capacity_bytes / 2**20 for measured in own]
            misses = [1 - measured.hit_ratio for measured in own]
            axes.plot(mebibytes, misses, **_line(policy, names), label=label(own[0]))
        axes.set(xscale="log", xlabel="capacity, MiB", ylabel="miss ratio", ylim=(0, None), title=league.name)

    _picture(draw, path)


def draw_costs(costs: Sequence[Cost], path: Path) -> None:
    """Processor time of a request over the number of topics."""

    def draw(axes: Any) -> None:
        names = list(dict.fromkeys(cost.policy for cost in costs))
        for policy in names:
            own = [cost for cost in costs if cost.policy == policy]
            topics, nanos = [cost.topics for cost in own], [cost.nanos for cost in own]
            axes.plot(topics, nanos, **_line(policy, names), label=policy)
        axes.set(xscale="log", yscale="log", xlabel="topics", ylabel="nanoseconds a request")
        axes.set_title("cost of a request, all kernels compiled alike, one run")

    _picture(draw, path)


def _line(policy: str, names: Sequence[str]) -> dict[str, Any]:
    if policy == "belady":
        return {"color": "black", "linewidth": 2, "linestyle": ":"}
    pulsar = [name for name in names if name.startswith(("pip430", "legacy", "segmented"))]
    ours = policy in pulsar
    among = pulsar if ours else [name for name in names if name not in pulsar]
    colours = PULSAR if ours else OTHERS
    at = among.index(policy)
    style = "-" if ours else "--"
    return {
        "color": colours[at % len(colours)],
        "linestyle": style if at < len(colours) else "-.",
        "linewidth": 1.5,
        "marker": "o",
        "markersize": 3,
    }


def _picture(draw: Callable[[Any], None], path: Path) -> None:
    """Write a picture as SVG; the same numbers give the same bytes with the same version of matplotlib."""
    matplotlib = require_matplotlib()
    matplotlib.use("svg")
    from matplotlib import pyplot  # noqa: PLC0415

    with pyplot.rc_context(STYLE):
        figure = pyplot.figure(figsize=(11, 6), layout="constrained")
        axes: Any = figure.subplots()
        draw(axes)
        axes.grid(visible=True, which="major", alpha=0.25)
        figure.legend(loc="outside right upper", frameon=False, fontsize=9)
        with whole(path) as beside:
            figure.savefig(beside, format="svg", metadata={"Date": None, "Creator": None})
        pyplot.close(figure)
