"""How a story of a ring is told, and the list of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.traces.segmented_script import RingScript, Row

Found = list[tuple[str, Row]]
Story = Callable[[RingScript, bool], Found]

STORIES: list[tuple[Story, dict[str, Any]]] = []
"""Each story with the configuration of its script."""


def story(**config: Any) -> Callable[[Story], Story]:
    """Enter a story into the list."""

    def enter(tell: Story) -> Story:
        STORIES.append((tell, config))
        return tell

    return enter


def at(entry: int, ledger: int = 1, cache: str = "a") -> tuple[str, int, int]:
    """A position."""
    return cache, ledger, entry


def fill(s: RingScript, entries: int, size: int = 50) -> None:
    """So many entries of one size, from 0 on."""
    for entry in range(entries):
        s.insert(at(entry), size)


def wrong(planted: bool, *found: tuple[str, Row]) -> Found:
    """What is to be found, if it was planted."""
    return list(found) if planted else []
