"""What calls leave behind that remove entries (R-INVALIDATE-1, 4, 7, 8 and 9).

The entries of each cache stand in a list by their positions. One is put in from the end, or from where the last fill
went; where that takes many steps, the rules are left to their windows.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from entrycache_spark.loops.words import NULL, flag
from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_spark.pulsar_pip430.fold.lives import BEGINS, BORN, GONE
from entrycache_trace.compiled import Array, compiled

BACK, NEXT, CACHE, LEDGER, ENTRY, BEGAN = range(6)
"""Of each life: its neighbours (-1: none), and where it stands; `CACHE` -1: in no list."""
ENTRY_FIELDS: Final = 6

HEAD, TAIL, FINGER = range(3)
"""Of each cache."""

CALL, WHERE, CAUSE, LEDGER_OF, SINCE, LAST, LOW, LOW_ENTRY, HIGH, HIGH_ENTRY, LEFT = range(11)
"""Of a call: which, what it removes, since which event, the positions of its rows, and what it has left."""

_CURRENT, _CALLS, _DROPPED, _STEPS, _ALLOWED = range(5)

NOT_KNOWN: Final = -2
"""Of an event of an entry that is in no list, has its position from elsewhere, or does not have it alone."""

CALLS_KEPT: Final = 64
STEPS_AT_ONCE: Final = 1_000_000
STEPS_AN_EVENT: Final = 16


class Leavers:
    """The entries of each cache in order, and the calls that removed some of late."""

    def __init__(self, kept: int = CALLS_KEPT) -> None:
        self._caches = np.full((16, 3), -1, np.int64)
        self._calls = np.full((kept, 11), NULL, np.int64)
        self._state = np.array([-1, 0, NULL, 0, STEPS_AT_ONCE], np.int64)

    def follow(self, c: Any, numbers: Array, how: Array, entries: Array, caches: int, flags: Array) -> Array:
        """Take in a batch; of each HIT and EVICT the life right below its own then (-1: none), or `NOT_KNOWN`."""
        if caches > len(self._caches):
            self._caches = np.concatenate((self._caches, np.full((caches, 3), -1, np.int64)))
        self._state[_ALLOWED] += STEPS_AN_EVENT * len(c.seq)
        below = np.full(len(c.seq), NOT_KNOWN, np.int32)
        _follow(c, numbers, how, entries, self._caches, self._calls, self._state, below, flags)
        return below

    def end(self, entries: Array, flags: Array) -> None:
        """The last calls."""
        _look(entries, self._caches, self._calls, self._state)
        _given_up(self._state, 0, flags)
        for call in self._calls:
            if call[CALL] != NULL and call[LEFT]:
                _broken(call, int(call[LAST]), flags)


@compiled
def _follow(
    c: Any, numbers: Any, how: Any, entries: Any, caches: Any, calls: Any, s: Any, below: Any, flags: Any
) -> None:
    for i in range(len(c.seq)):
        op, n = c.op[i], numbers[i]
        removes = (op == w.REMOVE or op == w.CACHE_CLOSE) and _tells(
            _kind(c, i), c.call_id[i], c.cache[i], c.entry_id[i]
        )
        if s[_CURRENT] >= 0 and not (removes and _same(c, i, calls[s[_CURRENT]])):
            _look(entries, caches, calls, s)
        if removes:
            _called(c, i, calls, s, flags)
        if n < 0:
            continue
        if how[i] & BORN:
            entries[n, CACHE] = -1
        if (op == w.HIT or op == w.EVICT) and not how[i] & GONE:
            below[i] = _below(c.cache[i], c.ledger_id[i], c.entry_id[i], n, entries)
        if how[i] & BEGINS and how[i] & BORN and c.cache[i] != 0:
            if c.ledger_id[i] != NULL and c.entry_id[i] != NULL and s[_STEPS] <= s[_ALLOWED]:
                _put(c.seq[i], c.cache[i], c.ledger_id[i], c.entry_id[i], n, entries, caches[c.cache[i]], s)
        elif (op == w.EVICT or op == w.REMOVE) and not how[i] & GONE and entries[n, CACHE] >= 0:
            _unlink(n, entries, caches[entries[n, CACHE]])
    if len(c.seq):
        _given_up(s, c.seq[0], flags)


@compiled
def _below(cache: int, ledger: int, entry: int, n: int, entries: Any) -> int:
    own = entries[n]
    if own[CACHE] != cache or own[LEDGER] != ledger or own[ENTRY] != entry:
        return NOT_KNOWN
    if own[BACK] >= 0 and not _before(entries[own[BACK]], ledger, entry):
        return NOT_KNOWN
    if own[NEXT] >= 0 and not _after(entries[own[NEXT]], ledger, entry):
        return NOT_KNOWN
    return own[BACK]


@compiled
def _given_up(s: Any, seq: int, flags: Any) -> None:
    """Leave the rules to their windows where there were too many steps."""
    if s[_STEPS] > s[_ALLOWED]:
        for rule in range(w.INVALIDATE_1, w.INVALIDATE_9 + 1):
            flag(flags, rule, seq)


@compiled
def _ledger_of(c: Any, i: int) -> int:
    return c.ledger_id[i] if c.cause[i] == w.BY_LEDGER else NULL


@compiled
def _kind(c: Any, i: int) -> int:
    return w.BY_CLOSE if c.op[i] == w.CACHE_CLOSE else c.cause[i]


@compiled
def _tells(kind: int, call: int, cache: int, entry: int) -> bool:
    """Whether an event that removes entries is a row of any call: one that does not say which entry is none."""
    if call == NULL or cache == 0:
        return False
    return kind == w.BY_CLOSE or (w.BY_RANGE <= kind <= w.BY_LEDGER and entry != NULL)


@compiled
def _same(c: Any, i: int, call: Any) -> bool:
    """Whether an event that removes entries is a row of this call."""
    return (
        c.call_id[i] == call[CALL]
        and c.cache[i] == call[WHERE]
        and _kind(c, i) == call[CAUSE]
        and _ledger_of(c, i) == call[LEDGER_OF]
    )


@compiled
def _called(c: Any, i: int, calls: Any, s: Any, flags: Any) -> None:
    """Add an event to its call."""
    kind, ledger, entry = _kind(c, i), c.ledger_id[i], c.entry_id[i]
    if s[_CURRENT] < 0:
        for at in range(len(calls)):
            if calls[at, CALL] == c.call_id[i] and _same(c, i, calls[at]):
                s[_CURRENT] = at
                break
    if s[_CURRENT] < 0:
        at = s[_CALLS] % len(calls)
        s[_CALLS] += 1
        old = calls[at]
        if old[CALL] != NULL:
            if old[LEFT]:
                _broken(old, old[LAST], flags)
            s[_DROPPED] = max(s[_DROPPED], old[LAST])
        old[CALL], old[WHERE], old[CAUSE], old[LEDGER_OF] = c.call_id[i], c.cache[i], kind, _ledger_of(c, i)
        old[SINCE], old[LOW], old[HIGH], old[LEFT] = c.seq[i], NULL, NULL, 0
        if c.call_id[i] <= s[_DROPPED]:
            _broken(old, c.seq[i], flags)
        s[_CURRENT] = at
    call = calls[s[_CURRENT]]
    call[LAST] = c.seq[i]
    if kind == w.BY_CLOSE or ledger == NULL:
        return
    if call[LOW] == NULL or ledger < call[LOW] or (ledger == call[LOW] and entry < call[LOW_ENTRY]):
        call[LOW], call[LOW_ENTRY] = ledger, entry
    if call[HIGH] == NULL or ledger > call[HIGH] or (ledger == call[HIGH] and entry > call[HIGH_ENTRY]):
        call[HIGH], call[HIGH_ENTRY] = ledger, entry


@compiled
def _broken(call: Any, seq: int, flags: Any) -> None:
    if call[CAUSE] == w.BY_RANGE:
        flag(flags, w.INVALIDATE_1, seq)
    elif call[CAUSE] == w.BY_CLEAR:
        flag(flags, w.INVALIDATE_4, seq)
    elif call[CAUSE] == w.BY_CURSOR:
        flag(flags, w.INVALIDATE_7, seq)
    elif call[CAUSE] == w.BY_LEDGER:
        flag(flags, w.INVALIDATE_8, seq)
    else:
        flag(flags, w.INVALIDATE_9, seq)


@compiled
def _look(entries: Any, caches: Any, calls: Any, s: Any) -> None:
    """Whether the call that was under way has left something that it should have removed, as far as it has come."""
    if s[_CURRENT] < 0:
        return
    call = calls[s[_CURRENT]]
    s[_CURRENT] = -1
    call[LEFT] = 0
    cause = call[CAUSE]
    n = caches[call[WHERE], HEAD]
    while n >= 0 and s[_STEPS] <= s[_ALLOWED]:
        own = entries[n]
        if cause == w.BY_RANGE or cause == w.BY_CURSOR:
            if call[HIGH] == NULL or _after(own, call[HIGH], call[HIGH_ENTRY]):
                return
            inside = cause == w.BY_CURSOR or not _before(own, call[LOW], call[LOW_ENTRY])
        elif cause == w.BY_LEDGER:
            if call[LEDGER_OF] == NULL or own[LEDGER] > call[LEDGER_OF]:
                return
            inside = own[LEDGER] == call[LEDGER_OF]
        else:
            inside = True
        if inside and own[BEGAN] < call[SINCE]:
            call[LEFT] = 1
            return
        s[_STEPS] += 1
        n = own[NEXT]


@compiled
def _after(own: Any, ledger: int, entry: int) -> bool:
    return own[LEDGER] > ledger or (own[LEDGER] == ledger and own[ENTRY] > entry)


@compiled
def _before(own: Any, ledger: int, entry: int) -> bool:
    return own[LEDGER] < ledger or (own[LEDGER] == ledger and own[ENTRY] < entry)


@compiled
def _put(seq: int, cache: int, ledger: int, entry: int, n: int, entries: Any, ends: Any, s: Any) -> None:
    back = ends[TAIL]
    if back >= 0 and _after(entries[back], ledger, entry) and ends[FINGER] >= 0:
        back = ends[FINGER]
        while entries[back, NEXT] >= 0 and not _after(entries[entries[back, NEXT]], ledger, entry):
            back = entries[back, NEXT]
            s[_STEPS] += 1
    while back >= 0 and _after(entries[back], ledger, entry):
        back = entries[back, BACK]
        s[_STEPS] += 1
    own = entries[n]
    own[CACHE], own[LEDGER], own[ENTRY], own[BEGAN] = cache, ledger, entry, seq
    own[BACK], own[NEXT] = back, ends[HEAD] if back < 0 else entries[back, NEXT]
    if own[NEXT] >= 0:
        entries[own[NEXT], BACK] = n
        ends[FINGER] = n
    else:
        ends[TAIL] = n
    if back < 0:
        ends[HEAD] = n
    else:
        entries[back, NEXT] = n


@compiled
def _unlink(n: int, entries: Any, ends: Any) -> None:
    own = entries[n]
    if own[BACK] >= 0:
        entries[own[BACK], NEXT] = own[NEXT]
    else:
        ends[HEAD] = own[NEXT]
    if own[NEXT] >= 0:
        entries[own[NEXT], BACK] = own[BACK]
    else:
        ends[TAIL] = own[BACK]
    if ends[FINGER] == n:
        ends[FINGER] = own[BACK]
    own[CACHE] = -1
