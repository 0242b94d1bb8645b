"""The calls of a case, from which a recorder writes a trace of one broker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_trace.files import Metadata

ONLY_BROKER: Final = "one"
"""What the broker of such a trace is called."""


class Call(NamedTuple):
    """One step of a case, what was answered (as JSON tells it), and the events that it caused."""

    op: Any
    told: Callable[[], dict[str, Any]]
    rows: Sequence[Any]


WriteCalls = Callable[[Path, Metadata, Mapping[str, object], Sequence[Call]], int]
"""Writes a new trace folder, with its metadata and the configuration that the broker starts with; how many events."""
