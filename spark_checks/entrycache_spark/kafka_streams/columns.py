"""The columns of a trace that an audit of `kafka-streams` reads, and the settings that it knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

COLUMNS: Final = (
    *("broker", "seq", "ts_ns", "op", "cause", "cache", "key_hash", "life", "size_bytes", "dirty", "call_id"),
    *("bytes_after", "manager_bytes", "value"),
)

DEFAULTS: Final[Mapping[str, Any]] = {"max_size_bytes": 10_485_760}
"""What a config object says that does not name a setting; only the limit is read."""
