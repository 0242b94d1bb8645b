"""How a story is told, and the list of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.traces.script import Place, Row, Script

Found = list[tuple[str, Row]]
Story = Callable[[Script, bool], Found]

STORIES: list[tuple[Story, dict[str, Any], str]] = []
"""Each story with the configuration of its script and its `threads`."""

SMALL: dict[str, Any] = {"max_size_bytes": 1000, "watermark": 0.5}


def story(threads: str = "one", **config: Any) -> Callable[[Story], Story]:
    """Enter a story into the list."""

    def enter(tell: Story) -> Story:
        STORIES.append((tell, config, threads))
        return tell

    return enter


def at(entry: int, ledger: int = 1, cache: str = "a") -> Place:
    return (cache, ledger, entry)


def wrong(planted: bool, *found: tuple[str, Row | None]) -> Found:
    """What is to be found, if it was planted."""
    return [(rule, row) for rule, row in found if planted and row is not None]
