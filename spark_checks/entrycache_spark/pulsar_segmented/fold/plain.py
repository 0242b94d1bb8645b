"""Rules of single rows: each has all that it takes to be judged."""

from __future__ import annotations

from typing import Any

from entrycache_spark.loops.words import NULL, differ, flag
from entrycache_spark.pulsar_segmented.fold import words as w
from entrycache_trace.compiled import compiled


@compiled
def fold_plain(c: Any, settings: Any, flags: Any) -> None:
    """S-CONFIG, S-INSERT-3 to 5, S-SEGMENT-1, and of S-INSERT-1 and S-RING-1 what is left out."""
    for i in range(len(c.seq)):
        op, size, bound = c.op[i], c.size_bytes[i], c.bound[i]
        if op == w.PASS_BEGIN or op == w.PASS_END:
            named, room = settings[c.settings[i], w.NAMED], settings[c.settings[i], w.ROOM]
            if named != NULL and differ(c.trigger_bytes[i], room):
                flag(flags, w.CONFIG_2 if named == 1 else w.CONFIG_1, c.seq[i])
            if op == w.PASS_BEGIN and bound != NULL and size != NULL and room != NULL and bound + size <= room:
                flag(flags, w.SEGMENT_1, c.seq[i])
        if op == w.INSERT:
            _taken(c.seq[i], size, bound, settings[c.settings[i], w.LIMIT], settings[c.settings[i], w.ROOM], flags)
        elif op == w.SKIP and settings[c.settings[i], w.LIMIT] > 0:
            room = settings[c.settings[i], w.ROOM]
            if c.cause[i] == w.BY_DISABLED:
                flag(flags, w.INSERT_1, c.seq[i])
            elif c.cause[i] == w.BY_FULL and size != NULL and size <= room:
                flag(flags, w.RING_1, c.seq[i])
        offered = op == w.INSERT or op == w.REJECT or op == w.SKIP or op == w.PASS_BEGIN
        if offered and size != NULL and size < 0:
            flag(flags, w.INSERT_5, c.seq[i])


@compiled
def _taken(seq: int, size: int, bound: int, limit: int, room: int, flags: Any) -> None:
    if limit == 0:
        flag(flags, w.INSERT_4, seq)
    if limit <= 0 or size == NULL or room == NULL:
        return
    if size > room:
        flag(flags, w.INSERT_3, seq)
    elif bound != NULL and bound + size > room:
        flag(flags, w.SEGMENT_1, seq)
