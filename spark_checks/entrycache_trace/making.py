"""What a workload is that a trace can be made up of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from entrycache_trace.files import PartWriter


class Work(Protocol):
    """One broker at work."""

    def run(self, events: int, progress: Callable[[int], None]) -> int:
        """Work until so many events are recorded, and close the part; their number."""


class Workload(NamedTuple):
    """A kind of workload.

    `broker`: what its brokers are called, with a number each. `begin`: one broker's part, its name, seed and number,
    and settings that hold instead of the workload's own; they fit where `takes_settings`.
    """

    system: str
    broker: str
    takes_settings: bool
    begin: Callable[[PartWriter, str, str, int, Mapping[str, Any]], Work]
