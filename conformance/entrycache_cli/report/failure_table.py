"""The table of a failure on a terminal; what is wrong is red."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from entrycache_conformance import table


def shown_table(told: table.Table) -> Table:
    """The steps of a failing case, a line each, or those of a history."""
    title = f"{told.title}\nconfig {told.config}" if told.config else told.title
    made = Table(title=Text(title), title_justify="left", show_lines=told.wrong is not None)
    for column in told.columns:
        made.add_column(column, overflow="fold")
    for index, row in enumerate(told.rows):
        red = [index == told.bad and told.wrong in {None, at} for at in range(len(row))]
        made.add_row(*(Text(cell, style="red" if bad else "") for cell, bad in zip(row, red, strict=True)))
    return made
