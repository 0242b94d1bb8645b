"""What entries add up to, and what METRICS and END tell of it (S-USAGE-1, and of S-STATE-1 and 2 what is told)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa

from entrycache_spark.fold import GivenUp
from entrycache_spark.loops.kinds import counters_at
from entrycache_spark.loops.words import NULL, flag
from entrycache_spark.pulsar_segmented.fold import words as w
from entrycache_spark.pulsar_segmented.fold.turns import TURNS
from entrycache_trace.compiled import Array, compiled

_BYTES, _LIVE, _SHOWN, _PRIOR_BYTES = range(4)

_TOLD: Final = 4
"""Of METRICS and END: the bytes, the entries, those that snapshots showed, and the segments that are used."""


class Meters:
    """The sums at the end of the last batch."""

    def __init__(self) -> None:
        self._sums = np.array([0, 0, 0, NULL], np.int64)

    def follow(self, c: Any, settings: Array, turned: Array, left: Array, batch: pa.RecordBatch, flags: Array) -> None:
        """Take in a batch.

        Raises:
            GivenUp: a sum is too large, or a counter may be read in different ways.
        """
        at = np.flatnonzero((c.op == w.METRICS) | (c.op == w.END))
        sums = np.zeros((len(at), _TOLD), np.int64)
        if not _follow(c, settings, turned, left, self._sums, sums, flags):
            raise GivenUp("the bytes of all entries are too many")
        for (i, told), own in zip(counters_at(batch, at), sums.tolist(), strict=True):
            size, live, shown, slots = own
            if told.get("bytes", size) != size or told.get("entries", live) != live:
                flag(flags, w.USAGE_1, c.seq[i])
            if c.op[i] == w.END and (told.get("slots", slots) != slots or shown not in (0, live)):
                flag(flags, w.STATE_2, c.seq[i])


@compiled
def _follow(c: Any, settings: Any, turned: Any, left: Any, s: Any, told: Any, flags: Any) -> bool:
    k = 0
    for i in range(len(c.seq)):
        op, after, grown = c.op[i], c.bytes_after[i], 0
        if op == w.INSERT:
            grown = c.size_bytes[i] if c.size_bytes[i] != NULL else 0
            s[_LIVE] += 1
        elif left[i, 0] != NULL:
            grown = -left[i, 1]
            s[_LIVE] -= 1
        s[_BYTES] += grown
        if not -w.BYTES_MOST < s[_BYTES] < w.BYTES_MOST:
            return False
        if s[_PRIOR_BYTES] == NULL:
            if after != 0 or (c.manager_bytes[i] != NULL and c.manager_bytes[i] != 0):
                flag(flags, w.STATE_1, c.seq[i])
        elif after != s[_PRIOR_BYTES] + grown and after != s[_BYTES]:
            flag(flags, w.USAGE_1, c.seq[i])
        s[_PRIOR_BYTES] = after
        if op == w.SNAPSHOT:
            s[_SHOWN] += 1
        elif op == w.METRICS or op == w.END:
            segments = settings[c.settings[i], w.SEGMENTS]
            used = turned[i + 1, TURNS] + 1
            told[k, 0], told[k, 1], told[k, 2] = s[_BYTES], s[_LIVE], s[_SHOWN]
            told[k, 3] = max(min(used, segments), 1) if segments != NULL else used
            k += 1
    return True
