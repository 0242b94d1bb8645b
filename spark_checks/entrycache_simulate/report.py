"""Show a simulation as tables, JSON, Markdown and charts.

Tables go to a terminal (`render_tables`) or a page (`render_markdown`); `simulation_json` is what `--json` prints, and
`write_report` writes everything into a folder. `draw_chart` draws line charts as SVG with the standard library alone:
the same numbers give the same bytes.
"""

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, Final, NamedTuple

from rich.table import Table
from rich.text import Text

from entrycache_protocol.files import write_text
from entrycache_simulate import retained, run

COLUMNS = (
    *("settings", "hit ratio", "storage reads an entry", "peak bytes", "mean bytes", "evicted by time"),
    *("evicted by size", "requeues", "overshoot", "over the limit"),
)


def format_ratio(value: float | None) -> str:
    """Format a share with four digits."""
    return "-" if value is None else f"{value:.4f}"


def result_cells(result: run.ConfigResult) -> tuple[str, ...]:
    """Return the cells of one configuration."""
    return (
        result.label,
        format_ratio(result.hit_ratio),
        format_ratio(result.storage_reads_an_entry),
        str(result.peak_bytes),
        f"{result.mean_bytes:.0f}",
        str(result.evicted_by_time),
        str(result.evicted_by_size),
        str(result.requeues),
        str(result.overshoot_bytes),
        str(result.over_limit_bytes),
    )


def curve_cells(curve: retained.RetainedCurve) -> list[tuple[str, ...]]:
    """Return the head and the lines of the table of retained bytes."""
    head = ("limit a broker", "hit ratio", "accounted peak", *(f"{kind.label}: peak, mean" for kind in curve.kinds))
    lines = [head]
    for point in curve.points:
        pairs = zip(point.retained_peak, point.retained_mean, strict=True)
        kinds = (f"{peak}, {mean:.0f}" for peak, mean in pairs)
        lines.append((str(point.limit_bytes), format_ratio(point.hit_ratio), str(point.accounted_peak), *kinds))
    return lines


def render_tables(simulation: run.Simulation, curve: retained.RetainedCurve | None) -> list[Table]:
    """Render the tables for a terminal."""
    events = sum(len(broker.calls) for broker in simulation.brokers)
    title = f"{simulation.directory}: {events} calls of {len(simulation.brokers)} broker(s)"
    tables = [_table(title, [COLUMNS, *map(result_cells, simulation.results)])]
    if curve is not None:
        tables.append(_table("retained bytes for a limit of accounted bytes (a model)", curve_cells(curve)))
    return tables


def _table(title: str, rows: list[tuple[str, ...]]) -> Table:
    table = Table(title=Text(title), title_justify="left")
    for index, column in enumerate(rows[0]):
        table.add_column(column, justify="right" if index else "left", overflow="fold")
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    return table


def simulation_json(simulation: run.Simulation, curve: retained.RetainedCurve | None) -> dict[str, Any]:
    """Return the object that `--json` prints."""
    value: dict[str, Any] = {
        "schema": 1,
        "trace": str(simulation.directory),
        "brokers": len(simulation.brokers),
        "reproduced": not simulation.differences,
        "differences": list(simulation.differences),
        "configs": [_result_json(result) for result in simulation.results],
    }
    if curve is not None:
        value["retained"] = {
            "burst_nanos": curve.burst_nanos,
            "kinds": [kind.label for kind in curve.kinds],
            "points": [
                {
                    "limit_bytes": point.limit_bytes,
                    "hit_ratio": point.hit_ratio,
                    "accounted_peak_bytes": point.accounted_peak,
                    "accounted_mean_bytes": round(point.accounted_mean),
                    "retained_peak_bytes": list(point.retained_peak),
                    "retained_mean_bytes": [round(mean) for mean in point.retained_mean],
                }
                for point in curve.points
            ],
        }
    return value


def _result_json(result: run.ConfigResult) -> dict[str, Any]:
    return {
        "label": result.label,
        "config": dict(result.config),
        "lookups": result.lookups,
        "hits": result.hits,
        "hit_ratio": result.hit_ratio,
        "storage_reads": result.storage_reads,
        "entries": result.entries,
        "storage_reads_an_entry": result.storage_reads_an_entry,
        "peak_bytes": result.peak_bytes,
        "mean_bytes": round(result.mean_bytes),
        "evicted_by_time": result.evicted_by_time,
        "evicted_by_size": result.evicted_by_size,
        "requeues": result.requeues,
        "size_passes": result.size_passes,
        "overshoot_bytes": result.overshoot_bytes,
        "over_limit_bytes": result.over_limit_bytes,
    }


def draw_bytes(simulation: run.Simulation) -> str:
    """Draw the accounted bytes over time, one line for each configuration."""
    span_ns = max((broker.last_ns - broker.first_ns for broker in simulation.brokers), default=0)
    lines = [
        Line(
            f"{result.label}: hit ratio {format_ratio(result.hit_ratio)}",
            [(span_ns * part / run.POINTS / 1e9, count) for part, count in enumerate(result.over_time)],
        )
        for result in simulation.results
    ]
    return draw_chart("Accounted bytes, the most in each moment", "seconds", "bytes", lines)


def draw_retained(curve: retained.RetainedCurve) -> str:
    """Draw the retained bytes over the limit, one line for each kind of buffer."""
    lines = [
        Line(f"{kind.label}: peak", [(point.limit_bytes, point.retained_peak[index]) for point in curve.points])
        for index, kind in enumerate(curve.kinds)
    ]
    return draw_chart(
        "Retained bytes for a limit (a model)", "limit of accounted bytes, a broker", "bytes", lines, across_bytes=True
    )


def render_markdown(simulation: run.Simulation, curve: retained.RetainedCurve | None) -> str:
    """Render the tables as a page."""
    parts = [f"# {simulation.directory.name}\n", _markdown_table([COLUMNS, *map(result_cells, simulation.results)])]
    parts.append("![Accounted bytes over time](bytes.svg)\n")
    if curve is not None:
        parts += ["Retained bytes for a limit of accounted bytes (a model):\n", _markdown_table(curve_cells(curve))]
        parts.append("![Retained bytes](retained.svg)\n")
    return "\n".join(parts)


def _markdown_table(rows: list[tuple[str, ...]]) -> str:
    head, *lines = rows
    body = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join(["| " + " | ".join(head) + " |", "|---" * len(head) + "|", *body, ""])


def write_report(simulation: run.Simulation, curve: retained.RetainedCurve | None, out: Path) -> None:
    """Write simulation.json, simulation.md and the charts into a folder."""
    files = {
        "simulation.json": json.dumps(simulation_json(simulation, curve), indent=1) + "\n",
        "simulation.md": render_markdown(simulation, curve),
        "bytes.svg": draw_bytes(simulation),
    }
    if curve is not None:
        files["retained.svg"] = draw_retained(curve)
    for name, text in files.items():
        write_text(out / name, text)


WIDTH: Final = 760
HEIGHT: Final = 380
X_START: Final = 70
RIGHT: Final = 20
TOP: Final = 40
BOTTOM: Final = 50
LEGEND: Final = 18
COLOURS: Final = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f")
DASHES: Final = ("", "6 3", "2 3", "8 3 2 3")
TICKS: Final = 4


class Line(NamedTuple):
    """One named line of a chart."""

    label: str
    points: Sequence[tuple[float, float]]


def format_bytes(count: float) -> str:
    """Format bytes with a binary prefix."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(count) < 1024 or unit == "TiB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.3g} {unit}"
        count /= 1024
    raise AssertionError


def draw_chart(title: str, across: str, up: str, lines: Sequence[Line], across_bytes: bool = False) -> str:
    """Draw a chart with bytes upwards and bytes or plain numbers across."""
    height = HEIGHT + LEGEND * len(lines)
    right = max((x for line in lines for x, _ in line.points), default=1.0) or 1.0
    top = max((y for line in lines for _, y in line.points), default=1.0) or 1.0

    def at(x: float, y: float) -> str:
        return f"{_x(x, right):.1f},{_y(y, top):.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{X_START}" y="22" font-size="14">{escape(title)}</text>',
    ]
    for tick in range(TICKS + 1):
        y, x = top * tick / TICKS, right * tick / TICKS
        tick_label = format_bytes(x) if across_bytes else f"{x:.3g}"
        parts += [
            f'<line x1="{X_START}" y1="{_y(y, top):.1f}" x2="{WIDTH - RIGHT}" y2="{_y(y, top):.1f}" stroke="#ddd"/>',
            f'<text x="{X_START - 6}" y="{_y(y, top) + 4:.1f}" text-anchor="end">{format_bytes(y)}</text>',
            f'<text x="{_x(x, right):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{tick_label}</text>',
        ]
    parts.append(f'<text x="{(X_START + WIDTH) // 2}" y="{HEIGHT - 14}" text-anchor="middle">{escape(across)}</text>')
    parts.append(f'<text x="{WIDTH - RIGHT}" y="22" text-anchor="end" fill="#555">{escape(up)}</text>')
    for index, line in enumerate(lines):
        colour = COLOURS[index % len(COLOURS)]
        dash = DASHES[index // len(COLOURS) % len(DASHES)]
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        path = " ".join(at(x, y) for x, y in line.points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"{dashes}/>')
        if len(line.points) <= 20:
            parts += [f'<circle cx="{_x(x, right):.1f}" cy="{_y(y, top):.1f}" r="3" fill="{colour}"/>'
                      for x, y in line.points]  # fmt: skip
        low = HEIGHT + LEGEND * index
        parts += [
            f'<line x1="{X_START}" y1="{low}" x2="{X_START + 24}" y2="{low}" '
            f'stroke="{colour}" stroke-width="2"{dashes}/>',
            f'<text x="{X_START + 32}" y="{low + 4}">{escape(line.label)}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def _x(x: float, right: float) -> float:
    return X_START + (WIDTH - X_START - RIGHT) * x / right


def _y(y: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y / top
