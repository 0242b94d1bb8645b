"""Show a policy comparison as tables, JSON and charts.

`comparison_table` and `cost_table` go to a terminal, `render_markdown_table` to a page; `comparisons_json` is what
`--json` prints. `draw_curves` draws miss ratios over capacities and `draw_costs` the cost of a request over topics,
with matplotlib as SVG: the same numbers give the same bytes with the same version of matplotlib.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from rich.table import Table
from rich.text import Text

from entrycache_league import policies
from entrycache_league.comparison import TOPIC_COUNTS, PolicyComparison, PolicyResult, RequestCost
from entrycache_protocol import errors, files

COUNTED_COLUMNS = (
    *("policy", "hit ratio", "by bytes", "storage reads an entry", "peak bytes", "mean bytes"),
    *("examined an eviction", "over the capacity", "overshoot of a pass"),
)
TIME_COLUMN = "ns a request"


def policy_label(result: PolicyResult) -> str:
    """Return the name of a policy, marked if it is an upper bound."""
    return f"{result.policy} (upper bound)" if result.bound else result.policy


def result_cells(result: PolicyResult) -> tuple[str, ...]:
    """Return the cells of one policy; a bound has none about bytes."""
    ratios = (result.hit_ratio, result.byte_hit_ratio, result.storage_reads_an_entry)
    cells = (policy_label(result), *(f"{ratio:.4f}" for ratio in ratios))
    if result.bound:
        return (*cells, *("-" for _ in range(len(COUNTED_COLUMNS) - len(cells))))
    examined = result.examined_an_eviction
    return (
        *cells,
        f"{result.peak_bytes}",
        f"{result.mean_bytes:.0f}",
        "-" if examined is None else f"{examined:.2f}",
        f"{result.over_bytes}",
        f"{result.overshoot_bytes}",
    )


def comparison_title(comparison: PolicyComparison) -> str:
    """Describe the replayed requests."""
    size = comparison.table[0].capacity_bytes
    return (
        f"{comparison.name}: {comparison.reads} reads of {comparison.entries} entries ({comparison.entry_bytes} bytes) "
        f"in {comparison.seconds:.2f} s; capacity {size} bytes"
    )


def comparison_table(comparison: PolicyComparison) -> Table:
    """Render the table for a terminal."""
    rows = [(*result_cells(result), f"{result.nanos_a_request:.0f}") for result in comparison.table]
    return _table(comparison_title(comparison), [(*COUNTED_COLUMNS, TIME_COLUMN), *rows])


def cost_rows(costs: Sequence[RequestCost]) -> list[tuple[str, ...]]:
    """Return the head and the lines of the table of costs; ratios compare with the fewest topics."""
    head = ["policy"]
    for topics in TOPIC_COUNTS:
        head += [f"ns, {topics:,} topics", f"examined, {topics:,} topics"]
    rows = [(*head, "times the cost")]
    for policy in dict.fromkeys(cost.policy for cost in costs):
        own = [cost for cost in costs if cost.policy == policy]
        cells = [text for cost in own for text in (f"{cost.nanos:.0f}", f"{cost.examined:.2f}")]
        rows.append((policy, *cells, f"{own[-1].nanos / own[0].nanos:.1f}"))
    return rows


def cost_table(costs: Sequence[RequestCost]) -> Table:
    """Render the table of costs for a terminal."""
    return _table("a request, 10,000 adds a second", cost_rows(costs))


def _table(text: str, rows: Sequence[tuple[str, ...]]) -> Table:
    table = Table(title=Text(text), title_justify="left")
    for index, column in enumerate(rows[0]):
        table.add_column(column, justify="right" if index else "left", overflow="fold")
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    return table


def render_markdown_table(rows: Sequence[tuple[str, ...]]) -> str:
    """Render a table in Markdown."""
    head, *lines = rows
    body = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join(["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|", *body, ""])


def comparisons_json(comparisons: Iterable[PolicyComparison], costs: Sequence[RequestCost] = ()) -> dict[str, Any]:
    """Return the object that `--json` prints."""
    return {
        "schema": 1,
        "leagues": [
            {
                "name": comparison.name,
                "requests": comparison.requests,
                "reads": comparison.reads,
                "entries": comparison.entries,
                "entry_bytes": comparison.entry_bytes,
                "seconds": comparison.seconds,
                "policies": [_result_json(result) for result in comparison.table],
                "curve": [[each.policy, each.capacity_bytes, 1 - each.hit_ratio] for each in comparison.curve],
            }
            for comparison in comparisons
        ],
        "costs": [[cost.policy, cost.topics, round(cost.nanos, 1), round(cost.examined, 4)] for cost in costs],
    }


def _result_json(result: PolicyResult) -> dict[str, Any]:
    return {
        "policy": result.policy,
        "bound": result.bound,
        "capacity_bytes": result.capacity_bytes,
        "reads": result.reads,
        "hits": result.hits,
        "misses": result.misses,
        "hit_ratio": result.hit_ratio,
        "byte_hit_ratio": result.byte_hit_ratio,
        "storage_reads_an_entry": result.storage_reads_an_entry,
        "peak_bytes": None if result.bound else result.peak_bytes,
        "mean_bytes": None if result.bound else round(result.mean_bytes),
        "looks": None if result.bound else result.examined,
        "evicted": None if result.bound else result.evicted,
        "over_bytes": None if result.bound else result.over_bytes,
        "overshoot_bytes": None if result.bound else result.overshoot_bytes,
        "nanos_a_request": round(result.nanos_a_request, 1),
    }


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


MOST_LINES: Final = 8
"""The most lines of a chart."""

DRAWN_FIRST: Final = (*policies.ERA_DEFAULTS.values(), "belady", "segmented:copy", "lru", "s3fifo", "fifo", "w-tinylfu")
"""The policies that are drawn first where a comparison has more policies than a chart has lines."""


def choose_lines(names: Sequence[str]) -> list[str]:
    """Return the policies that a chart shows, in their order."""
    preferred = [name for name in DRAWN_FIRST if name in names]
    chosen = [*preferred, *(name for name in names if name not in preferred)][:MOST_LINES]
    return [name for name in names if name in chosen]


def _chart_title(text: str, visible: Sequence[str], every: Sequence[str]) -> str:
    return text if len(visible) == len(every) else f"{text} ({len(visible)} of {len(every)} policies)"


def draw_curves(comparison: PolicyComparison, path: Path) -> None:
    """Draw miss ratios over capacities, eight lines at most: Pulsar's solid, the others dashed, the optimum black."""

    def draw(axes: Any) -> None:
        every = list(dict.fromkeys(result.policy for result in comparison.curve))
        names = choose_lines(every)
        for policy in names:
            own = [result for result in comparison.curve if result.policy == policy]
            mebibytes = [result.capacity_bytes / 2**20 for result in own]
            misses = [1 - result.hit_ratio for result in own]
            axes.plot(mebibytes, misses, **_line_style(policy, names), label=policy_label(own[0]))
        axes.set(xscale="log", xlabel="capacity, MiB", ylabel="miss ratio", ylim=(0, None))
        axes.set_title(_chart_title(comparison.name, names, every))

    _write_picture(draw, path)


def draw_costs(costs: Sequence[RequestCost], path: Path) -> None:
    """Draw the processor time of a request over the number of topics."""

    def draw(axes: Any) -> None:
        every = list(dict.fromkeys(cost.policy for cost in costs))
        names = choose_lines(every)
        for policy in names:
            own = [cost for cost in costs if cost.policy == policy]
            topics, nanos = [cost.topics for cost in own], [cost.nanos for cost in own]
            axes.plot(topics, nanos, **_line_style(policy, names), label=policy)
        axes.set(xscale="log", yscale="log", xlabel="topics", ylabel="nanoseconds a request")
        axes.set_title(_chart_title("cost of a request, all compiled alike, one run", names, every))

    _write_picture(draw, path)


def _line_style(policy: str, names: Sequence[str]) -> dict[str, Any]:
    if policy == "belady":
        return {"color": "black", "linewidth": 2, "linestyle": ":"}
    pulsar = [name for name in names if name.startswith(("pip430", "legacy", "segmented"))]
    is_pulsar = policy in pulsar
    among = pulsar if is_pulsar else [name for name in names if name not in pulsar]
    colours = PULSAR_COLOURS if is_pulsar else OTHER_COLOURS
    at = among.index(policy)
    style = "-" if is_pulsar else "--"
    return {
        "color": colours[at % len(colours)],
        "linestyle": style if at < len(colours) else "-.",
        "linewidth": 1.5,
        "marker": "o",
        "markersize": 3,
    }


def _load_pyplot() -> Any:
    """Import the drawing functions of matplotlib.

    Raises:
        MissingPrerequisite: matplotlib is not installed.
    """
    try:
        import matplotlib  # noqa: PLC0415 -- an extra
    except ImportError:
        raise errors.missing_extra("the charts", "matplotlib", "league") from None
    matplotlib.use("svg")
    from matplotlib import pyplot  # noqa: PLC0415

    return pyplot


def _write_picture(draw: Callable[[Any], None], path: Path) -> None:
    """Write a chart as SVG."""
    pyplot = _load_pyplot()
    with pyplot.rc_context(STYLE):
        figure = pyplot.figure(figsize=(8, 5), layout="constrained")
        axes: Any = figure.subplots()
        draw(axes)
        axes.grid(visible=True, which="major", alpha=0.25)
        figure.legend(loc="outside right upper", frameon=False, fontsize=10)
        with files.atomic_path(path) as temporary:
            figure.savefig(temporary, format="svg", metadata={"Date": None, "Creator": None})
        pyplot.close(figure)
