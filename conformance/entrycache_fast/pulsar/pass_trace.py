"""The rows of one pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from entrycache_fast.pulsar import pass_rows as rows
from entrycache_fast.pulsar.pass_rows import PassSettings
from entrycache_fast.pulsar.row import Row
from entrycache_fast.pulsar.store import Entry

if TYPE_CHECKING:
    from entrycache_fast.pulsar.state import CacheState


class PassTrace:
    """Writes the rows of one pass; made only where somebody asked for rows."""

    def __init__(
        self,
        cache: CacheState,
        emit: Callable[[Row], None],
        kind: Literal["TIME", "SIZE"],
        origin: str,
        now_nanos: int,
        bound: int,
    ) -> None:
        sized = kind == "SIZE"
        self._cache = cache
        self._emit = emit
        self._bound = bound
        self._sized = sized
        self._settings = PassSettings(
            kind,
            origin,
            now_nanos,
            cache.max_requeues,
            cache.extend_recently_accessed,
            cache.trigger_bytes if sized else None,
            cache.target_bytes if sized else None,
        )
        emit(rows.edge_row("PASS_BEGIN", self._settings, bound, cache.size_bytes, None))

    def _left(self, freed_bytes: int) -> int:
        """The bound in force: a cutoff stays, a need shrinks."""
        return self._bound - freed_bytes if self._sized else self._bound

    def dropped(self, slot: Entry, freed_bytes: int) -> None:
        """The dead slots that one object stood for were dropped."""
        row = rows.tombstone_row(self._settings, self._left(freed_bytes), self._cache.size_bytes)
        for _ in range(slot.dead_slots):
            self._emit(row)

    def put_back(self, cause: str, entry: Entry, uses: int, freed_bytes: int) -> None:
        """An entry, shown as it was before, goes to the tail."""
        size_bytes = self._cache.size_bytes
        row = rows.taken_row("REQUEUE", cause, self._settings, self._left(freed_bytes), size_bytes, entry)
        self._emit(row._replace(requeues=entry.requeues + uses, new_stamp_ns=self._settings.now_nanos))

    def removed(self, entry: Entry, freed_bytes: int) -> None:
        """An entry was removed; `freed_bytes` without it."""
        kind, size_bytes = self._settings.kind, self._cache.size_bytes
        self._emit(rows.taken_row("EVICT", kind, self._settings, self._left(freed_bytes), size_bytes, entry))

    def end(self, head_nanos: int | None, freed_bytes: int) -> None:
        """The pass ended, at a live head with this stamp or because no slot was left."""
        size_bytes = self._cache.size_bytes
        self._emit(rows.edge_row("PASS_END", self._settings, self._left(freed_bytes), size_bytes, head_nanos))
