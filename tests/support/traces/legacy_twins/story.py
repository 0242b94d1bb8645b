"""How a story of `pulsar-legacy` is told, and the list of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.traces.legacy_script import LegacyScript, Row

Found = list[tuple[str, Row]]
Story = Callable[[LegacyScript, bool], Found]

STORIES: list[tuple[Story, dict[str, Any]]] = []
"""Each story with the configuration of its script."""


def story(**config: Any) -> Callable[[Story], Story]:
    """Enter a story into the list."""

    def enter(tell: Story) -> Story:
        STORIES.append((tell, config))
        return tell

    return enter


def wrong(planted: bool, *found: tuple[str, Row]) -> Found:
    """What is to be found, if it was planted."""
    return list(found) if planted else []
