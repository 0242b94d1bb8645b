"""The rules of lookups and offers within a call (L-READ-1, 2 and 4 to 6).

A call is judged when the next one begins. Where calls overlap, all rules but L-READ-1 are left to their windows.
"""

from typing import Any, Final

import numpy as np

from entrycache_spark.checkers.primitives import NULL, flag, names_differ, numbers_differ
from entrycache_spark.checkers.pulsar_legacy import rows as own
from entrycache_spark.checkers.pulsar_legacy.rows import is_offer
from entrycache_spark.checkers.pulsar_pip430 import rows as w
from entrycache_spark.checkers.pulsar_pip430.removals import NOT_KNOWN
from entrycache_trace.jit import Array, jit

CALL, HITS, MISSES, CACHED_MISSES, OFFERS, SINGLES, HIT_LIFE, HIT_SEQ, LEFT_SEQ = range(9)
"""The fields of the state: the current call and its counts, its last `get` hit, and the last event that removed one.

Three positions follow: the first one that a read missed, and the last ones that a `get` and a read looked up.
"""
FIRST, LAST_GET, READ = range(9, 18, 3)
READ_FIELDS: Final = 18

UNSEEN: Final = -1
"""The cache of a position that does not exist."""

STORED_BYTES: Final = 100
"""The size of an entry from storage."""


def new_reads() -> Array:
    """Return the initial state."""
    return np.full(READ_FIELDS, NULL)


@jit
def check_reads(c: Any, numbers: Any, present: Any, below: Any, by_object: bool, r: Any, flags: Any) -> None:
    """Check the lookups and offers of a batch.

    `found` says for each lookup whether its position is held. `below` holds for each HIT the next lower life.
    """
    for i in range(len(c.seq)):
        op, cause, call, seq = c.op[i], c.cause[i], c.call_id[i], c.seq[i]
        if op == w.EVICT or op == w.REMOVE:
            r[LEFT_SEQ] = seq
            continue
        gets = (op == w.HIT or op == w.MISS) and cause == w.BY_GET
        reads = (op == w.HIT or op == w.MISS) and cause == w.BY_READ
        if gets and (present[i] == 0 if op == w.HIT else present[i] == 1 and not by_object):
            flag(flags, own.READ_1, seq)
        elif reads and op == w.HIT and present[i] == 0:
            flag(flags, own.READ_4, seq)
        offers, single = is_offer(op, cause), op == w.SKIP and cause == w.BY_NOT_WANTED
        if call == NULL or not (gets or reads or offers or single):
            continue
        if call != r[CALL]:
            end_reads(r, by_object, flags)
            if r[CALL] != NULL and call < r[CALL]:
                _disorder(seq, flags)
            _open(call, r)
        if gets:
            if op == w.HIT:
                _check_get(seq, c.cache[i], c.ledger_id[i], c.entry_id[i], numbers[i], below[i], r, flags)
            _store_position(c.cache[i], c.ledger_id[i], c.entry_id[i], LAST_GET, r)
        elif reads:
            _read(seq, op, c.cache[i], c.ledger_id[i], c.entry_id[i], present[i] == 1, r, flags)
            _store_position(c.cache[i], c.ledger_id[i], c.entry_id[i], READ, r)
        elif offers:
            r[OFFERS] += 1
            if r[SINGLES] > 0:
                flag(flags, own.READ_6, seq)
            elif _unasked(op, cause, c.cache[i], c.ledger_id[i], c.entry_id[i], c.size_bytes[i], r):
                flag(flags, own.READ_5, seq)
        else:
            r[SINGLES] += 1
            other = numbers_differ(c.size_bytes[i], STORED_BYTES) or _is_displaced(
                c.cache[i], c.ledger_id[i], c.entry_id[i], 0, FIRST, r
            )
            if other or r[MISSES] != 1 or r[OFFERS] > 0:
                flag(flags, own.READ_6, seq)


@jit
def _open(call: int, r: Any) -> None:
    r[CALL] = call
    for count in range(HITS, SINGLES + 1):
        r[count] = 0
    r[HIT_LIFE] = r[HIT_SEQ] = NULL
    r[FIRST] = r[LAST_GET] = r[READ] = UNSEEN


@jit
def _store_position(cache: int, ledger: int, entry: int, at: int, r: Any) -> None:
    """Store a position."""
    r[at], r[at + 1], r[at + 2] = cache, ledger, entry


@jit
def _is_displaced(cache: int, ledger: int, entry: int, further: int, at: int, r: Any) -> bool:
    """Return whether a position is known not to be `further` entries after the stored one."""
    return (
        names_differ(cache, r[at])
        or numbers_differ(ledger, r[at + 1])
        or (entry != NULL and r[at + 2] != NULL and entry != r[at + 2] + further)
    )


@jit
def _check_get(seq: int, cache: int, ledger: int, entry: int, number: int, below: int, r: Any, flags: Any) -> None:
    """Check a hit of a range lookup: it must be the next higher cached entry after the hit before it."""
    if r[LAST_GET] != UNSEEN:
        before, last = r[LAST_GET + 1], r[LAST_GET + 2]
        descends = ledger != NULL and before != NULL and ledger < before
        stands = ledger != NULL and ledger == before and entry != NULL and last != NULL and entry <= last
        if names_differ(cache, r[LAST_GET]) or descends or stands:
            flag(flags, own.READ_2, seq)
    if r[HIT_SEQ] != NULL and (below < 0 or below != r[HIT_LIFE] or r[LEFT_SEQ] > r[HIT_SEQ]):
        flag(flags, own.READ_2, seq)
    r[HIT_LIFE] = number if below != NOT_KNOWN else NULL
    r[HIT_SEQ] = seq


@jit
def _read(seq: int, op: int, cache: int, ledger: int, entry: int, held: bool, r: Any, flags: Any) -> None:
    """Check a lookup of a read: all hits or all misses, in order; misses come before the offers."""
    if r[READ] != UNSEEN and _is_displaced(cache, ledger, entry, 1, READ, r):
        flag(flags, own.READ_4, seq)
    if op == w.HIT:
        r[HITS] += 1
    else:
        if r[MISSES] == 0:
            _store_position(cache, ledger, entry, FIRST, r)
        r[MISSES] += 1
        if held:
            r[CACHED_MISSES] += 1
        if r[OFFERS] > 0:
            flag(flags, own.READ_5, seq)
        if r[SINGLES] > 0:
            flag(flags, own.READ_6, seq)
    if r[HITS] > 0 and r[MISSES] > 0:
        flag(flags, own.READ_4, seq)


@jit
def _unasked(op: int, cause: int, cache: int, ledger: int, entry: int, size: int, r: Any) -> bool:
    """Return whether an offer is none of the entries that its call missed."""
    if r[MISSES] == 0:
        return op == w.INSERT and cause == w.BY_FILL
    return (
        (op == w.INSERT and names_differ(cause, w.BY_FILL))
        or numbers_differ(size, STORED_BYTES)
        or _is_displaced(cache, ledger, entry, r[OFFERS] - 1, FIRST, r)
    )


@jit
def end_reads(r: Any, by_object: bool, flags: Any) -> None:
    """Check a call that has ended."""
    if r[CALL] == NULL:
        return
    if r[SINGLES] > 0:
        if r[MISSES] != 1 or (r[CACHED_MISSES] > 0 and not by_object):
            flag(flags, own.READ_6, r[CALL])
    elif r[MISSES] > 0:
        if r[CACHED_MISSES] == r[MISSES]:
            flag(flags, own.READ_4, r[CALL])
        if r[OFFERS] != r[MISSES]:
            flag(flags, own.READ_5, r[CALL])


@jit
def _disorder(seq: int, flags: Any) -> None:
    """Leave the rules to their windows: a call continues after another one began."""
    for rule in range(own.READ_2, own.READ_6 + 1):
        flag(flags, rule, seq)
