"""How a story is told, and the list of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.traces.kafka_script import Row, StreamScript

Found = list[tuple[str, Row]]
Story = Callable[[StreamScript, bool], Found]

STORIES: list[tuple[Story, dict[str, Any]]] = []
"""Each story with the configuration of its script."""

ORDER_FREE = ("K-PUT-1", "K-EVICT-3")
"""Rules that rows of several threads decide as well, but for the place of the evicted entry."""


def story(**config: Any) -> Callable[[Story], Story]:
    """Enter a story into the list."""

    def enter(tell: Story) -> Story:
        STORIES.append((tell, config))
        return tell

    return enter


def wrong(planted: bool, rule: str, *rows: Row) -> Found:
    """What is to be found, if it was planted."""
    return [(rule, row) for row in rows if planted]
