"""The only way to write to a terminal; it escapes all foreign text.

Names of subjects, brokers, caches and files, messages and notes are foreign: an escape sequence in them would move the
cursor or set a title, and a tag of Rich would colour the text or raise an error. `echo` and the console of
`make_console` escape every character that is not printable and interpret no mark-up. `spinner` shows progress on
stderr.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.segment import Segment
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
        """Yield the segments of what is printed, each escaped."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=escape(segment.text))


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
