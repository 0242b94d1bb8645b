"""The fold over one broker, which is the cache of one stream thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from entrycache_spark.fold import Folded, GivenUp
from entrycache_spark.kafka_streams.columns import KINDS
from entrycache_spark.kafka_streams.fold import calls as k
from entrycache_spark.kafka_streams.fold import spaces
from entrycache_spark.kafka_streams.fold import words as w
from entrycache_spark.kafka_streams.fold.events import fold_events
from entrycache_spark.kafka_streams.fold.keys import USED_SEQ, Keys
from entrycache_spark.kafka_streams.fold.meters import Meters, Sums
from entrycache_spark.kafka_streams.fold.rows import Rows, vocabulary
from entrycache_spark.loops.events import Events
from entrycache_spark.loops.following import fold_each
from entrycache_spark.loops.in_force import InForce, Settings, Told
from entrycache_spark.loops.kinds import Kinds, counters_at
from entrycache_spark.loops.positions import CACHE
from entrycache_spark.loops.words import NULL, flag, no_flags
from entrycache_trace.compiled import Array
from entrycache_trace.files import Metadata

COLUMNS: Final = ("cache", "key_hash", "life", "size_bytes", "dirty")
"""What rules ask of whether it is null."""

SETTINGS: Final = Told(KINDS, (), lambda configs: [() for _ in configs])


def fold(batches: Iterator[pa.RecordBatch], metadata: Metadata) -> Folded:
    """Fold the events of one broker.

    Raises:
        GivenUp: they are too many, too varied, or not what a trace holds.
    """
    return fold_each(ThreadFold(metadata), batches)


class ThreadFold:
    """All that is kept of one broker between two batches."""

    def __init__(self, metadata: Metadata) -> None:
        self.flags = no_flags(len(w.GROUNDS))
        self._sampled = metadata.sampled
        names = vocabulary()
        in_force, kinds = InForce(SETTINGS, w.CONFIG, _asked), Kinds(names, COLUMNS, (w.METRICS, w.END), ("dirty",))
        self._events = Events(Rows, names, in_force, kinds)
        self._keys, self._spaces, self._meters = Keys(), spaces.new_spaces(), Meters()
        self._suspects = np.zeros((k.SUSPECTS_MOST, 2), np.int64)
        self._state = np.zeros(k.STATE_FIELDS, np.int64)
        self._state[k.SEQ] = NULL

    def follow(self, batch: pa.RecordBatch) -> None:
        """Take in a batch.

        Raises:
            GivenUp, UsageError: see `fold`.
        """
        c, settings = self._events.read(batch)
        self._keys.make_room(len(c.seq), int(self._state[k.CALL]))
        self._spaces = spaces.with_space(self._spaces, len(self._events.names["cache"]))
        at = np.flatnonzero((c.op == w.METRICS) | (c.op == w.END))
        sums = np.zeros((len(at), len(Sums._fields)), np.int64)
        kept = (self._keys.table, self._keys.used, self._spaces, self._suspects, self._state)
        fold_events(c, settings, *kept, sums, self.flags)
        if self._state[k.HOMELESS]:
            raise GivenUp("an event of a key is of no namespace")
        self._meter(c, settings, batch, at, sums)

    def _meter(self, c: Rows, settings: Array, batch: pa.RecordBatch, at: Array, sums: Array) -> None:
        for (i, told), counted in zip(counters_at(batch, at), sums.tolist(), strict=True):
            seq, own = int(c.seq[i]), Sums(*counted)
            if c.op[i] == w.END:
                self._meters.told_end(seq, told, own, int(c.bytes_after[i]), self.flags)
            elif c.cache[i] == 0:
                self._meters.told(seq, told, own, self.flags)
            else:
                self._meters.told_of_space(seq, told, own, self.flags)
            self._events.kinds.tell(c, i, settings, told)

    def end(self) -> Folded:
        """What the events tell, now that there are no more."""
        whole = self._events.span.end(w.CONFIG, w.END, self._sampled)
        opened = bool(self._state[k.OPENED])
        k.end_run(self._state, self._spaces, self.flags)
        k.end_call(self._state, self.flags)
        live = self._keys.live()
        if np.any(live[:, USED_SEQ] < self._spaces[live[:, CACHE], spaces.EVICTED]):
            flag(self.flags, w.ELDEST_FIRST, int(self._state[k.SEQ]))
        grounds = frozenset(
            name for name, own in zip(w.GROUNDS, self.flags, strict=True) if whole.all and not opened and not own[0]
        )
        puts = frozenset({"K-PUT-1"} if not self.flags[w.WRITES_HOLD, 0] else ())
        return self._events.folded(whole, puts, opened=opened, grounds=grounds)


def _asked(settings: Settings) -> Settings:
    """K-RESIZE-2 asks whether the limit has become lower."""
    limit, before = settings["limit_now"], settings["limit_before"]
    falls = limit is not None and before is not None and limit < before
    return {"limit_now": 0 if falls else None, "limit_before": 1 if falls else None}
