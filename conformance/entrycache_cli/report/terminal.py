"""The only way to write to a terminal; it escapes all foreign text.

Names of subjects, brokers, caches and files, messages and notes are foreign: an escape sequence in them would move the
cursor or set a title, and a tag of Rich would colour the text or raise an error. `echo` and the console of
`make_console` escape every character that is not printable and interpret no mark-up. `spinner` shows progress on
stderr.

The console lays out every table so that no name is broken. A column gives way only down to its longest word. A table
that needs more room than there is loses the lines between its columns, or becomes a list with one line for each cell.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import click
from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from entrycache_protocol.errors import escape_unprintable

STYLE: Final = {"conforms": "green", "violates": "red", "nothing-checked": "yellow", "inconclusive": "yellow"}
WIDTH: Final = 160
"""The width of tables if the output is not a terminal."""


def coloured_verdict(verdict: str) -> Text:
    """Return a verdict in its colour, which only a terminal shows."""
    return Text(verdict, STYLE.get(verdict, ""))


def escape(text: str) -> str:
    """Escape unprintable characters, except line ends and the tabs that indent a line."""
    return "\n".join(_escape_line(line.lstrip("\t"), line) for line in text.split("\n"))


def _escape_line(rest: str, line: str) -> str:
    return "\t" * (len(line) - len(rest)) + escape_unprintable(rest)


def echo(text: str, err: bool = False, nl: bool = True) -> None:
    """Print a text on stdout or stderr."""
    click.echo(escape(text), err=err, nl=nl)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError, because Rich would end the process with 1, which means violations."""
        raise BrokenPipeError

    def render_str(self, text: str, **how: Any) -> Text:
        """Return a text before it is laid out, escaped, because Rich would omit some characters."""
        return super().render_str(escape(text), **how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of what is printed, each escaped; fit a table to the width."""
        if isinstance(renderable, Table) and renderable.columns and renderable.box is not None:  # a grid is no table
            renderable = _fit_table(self, renderable, options or self.options)
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=escape(segment.text))


NAME_LENGTH: Final = 40
"""The length of a word above which it may be broken: no name is as long."""


def _fit_table(console: Console, table: Table, options: ConsoleOptions) -> RenderableType:
    """Set the widths of the columns so that no name is broken.

    A table that is too wide with lines between its columns loses them. If there is still no room, return a list of its
    rows.
    """
    wide = options.update(width=10_000)
    cells = [[column.header, *column.cells] for column in table.columns]
    measures = [[Measurement.get(console, wide, cell) for cell in column] for column in cells]
    longest_words = [max(min(each.minimum, NAME_LENGTH) for each in column) for column in measures]
    room = options.max_width - 3 * len(table.columns) - 1
    if sum(longest_words) > room:
        room = options.max_width - 2 * (len(table.columns) - 1)
        table.box, table.show_edge, table.pad_edge, table.padding = box.SIMPLE_HEAD, False, False, (0, 1, 0, 0)
    if sum(longest_words) > room:
        return _list_rows(table)
    widths = _share_room(longest_words, [max(each.maximum for each in column) for column in measures], room)
    for column, width in zip(table.columns, widths, strict=True):
        column.width, column.overflow = width, "fold"
    if table.title is None:
        return table
    title, table.title = table.title, None  # beside a narrow table it would be broken too
    return Group(title, table)


def _share_room(least: Sequence[int], wanted: Sequence[int], room: int) -> list[int]:
    """Return the widths of columns: each gets its least width, and as much of the rest as it wants and others leave."""
    widths = list(least)
    rest = room - sum(widths)
    while rest > 0 and (narrow := [at for at, width in enumerate(widths) if width < wanted[at]]):
        for at in narrow:
            more = min(wanted[at] - widths[at], max(1, rest // len(narrow)), rest)
            widths[at] += more
            rest -= more
    return widths


def _list_rows(table: Table) -> Group:
    """Return the rows of a table one below the other, each cell after the header of its column."""
    headers = [Text.assemble(column.header) for column in table.columns]  # type: ignore[arg-type]
    lines: list[RenderableType] = [] if table.title is None else [table.title]
    for first, *others in zip(*(column.cells for column in table.columns), strict=True):
        lines.append(Text.assemble(headers[0], " ", first))
        for header, cell in zip(headers[1:], others, strict=True):
            if str(cell):
                lines.append(Text.assemble("  ", header, ": ", cell))
    return Group(*lines)


def make_console(stderr: bool = False) -> Console:
    """Return a console that interprets no mark-up."""
    options: dict[str, Any] = {"stderr": stderr, "highlight": False, "markup": False, "emoji": False}
    new_console = _Console(**options)
    return new_console if new_console.is_terminal else _Console(**options, width=WIDTH)


def description_column() -> TextColumn:
    """Return the column of a progress bar that names the work in progress."""
    return TextColumn("{task.description}", markup=False)


@contextmanager
def spinner(first: str) -> Iterator[Callable[[str], None]]:
    """Show on stderr what is in progress and for how long; yield a function that changes the text."""
    columns = (SpinnerColumn(), description_column(), TimeElapsedColumn())
    out = make_console(stderr=True)
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        task = progress.add_task(first, total=None)
        yield lambda text: progress.update(task, description=text)
