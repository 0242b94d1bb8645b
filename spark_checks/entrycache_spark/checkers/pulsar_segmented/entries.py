"""The lives of a ring and their totals, its positions and its range reads.

`Entries` compares the events of a life with its INSERT: position, place in its segment, size and payload. Lives are
numbered in order, and the last ones are kept: all cached ones, and some that have left. Where an event names another
life, the rules of lives are left to their windows, so memory is bounded. `Totals` adds up bytes and entries, and
compares METRICS and END (S-USAGE-1, and parts of S-STATE-1 and 2).

`Places` knows which entry each position holds. It checks lookups and inserts, and whether a range that is not answered
is cached as a whole (S-GET-1, S-INSERT-1 and 2, S-RANGE-1 and 2). `check_ranges` checks that an answer ascends from the
first position to the last one, and that the bounds are a range (S-RANGE-1 to 3).
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


# ---------- positions and range reads

STEPS_AT_ONCE: Final = 1 << 20
STEPS_PER_EVENT: Final = 4
"""The positions that may be looked up in ranges, for each event; above that S-RANGE-1 is left to its window."""

HOLDER: Final = primitives.ENTRY + 1
"""The INSERT of the cached entry; a position is kept while it holds one."""
PLACE_FIELDS: Final = 5

_PLACES, _STEPS, _CACHE, _LEDGER, _FIRST, _LAST = range(6)
"""The fields of the state: held positions, steps that are left, and the bounds of the last range asked for."""


class Places:
    """The positions that hold an entry."""

    def __init__(self, steps: int = STEPS_AT_ONCE) -> None:
        self._table = primitives.new_positions(PLACE_FIELDS)
        self._state = np.array([0, steps, 0, primitives.NULL, primitives.NULL, primitives.NULL], np.int64)

    def follow(self, c: Any, flags: Array) -> None:
        """Read a batch."""
        more = int(np.count_nonzero(c.op == w.INSERT))
        self._table = primitives.with_positions(self._table, int(self._state[_PLACES]) + more)
        _check_places(c, self._table, self._state, flags)


@jit
def _check_places(c: Any, table: Any, p: Any, flags: Any) -> None:
    for i in range(len(c.seq)):
        op, cause, entry = c.op[i], c.cause[i], c.entry_id[i]
        p[_STEPS] += STEPS_PER_EVENT
        if p[_LAST] != primitives.NULL:
            if not (op == w.HIT and cause == w.BY_READ) and _is_cached(table, p):
                primitives.flag(flags, w.RANGE_1, c.seq[i])
            p[_LAST] = primitives.NULL
        if op == w.ASK:
            _ask(cause, c.cache[i], c.ledger_id[i], entry, p)
            continue
        p[_FIRST] = primitives.NULL
        if entry != primitives.NULL and (w.INSERT <= op <= w.MISS or op == w.EVICT) and op != w.SKIP:
            _at(c.seq[i], op, cause, c.cache[i], c.ledger_id[i], entry, c.life[i], table, p, flags)


@jit
def _at(
    seq: int, op: int, cause: int, cache: int, ledger: int, entry: int, life: int, table: Any, p: Any, flags: Any
) -> None:
    """Check an event at a position."""
    at = primitives.position(table, cache, ledger, entry)
    held, placed = table[at, primitives.USED] == 1, cache != 0 and ledger != primitives.NULL
    if op == w.HIT:
        if not held or (life != primitives.NULL and life != table[at, HOLDER]):
            if cause == w.BY_GET:
                primitives.flag(flags, w.GET_1, seq)
            elif cause == w.BY_READ and placed:
                primitives.flag(flags, w.RANGE_2, seq)
    elif op == w.MISS:
        if held and cause == w.BY_GET:
            primitives.flag(flags, w.GET_1, seq)
    elif op == w.REJECT:
        if not held and cause == w.BY_DUPLICATE and placed:
            primitives.flag(flags, w.INSERT_1, seq)
    elif op == w.INSERT:
        if held:
            primitives.flag(flags, w.INSERT_2, seq)
        if life != seq:
            primitives.flag(flags, w.GET_1, seq)
        p[_PLACES] += primitives.occupy(table, at, cache, ledger, entry)
        table[at, HOLDER] = seq
    elif held:
        p[_PLACES] -= 1
        primitives.forget(table, at)


@jit
def _ask(cause: int, cache: int, ledger: int, entry: int, p: Any) -> None:
    """Store a bound of a range; the last bound counts only directly after the first one, in the same ledger."""
    if cause == w.BY_FIRST:
        p[_CACHE], p[_LEDGER], p[_FIRST] = cache, ledger, entry
    elif (
        cause == w.BY_LAST and cache != 0 and cache == p[_CACHE] and ledger != primitives.NULL and ledger == p[_LEDGER]
    ):
        if 0 <= p[_FIRST] <= entry:
            p[_LAST] = entry
        else:
            p[_FIRST] = primitives.NULL
    else:
        p[_FIRST] = primitives.NULL


@jit
def _is_cached(table: Any, p: Any) -> bool:
    """Return whether all of a range is cached, or the steps are used up."""
    if p[_LAST] - p[_FIRST] >= p[_PLACES]:
        return False
    for entry in range(p[_FIRST], p[_LAST] + 1):
        p[_STEPS] -= 1
        if p[_STEPS] < 0:
            return True
        if not table[primitives.position(table, p[_CACHE], p[_LEDGER], entry), primitives.USED]:
            return False
    return True


# ---------- answers to range reads

FIRST_SEQ, FIRST_CACHE, FIRST_LEDGER, FIRST_ENTRY, LAST_SEQ, LAST_LEDGER, LAST_ENTRY = range(7)
PRIOR_OP, PRIOR_ENTRY, IS_PART = range(7, 10)
"""The fields of the state, all `NULL` at first.

They are the bounds that were asked for last, the event before, and whether it is part of an answer that must go on.
"""
RANGE_FIELDS = 10


@jit
def check_ranges(c: Any, r: Any, flags: Any) -> None:
    """Check S-RANGE-3, and what S-RANGE-1 and 2 require without positions."""
    for i in range(len(c.seq)):
        op, cause, entry = c.op[i], c.cause[i], c.entry_id[i]
        reads = op == w.HIT and cause == w.BY_READ
        if r[IS_PART] == 1 and not reads:
            primitives.flag(flags, w.RANGE_2, c.seq[i])
        r[IS_PART] = 0
        if reads and r[FIRST_SEQ] != primitives.NULL:
            if _is_out_of_line(c.cache[i], c.ledger_id[i], entry, r):
                primitives.flag(flags, w.RANGE_1, c.seq[i])
            if r[LAST_SEQ] > r[FIRST_SEQ]:
                over = (
                    r[FIRST_ENTRY] != primitives.NULL
                    and r[LAST_ENTRY] != primitives.NULL
                    and r[FIRST_ENTRY] > r[LAST_ENTRY]
                )
                if over or primitives.numbers_differ(r[FIRST_LEDGER], r[LAST_LEDGER]):
                    primitives.flag(flags, w.RANGE_3, c.seq[i])
                if r[FIRST_LEDGER] == r[LAST_LEDGER] and primitives.numbers_differ(entry, r[LAST_ENTRY]):
                    r[IS_PART] = 1
        elif op == w.ASK and cause == w.BY_FIRST:
            r[FIRST_SEQ], r[FIRST_CACHE] = c.seq[i], c.cache[i]
            r[FIRST_LEDGER], r[FIRST_ENTRY] = c.ledger_id[i], entry
        elif op == w.ASK and cause == w.BY_LAST:
            r[LAST_SEQ], r[LAST_LEDGER], r[LAST_ENTRY] = c.seq[i], c.ledger_id[i], entry
        r[PRIOR_OP], r[PRIOR_ENTRY] = op, entry


@jit
def _is_out_of_line(cache: int, ledger: int, entry: int, r: Any) -> bool:
    """Return whether an answer does not continue directly after the event before."""
    if primitives.names_differ(cache, r[FIRST_CACHE]) or primitives.numbers_differ(ledger, r[FIRST_LEDGER]):
        return True
    if r[PRIOR_OP] == w.ASK:
        return primitives.numbers_differ(entry, r[FIRST_ENTRY])
    return (
        r[PRIOR_OP] == w.HIT
        and r[PRIOR_ENTRY] != primitives.NULL
        and primitives.numbers_differ(entry, r[PRIOR_ENTRY] + 1)
    )
