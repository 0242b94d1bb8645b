"""The lives of a ring and their totals.

`Entries` compares the events of a life with its INSERT: position, place in its segment, size and payload. Lives are
numbered in order, and the last ones are kept: all cached ones, and some that have left. Where an event names another
life, the rules of lives are left to their windows, so memory is bounded. `Totals` adds up bytes and entries, and
compares METRICS and END (S-USAGE-1, and parts of S-STATE-1 and 2).
"""

from typing import Any, Final

import numpy as np
import pyarrow as pa

from entrycache_spark.checkers import events, primitives
from entrycache_spark.checkers.pulsar_segmented import rows as w
from entrycache_spark.checkers.pulsar_segmented.segments import NUMBER, TURNS
from entrycache_spark.common.system import CheckerGaveUp
from entrycache_trace.jit import Array, jit

MIN_LIVES: Final = 1 << 14
"""The minimum number of lives that are kept, a power of 2."""

MAX_LIVES: Final = 1 << 22
"""The number of lives since the oldest cached one above which the checker gives up; DuckDB decides then."""

LIFE, CACHE, LEDGER, ENTRY, SIZE, BOUND, HASH, GENERATION, HAS_LEFT = range(9)
"""The fields of a life: what its INSERT records, and whether it has left."""
_FIELDS: Final = 9

_BEGUN_LIVES, _OLDEST, _LAST_SHOWN = range(3)


class Entries:
    """The lives in a ring buffer: the n-th one has the place n modulo its length."""

    def __init__(self, kept: int = MIN_LIVES) -> None:
        self._lives = np.full((kept, _FIELDS), primitives.NULL)
        self._keys, self._values = primitives.new_table(kept)
        self._state = np.zeros(3, np.int64)
        self._state[_LAST_SHOWN] = primitives.NULL

    def follow(self, c: Any, settings: Array, turned: Array, flags: Array) -> Array:
        """Read a batch; return for each event the segment generation and the size of the entry that leaves, or `NULL`.

        Raises:
            CheckerGaveUp: there are too many lives.
        """
        self._make_room(int(np.count_nonzero(c.op == w.INSERT)))
        left = np.full((len(c.seq), 2), primitives.NULL, np.int64)
        _check_entries(c, settings, turned, self._lives, self._keys, self._values, self._state, left, flags)
        return left

    def _make_room(self, more: int) -> None:
        _pass_over(self._lives, self._state)
        taken, oldest = int(self._state[_BEGUN_LIVES]), int(self._state[_OLDEST])
        most = taken - oldest + more
        if most > MAX_LIVES:
            raise CheckerGaveUp("more entries are cached at once than the checker keeps in memory")
        if most <= len(self._lives):
            return
        lives = np.full((1 << (2 * most - 1).bit_length(), _FIELDS), primitives.NULL)
        kept = np.arange(max(taken - len(self._lives), 0), taken)
        lives[kept % len(lives)] = self._lives[kept % len(self._lives)]
        self._keys, self._values = primitives.new_table(len(lives))
        _entered(lives, kept, self._keys, self._values)
        self._lives = lives


@jit
def _pass_over(lives: Any, s: Any) -> None:
    mask = len(lives) - 1
    while s[_OLDEST] < s[_BEGUN_LIVES] and lives[s[_OLDEST] & mask, HAS_LEFT] == 1:
        s[_OLDEST] += 1


@jit
def _entered(lives: Any, kept: Any, keys: Any, values: Any) -> None:
    for number in kept:
        at = number & (len(lives) - 1)
        primitives.put(keys, values, lives[at, LIFE], at)


@jit
def _check_entries(
    c: Any, settings: Any, turned: Any, lives: Any, keys: Any, values: Any, s: Any, left: Any, flags: Any
) -> None:
    for i in range(len(c.seq)):
        op, life = c.op[i], c.life[i]
        if op == w.INSERT:
            at = s[_BEGUN_LIVES] & (len(lives) - 1)
            if lives[at, LIFE] != primitives.NULL:
                primitives.drop(keys, values, lives[at, LIFE])
            s[_BEGUN_LIVES] += 1
            primitives.put(keys, values, c.seq[i], at)
            _begin(c.seq[i], c.cache[i], c.ledger_id[i], c.entry_id[i], c.size_bytes[i], c.bound[i], lives[at])
            lives[at, HASH] = c.key_hash[i]
            lives[at, GENERATION] = turned[i + 1, NUMBER] if c.tail_no[i] == primitives.NULL else c.tail_no[i]
            continue
        if life == primitives.NULL or not (op == w.HIT or op == w.EVICT or op == w.SNAPSHOT):
            continue
        at = primitives.find(keys, values, life)
        if at == primitives.FREE:
            _unknown(c.seq[i], flags)
            continue
        own = lives[at]
        if primitives.numbers_differ(c.size_bytes[i], own[SIZE]):
            primitives.flag(flags, w.USAGE_1, c.seq[i])
        if op == w.HIT:
            if primitives.numbers_differ(c.key_hash[i], own[HASH]):
                primitives.flag(flags, w.GET_3, c.seq[i])
            segments = settings[c.settings[i], w.SEGMENTS]
            if own[HAS_LEFT] == 0 and segments != primitives.NULL:
                if own[GENERATION] <= min(turned[i + 1, NUMBER], turned[i + 1, TURNS]) - segments:
                    primitives.flag(flags, w.RING_2, c.seq[i])
            continue
        if _is_displaced(c.cache[i], c.ledger_id[i], c.entry_id[i], c.bound[i], own):
            primitives.flag(flags, w.STATE_2, c.seq[i])
        if op == w.SNAPSHOT:
            if (
                own[HAS_LEFT] == 1
                or primitives.numbers_differ(c.tail_no[i], own[GENERATION])
                or (s[_LAST_SHOWN] != primitives.NULL and life <= s[_LAST_SHOWN])
            ):
                primitives.flag(flags, w.STATE_2, c.seq[i])
            s[_LAST_SHOWN] = life
        else:
            if primitives.numbers_differ(c.ticket[i], own[GENERATION]):
                primitives.flag(flags, w.STATE_2, c.seq[i])
            segments = settings[c.settings[i], w.SEGMENTS]
            if own[HAS_LEFT] == 1 or _is_early(own[GENERATION], turned[i + 1, NUMBER], turned[i + 1, TURNS], segments):
                primitives.flag(flags, w.RING_4, c.seq[i])
            if own[HAS_LEFT] == 0:
                left[i, 0], left[i, 1] = own[GENERATION], own[SIZE] if own[SIZE] != primitives.NULL else 0
                own[HAS_LEFT] = 1


@jit
def _begin(seq: int, cache: int, ledger: int, entry: int, size: int, bound: int, own: Any) -> None:
    own[LIFE], own[CACHE], own[LEDGER], own[ENTRY], own[SIZE], own[BOUND] = seq, cache, ledger, entry, size, bound
    own[HAS_LEFT] = 0


@jit
def _is_displaced(cache: int, ledger: int, entry: int, bound: int, own: Any) -> bool:
    return (
        primitives.names_differ(cache, own[CACHE])
        or primitives.numbers_differ(ledger, own[LEDGER])
        or primitives.numbers_differ(entry, own[ENTRY])
        or primitives.numbers_differ(bound, own[BOUND])
    )


@jit
def _is_early(generation: int, number: int, turns: int, segments: int) -> bool:
    """Return whether an entry leaves that is not of the oldest segment."""
    return segments != primitives.NULL and generation != number - segments and generation != turns - segments


@jit
def _unknown(seq: int, flags: Any) -> None:
    """Leave the rules to their windows: the life has not begun, or is no longer kept."""
    primitives.flag(flags, w.GET_3, seq)
    primitives.flag(flags, w.RING_2, seq)
    primitives.flag(flags, w.RING_4, seq)
    primitives.flag(flags, w.STATE_2, seq)
    primitives.flag(flags, w.USAGE_1, seq)


# ---------- totals that METRICS and END report

_BYTES, _LIVE, _SNAPSHOTS, _PRIOR_BYTES = range(4)

_TOTALS_SHOWN: Final = 4
"""The number of totals compared at METRICS and END: bytes, entries, entries in snapshots, and used segments."""


class Totals:
    """The totals at the end of the last batch."""

    def __init__(self) -> None:
        self._sums = np.array([0, 0, 0, primitives.NULL], np.int64)

    def follow(self, c: Any, settings: Array, turned: Array, left: Array, batch: pa.RecordBatch, flags: Array) -> None:
        """Read a batch.

        Raises:
            CheckerGaveUp: a sum is too large, or backends may read a counter differently.
        """
        at = np.flatnonzero((c.op == w.METRICS) | (c.op == w.END))
        sums = np.zeros((len(at), _TOTALS_SHOWN), np.int64)
        if not _check_totals(c, settings, turned, left, self._sums, sums, flags):
            raise CheckerGaveUp("the bytes of all entries are too many")
        for (i, counters), own in zip(events.counters_at(batch, at), sums.tolist(), strict=True):
            size, live, in_snapshot, slots = own
            if counters.get("bytes", size) != size or counters.get("entries", live) != live:
                primitives.flag(flags, w.USAGE_1, c.seq[i])
            is_other = slots != primitives.NULL and counters.get("slots", slots) != slots
            if c.op[i] == w.END and (is_other or in_snapshot not in (0, live)):
                primitives.flag(flags, w.STATE_2, c.seq[i])


@jit
def _check_totals(c: Any, settings: Any, turned: Any, left: Any, s: Any, totals: Any, flags: Any) -> bool:
    k = 0
    for i in range(len(c.seq)):
        op, after, grown = c.op[i], c.bytes_after[i], 0
        if op == w.INSERT:
            grown = c.size_bytes[i] if c.size_bytes[i] != primitives.NULL else 0
            s[_LIVE] += 1
        elif left[i, 0] != primitives.NULL:
            grown = -left[i, 1]
            s[_LIVE] -= 1
        s[_BYTES] += grown
        if not -w.MAX_BYTES < s[_BYTES] < w.MAX_BYTES:
            return False
        if s[_PRIOR_BYTES] == primitives.NULL:
            if after != 0 or (c.manager_bytes[i] != primitives.NULL and c.manager_bytes[i] != 0):
                primitives.flag(flags, w.STATE_1, c.seq[i])
        elif after != s[_PRIOR_BYTES] + grown and after != s[_BYTES]:
            primitives.flag(flags, w.USAGE_1, c.seq[i])
        s[_PRIOR_BYTES] = after
        if op == w.SNAPSHOT:
            s[_SNAPSHOTS] += 1
        elif op == w.METRICS or op == w.END:
            segments = settings[c.settings[i], w.SEGMENTS]
            used = min(turned[i + 1, TURNS] + 1, segments)
            totals[k, 0], totals[k, 1], totals[k, 2] = s[_BYTES], s[_LIVE], s[_SNAPSHOTS]
            totals[k, 3] = max(used, 1) if segments != primitives.NULL else primitives.NULL
            k += 1
    return True
