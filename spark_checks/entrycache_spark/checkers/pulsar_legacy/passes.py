"""The rules of passes, and of the shares that caches give in a size pass (L-EVICT-1 to 5, L-EXPIRE-1 and 2).

A pass takes the lowest entries of a cache up to its cutoff, and its end repeats the values of its begin. At the begin
of a pass over all caches the largest are chosen to give, each in proportion to its size; at its end each is compared
with what it gave. If the choice costs too many steps, the rules are left to their windows.
"""

from math import floor
from typing import Any, Final

import numpy as np

from entrycache_spark.checkers.batches import TextNumbers, widen
from entrycache_spark.checkers.primitives import NULL, flag, names_differ, numbers_differ
from entrycache_spark.checkers.pulsar_legacy import rows as own
from entrycache_spark.checkers.pulsar_pip430 import rows as w
from entrycache_spark.checkers.pulsar_pip430.rows import value_or_setting
from entrycache_trace.jit import Array, jit

PASS, KIND, BOUND, CACHE = range(4)
"""The fields of the state: the open pass, its kind, bound and cache. `PASS` is `NULL` if none is open."""

TAKEN_BY, LEDGER, ENTRY = range(3)
"""The fields of a cache: the pass that last took an entry of it, and that entry."""
TAKEN_FIELDS = 3


def new_passes() -> Array:
    """Return the initial state."""
    return np.full(4, NULL)


def no_taken(caches: int) -> Array:
    """Return rows for caches of which nothing was taken."""
    return np.full((caches, TAKEN_FIELDS), NULL)


@jit
def check_passes(c: Any, below: Any, p: Any, taken: Any, flags: Any) -> None:
    """Check the events of passes; `below` holds for each EVICT the next lower life, or -1 if it is the lowest."""
    for i in range(len(c.seq)):
        op, cause, pass_id, seq = c.op[i], c.cause[i], c.pass_id[i], c.seq[i]
        if op == w.PASS_BEGIN:
            if p[PASS] != NULL or pass_id != seq or (cause != w.BY_TIME and cause != w.BY_SIZE):
                _disorder(seq, flags)
            p[PASS], p[KIND], p[BOUND], p[CACHE] = pass_id, cause, c.bound[i], c.cache[i]
        elif op == w.EVICT or op == w.PASS_END:
            if pass_id == NULL or pass_id != p[PASS] or cause != p[KIND]:
                _disorder(seq, flags)
            elif op == w.EVICT:
                last = taken[c.cache[i]]
                if below[i] != -1 or (last[TAKEN_BY] == pass_id and descends(c.ledger_id[i], c.entry_id[i], last)):
                    flag(flags, own.EVICT_1 if cause == w.BY_SIZE else own.EXPIRE_2, seq)
                last[TAKEN_BY], last[LEDGER], last[ENTRY] = pass_id, c.ledger_id[i], c.entry_id[i]
            if cause == w.BY_TIME:
                _of_time(seq, op, c.cache[i], c.stamp_ns[i], c.bound[i], p, flags)
            elif op == w.PASS_END and (numbers_differ(c.bound[i], p[BOUND]) or names_differ(c.cache[i], p[CACHE])):
                flag(flags, own.EVICT_1, seq)
            if op == w.PASS_END:
                p[PASS] = NULL


@jit
def descends(ledger: int, entry: int, before: Any) -> bool:
    """Return whether a position is known to be no higher than the one before it."""
    if ledger == NULL or before[LEDGER] == NULL or ledger > before[LEDGER]:
        return False
    return ledger < before[LEDGER] or (entry != NULL and before[ENTRY] != NULL and entry <= before[ENTRY])


@jit
def _of_time(seq: int, op: int, cache: int, stamp: int, bound: int, p: Any, flags: Any) -> None:
    if names_differ(cache, p[CACHE]):
        flag(flags, own.EXPIRE_1, seq)
    elif op == w.EVICT:
        if p[BOUND] != NULL and stamp > p[BOUND]:
            flag(flags, own.EXPIRE_1, seq)
    else:
        cutoff = value_or_setting(bound, p[BOUND])
        if numbers_differ(bound, p[BOUND]) or (stamp != NULL and cutoff != NULL and stamp <= cutoff):
            flag(flags, own.EXPIRE_1, seq)


@jit
def _disorder(seq: int, flags: Any) -> None:
    """Leave all rules of passes to their windows: an event does not belong to the open pass."""
    for rule in range(own.EVICT_1, own.EXPIRE_2 + 1):
        flag(flags, rule, seq)


# ---------- shares of a size pass

BYTES, LIVE, LIVE_AT, SHARE_BYTES, TIED, CHOSEN, GAVE, GAVE_BYTES, LAST_BYTES = range(9)
"""The fields of a cache: its bytes and entries, what it held and must give when the pass began, and what it gave."""
SHARE_FIELDS: Final = 9

_PASS, _NAMED, _ALONE, _STEPS, _ALLOWED = range(5)

STEPS_AT_ONCE: Final = 1_000_000
STEPS_PER_EVENT: Final = 128

MAX_AMOUNT: Final = 1 << 53
"""The largest amount that a double represents exactly."""


class Shares:
    """The contents of each cache, and the open size pass."""

    def __init__(self) -> None:
        self._caches = np.zeros((1, SHARE_FIELDS), np.int64)
        self._ranks = np.zeros(1, np.int64)
        self._state = np.array([NULL, 0, 0, 0, STEPS_AT_ONCE], np.int64)

    def follow(self, c: Any, names: TextNumbers, flags: Array) -> None:
        """Read a batch; `names` are the names of the caches."""
        if len(names) > len(self._caches):
            self._caches = widen(self._caches, len(names))
            self._ranks = _ranks_of(names)
        self._state[_ALLOWED] += STEPS_PER_EVENT * len(c.seq)
        _check_shares(c, self._ranks, self._caches, self._state, flags)


def _ranks_of(names: TextNumbers) -> Array:
    """Return the rank of each name in the order of SQL, which compares bytes."""
    ranks = np.zeros(len(names), np.int64)
    named = [(name.encode(), number) for number, name in enumerate(names.all_texts()) if name is not None]
    for rank, (_, number) in enumerate(sorted(named)):
        ranks[number] = rank
    return ranks


@jit
def _check_shares(c: Any, ranks: Any, caches: Any, s: Any, flags: Any) -> None:
    for i in range(len(c.seq)):
        op, size = c.op[i], c.size_bytes[i]
        if op == w.INSERT or op == w.EVICT or op == w.REMOVE:
            if c.cache[i] == 0 or size == NULL:
                _left_open(c.seq[i], flags)
                continue
            it = caches[c.cache[i]]
            it[BYTES] += size if op == w.INSERT else -size
            it[LIVE] += 1 if op == w.INSERT else -1
            if op == w.EVICT and s[_PASS] != NULL and c.pass_id[i] == s[_PASS]:
                it[GAVE] += 1
                it[GAVE_BYTES] += size
                it[LAST_BYTES] = size
        elif c.cause[i] == w.BY_SIZE:
            if op == w.PASS_BEGIN:
                s[_PASS] = NULL
                if c.bound[i] != NULL and s[_STEPS] <= s[_ALLOWED]:
                    s[_PASS] = c.seq[i]
                    _begin(c.seq[i], c.bound[i], c.cache[i], ranks, caches, s, flags)
            elif op == w.PASS_END and s[_PASS] != NULL and c.pass_id[i] == s[_PASS]:
                for it in caches:
                    if it[SHARE_BYTES] != 0 or it[GAVE] != 0:
                        _judge(c.seq[i], it, s, flags)
                s[_PASS] = NULL
    if s[_STEPS] > s[_ALLOWED]:
        _left_open(c.seq[0], flags)


@jit
def _left_open(seq: int, flags: Any) -> None:
    for rule in range(own.EVICT_1, own.EVICT_5 + 1):
        flag(flags, rule, seq)


@jit
def _begin(seq: int, need: int, named: int, ranks: Any, caches: Any, s: Any, flags: Any) -> None:
    s[_NAMED] = named
    s[_ALONE] = 1
    s[_STEPS] += len(caches)
    for it in caches:
        it[LIVE_AT] = it[LIVE]
        it[SHARE_BYTES] = it[TIED] = it[CHOSEN] = it[GAVE] = it[GAVE_BYTES] = it[LAST_BYTES] = 0
    if named != 0:
        caches[named, SHARE_BYTES] = need
    elif abs(need) > MAX_AMOUNT:
        _left_open(seq, flags)
    else:
        _share_out(seq, need, ranks, caches, s, flags)


@jit
def _share_out(seq: int, need: int, ranks: Any, caches: Any, s: Any, flags: Any) -> None:
    """Choose the largest caches until they hold half of all bytes, and compute each one's share."""
    total = 0
    for it in caches:
        if it[LIVE] > 0:
            total += it[BYTES]
            if it[BYTES] < 0:
                _left_open(seq, flags)
                return
    chosen, last = 0, -1
    taken_bytes = np.int64(0)
    best = _largest(ranks, caches)
    while best >= 0 and taken_bytes < total // 2 and s[_STEPS] <= s[_ALLOWED]:
        caches[best, CHOSEN] = 1
        taken_bytes += caches[best, BYTES]
        chosen, last = chosen + 1, best
        best = _largest(ranks, caches)
        s[_STEPS] += len(caches)
    s[_ALONE] = 1 if chosen == 1 else 0
    if chosen == 0:
        return
    ties = best >= 0 and caches[best, BYTES] == caches[last, BYTES]
    for it in caches:
        if it[CHOSEN] == 1:
            it[SHARE_BYTES] = np.int64(floor(float(need) * (float(it[BYTES]) / float(taken_bytes))))
        it[TIED] = 1 if ties and it[LIVE] > 0 and it[BYTES] == caches[last, BYTES] else 0


@jit
def _largest(ranks: Any, caches: Any) -> int:
    """Return the largest cache that is not chosen yet; of equal ones the first by name."""
    best = -1
    for at in range(1, len(caches)):
        if caches[at, LIVE] > 0 and caches[at, CHOSEN] == 0:
            more = 1 if best < 0 else caches[at, BYTES] - caches[best, BYTES]
            if more > 0 or (more == 0 and ranks[at] < ranks[best]):
                best = at
    return best


@jit
def _judge(seq: int, it: Any, s: Any, flags: Any) -> None:
    """Check what a cache gave, at the end of the pass."""
    gives, gave, share_bytes = it[SHARE_BYTES] > 0, it[GAVE] > 0, it[SHARE_BYTES]
    too_little = it[GAVE_BYTES] < share_bytes and it[LIVE_AT] > it[GAVE]
    too_much = gave and it[GAVE_BYTES] - it[LAST_BYTES] >= share_bytes
    if s[_NAMED] != 0:
        if gives and too_little:
            flag(flags, own.EVICT_1, seq)
        if gave and (not gives or too_much):
            flag(flags, own.EVICT_2, seq)
        return
    if gave != gives and (gave or it[LIVE_AT] > 0):
        flag(flags, own.EVICT_4 if it[TIED] == 1 else own.EVICT_3, seq)
    if gives and gave:
        if s[_ALONE] == 0:
            if too_little or too_much:
                flag(flags, own.EVICT_5, seq)
        elif too_little:
            flag(flags, own.EVICT_1, seq)
        elif too_much:
            flag(flags, own.EVICT_2, seq)
