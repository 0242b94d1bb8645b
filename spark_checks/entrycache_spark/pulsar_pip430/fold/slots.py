"""The removal queue by its slots: a pass takes the oldest that is held (R-EVICT-8).

Slots are numbered by the trace, or else by the order in which they were given.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from entrycache_spark.loops.words import NULL, flag
from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_spark.pulsar_pip430.fold.lives import BORN
from entrycache_trace.compiled import Array, compiled

MODE, OLDEST, TAKEN, TOP, AHEAD, MOVED, UNNUMBERED, UNLINKED = range(8)
"""The fields of the state: how slots are numbered, no slot below `OLDEST` is held, the highest that was taken, one more
than the highest given, how far tickets are ahead of dequeues and where that first changed; and what the trace lacks."""
SLOT_FIELDS = 8

_NUMBERED, _ORDERED, _LEFT_OPEN = 1, 2, 3

LEAST_ROOM = 1 << 12


@compiled
def fold_slots(c: Any, numbers: Any, how: Any, held: Any, s: Any, t: Any, flags: Any) -> None:
    """`held`: a ring with a mark for each slot from `OLDEST` on; `t`: the slot of each life, -1 for none."""
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
            told = c.ticket[i] if takes else c.tail_no[i]
            s[MODE] = _ORDERED if told == NULL else _NUMBERED
        if s[MODE] == _LEFT_OPEN:
            continue
        if op == w.REMOVE:
            if n >= 0 and t[n] >= 0:
                held[t[n] & (len(held) - 1)] = 0
                t[n] = -1
            continue
        fits = True
        if takes:
            fits = _take(c.seq[i], op, c.ticket[i], c.head_no[i], n, held, s, t)
        if fits and (gives or opens):
            fits = n >= 0 and _give(c.tail_no[i] if s[MODE] == _NUMBERED else s[TOP], n, held, s, t)
        if not fits:
            s[MODE] = _LEFT_OPEN
            flag(flags, w.EVICT_8, c.seq[i])


@compiled
def _take(seq: int, op: int, ticket: int, head: int, n: int, held: Any, s: Any, t: Any) -> bool:
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
    s[TAKEN] = max(s[TAKEN], slot)
    return True


@compiled
def _give(slot: int, n: int, held: Any, s: Any, t: Any) -> bool:
    mask = len(held) - 1
    if slot == NULL or slot < 0 or t[n] >= 0:
        return False
    if s[TOP] == 0:
        s[OLDEST] = slot
    if slot <= s[TAKEN] or slot < s[OLDEST] or slot - s[OLDEST] > mask or held[slot & mask]:
        return False
    held[slot & mask] = 1
    t[n] = slot
    s[TOP] = max(s[TOP], slot + 1)
    return True


def new_slots() -> tuple[Array, Array]:
    """An empty ring, and the state."""
    state = np.zeros(SLOT_FIELDS, np.int64)
    state[MOVED], state[TAKEN] = NULL, -1
    return np.zeros(LEAST_ROOM, np.int8), state


def with_room(held: Array, s: Array, more: int) -> Array:
    """The ring, with room for so many slots more."""
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
    """What only the end tells: whether dequeues are numbered with the slots, and whether all slots had numbers."""
    if s[MODE] == _NUMBERED and s[MOVED] != NULL and not s[UNLINKED]:
        flag(flags, w.EVICT_8, int(s[MOVED]))
    if s[MODE] == _ORDERED and not s[UNNUMBERED]:
        flag(flags, w.EVICT_8, 0)
