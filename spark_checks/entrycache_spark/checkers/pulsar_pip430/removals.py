"""Removals: the removal queue by its slots, the numbers of slots, and calls that remove entries.

`check_slots` checks that a pass takes the oldest held slot (R-EVICT-8); slots have the numbers of the trace, or else
the order in which they were given. `check_slot_numbers` checks that the numbers are consecutive (R-STATE-2).

`Removals` keeps the entries of each cache in a list by position, and checks that a call leaves none of its range
(R-INVALIDATE-1, 4, 7, 8 and 9). A new entry is searched for from the end, or from the last fill. If that takes too many
steps, these rules are left to their windows.
"""

from typing import Any, Final

import numpy as np

from entrycache_spark.checkers.primitives import NULL, flag, numbers_differ
from entrycache_spark.checkers.pulsar_pip430 import rows as w
from entrycache_spark.checkers.pulsar_pip430.lives import AFTER_END, BEGINS, BORN
from entrycache_trace.jit import Array, jit

MODE, OLDEST, LAST_TAKEN, TOP, AHEAD, MOVED, UNNUMBERED, UNLINKED = range(8)
"""The fields of the state: the numbering mode, the oldest held slot, the highest slot taken, and the next slot.

`AHEAD`: how far tickets are ahead of dequeues. `MOVED`: where that first changed. The last two: what the trace lacks.
"""
SLOT_FIELDS = 8

_NUMBERED, _ORDERED, _LEFT_OPEN = 1, 2, 3

LEAST_ROOM = 1 << 12


@jit
def check_slots(c: Any, numbers: Any, how: Any, held: Any, s: Any, t: Any, flags: Any) -> None:
    """Check the slots; `held` is a ring with a mark for each slot from `OLDEST` on, `t` the slot of each life or -1."""
    for i in range(len(c.seq)):
        n, op = numbers[i], c.op[i]
        gives = op == w.INSERT or op == w.REQUEUE
        takes = op == w.EVICT or op == w.REQUEUE or op == w.TOMBSTONE
        opens = op == w.SNAPSHOT and c.cause[i] == w.BY_OPEN
        if (gives and c.tail_no[i] == NULL) or (takes and (c.ticket[i] == NULL or c.head_no[i] == NULL)):
            s[UNNUMBERED] += 1
        if op == w.REMOVE and c.ticket[i] != NULL:
            s[UNLINKED] = 1
        if n >= 0 and how[i] & BORN:
            t[n] = -1
        opens = opens and n >= 0
        if not (gives or takes or opens or op == w.REMOVE):
            continue
        if s[MODE] == 0 and op != w.REMOVE:
            number = c.ticket[i] if takes else c.tail_no[i]
            s[MODE] = _ORDERED if number == NULL else _NUMBERED
        if s[MODE] == _LEFT_OPEN:
            continue
        if op == w.REMOVE:
            if n >= 0 and t[n] >= 0:
                held[t[n] & (len(held) - 1)] = 0
                t[n] = -1
            continue
        fits = True
        if takes:
            fits = _dequeue(c.seq[i], op, c.ticket[i], c.head_no[i], n, held, s, t)
        if fits and (gives or opens):
            fits = n >= 0 and _enqueue(c.tail_no[i] if s[MODE] == _NUMBERED else s[TOP], n, held, s, t)
        if not fits:
            s[MODE] = _LEFT_OPEN
            flag(flags, w.EVICT_8, c.seq[i])


@jit
def _dequeue(seq: int, op: int, ticket: int, head: int, n: int, held: Any, s: Any, t: Any) -> bool:
    mask = len(held) - 1
    if op == w.TOMBSTONE:
        if s[MODE] != _NUMBERED:
            return True
        slot = ticket
        if slot == NULL or (s[OLDEST] <= slot < s[OLDEST] + len(held) and held[slot & mask]):
            return False
    else:
        if n < 0 or t[n] < 0:
            return False
        slot = t[n]
    if s[MODE] == _NUMBERED:
        if slot != ticket or head == NULL:
            return False
        if ticket - head != s[AHEAD]:
            s[AHEAD] = ticket - head
            if s[MOVED] == NULL:
                s[MOVED] = seq
    while s[OLDEST] < slot and s[OLDEST] < s[TOP]:
        if held[s[OLDEST] & mask]:
            return False
        s[OLDEST] += 1
    if op != w.TOMBSTONE:
        held[slot & mask] = 0
        t[n] = -1
    s[LAST_TAKEN] = max(s[LAST_TAKEN], slot)
    return True


@jit
def _enqueue(slot: int, n: int, held: Any, s: Any, t: Any) -> bool:
    mask = len(held) - 1
    if slot == NULL or slot < 0 or t[n] >= 0:
        return False
    if s[TOP] == 0:
        s[OLDEST] = slot
    if slot <= s[LAST_TAKEN] or slot < s[OLDEST] or slot - s[OLDEST] > mask or held[slot & mask]:
        return False
    held[slot & mask] = 1
    t[n] = slot
    s[TOP] = max(s[TOP], slot + 1)
    return True


def new_slots() -> tuple[Array, Array]:
    """Return an empty ring, and the initial state."""
    state = np.zeros(SLOT_FIELDS, np.int64)
    state[MOVED], state[LAST_TAKEN] = NULL, -1
    return np.zeros(LEAST_ROOM, np.int8), state


def with_room(held: Array, s: Array, more: int) -> Array:
    """Return the ring, widened if it lacks room for so many more slots."""
    if int(s[TOP] - s[OLDEST]) + more <= len(held):
        return held
    ring = np.roll(held, -int(s[OLDEST] & (len(held) - 1)))  # slots that were unlinked are passed over
    s[OLDEST] = min(int(s[OLDEST]) + int(np.argmax(ring)), int(s[TOP])) if ring.any() else s[TOP]
    used = int(s[TOP] - s[OLDEST])
    wider = np.zeros(1 << (2 * (used + more)).bit_length(), np.int8)
    slots = np.arange(s[OLDEST], s[TOP])
    wider[slots & (len(wider) - 1)] = held[slots & (len(held) - 1)]
    return wider


def end_slots(s: Array, flags: Array) -> None:
    """Check what only the end decides: whether dequeues are numbered like slots, and whether all slots had numbers."""
    if s[MODE] == _NUMBERED and s[MOVED] != NULL and not s[UNLINKED]:
        flag(flags, w.EVICT_8, int(s[MOVED]))
    if s[MODE] == _ORDERED and not s[UNNUMBERED]:
        flag(flags, w.EVICT_8, 0)


# ---------- slot numbers

STARTS, ENQUEUED, DEQUEUED, ENQUEUED_SHOWN, DEQUEUED_SHOWN, HEAD_STAMP, HEAD_SEQ, IF_LINKED = range(8)
"""The fields of the state.

`STARTS`: the trace begins with CONFIG. Then the slots given and taken, by the rows and as last shown; the stamp of the
head at the end of the last pass, until an event shows it; and the first event that is wrong unless calls unlink slots.
"""


def new_numbers() -> Array:
    """Return the initial state."""
    numbers = np.full(8, NULL, np.int64)
    numbers[[ENQUEUED, DEQUEUED]] = 0
    return numbers


@jit
def check_slot_numbers(c: Any, s: Any, flags: Any) -> None:
    """Check the slot numbers; with several threads disorder is left to the window, which knows how much is allowed."""
    for i in range(len(c.seq)):
        op = c.op[i]
        if s[STARTS] == NULL:
            s[STARTS] = 1 if op == w.CONFIG else 0
        gives = op == w.INSERT or op == w.REQUEUE or (op == w.SNAPSHOT and c.cause[i] == w.BY_OPEN)
        takes = op == w.EVICT or op == w.REQUEUE or op == w.TOMBSTONE
        ends = op == w.PASS_END
        if not (gives or takes or ends or op == w.SNAPSHOT or op == w.REMOVE):
            continue
        if op != w.INSERT and s[HEAD_STAMP] != NULL:
            if op != w.TOMBSTONE and op != w.REMOVE and numbers_differ(c.stamp_ns[i], s[HEAD_STAMP]):
                _unless_unlinked(s[HEAD_SEQ], s)
            s[HEAD_STAMP] = NULL
        if gives or ends:
            if numbers_differ(c.tail_no[i], s[ENQUEUED] if s[STARTS] == 1 else s[ENQUEUED_SHOWN]):
                flag(flags, w.STATE_2, c.seq[i])
            if c.tail_no[i] != NULL:
                s[ENQUEUED_SHOWN] = c.tail_no[i] + (1 if gives else 0)
        if takes or ends:
            if numbers_differ(c.head_no[i], s[DEQUEUED] if s[STARTS] == 1 else s[DEQUEUED_SHOWN]):
                _unless_unlinked(c.seq[i], s)
            if c.head_no[i] != NULL:
                s[DEQUEUED_SHOWN] = c.head_no[i] + (1 if takes else 0)
        if ends and c.stamp_ns[i] != NULL:
            if s[STARTS] == 1 and s[ENQUEUED] == s[DEQUEUED]:
                _unless_unlinked(c.seq[i], s)
            s[HEAD_STAMP], s[HEAD_SEQ] = c.stamp_ns[i], c.seq[i]
        s[ENQUEUED] += gives
        s[DEQUEUED] += takes


@jit
def _unless_unlinked(seq: int, s: Any) -> None:
    if s[IF_LINKED] == NULL:
        s[IF_LINKED] = seq


def end_numbers(s: Array, unlinked: bool, flags: Array) -> None:
    """Check what only the end decides: whether calls unlink slots."""
    if s[IF_LINKED] != NULL and not unlinked:
        flag(flags, w.STATE_2, int(s[IF_LINKED]))


# ---------- calls that remove entries

BACK, NEXT, CACHE, LEDGER, ENTRY, BEGAN = range(6)
"""The fields of a life: its neighbours (-1: none) and its position; `CACHE` is -1 if it is in no list."""
ENTRY_FIELDS: Final = 6

HEAD, TAIL, FINGER = range(3)
"""The fields of a cache."""

CALL, WHERE, CAUSE, LEDGER_OF, SINCE, LAST, LOW, LOW_ENTRY, HIGH, HIGH_ENTRY, LEFT_ENTRY = range(11)
"""The fields of a call: what it removes and since which event, the range of its rows, and whether it left an entry."""

_CURRENT, _CALLS, _DROPPED, _STEPS, _ALLOWED = range(5)

NOT_KNOWN: Final = -2
"""The result for an entry that is in no list, has another position, or shares it."""

CALLS_KEPT: Final = 64
STEPS_AT_ONCE: Final = 1_000_000
STEPS_PER_EVENT: Final = 16


class Removals:
    """The entries of each cache in order, and the last calls that removed some."""

    def __init__(self, kept: int = CALLS_KEPT) -> None:
        self._caches = np.full((16, 3), -1, np.int64)
        self._calls = np.full((kept, 11), NULL, np.int64)
        self._state = np.array([-1, 0, NULL, 0, STEPS_AT_ONCE], np.int64)

    def follow(self, c: Any, numbers: Array, how: Array, entries: Array, caches: int, flags: Array) -> Array:
        """Read a batch; return for each HIT and EVICT the next lower life (-1: none), or `NOT_KNOWN`."""
        if caches > len(self._caches):
            self._caches = np.concatenate((self._caches, np.full((caches, 3), -1, np.int64)))
        self._state[_ALLOWED] += STEPS_PER_EVENT * len(c.seq)
        below = np.full(len(c.seq), NOT_KNOWN, np.int32)
        _check_removals(c, numbers, how, entries, self._caches, self._calls, self._state, below, flags)
        return below

    def end(self, entries: Array, flags: Array) -> None:
        """Check the last calls."""
        _check_call(entries, self._caches, self._calls, self._state)
        _given_up(self._state, 0, flags)
        for call in self._calls:
            if call[CALL] != NULL and call[LEFT_ENTRY]:
                _broken(call, int(call[LAST]), flags)


@jit
def _check_removals(
    c: Any, numbers: Any, how: Any, entries: Any, caches: Any, calls: Any, s: Any, below: Any, flags: Any
) -> None:
    for i in range(len(c.seq)):
        op, n = c.op[i], numbers[i]
        removes = (op == w.REMOVE or op == w.CACHE_CLOSE) and _is_of_call(
            _kind(c, i), c.call_id[i], c.cache[i], c.entry_id[i]
        )
        if s[_CURRENT] >= 0 and not (removes and _same(c, i, calls[s[_CURRENT]])):
            _check_call(entries, caches, calls, s)
        if removes:
            _called(c, i, calls, s, flags)
        if n < 0:
            continue
        if how[i] & BORN:
            entries[n, CACHE] = -1
        if (op == w.HIT or op == w.EVICT) and not how[i] & AFTER_END:
            below[i] = _next_lower(c.cache[i], c.ledger_id[i], c.entry_id[i], n, entries)
        if how[i] & BEGINS and how[i] & BORN and c.cache[i] != 0:
            if c.ledger_id[i] != NULL and c.entry_id[i] != NULL and s[_STEPS] <= s[_ALLOWED]:
                _put(c.seq[i], c.cache[i], c.ledger_id[i], c.entry_id[i], n, entries, caches[c.cache[i]], s)
        elif (op == w.EVICT or op == w.REMOVE) and not how[i] & AFTER_END and entries[n, CACHE] >= 0:
            _unlink(n, entries, caches[entries[n, CACHE]])
    if len(c.seq):
        _given_up(s, c.seq[0], flags)


@jit
def _next_lower(cache: int, ledger: int, entry: int, n: int, entries: Any) -> int:
    own = entries[n]
    if own[CACHE] != cache or own[LEDGER] != ledger or own[ENTRY] != entry:
        return NOT_KNOWN
    if own[BACK] >= 0 and not _before(entries[own[BACK]], ledger, entry):
        return NOT_KNOWN
    if own[NEXT] >= 0 and not _after(entries[own[NEXT]], ledger, entry):
        return NOT_KNOWN
    return own[BACK]


@jit
def _given_up(s: Any, seq: int, flags: Any) -> None:
    """Leave the rules to their windows if there were too many steps."""
    if s[_STEPS] > s[_ALLOWED]:
        for rule in range(w.INVALIDATE_1, w.INVALIDATE_9 + 1):
            flag(flags, rule, seq)


@jit
def _ledger_of(c: Any, i: int) -> int:
    return c.ledger_id[i] if c.cause[i] == w.BY_LEDGER else NULL


@jit
def _kind(c: Any, i: int) -> int:
    return w.BY_CLOSE if c.op[i] == w.CACHE_CLOSE else c.cause[i]


@jit
def _is_of_call(kind: int, call: int, cache: int, entry: int) -> bool:
    """Return whether an event that removes entries belongs to a call; one that names no entry does not."""
    if call == NULL or cache == 0:
        return False
    return kind == w.BY_CLOSE or (w.BY_RANGE <= kind <= w.BY_LEDGER and entry != NULL)


@jit
def _same(c: Any, i: int, call: Any) -> bool:
    """Return whether an event that removes entries belongs to this call."""
    return (
        c.call_id[i] == call[CALL]
        and c.cache[i] == call[WHERE]
        and _kind(c, i) == call[CAUSE]
        and _ledger_of(c, i) == call[LEDGER_OF]
    )


@jit
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
            if old[LEFT_ENTRY]:
                _broken(old, old[LAST], flags)
            s[_DROPPED] = max(s[_DROPPED], old[LAST])
        old[CALL], old[WHERE], old[CAUSE], old[LEDGER_OF] = c.call_id[i], c.cache[i], kind, _ledger_of(c, i)
        old[SINCE], old[LOW], old[HIGH], old[LEFT_ENTRY] = c.seq[i], NULL, NULL, 0
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


@jit
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


@jit
def _check_call(entries: Any, caches: Any, calls: Any, s: Any) -> None:
    """Check whether the current call has left an entry that it should have removed, as far as it has come."""
    if s[_CURRENT] < 0:
        return
    call = calls[s[_CURRENT]]
    s[_CURRENT] = -1
    call[LEFT_ENTRY] = 0
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
            call[LEFT_ENTRY] = 1
            return
        s[_STEPS] += 1
        n = own[NEXT]


@jit
def _after(own: Any, ledger: int, entry: int) -> bool:
    return own[LEDGER] > ledger or (own[LEDGER] == ledger and own[ENTRY] > entry)


@jit
def _before(own: Any, ledger: int, entry: int) -> bool:
    return own[LEDGER] < ledger or (own[LEDGER] == ledger and own[ENTRY] < entry)


@jit
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


@jit
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
