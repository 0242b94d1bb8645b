"""How a terminal is written to: the one way out, past which nothing foreign gets as it came.

Names of subjects, brokers, caches and files, messages and notes are text from elsewhere: an escape sequence in it would
move the cursor or set a title, a tag of Rich's would colour the page or end in an error. Here everything that is not
one printed character is escaped, and nothing is markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.text import Text

from entrycache_protocol.messages import escape_unprintable

STYLE: Final = {"conforms": "green", "violates": "red", "nothing-checked": "yellow", "inconclusive": "yellow"}
WIDTH: Final = 160
"""Wide enough for tables where the output is no terminal."""


def coloured_verdict(verdict: str) -> Text:
    """A verdict in its colour (which appears on a terminal only)."""
    return Text(verdict, STYLE.get(verdict, ""))


def escape(text: str) -> str:
    """The text as it is printed: lines and the tabs that indent them stay, all else that is no character is escaped."""
    return "\n".join(_escape_line(line.lstrip("\t"), line) for line in text.split("\n"))


def _escape_line(rest: str, line: str) -> str:
    return "\t" * (len(line) - len(rest)) + escape_unprintable(rest)


def echo(text: str, err: bool = False, nl: bool = True) -> None:
    """A text on stdout or stderr."""
    click.echo(escape(text), err=err, nl=nl)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """The command ends as one whose reader has gone; Rich would end it with 1, which means violations."""
        raise BrokenPipeError

    def render_str(self, text: str, **how: Any) -> Text:
        """A text before it is laid out; Rich would leave some of it out."""
        return super().render_str(escape(text), **how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is shown, with every text in it as `plain` has it."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=escape(segment.text))


def make_console(stderr: bool = False) -> Console:
    """A console."""
    options: dict[str, Any] = {"stderr": stderr, "highlight": False, "markup": False, "emoji": False}
    made = _Console(**options)
    return made if made.is_terminal else _Console(**options, width=WIDTH)


def description_column() -> TextColumn:
    """The column of a progress bar that says what is under way."""
    return TextColumn("{task.description}", markup=False)


@contextmanager
def spinner(first: str) -> Iterator[Callable[[str], None]]:
    """Show on stderr what is in progress and for how long; yield a function that changes the text."""
    columns = (SpinnerColumn(), description_column(), TimeElapsedColumn())
    out = make_console(stderr=True)
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        task = progress.add_task(first, total=None)
        yield lambda text: progress.update(task, description=text)
