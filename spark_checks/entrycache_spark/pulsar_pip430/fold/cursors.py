"""Cursors: who is a member, when the grace period began, and which rank a fill carries (R-CURSOR-6, 7, 11 and 12)."""

from __future__ import annotations

from typing import Any

import numpy as np

from entrycache_spark.loops.hashing import FREE, copied, find, new_table, put
from entrycache_spark.loops.words import NULL, flag
from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_trace.compiled import Array, compiled

MEMBERS, GRACE_NS, OPENED_NS, RESTART_NS, ASKS, LATE_11, LATE_6, LATE_12, EPOCH, FIRST = range(10)
"""Of each cache: its members, when its grace period began, when it was opened first and what a period counted otherwise
would begin with; whether it asks before it caches, and the first add that would be wrong if it does; its last cursor
event, and the first of its cursors."""

MEMBER, STANDS, LEDGER, ENTRY, RANKED_AT, RANK, NEXT = range(7)
"""Of each cursor of a cache: whether it is a member, whether and where it stands, its rank since which event of the
cache, and the next cursor there."""

_PRIOR_SEQ, _PRIOR_CALL, _PRIOR_OP, _UNRANKED, _CURSORS = range(5)


class Cursors:
    """The members of each cache."""

    def __init__(self) -> None:
        self._caches = _caches(16)
        self._cursors = np.zeros((64, 7), np.int64)
        self._keys, self._values = new_table(1 << 9)
        self._state = np.array([NULL, NULL, 0, 0, 0], np.int64)

    def follow(self, c: Any, settings: Array, caches: int, named: int, many: bool, virtual: bool, flags: Array) -> None:
        """Take in a batch; `caches`: how many there are by now, `named`: how many rows are a cursor event."""
        if caches > len(self._caches):
            self._caches = np.concatenate((self._caches, _caches(caches)))
        most = int(self._state[_CURSORS]) + named
        if most > len(self._cursors):
            self._cursors = np.concatenate((self._cursors, np.zeros((most, 7), np.int64)))
        if 2 * most > len(self._keys):
            keys, values = new_table(2 * most)
            copied(self._keys, self._values, keys, values)
            self._keys, self._values = keys, values
        table = (self._keys, self._values, self._cursors)
        _follow(c, settings, many, virtual, self._caches, *table, self._state, flags)

    def end(self, flags: Array) -> None:
        """Adds that are wrong since their cache asks."""
        for rule, column in ((w.CURSOR_11, LATE_11), (w.CURSOR_6, LATE_6), (w.CURSOR_12, LATE_12)):
            late = self._caches[(self._caches[:, ASKS] == 1) & (self._caches[:, column] != NULL), column]
            for seq in late:
                flag(flags, rule, int(seq))


def _caches(number: int) -> Array:
    found = np.full((number, 10), NULL, np.int64)
    found[:, [MEMBERS, ASKS]] = 0
    found[:, [EPOCH, FIRST]] = -1
    return found


@compiled
def _follow(
    c: Any,
    settings: Any,
    many: bool,
    virtual: bool,
    caches: Any,
    keys: Any,
    values: Any,
    cursors: Any,
    s: Any,
    flags: Any,
) -> None:
    for i in range(len(c.seq)):
        op, seq, call = c.op[i], c.seq[i], c.call_id[i]
        own, now = caches[c.cache[i]], settings[c.settings[i]]
        if w.CURSOR_ADD <= op <= w.CURSOR_REMOVE:
            number = find(keys, values, np.int64(c.cache[i]) << 32 | c.cursor[i])
            if number == FREE:
                number = s[_CURSORS]
                s[_CURSORS] += 1
                put(keys, values, np.int64(c.cache[i]) << 32 | c.cursor[i], number)
                cursors[number, MEMBER] = cursors[number, STANDS] = 0
                cursors[number, RANKED_AT], cursors[number, NEXT] = -2, own[FIRST]
                own[FIRST] = number
            _turn(op, c.ts_ns[i], own, cursors[number])
            if c.cursor[i] != 0:
                _move(seq, op, c.ledger_id[i], c.entry_id[i], own, cursors[number])
                if now[w.RANKS] != 1:
                    s[_UNRANKED] = 1
        elif op == w.CACHE_OPEN:
            if own[OPENED_NS] == NULL:
                own[OPENED_NS] = c.ts_ns[i]
                own[GRACE_NS] = max(own[GRACE_NS], c.ts_ns[i])
            own[RESTART_NS] = max(own[RESTART_NS], c.ts_ns[i])
        elif op == w.INSERT and c.cause[i] == w.BY_ADD:
            _added(seq, c.ts_ns[i], own, now, virtual, flags)
        elif op == w.INSERT and c.cause[i] == w.BY_FILL and c.cursor[i] != 0 and now[w.RANKS] == 1:
            number = find(keys, values, np.int64(c.cache[i]) << 32 | c.cursor[i])
            rank = 0 if number == FREE else _rank(cursors, number, own)
            # With several threads a read asked when its call began: a later move of a cursor leaves that open.
            moved = many and call != NULL and call < own[EPOCH]
            if s[_UNRANKED] or moved or c.expected_reads[i] != rank:
                flag(flags, w.CURSOR_7, seq)
        elif op == w.SKIP and c.cause[i] == w.BY_NOT_WANTED and call != NULL:
            follows = s[_PRIOR_SEQ] == call and s[_PRIOR_CALL] == call and s[_PRIOR_OP] == w.CACHE_OPEN
            if seq == call or (seq == call + 1 and follows):
                own[ASKS] = 1
                _skipped(seq, c.ts_ns[i], own, now, flags)
        if op == w.CACHE_OPEN or op == w.INSERT or op == w.SKIP or op == w.MISS or op >= w.CURSOR_ADD:
            if call > seq:
                flag(flags, w.CURSOR_11, seq)
                flag(flags, w.CURSOR_12, seq)
                flag(flags, w.CURSOR_6, seq)
            s[_PRIOR_SEQ], s[_PRIOR_CALL], s[_PRIOR_OP] = seq, call, op


@compiled
def _turn(op: int, ts: int, own: Any, cursor: Any) -> None:
    """Who is a member."""
    if op == w.CURSOR_ADD:
        own[MEMBERS] += 1 - cursor[MEMBER]
        cursor[MEMBER] = 1
        own[RESTART_NS] = max(own[RESTART_NS], ts)
    elif op == w.CURSOR_REMOVE and cursor[MEMBER]:
        own[MEMBERS] -= 1
        cursor[MEMBER] = 0
        own[GRACE_NS] = max(own[GRACE_NS], ts)
        own[RESTART_NS] = max(own[RESTART_NS], ts)


@compiled
def _move(seq: int, op: int, ledger: int, entry: int, own: Any, cursor: Any) -> None:
    """Where it stands."""
    own[EPOCH] = seq
    if cursor[MEMBER]:
        cursor[STANDS] = ledger != NULL
        cursor[LEDGER] = ledger
        cursor[ENTRY] = entry if entry != NULL else -4294967296
    elif op == w.CURSOR_REMOVE:
        cursor[STANDS] = 0


@compiled
def _rank(cursors: Any, number: int, own: Any) -> int:
    mine = cursors[number]
    if mine[RANKED_AT] != own[EPOCH]:
        mine[RANKED_AT], mine[RANK] = own[EPOCH], 0
        other = own[FIRST] if mine[STANDS] else -1
        while other >= 0:
            its = cursors[other]
            before = its[LEDGER] < mine[LEDGER] or (its[LEDGER] == mine[LEDGER] and its[ENTRY] <= mine[ENTRY])
            if its[STANDS] and before:
                mine[RANK] += 1
            other = its[NEXT]
    return mine[RANK]


@compiled
def _millis(ts: int, since: int) -> int:
    """Whole milliseconds since a moment, as the difference of two clocks that tell those; `NULL` if it never was."""
    return NULL if since == NULL else _whole(ts) - _whole(since)


@compiled
def _whole(ns: int) -> int:
    return -(-ns // 1_000_000) if ns < 0 else ns // 1_000_000


@compiled
def _added(seq: int, ts: int, own: Any, now: Any, virtual: bool, flags: Any) -> None:
    if own[MEMBERS] != 0 or now[w.RANKS] == NULL:
        return
    grace = now[w.GRACE]
    if now[w.RANKS] == 0:
        own[LATE_12] = seq
        if not virtual:
            flag(flags, w.CURSOR_12, seq)
        return
    passed, restarted = _millis(ts, own[GRACE_NS]), _millis(ts, own[RESTART_NS])
    if passed == NULL or restarted == NULL or grace == NULL or passed < grace:
        return
    if restarted >= grace:
        own[LATE_11] = seq
        if not virtual:
            flag(flags, w.CURSOR_11, seq)
    else:
        own[LATE_6] = seq
        if not virtual:
            flag(flags, w.CURSOR_6, seq)


@compiled
def _skipped(seq: int, ts: int, own: Any, now: Any, flags: Any) -> None:
    if now[w.RANKS] == 0:
        if own[MEMBERS] > 0:
            flag(flags, w.CURSOR_12, seq)
        return
    if now[w.RANKS] != 1:
        return
    passed, opened = _millis(ts, own[GRACE_NS]), _millis(ts, own[OPENED_NS])
    within = passed != NULL and now[w.GRACE] != NULL and passed < now[w.GRACE]
    if own[MEMBERS] > 0 or (within and opened != NULL and opened < now[w.GRACE]):
        flag(flags, w.CURSOR_11, seq)
    elif own[MEMBERS] == 0 and within and opened != NULL:
        flag(flags, w.CURSOR_6, seq)
