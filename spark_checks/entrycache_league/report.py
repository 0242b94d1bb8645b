"""A league as tables and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from entrycache_league.comparison import TOPIC_COUNTS, PolicyComparison, PolicyResult, RequestCost
from entrycache_protocol.errors import import_matplotlib
from entrycache_protocol.files import atomic_path

COUNTED_COLUMNS = (
    *("policy", "hit ratio", "by bytes", "storage reads an entry", "peak bytes", "mean bytes"),
    *("looks an evicted entry", "over the capacity", "overshoot of a pass"),
)
TIME_COLUMN = "ns a request"


def policy_label(measured: PolicyResult) -> str:
    """The name of a policy; that of a bound says so."""
    return f"{measured.policy} (upper bound)" if measured.bound else measured.policy


def result_cells(measured: PolicyResult) -> tuple[str, ...]:
    """What was counted of one policy; of a bound, nothing about bytes."""
    ratios = (measured.hit_ratio, measured.byte_hit_ratio, measured.storage_reads_an_entry)
    told = (policy_label(measured), *(f"{ratio:.4f}" for ratio in ratios))
    if measured.bound:
        return (*told, *("-" for _ in range(len(COUNTED_COLUMNS) - len(told))))
    looked = measured.looked_an_evicted
    return (
        *told,
        f"{measured.peak_bytes}",
        f"{measured.mean_bytes:.0f}",
        "-" if looked is None else f"{looked:.2f}",
        f"{measured.over_bytes}",
        f"{measured.overshoot_bytes}",
    )


def comparison_title(league: PolicyComparison) -> str:
    """What was replayed."""
    size = league.table[0].capacity_bytes
    return (
        f"{league.name}: {league.reads} reads of {league.entries} entries ({league.entry_bytes} bytes) "
        f"in {league.seconds:.2f} s; capacity {size} bytes"
    )


def comparison_table(league: PolicyComparison) -> Table:
    """The table for a terminal."""
    rows = [(*result_cells(measured), f"{measured.nanos_a_request:.0f}") for measured in league.table]
    return _table(comparison_title(league), [(*COUNTED_COLUMNS, TIME_COLUMN), *rows])


def cost_rows(costs: Sequence[RequestCost]) -> list[tuple[str, ...]]:
    """Head and lines of the table of costs; ratios are to the same policy with the fewest topics."""
    head = ["policy"]
    for topics in TOPIC_COUNTS:
        head += [f"ns, {topics:,} topics", f"looks, {topics:,} topics"]
    rows = [(*head, "times the cost")]
    for policy in dict.fromkeys(cost.policy for cost in costs):
        own = [cost for cost in costs if cost.policy == policy]
        told = [text for cost in own for text in (f"{cost.nanos:.0f}", f"{cost.looks:.2f}")]
        rows.append((policy, *told, f"{own[-1].nanos / own[0].nanos:.1f}"))
    return rows


def cost_table(costs: Sequence[RequestCost]) -> Table:
    """The table of costs for a terminal."""
    return _table("a request, 10,000 adds a second", cost_rows(costs))


def _table(text: str, rows: Sequence[tuple[str, ...]]) -> Table:
    made = Table(title=Text(text), title_justify="left")
    for index, column in enumerate(rows[0]):
        made.add_column(column, justify="right" if index else "left", overflow="fold")
    for row in rows[1:]:
        made.add_row(*map(Text, row))
    return made


def render_markdown_table(rows: Sequence[tuple[str, ...]]) -> str:
    """The same in Markdown."""
    head, *lines = rows
    body = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join(["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|", *body, ""])


def comparisons_json(leagues: Iterable[PolicyComparison], costs: Sequence[RequestCost] = ()) -> dict[str, Any]:
    """The object that `--json` prints."""
    return {
        "schema": 1,
        "leagues": [
            {
                "name": league.name,
                "requests": league.requests,
                "reads": league.reads,
                "entries": league.entries,
                "entry_bytes": league.entry_bytes,
                "seconds": league.seconds,
                "policies": [_result_json(measured) for measured in league.table],
                "curve": [[each.policy, each.capacity_bytes, 1 - each.hit_ratio] for each in league.curve],
            }
            for league in leagues
        ],
        "costs": [[cost.policy, cost.topics, round(cost.nanos, 1), round(cost.looks, 4)] for cost in costs],
    }


def _result_json(measured: PolicyResult) -> dict[str, Any]:
    return {
        "policy": measured.policy,
        "bound": measured.bound,
        "capacity_bytes": measured.capacity_bytes,
        "reads": measured.reads,
        "hits": measured.hits,
        "misses": measured.misses,
        "hit_ratio": measured.hit_ratio,
        "byte_hit_ratio": measured.byte_hit_ratio,
        "storage_reads_an_entry": measured.storage_reads_an_entry,
        "peak_bytes": None if measured.bound else measured.peak_bytes,
        "mean_bytes": None if measured.bound else round(measured.mean_bytes),
        "looks": None if measured.bound else measured.looked,
        "evicted": None if measured.bound else measured.evicted,
        "over_bytes": None if measured.bound else measured.over_bytes,
        "overshoot_bytes": None if measured.bound else measured.overshoot_bytes,
        "nanos_a_request": round(measured.nanos_a_request, 1),
    }


# --- picture
# The pictures of a league: miss ratios over capacities, and the cost of a request over topics.

PULSAR_COLOURS = ("#1b6ca8", "#3f97d3", "#7fbfe8", "#0b3c5d", "#5b8e7d", "#8cb369", "#2a9d8f", "#264653")
OTHER_COLOURS = (
    "#c8553d",
    "#e09f3e",
    "#9e2a2b",
    "#b56576",
    "#6d597a",
    "#bc6c25",
    "#8a8a8a",
    "#606c38",
    "#dda15e",
    "#333333",
)
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "entrycache",
    "svg.fonttype": "none",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def draw_curves(league: PolicyComparison, path: Path) -> None:
    """Miss ratio over capacity, a line a policy: those of Pulsar whole, the others dashed, the optimum black."""

    def draw(axes: Any) -> None:
        names = list(dict.fromkeys(measured.policy for measured in league.curve))
        for policy in names:
            own = [measured for measured in league.curve if measured.policy == policy]
            mebibytes = [measured.capacity_bytes / 2**20 for measured in own]
            misses = [1 - measured.hit_ratio for measured in own]
            axes.plot(mebibytes, misses, **_line_style(policy, names), label=policy_label(own[0]))
        axes.set(xscale="log", xlabel="capacity, MiB", ylabel="miss ratio", ylim=(0, None), title=league.name)

    _write_picture(draw, path)


def draw_costs(costs: Sequence[RequestCost], path: Path) -> None:
    """Processor time of a request over the number of topics."""

    def draw(axes: Any) -> None:
        names = list(dict.fromkeys(cost.policy for cost in costs))
        for policy in names:
            own = [cost for cost in costs if cost.policy == policy]
            topics, nanos = [cost.topics for cost in own], [cost.nanos for cost in own]
            axes.plot(topics, nanos, **_line_style(policy, names), label=policy)
        axes.set(xscale="log", yscale="log", xlabel="topics", ylabel="nanoseconds a request")
        axes.set_title("cost of a request, all kernels compiled alike, one run")

    _write_picture(draw, path)


def _line_style(policy: str, names: Sequence[str]) -> dict[str, Any]:
    if policy == "belady":
        return {"color": "black", "linewidth": 2, "linestyle": ":"}
    pulsar = [name for name in names if name.startswith(("pip430", "legacy", "segmented"))]
    ours = policy in pulsar
    among = pulsar if ours else [name for name in names if name not in pulsar]
    colours = PULSAR_COLOURS if ours else OTHER_COLOURS
    at = among.index(policy)
    style = "-" if ours else "--"
    return {
        "color": colours[at % len(colours)],
        "linestyle": style if at < len(colours) else "-.",
        "linewidth": 1.5,
        "marker": "o",
        "markersize": 3,
    }


def _write_picture(draw: Callable[[Any], None], path: Path) -> None:
    """Write a picture as SVG; the same numbers give the same bytes with the same version of matplotlib."""
    matplotlib = import_matplotlib("league")
    matplotlib.use("svg")
    from matplotlib import pyplot  # noqa: PLC0415

    with pyplot.rc_context(STYLE):
        figure = pyplot.figure(figsize=(11, 6), layout="constrained")
        axes: Any = figure.subplots()
        draw(axes)
        axes.grid(visible=True, which="major", alpha=0.25)
        figure.legend(loc="outside right upper", frameon=False, fontsize=9)
        with atomic_path(path) as beside:
            figure.savefig(beside, format="svg", metadata={"Date": None, "Creator": None})
        pyplot.close(figure)
