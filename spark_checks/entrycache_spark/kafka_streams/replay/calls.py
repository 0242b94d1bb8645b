"""Replay of the limit: what a call must have evicted when it ends, and what it must not have."""

from __future__ import annotations

from entrycache_spark.kafka_streams.replay.entries import Entries, Tell
from entrycache_spark.kafka_streams.replay.facts import LOOKUPS, Facts
from entrycache_spark.replaying import Row


class Calls:
    """K-EVICT-4, K-EVICT-5 and K-RESIZE-2, call by call."""

    def __init__(self, facts: Facts, tell: Tell, entries: Entries) -> None:
        self._facts = facts
        self._tell = tell
        self._entries = entries
        self._changed_call: int | None = None
        self._opened_call: int | None = None
        self._opened_as: str | None = None
        self._put_cache: str | None = None
        self._failed_call: int | None = None
        self._opened_seq: int | None = None
        self._handed_seq: int | None = None
        self._other_seq: int | None = None
        self.sure_evicts = 0
        self.flush_calls = 0

    def follow(self, at: int, row: Row) -> None:
        """Take in one event."""
        op, call_id, limit = row["op"], row["call_id"], self._facts.settings[at]
        before = self._facts.rows[at - 1] if at else None
        if op not in LOOKUPS and (call_id is None or self._changed_call != call_id):
            self._opened_call = call_id
            self._opened_seq = row["seq"]
            self._opened_as = "PUT" if op == "PUT" else "SHRINK" if op == "CONFIG" and limit.shrank else "OTHER"
            self._put_cache = row["cache"] if op == "PUT" else self._put_cache
            self.flush_calls += op == "FLUSH" and not self._entries.leaves_here
        if op not in LOOKUPS:
            self._changed_call = call_id
        if op == "FAILED":
            self._failed_call = call_id
        own = call_id is not None and self._opened_call == call_id
        overflows = own and self._opened_as == "PUT" and op == "EVICT" and self._is_unheard(before, row)
        self.sure_evicts += overflows
        if self._facts.whole[at] and limit.now is not None and own:
            if overflows:
                self._overflow(row, limit.now)
            if self._facts.ends_call(at) and row["bytes_after"] > limit.now and self._failed_call != call_id:
                self._left_over(row, limit.now)
        if op in ("FLUSH", "FAILED"):
            self._handed_seq = row["seq"]
        else:
            self._other_seq = row["seq"]

    def _is_unheard(self, before: Row | None, row: Row) -> bool:
        """Whether no listener can have asked for this eviction: none was called, or just now for this very one."""
        if self._handed_seq is None or self._handed_seq < row["call_id"]:
            return True
        at = self._opened_seq
        if before is None or before["op"] != "FLUSH" or at is None:
            return False
        return self._other_seq == at and self._entries.flushed_seq == at + 1

    def _overflow(self, row: Row, limit_bytes: int) -> None:
        if row["cache"] != self._put_cache:
            self._tell("K-EVICT-4", row, f"an eviction from {self._put_cache}", [row["call_id"], row["seq"]])
        if row["size_bytes"] is not None and row["bytes_after"] + row["size_bytes"] <= limit_bytes:
            self._tell("K-EVICT-5", row, f"no EVICT at or under {limit_bytes} bytes", [row["call_id"], row["seq"]])

    def _left_over(self, row: Row, limit_bytes: int) -> None:
        if self._opened_as == "SHRINK":
            self._tell("K-RESIZE-2", row, f"at most {limit_bytes} bytes", [row["call_id"], row["seq"]])
        if self._opened_as == "PUT" and self._entries.told[self._put_cache].nodes:
            self._tell("K-EVICT-4", row, f"at most {limit_bytes} bytes", [row["call_id"], row["seq"]])
