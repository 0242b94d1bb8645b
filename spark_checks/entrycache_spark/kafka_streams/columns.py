"""The columns of a trace that an audit of `kafka-streams` reads, and the settings that it knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

COLUMNS: Final = (
    *("broker", "seq", "ts_ns", "op", "cause", "cache", "key_hash", "life", "size_bytes", "dirty", "call_id"),
    *("bytes_after", "manager_bytes", "value"),
)

KINDS: Final[Mapping[str, type]] = {"max_size_bytes": int}
"""The settings that rules need, with the types of their values; only the limit is read."""
