"""What lies at each position: what a lookup finds, what is added or refused there, and what was missed (R-READ-1, 7, 9
and 10, R-INSERT-1 and 2).

A position is kept while an entry is cached there, and for the last misses.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from entrycache_spark.loops.positions import ENTRY, USED, forget, new_positions, position, settle, with_positions
from entrycache_spark.loops.words import NULL, flag
from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_trace.compiled import Array, compiled

MISSES_MOST: Final = 1 << 16

HELD, LIFE, MISSED_CALL, MISSED_BY, MISSED_SEQ = range(ENTRY + 1, 9)
PLACE_FIELDS: Final = 9

_PLACES, _MISSES, _FORGOTTEN = range(3)


class Places:
    """The positions that hold an entry, or were missed of late."""

    def __init__(self, misses_most: int = MISSES_MOST) -> None:
        self._table = new_positions(PLACE_FIELDS)
        self._misses = np.zeros((misses_most, 4), np.int64)
        self._state = np.zeros(3, np.int64)
        self._state[_FORGOTTEN] = NULL

    def follow(self, c: Any, many: bool, flags: Array) -> Array:
        """Take in a batch; of each lookup whether the position holds what it names (-1: of no lookup)."""
        self._table = with_positions(self._table, int(self._state[_PLACES]) + len(c.seq))
        found = np.full(len(c.seq), -1, np.int8)
        _follow(c, many, self._table, self._misses, self._state, found, flags)
        return found


@compiled
def _settle(table: Any, at: int, cache: int, ledger: int, entry: int, state: Any) -> None:
    """Make a position of a free place."""
    if settle(table, at, cache, ledger, entry):
        table[at, HELD], table[at, MISSED_SEQ] = 0, NULL
        state[_PLACES] += 1


@compiled
def _free(table: Any, at: int, state: Any) -> None:
    """Forget a position that holds nothing and was not missed of late."""
    if not table[at, HELD] and table[at, MISSED_SEQ] == NULL:
        state[_PLACES] -= 1
        forget(table, at)


@compiled
def _follow(c: Any, many: bool, table: Any, misses: Any, state: Any, found: Any, flags: Any) -> None:
    for i in range(len(c.seq)):
        op, entry = c.op[i], c.entry_id[i]
        if entry == NULL:
            continue
        opens = op == w.SNAPSHOT and c.cause[i] == w.BY_OPEN
        leaves = op == w.EVICT or op == w.REMOVE
        if not (w.INSERT <= op <= w.MISS and op != w.SKIP) and not opens and not leaves:
            continue
        cache, ledger = c.cache[i], c.ledger_id[i]
        at = position(table, cache, ledger, entry)
        held = table[at, USED] and table[at, HELD]
        if op == w.HIT:
            found[i] = 1 if held and (c.life[i] == NULL or table[at, LIFE] == c.life[i]) else 0
            if not found[i]:
                _looked_up(c.cause[i], c.seq[i], flags)
        elif op == w.MISS:
            found[i] = 1 if held else 0
            if held:
                _looked_up(c.cause[i], c.seq[i], flags)
            _settle(table, at, cache, ledger, entry, state)
            table[at, MISSED_CALL], table[at, MISSED_BY], table[at, MISSED_SEQ] = c.call_id[i], c.cause[i], c.seq[i]
            _remember(cache, ledger, entry, c.seq[i], table, misses, state)
        elif op == w.REJECT:
            if not held and c.cause[i] == w.BY_DUPLICATE:
                flag(flags, w.INSERT_1, c.seq[i])
        elif leaves:
            if held:
                table[at, HELD] = 0
                _free(table, at, state)
        elif op == w.INSERT or c.life[i] != NULL:
            if op == w.INSERT:
                if held:
                    flag(flags, w.INSERT_2, c.seq[i])
                if c.cause[i] == w.BY_FILL:
                    _filled(c.seq[i], c.call_id[i], c.expected_reads[i], many, table, at, state, flags)
            _settle(table, at, cache, ledger, entry, state)
            table[at, HELD], table[at, LIFE] = 1, c.life[i]


@compiled
def _looked_up(cause: int, seq: int, flags: Any) -> None:
    if cause == w.BY_GET:
        flag(flags, w.READ_1, seq)
    elif cause == w.BY_READ:
        flag(flags, w.READ_7, seq)
    elif cause == w.BY_REPLAY:
        flag(flags, w.READ_10, seq)


@compiled
def _remember(cache: int, ledger: int, entry: int, seq: int, table: Any, misses: Any, state: Any) -> None:
    """Keep a miss, and forget the oldest one that is kept."""
    kept = misses[state[_MISSES] % len(misses)]
    if state[_MISSES] >= len(misses):
        at = position(table, kept[0], kept[1], kept[2])
        if table[at, USED] and table[at, MISSED_SEQ] == kept[3]:
            state[_FORGOTTEN] = kept[3]
            table[at, MISSED_SEQ] = NULL
            _free(table, at, state)
    kept[0], kept[1], kept[2], kept[3] = cache, ledger, entry, seq
    state[_MISSES] += 1


@compiled
def _filled(seq: int, call: int, count: int, many: bool, table: Any, at: int, state: Any, flags: Any) -> None:
    """A fill: what its own call has missed, and not by a single read.

    With several threads a lookup of a range may have no MISS to show; so a miss is kept there when it was filled.
    """
    told = table[at, USED] and table[at, MISSED_SEQ] != NULL
    missed = told and table[at, MISSED_CALL] == call
    unknown = not told and (not many or state[_FORGOTTEN] != NULL)
    if count < 1 or (call != NULL and ((told and not missed) or unknown)):
        flag(flags, w.READ_9, seq)
    if call != NULL and (call <= state[_FORGOTTEN] if not missed else table[at, MISSED_BY] == w.BY_REPLAY):
        flag(flags, w.READ_10, seq)
    if missed and not many:
        table[at, MISSED_SEQ] = NULL
