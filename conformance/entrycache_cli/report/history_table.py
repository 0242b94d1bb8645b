"""A failing history as a table: its steps in the order of their starts, a column a client."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from entrycache_conformance.concurrent.search import Found
from entrycache_protocol.text import arguments, compact


def history_table(found: Found) -> Table:
    """One line a step, between its two ticks; a history that did not end has none."""
    history = found.history
    names = ", ".join(rule.value for rule in found.rules)
    table = Table(title=f"{names} is broken by a history of {len(history.clients)} clients", title_justify="left")
    for column in ("client", "step", "from", "to", "op", "answer"):
        table.add_column(column, overflow="fold")
    events = {(event["client"], event["step"]): event for event in history.events}
    event = None if found.break_ is None else found.break_.event
    lines: list[tuple[int, tuple[str, ...], bool]] = []
    for client, steps in history.parts():
        name = "before" if client < 0 else "after" if client == len(history.clients) else str(client)
        for index, op in enumerate(steps):
            told: dict[str, Any] = events.get((client, index), {})
            shown = compact(told["outcome"]) if told else ""
            ticks = (str(told["start"]), str(told["end"])) if told else ("", "")
            cells: tuple[str, ...] = (name, str(index), *ticks, f"{type(op).name}  {arguments(op)}", shown)
            bad = event is not None and (event.client, event.step) == (client, index)
            lines.append((told.get("start", len(lines)), cells, bad))
    for _, cells, bad in sorted(lines, key=lambda line: line[0]):
        table.add_row(*(Text(cell, style="red" if bad else "") for cell in cells))
    return table
