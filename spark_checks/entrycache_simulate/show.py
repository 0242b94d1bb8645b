"""A simulation as tables, JSON and pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from entrycache_protocol.output import write_text
from entrycache_simulate.curve import Curve
from entrycache_simulate.meter import POINTS
from entrycache_simulate.picture import Line, chart
from entrycache_simulate.run import Measured, Simulation

COLUMNS = (
    *("settings", "hit ratio", "storage reads an entry", "peak bytes", "mean bytes", "evicted by time"),
    *("evicted by size", "requeues", "overshoot", "over the limit"),
)


def ratio(value: float | None) -> str:
    """A share with four digits."""
    return "-" if value is None else f"{value:.4f}"


def cells(measured: Measured) -> tuple[str, ...]:
    """The line of one configuration."""
    return (
        measured.label,
        ratio(measured.hit_ratio),
        ratio(measured.storage_reads_an_entry),
        str(measured.peak_bytes),
        f"{measured.mean_bytes:.0f}",
        str(measured.evicted_by_time),
        str(measured.evicted_by_size),
        str(measured.requeues),
        str(measured.overshoot_bytes),
        str(measured.over_limit_bytes),
    )


def curve_rows(curve: Curve) -> list[tuple[str, ...]]:
    """The head and the lines of the table of retained bytes."""
    head = ("limit a broker", "hit ratio", "accounted peak", *(f"{kind.label}: peak, mean" for kind in curve.kinds))
    lines = [head]
    for point in curve.points:
        pairs = zip(point.retained_peak, point.retained_mean, strict=True)
        kinds = (f"{peak}, {mean:.0f}" for peak, mean in pairs)
        lines.append((str(point.limit_bytes), ratio(point.hit_ratio), str(point.accounted_peak), *kinds))
    return lines


def tables(simulation: Simulation, curve: Curve | None) -> list[Table]:
    """The tables for a terminal."""
    events = sum(len(broker.calls) for broker in simulation.brokers)
    title = f"{simulation.directory}: {events} calls of {len(simulation.brokers)} broker(s)"
    made = [_table(title, [COLUMNS, *map(cells, simulation.measured)])]
    if curve is not None:
        made.append(_table("retained bytes for a limit of accounted bytes (a model)", curve_rows(curve)))
    return made


def _table(title: str, rows: list[tuple[str, ...]]) -> Table:
    table = Table(title=Text(title), title_justify="left")
    for index, column in enumerate(rows[0]):
        table.add_column(column, justify="right" if index else "left", overflow="fold")
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    return table


def to_json(simulation: Simulation, curve: Curve | None) -> dict[str, Any]:
    """The object that `--json` prints."""
    value: dict[str, Any] = {
        "schema": 1,
        "trace": str(simulation.directory),
        "brokers": len(simulation.brokers),
        "reproduced": not simulation.unlike,
        "differences": list(simulation.unlike),
        "configs": [_config(measured) for measured in simulation.measured],
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


def _config(measured: Measured) -> dict[str, Any]:
    return {
        "label": measured.label,
        "config": dict(measured.config),
        "lookups": measured.lookups,
        "hits": measured.hits,
        "hit_ratio": measured.hit_ratio,
        "storage_reads": measured.storage_reads,
        "entries": measured.entries,
        "storage_reads_an_entry": measured.storage_reads_an_entry,
        "peak_bytes": measured.peak_bytes,
        "mean_bytes": round(measured.mean_bytes),
        "evicted_by_time": measured.evicted_by_time,
        "evicted_by_size": measured.evicted_by_size,
        "requeues": measured.requeues,
        "size_passes": measured.size_passes,
        "overshoot_bytes": measured.overshoot_bytes,
        "over_limit_bytes": measured.over_limit_bytes,
    }


def bytes_picture(simulation: Simulation) -> str:
    """Accounted bytes over time, a line a configuration."""
    span_ns = max((broker.last_ns - broker.first_ns for broker in simulation.brokers), default=0)
    lines = [
        Line(
            f"{measured.label}: hit ratio {ratio(measured.hit_ratio)}",
            [(span_ns * part / POINTS / 1e9, count) for part, count in enumerate(measured.over_time)],
        )
        for measured in simulation.measured
    ]
    return chart("Accounted bytes, the most in each moment", "seconds", "bytes", lines)


def retained_picture(curve: Curve) -> str:
    """Retained bytes over the limit, a line a kind."""
    lines = [
        Line(f"{kind.label}: peak", [(point.limit_bytes, point.retained_peak[index]) for point in curve.points])
        for index, kind in enumerate(curve.kinds)
    ]
    return chart(
        "Retained bytes for a limit (a model)", "limit of accounted bytes, a broker", "bytes", lines, across_bytes=True
    )


def markdown(simulation: Simulation, curve: Curve | None) -> str:
    """The tables as a page."""
    parts = [f"# {simulation.directory.name}\n", _markdown_table([COLUMNS, *map(cells, simulation.measured)])]
    parts.append("![Accounted bytes over time](bytes.svg)\n")
    if curve is not None:
        parts += ["Retained bytes for a limit of accounted bytes (a model):\n", _markdown_table(curve_rows(curve))]
        parts.append("![Retained bytes](retained.svg)\n")
    return "\n".join(parts)


def _markdown_table(rows: list[tuple[str, ...]]) -> str:
    head, *lines = rows
    body = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join(["| " + " | ".join(head) + " |", "|---" * len(head) + "|", *body, ""])


def write(simulation: Simulation, curve: Curve | None, out: Path) -> None:
    """Write simulation.json, simulation.md and the pictures into a folder."""
    files = {
        "simulation.json": json.dumps(to_json(simulation, curve), indent=1) + "\n",
        "simulation.md": markdown(simulation, curve),
        "bytes.svg": bytes_picture(simulation),
    }
    if curve is not None:
        files["retained.svg"] = retained_picture(curve)
    for name, text in files.items():
        write_text(out / name, text)
