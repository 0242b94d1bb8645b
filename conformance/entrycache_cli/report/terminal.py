"""How a terminal is written to."""

from __future__ import annotations

from rich.console import Console

STYLE = {"conforms": "green", "violates": "red", "nothing-checked": "yellow", "inconclusive": "yellow"}


def coloured(verdict: str) -> str:
    """A verdict in its colour (which appears on a terminal only)."""
    return f"[{STYLE.get(verdict, 'white')}]{verdict}[/]"


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """The command ends as one whose reader has gone; Rich would end it with 1, which means violations."""
        raise BrokenPipeError


def console(stderr: bool = False) -> Console:
    """A console; wide enough for tables where the output is no terminal."""
    made = _Console(stderr=stderr, highlight=False)
    return made if made.is_terminal else _Console(stderr=stderr, highlight=False, width=160)
