"""The table of a failure on a terminal; what is wrong is red."""

from __future__ import annotations

from typing import Final, NamedTuple

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from entrycache_conformance import table

NARROW: Final = 110
"""Columns of a terminal below which what was before a step is left out: it is what was after the one above."""


class _Shown(NamedTuple):
    """A table that is laid out when the room is known."""

    told: table.Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """What Rich asks for."""
        yield _made(self.told, options.max_width < NARROW)


def shown_table(told: table.Table) -> RenderableType:
    """The steps of a failing case, a line each, or those of a history, as wide as there is room."""
    return _Shown(told)


def _made(told: table.Table, narrow: bool) -> Table:
    title = f"{told.title}\nconfig {told.config}" if told.config else told.title
    made = Table(title=Text(title), title_justify="left", show_lines=told.wrong is not None)
    shown = [at for at, column in enumerate(told.columns) if not (narrow and column.endswith(" before"))]
    for at in shown:
        made.add_column(told.columns[at], overflow="fold")
    for index, row in enumerate(told.rows):
        red = [index == told.bad and told.wrong in {None, at} for at in shown]
        made.add_row(*(Text(row[at], style="red" if bad else "") for at, bad in zip(shown, red, strict=True)))
    return made
