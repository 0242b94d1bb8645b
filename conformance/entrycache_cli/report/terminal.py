"""How a terminal is written to."""

from __future__ import annotations

from rich.console import Console

STYLE = {"conforms": "green", "violates": "red", "nothing-checked": "yellow", "inconclusive": "yellow"}


def coloured(verdict: str) -> str:
    """A verdict in its colour (which appears on a terminal only)."""
    return f"[{STYLE.get(verdict, 'white')}]{verdict}[/]"


def console(stderr: bool = False) -> Console:
    """A console; wide enough for tables where the output is no terminal."""
    made = Console(stderr=stderr, highlight=False)
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, width=160)
