"""Runs that tests of single rules play: they can be listened to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

Heard = tuple[str, Any, tuple[Any, ...]]
"""A system's name, a configuration, operations."""

_listeners: list[list[Heard]] = []


@contextmanager
def listening() -> Iterator[list[Heard]]:
    """The runs that are played until the end of the block."""
    heard: list[Heard] = []
    _listeners.append(heard)
    try:
        yield heard
    finally:
        _listeners.remove(heard)


def tell(system: str, config: Any, events: tuple[Any, ...]) -> None:
    """Tell whoever listens that this run is played."""
    for heard in _listeners:
        heard.append((system, config, events))
