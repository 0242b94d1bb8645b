"""The lives of entries: each has a number while the fold keeps anything of it, which the rules of lives share.

A life is kept while its entry is cached, and some time after it has left, for the reads that come back late: the
`removed_most` that left last. Where events speak of one that is not kept any more, the rules of lives are left to
their windows. So memory is bounded by what is cached at once.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from entrycache_spark.fold import GivenUp
from entrycache_spark.loops.hashing import FREE, copied, drop, find, new_table, put
from entrycache_spark.loops.words import NULL, flag
from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_trace.compiled import Array, compiled

REMOVED_MOST: Final = 1 << 20

LIVES_MOST: Final = 4_000_000
"""Entries cached at once; above that the fold gives up, and DuckDB decides, which can use the disk."""

BORN, GONE, BEGINS = 1, 2, 4
"""What `Lives.of` tells of an event besides the number of its life: the first one of it, one after it has left, and
one that begins a life."""

_LEFT, _DROPPED, _UNBORN, _OLDEST, _FREED, _NUMBERED, _UNUSED = range(7)


class Lives:
    """The numbers of lives: dense, and used again once a life is forgotten."""

    def __init__(self, removed_most: int = REMOVED_MOST) -> None:
        self._keys, self._values = new_table(1 << 12)
        self._removed = np.zeros(removed_most, np.int32)
        self._gone = np.zeros(1 << 12, np.int8)
        self._life = np.zeros(1 << 12, np.int64)
        self._unused = np.zeros(1 << 12, np.int32)
        self._freed = np.zeros(0, np.int32)
        self._state = np.zeros(8, np.int64)
        self._state[_UNBORN] = NULL

    @property
    def room(self) -> int:
        """How many numbers there may be."""
        return len(self._gone)

    @property
    def unborn(self) -> int:
        """The first event of a life that did not begin before, `NULL` if there is none."""
        return int(self._state[_UNBORN])

    def freed(self) -> Array:
        """The lives that the last batch has forgotten; their numbers are used again from now on."""
        found = self._freed[: self._state[_FREED]]
        unused = int(self._state[_UNUSED])
        self._unused[unused : unused + len(found)] = found
        self._state[_UNUSED] += len(found)
        self._state[_FREED] = 0
        return found

    def used(self) -> int:
        """Numbers up to this one are or were in use."""
        return int(self._state[_NUMBERED])

    def of(self, c: Any, flags: Array) -> tuple[Array, Array]:
        """The number of each event's life, -1 where there is none, and what is to be told of it.

        Raises:
            GivenUp: there are too many of them.
        """
        self._make_room(len(c.seq))
        numbers, how = np.empty(len(c.seq), np.int32), np.empty(len(c.seq), np.int8)
        table = (self._keys, self._values, self._life, self._gone)
        _follow(c, *table, self._removed, self._unused, self._freed, self._state, numbers, how, flags)
        return numbers, how

    def _make_room(self, more: int) -> None:
        most = int(self._state[_NUMBERED]) + more
        if most - len(self._removed) - int(self._state[_UNUSED]) - more > LIVES_MOST:
            raise GivenUp("more is cached at once than the fold keeps in memory")
        if len(self._freed) < more:
            self._freed = np.zeros(more, np.int32)
        if most > self.room:
            self._gone, self._life, self._unused = (
                np.concatenate((old, np.zeros(most, old.dtype))) for old in (self._gone, self._life, self._unused)
            )
        if 2 * most > len(self._keys):
            keys, values = new_table(2 * most)
            copied(self._keys, self._values, keys, values)
            self._keys, self._values = keys, values


@compiled
def _follow(
    c: Any,
    keys: Any,
    values: Any,
    life_of: Any,
    gone: Any,
    removed: Any,
    unused: Any,
    freed: Any,
    s: Any,
    numbers: Any,
    how: Any,
    flags: Any,
) -> None:
    """R-STATE-8, and the numbers."""
    for i in range(len(c.seq)):
        life, op, seq = c.life[i], c.op[i], c.seq[i]
        numbers[i], how[i] = -1, 0
        if life == NULL:
            continue
        begins = op == w.INSERT or (op == w.SNAPSHOT and c.cause[i] == w.BY_OPEN)
        if op == w.INSERT and life != seq:
            flag(flags, w.STATE_8, seq)
        number = find(keys, values, life)
        if op == w.TOMBSTONE:
            numbers[i] = number
            continue
        if number == FREE:
            if s[_DROPPED] > 0 and not begins:
                _left_open(seq, flags)
                continue
            if not begins and s[_UNBORN] == NULL:
                s[_UNBORN] = seq
            if seq < life:
                flag(flags, w.STATE_8, seq)
            if s[_UNUSED] > 0:
                s[_UNUSED] -= 1
                number = unused[s[_UNUSED]]
            else:
                number = s[_NUMBERED]
                s[_NUMBERED] += 1
            life_of[number], gone[number] = life, 0
            put(keys, values, life, number)
            how[i] = BORN
        elif gone[number] == 1:
            how[i] = GONE
            if op != w.READ_DONE:
                flag(flags, w.STATE_8, seq)
        if begins:
            if how[i] != BORN:
                _left_open(seq, flags)
            how[i] |= BEGINS
        numbers[i] = number
        if (op == w.EVICT or op == w.REMOVE) and gone[number] == 0:
            gone[number] = 1
            at = s[_LEFT] % len(removed)
            if s[_LEFT] >= len(removed):
                oldest = removed[at]
                drop(keys, values, life_of[oldest])
                freed[s[_FREED]] = oldest
                s[_FREED] += 1
                s[_DROPPED] += 1
            removed[at] = number
            s[_LEFT] += 1


@compiled
def _left_open(seq: int, flags: Any) -> None:
    """An event of a life that is not kept, or that begins once more: the rules of lives are left to the windows."""
    flag(flags, w.COUNT_1, seq)
    flag(flags, w.COUNT_2, seq)
    flag(flags, w.COUNT_3, seq)
    flag(flags, w.EVICT_8, seq)
    flag(flags, w.INSERT_1, seq)
    flag(flags, w.READ_2, seq)
    flag(flags, w.REQUEUE_3, seq)
    flag(flags, w.REQUEUE_4, seq)
    flag(flags, w.REQUEUE_5, seq)
    flag(flags, w.REQUEUE_6, seq)
    flag(flags, w.STATE_1, seq)
    flag(flags, w.STATE_2, seq)
    flag(flags, w.STATE_8, seq)
    flag(flags, w.INVALIDATE_1, seq)
    flag(flags, w.INVALIDATE_4, seq)
    flag(flags, w.INVALIDATE_7, seq)
    flag(flags, w.INVALIDATE_8, seq)
    flag(flags, w.INVALIDATE_9, seq)
