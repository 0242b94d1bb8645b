"""The columns of a trace that an audit of `pulsar-segmented` reads."""

from __future__ import annotations

from typing import Final

COLUMNS: Final = (
    *("broker", "seq", "ts_ns", "op", "cause", "cache", "ledger_id", "entry_id", "key_hash", "life", "size_bytes"),
    *("pass_id", "call_id", "bound", "trigger_bytes", "bytes_after", "manager_bytes", "tail_no", "ticket", "value"),
)
