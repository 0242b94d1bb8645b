"""The columns of a trace that an audit of `pulsar-pip430` reads."""

from __future__ import annotations

from typing import Final

COLUMNS: Final = (
    *("broker", "seq", "ts_ns", "op", "cause", "origin", "cache", "ledger_id", "entry_id", "life", "size_bytes"),
    *("expected_reads", "requeues", "accessed", "stamp_ns", "new_stamp_ns", "pass_id", "call_id", "bound"),
    *("max_requeues", "extend_accessed", "trigger_bytes", "target_bytes", "bytes_after", "manager_bytes"),
    *("tail_no", "head_no", "ticket", "cursor", "value"),
)
