"""Line charts as SVG: small, the same bytes for the same numbers, nothing but the standard library."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final, NamedTuple

WIDTH: Final = 760
HEIGHT: Final = 380
LEFT: Final = 70
RIGHT: Final = 20
TOP: Final = 40
BOTTOM: Final = 50
LEGEND: Final = 18
COLOURS: Final = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f")
DASHES: Final = ("", "6 3", "2 3", "8 3 2 3")
TICKS: Final = 4


class Line(NamedTuple):
    """A named curve."""

    label: str
    points: Sequence[tuple[float, float]]


def human_bytes(count: float) -> str:
    """Bytes with a binary prefix."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(count) < 1024 or unit == "TiB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.3g} {unit}"
        count /= 1024
    raise AssertionError


def chart(title: str, across: str, up: str, lines: Sequence[Line], across_bytes: bool = False) -> str:
    """A chart with bytes upwards and, across, bytes or plain numbers."""
    height = HEIGHT + LEGEND * len(lines)
    right = max((x for line in lines for x, _ in line.points), default=1.0) or 1.0
    top = max((y for line in lines for _, y in line.points), default=1.0) or 1.0

    def at(x: float, y: float) -> str:
        return f"{_x(x, right):.1f},{_y(y, top):.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="14">{escape(title)}</text>',
    ]
    for tick in range(TICKS + 1):
        y, x = top * tick / TICKS, right * tick / TICKS
        shown = human_bytes(x) if across_bytes else f"{x:.3g}"
        parts += [
            f'<line x1="{LEFT}" y1="{_y(y, top):.1f}" x2="{WIDTH - RIGHT}" y2="{_y(y, top):.1f}" stroke="#ddd"/>',
            f'<text x="{LEFT - 6}" y="{_y(y, top) + 4:.1f}" text-anchor="end">{human_bytes(y)}</text>',
            f'<text x="{_x(x, right):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{shown}</text>',
        ]
    parts.append(f'<text x="{(LEFT + WIDTH) // 2}" y="{HEIGHT - 14}" text-anchor="middle">{escape(across)}</text>')
    parts.append(f'<text x="{WIDTH - RIGHT}" y="22" text-anchor="end" fill="#555">{escape(up)}</text>')
    for index, line in enumerate(lines):
        colour = COLOURS[index % len(COLOURS)]
        dash = DASHES[index // len(COLOURS) % len(DASHES)]
        drawn = f' stroke-dasharray="{dash}"' if dash else ""
        path = " ".join(at(x, y) for x, y in line.points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"{drawn}/>')
        if len(line.points) <= 20:
            parts += [f'<circle cx="{_x(x, right):.1f}" cy="{_y(y, top):.1f}" r="3" fill="{colour}"/>'
                      for x, y in line.points]  # fmt: skip
        low = HEIGHT + LEGEND * index
        parts += [
            f'<line x1="{LEFT}" y1="{low}" x2="{LEFT + 24}" y2="{low}" stroke="{colour}" stroke-width="2"{drawn}/>',
            f'<text x="{LEFT + 32}" y="{low + 4}">{escape(line.label)}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def _x(x: float, right: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * x / right


def _y(y: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y / top
