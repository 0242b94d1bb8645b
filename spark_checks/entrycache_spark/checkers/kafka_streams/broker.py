"""The checker of one broker of `kafka-streams`, which is the cache of one stream thread.

`check_broker` is the entry point. `StreamThreadChecker` keeps the state between batches, runs the loop of `events`
over each batch, and compares the counters of METRICS and END. Its result names the rules whose conditions hold.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from entrycache_spark.checkers import events, primitives
from entrycache_spark.checkers.batches import EffectiveSettings, SettingsSource, SettingValues
from entrycache_spark.checkers.kafka_streams import rows, state
from entrycache_spark.checkers.kafka_streams import rows as w
from entrycache_spark.checkers.kafka_streams import state as k
from entrycache_spark.checkers.kafka_streams.events import check_events
from entrycache_spark.checkers.kafka_streams.state import KEY_USED_SEQ, Keys
from entrycache_spark.common.system import CheckerGaveUp, CheckerResult
from entrycache_spark.systems.kafka_streams import KINDS
from entrycache_trace import files, jit

COLUMNS: Final = ("cache", "key_hash", "life", "call_id", "size_bytes", "dirty")
"""The columns for which rules ask whether they are null."""

ALONE: Final = frozenset({"K-PUT-1"})
"""The rules that can be clean where events are missing."""

SETTINGS: Final = SettingsSource(KINDS, (), lambda configs: [() for _ in configs])


def check_broker(batches: Iterator[pa.RecordBatch], metadata: files.Metadata) -> CheckerResult:
    """Check the events of one broker.

    Raises:
        CheckerGaveUp: the events are too many, too varied, or not what a trace holds.
    """
    return events.check_batches(StreamThreadChecker(metadata), batches)


class StreamThreadChecker:
    """The state of the checker for one broker between two batches."""

    def __init__(self, metadata: files.Metadata) -> None:
        self.flags = primitives.new_flags(len(w.SUFFICIENT_CONDITIONS))
        self._sampled = metadata.sampled
        names = rows.vocabulary()
        effective, kinds = (
            EffectiveSettings(SETTINGS, w.CONFIG, _select_values),
            events.EventKinds(names, COLUMNS, (w.METRICS, w.END), ("dirty",)),
        )
        self._events = events.Events(rows.Rows, names, effective, kinds)
        self._keys, self._spaces, self._counters = Keys(), state.new_spaces(), rows.Counters()
        self._suspects = np.zeros((k.MAX_SUSPECTS, 2), np.int64)
        self._state = np.zeros(k.STATE_FIELDS, np.int64)
        self._state[k.LAST_SEQ] = primitives.NULL

    def follow(self, batch: pa.RecordBatch) -> None:
        """Read a batch.

        Raises:
            CheckerGaveUp, UsageError: see `check_broker`.
        """
        c, settings = self._events.read(batch)
        self._keys.make_room(len(c.seq), int(self._state[k.LAST_CALL]))
        self._spaces = state.with_spaces(self._spaces, len(self._events.names["cache"]))
        at = np.flatnonzero((c.op == w.METRICS) | (c.op == w.END))
        sums = np.zeros((len(at), len(rows.Sums._fields)), np.int64)
        kept = (self._keys.table, self._keys.used, self._spaces, self._suspects, self._state)
        check_events(c, settings, *kept, sums, self.flags)
        if self._state[k.HOMELESS]:
            raise CheckerGaveUp("an event of a key is of no namespace")
        self._check_counters(c, settings, batch, at, sums)

    def _check_counters(
        self, c: rows.Rows, settings: jit.Array, batch: pa.RecordBatch, at: jit.Array, sums: jit.Array
    ) -> None:
        for (i, counters), counted in zip(events.counters_at(batch, at), sums.tolist(), strict=True):
            seq, own = int(c.seq[i]), rows.Sums(*counted)
            if c.op[i] == w.END:
                self._counters.check_end(seq, counters, own, int(c.bytes_after[i]), self.flags)
            elif c.cache[i] == 0:
                self._counters.check_thread(seq, counters, own, self.flags)
            else:
                self._counters.check_space(seq, counters, own, self.flags)
            self._events.kinds.count_metered(c, i, settings, counters)

    def end(self) -> CheckerResult:
        """Return the result after the last event."""
        whole = self._events.span.end(w.CONFIG, w.END, self._sampled)
        opened = bool(self._state[k.OPENED])
        k.end_run(self._state, self._spaces, self.flags)
        k.end_call(self._state, self.flags)
        live = self._keys.live()
        if np.any(live[:, KEY_USED_SEQ] < self._spaces[live[:, primitives.CACHE], state.SPACE_EVICTED]):
            primitives.flag(self.flags, w.ELDEST_FIRST, int(self._state[k.LAST_SEQ]))
        clean = frozenset(
            rule for rule, conditions in w.CONDITIONS_BY_RULE.items() if not any(self.flags[at, 0] for at in conditions)
        )
        decided = clean if whole.all and not opened else clean & ALONE
        return self._events.result(whole, decided, opened=opened)


def _select_values(settings: SettingValues) -> SettingValues:
    """Return the values that rules ask for: K-RESIZE-2 asks whether the limit has become lower."""
    limit, before = settings["limit_now"], settings["limit_before"]
    falls = limit is not None and before is not None and limit < before
    return {"limit_now": 0 if falls else None, "limit_before": 1 if falls else None}
