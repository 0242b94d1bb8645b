"""How many events of each kind there are, and what they are told: what the rules are asked about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_spark.pulsar_pip430.fold.hashing import FREE, find, new_table, put
from entrycache_spark.pulsar_pip430.fold.rows import Vocabulary
from entrycache_spark.pulsar_pip430.fold.words import NULL
from entrycache_trace.compiled import Array, compiled

COLUMNS: Final = (
    *("size_bytes", "entry_id", "life", "call_id", "pass_id", "bound", "stamp_ns", "new_stamp_ns", "requeues"),
    *("max_requeues", "expected_reads", "trigger_bytes", "target_bytes", "accessed", "extend_accessed", "cursor"),
    *("tail_no", "head_no"),
)
"""What rules ask of whether it is null; a mask has a bit for each that is told."""

CLASSES_MOST: Final = 1 << 13


class TooVaried(Exception):
    """There are more kinds of events than the fold counts."""


class Classes:
    """A count of each op, cause, origin, class of settings, and mask of what is told."""

    def __init__(self) -> None:
        self._keys, self._values = new_table(CLASSES_MOST)
        self._counts = np.zeros(CLASSES_MOST, np.int64)
        self._found = np.zeros(CLASSES_MOST, np.int64)
        self._state = np.zeros(1, np.int64)

    def follow(self, c: Any, settings: Array, names: Vocabulary) -> None:
        """Count the events of a batch.

        Raises:
            TooVaried: there are too many kinds.
        """
        if max(len(names.op), len(names.cause), len(names.origin), int(settings[:, w.CLASS].max())) >= 1 << 11:
            raise TooVaried
        if not _count(c, settings, self._keys, self._values, self._counts, self._found, self._state):
            raise TooVaried

    def of(self, names: Vocabulary) -> Iterator[tuple[dict[str, Any], int, int]]:
        """One row of each kind, the class of its settings, and how many there are."""
        ops, causes, origins = names.op.listed(), names.cause.listed(), names.origin.listed()
        for number in range(int(self._state[0])):
            key = int(self._found[number])
            mask, key = key & 0x3FFFF, key >> 18
            row: dict[str, Any] = {name: (1 if mask >> bit & 1 else None) for bit, name in enumerate(COLUMNS)}
            row |= {"op": ops[key & 0x7FF], "cause": causes[key >> 11 & 0x7FF], "origin": origins[key >> 22 & 0x7FF]}
            yield row, key >> 33, int(self._counts[number])


@compiled
def _count(c: Any, settings: Any, keys: Any, values: Any, counts: Any, found: Any, state: Any) -> bool:
    """Count all but METRICS and END, which are few and tell more."""
    last_key, last = np.int64(-1), 0
    for i in range(len(c.seq)):
        if c.op[i] == w.METRICS or c.op[i] == w.END:
            continue
        key = np.int64(settings[c.settings[i], w.CLASS])
        key = key << 11 | c.origin[i]
        key = key << 11 | c.cause[i]
        key = key << 11 | c.op[i]
        key = key << 18 | _told(c, i)
        if key != last_key:
            last_key, last = key, find(keys, values, key)
            if last == FREE:
                if state[0] == len(counts):
                    return False
                last = state[0]
                state[0] += 1
                found[last] = key
                put(keys, values, key, last)
        counts[last] += 1
    return True


@compiled
def _told(c: Any, i: int) -> Any:
    mask = np.int64(c.size_bytes[i] != NULL)
    mask |= np.int64(c.entry_id[i] != NULL) << 1
    mask |= np.int64(c.life[i] != NULL) << 2
    mask |= np.int64(c.call_id[i] != NULL) << 3
    mask |= np.int64(c.pass_id[i] != NULL) << 4
    mask |= np.int64(c.bound[i] != NULL) << 5
    mask |= np.int64(c.stamp_ns[i] != NULL) << 6
    mask |= np.int64(c.new_stamp_ns[i] != NULL) << 7
    mask |= np.int64(c.requeues[i] != NULL) << 8
    mask |= np.int64(c.max_requeues[i] != NULL) << 9
    mask |= np.int64(c.expected_reads[i] != NULL) << 10
    mask |= np.int64(c.trigger_bytes[i] != NULL) << 11
    mask |= np.int64(c.target_bytes[i] != NULL) << 12
    mask |= np.int64(c.accessed[i] >= 0) << 13
    mask |= np.int64(c.extend_accessed[i] >= 0) << 14
    mask |= np.int64(c.cursor[i] != 0) << 15
    mask |= np.int64(c.tail_no[i] != NULL) << 16
    mask |= np.int64(c.head_no[i] != NULL) << 17
    return mask
