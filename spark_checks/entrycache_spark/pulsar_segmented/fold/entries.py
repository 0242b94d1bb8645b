"""What the events of a life show of it, beside its INSERT: position, place in its segment, size and payload.

Lives are numbered as they come in, and the last of them are kept: all that are cached, and some that have left. Where
events speak of others, the rules of lives are left to their windows. So memory is bounded by what is cached at once.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from entrycache_spark.fold import GivenUp
from entrycache_spark.loops.hashing import FREE, drop, find, new_table, put
from entrycache_spark.loops.words import NULL, apart, differ, flag
from entrycache_spark.pulsar_segmented.fold import words as w
from entrycache_spark.pulsar_segmented.fold.turns import NUMBER, TURNS
from entrycache_trace.compiled import Array, compiled

KEPT: Final = 1 << 14
"""So many lives are kept at least, a power of 2."""

LIVES_MOST: Final = 1 << 22
"""Lives from the oldest one that is cached on; above that the fold gives up, and DuckDB decides."""

LIFE, CACHE, LEDGER, ENTRY, SIZE, BOUND, HASH, LOT, GONE = range(9)
"""Of each life what its INSERT says, and whether it has left."""
_FIELDS: Final = 9

_TAKEN, _OLDEST, _SHOWN = range(3)


class Entries:
    """The lives, in a ring of their own: the one that came in n-th has the place n modulo its length."""

    def __init__(self, kept: int = KEPT) -> None:
        self._lives = np.full((kept, _FIELDS), NULL)
        self._keys, self._values = new_table(kept)
        self._state = np.zeros(3, np.int64)
        self._state[_SHOWN] = NULL

    def follow(self, c: Any, settings: Array, turned: Array, flags: Array) -> Array:
        """Take in a batch; of each event the lot and the size of the entry that leaves by it, `NULL` where none does.

        Raises:
            GivenUp: there are too many.
        """
        self._make_room(int(np.count_nonzero(c.op == w.INSERT)))
        left = np.full((len(c.seq), 2), NULL, np.int64)
        _follow(c, settings, turned, self._lives, self._keys, self._values, self._state, left, flags)
        return left

    def _make_room(self, more: int) -> None:
        _pass_over(self._lives, self._state)
        taken, oldest = int(self._state[_TAKEN]), int(self._state[_OLDEST])
        most = taken - oldest + more
        if most > LIVES_MOST:
            raise GivenUp("more is cached at once than the fold keeps in memory")
        if most <= len(self._lives):
            return
        lives = np.full((1 << (2 * most - 1).bit_length(), _FIELDS), NULL)
        kept = np.arange(max(taken - len(self._lives), 0), taken)
        lives[kept % len(lives)] = self._lives[kept % len(self._lives)]
        self._keys, self._values = new_table(len(lives))
        _entered(lives, kept, self._keys, self._values)
        self._lives = lives


@compiled
def _pass_over(lives: Any, s: Any) -> None:
    mask = len(lives) - 1
    while s[_OLDEST] < s[_TAKEN] and lives[s[_OLDEST] & mask, GONE] == 1:
        s[_OLDEST] += 1


@compiled
def _entered(lives: Any, kept: Any, keys: Any, values: Any) -> None:
    for number in kept:
        at = number & (len(lives) - 1)
        put(keys, values, lives[at, LIFE], at)


@compiled
def _follow(
    c: Any, settings: Any, turned: Any, lives: Any, keys: Any, values: Any, s: Any, left: Any, flags: Any
) -> None:
    for i in range(len(c.seq)):
        op, life = c.op[i], c.life[i]
        if op == w.INSERT:
            at = s[_TAKEN] & (len(lives) - 1)
            if lives[at, LIFE] != NULL:
                drop(keys, values, lives[at, LIFE])
            s[_TAKEN] += 1
            put(keys, values, c.seq[i], at)
            _begin(c.seq[i], c.cache[i], c.ledger_id[i], c.entry_id[i], c.size_bytes[i], c.bound[i], lives[at])
            lives[at, HASH] = c.key_hash[i]
            lives[at, LOT] = turned[i + 1, NUMBER] if c.tail_no[i] == NULL else c.tail_no[i]
            continue
        if life == NULL or not (op == w.HIT or op == w.EVICT or op == w.SNAPSHOT):
            continue
        at = find(keys, values, life)
        if at == FREE:
            _unknown(c.seq[i], flags)
            continue
        own = lives[at]
        if differ(c.size_bytes[i], own[SIZE]):
            flag(flags, w.USAGE_1, c.seq[i])
        if op == w.HIT:
            if differ(c.key_hash[i], own[HASH]):
                flag(flags, w.GET_3, c.seq[i])
            segments = settings[c.settings[i], w.SEGMENTS]
            if own[GONE] == 0 and segments != NULL:
                if own[LOT] <= min(turned[i + 1, NUMBER], turned[i + 1, TURNS]) - segments:
                    flag(flags, w.RING_2, c.seq[i])
            continue
        if _elsewhere(c.cache[i], c.ledger_id[i], c.entry_id[i], c.bound[i], own):
            flag(flags, w.STATE_2, c.seq[i])
        if op == w.SNAPSHOT:
            if own[GONE] == 1 or differ(c.tail_no[i], own[LOT]) or (s[_SHOWN] != NULL and life <= s[_SHOWN]):
                flag(flags, w.STATE_2, c.seq[i])
            s[_SHOWN] = life
        else:
            if differ(c.ticket[i], own[LOT]):
                flag(flags, w.STATE_2, c.seq[i])
            segments = settings[c.settings[i], w.SEGMENTS]
            if own[GONE] == 1 or _is_early(own[LOT], turned[i + 1, NUMBER], turned[i + 1, TURNS], segments):
                flag(flags, w.RING_4, c.seq[i])
            if own[GONE] == 0:
                left[i, 0], left[i, 1] = own[LOT], own[SIZE] if own[SIZE] != NULL else 0
                own[GONE] = 1


@compiled
def _begin(seq: int, cache: int, ledger: int, entry: int, size: int, bound: int, own: Any) -> None:
    own[LIFE], own[CACHE], own[LEDGER], own[ENTRY], own[SIZE], own[BOUND] = seq, cache, ledger, entry, size, bound
    own[GONE] = 0


@compiled
def _elsewhere(cache: int, ledger: int, entry: int, bound: int, own: Any) -> bool:
    return (
        apart(cache, own[CACHE])
        or differ(ledger, own[LEDGER])
        or differ(entry, own[ENTRY])
        or differ(bound, own[BOUND])
    )


@compiled
def _is_early(lot: int, number: int, turns: int, segments: int) -> bool:
    """Whether an entry leaves that is not of the oldest segment."""
    return segments != NULL and lot != number - segments and lot != turns - segments


@compiled
def _unknown(seq: int, flags: Any) -> None:
    """An event of a life that has not begun, or is not kept any more."""
    flag(flags, w.GET_3, seq)
    flag(flags, w.RING_2, seq)
    flag(flags, w.RING_4, seq)
    flag(flags, w.STATE_2, seq)
    flag(flags, w.USAGE_1, seq)
