"""Positions, reads and cursors.

`Places` knows which entry each position holds, and the last misses: it checks lookups, inserts and fills (R-READ-1, 7,
9 and 10, R-INSERT-1 and 2). `check_read_order` checks that a read looks up before it fills, and fills in order.
`Cursors` knows the members of each cache, and checks ranks, grace periods and what cursors drop (R-CURSOR-6, 7, 11 and
12, R-LEDGER-1 and 14).
"""

from typing import Any, Final

import numpy as np

from entrycache_spark.checkers import primitives
from entrycache_spark.checkers.pulsar_pip430 import rows as w
from entrycache_trace.jit import Array, jit

MAX_MISSES: Final = 1 << 16

IS_HELD, LIFE, MISSED_CALL, MISSED_BY, MISSED_SEQ = range(primitives.ENTRY + 1, 9)
PLACE_FIELDS: Final = 9

_PLACES, _MISSES, _FORGOTTEN = range(3)


class Places:
    """The positions that hold an entry, or were missed recently."""

    def __init__(self, max_misses: int = MAX_MISSES) -> None:
        self._table = primitives.new_positions(PLACE_FIELDS)
        self._misses = np.zeros((max_misses, 4), np.int64)
        self._state = np.zeros(3, np.int64)
        self._state[_FORGOTTEN] = primitives.NULL

    def follow(self, c: Any, many: bool, flags: Array) -> Array:
        """Read a batch; return for each lookup whether the position holds the entry it names (-1: no lookup)."""
        self._table = primitives.with_positions(self._table, int(self._state[_PLACES]) + len(c.seq))
        present = np.full(len(c.seq), -1, np.int8)
        _check_places(c, many, self._table, self._misses, self._state, present, flags)
        return present


@jit
def _occupy_row(table: Any, at: int, cache: int, ledger: int, entry: int, state: Any) -> None:
    """Give a free row to a position."""
    if primitives.occupy(table, at, cache, ledger, entry):
        table[at, IS_HELD], table[at, MISSED_SEQ] = 0, primitives.NULL
        state[_PLACES] += 1


@jit
def _free(table: Any, at: int, state: Any) -> None:
    """Forget a position that holds nothing and was not missed recently."""
    if not table[at, IS_HELD] and table[at, MISSED_SEQ] == primitives.NULL:
        state[_PLACES] -= 1
        primitives.forget(table, at)


@jit
def _check_places(c: Any, many: bool, table: Any, misses: Any, state: Any, present: Any, flags: Any) -> None:
    for i in range(len(c.seq)):
        op, entry = c.op[i], c.entry_id[i]
        if entry == primitives.NULL:
            continue
        opens = op == w.SNAPSHOT and c.cause[i] == w.BY_OPEN
        leaves = op == w.EVICT or op == w.REMOVE
        if not (w.INSERT <= op <= w.MISS and op != w.SKIP) and not opens and not leaves:
            continue
        cache, ledger = c.cache[i], c.ledger_id[i]
        at = primitives.position(table, cache, ledger, entry)
        held = table[at, primitives.USED] and table[at, IS_HELD]
        if op == w.HIT:
            present[i] = 1 if held and (c.life[i] == primitives.NULL or table[at, LIFE] == c.life[i]) else 0
            if not present[i]:
                _looked_up(c.cause[i], c.seq[i], flags)
        elif op == w.MISS:
            present[i] = 1 if held else 0
            if held and c.ask_id[i] == primitives.NULL:
                _looked_up(c.cause[i], c.seq[i], flags)
            _occupy_row(table, at, cache, ledger, entry, state)
            table[at, MISSED_CALL], table[at, MISSED_BY], table[at, MISSED_SEQ] = c.call_id[i], c.cause[i], c.seq[i]
            _remember(cache, ledger, entry, c.seq[i], table, misses, state)
        elif op == w.REJECT:
            if not held and c.cause[i] == w.BY_DUPLICATE:
                primitives.flag(flags, w.INSERT_1, c.seq[i])
        elif leaves:
            if held:
                table[at, IS_HELD] = 0
                _free(table, at, state)
        elif op == w.INSERT or c.life[i] != primitives.NULL:
            if op == w.INSERT:
                if held:
                    primitives.flag(flags, w.INSERT_2, c.seq[i])
                if c.cause[i] == w.BY_FILL:
                    _filled(c.seq[i], c.call_id[i], c.expected_reads[i], many, table, at, state, flags)
            _occupy_row(table, at, cache, ledger, entry, state)
            table[at, IS_HELD], table[at, LIFE] = 1, c.life[i]


@jit
def _looked_up(cause: int, seq: int, flags: Any) -> None:
    if cause == w.BY_GET:
        primitives.flag(flags, w.READ_1, seq)
    elif cause == w.BY_READ:
        primitives.flag(flags, w.READ_7, seq)
    elif cause == w.BY_REPLAY:
        primitives.flag(flags, w.READ_10, seq)


@jit
def _remember(cache: int, ledger: int, entry: int, seq: int, table: Any, misses: Any, state: Any) -> None:
    """Store a miss, and forget the oldest one."""
    kept = misses[state[_MISSES] % len(misses)]
    if state[_MISSES] >= len(misses):
        at = primitives.position(table, kept[0], kept[1], kept[2])
        if table[at, primitives.USED] and table[at, MISSED_SEQ] == kept[3]:
            state[_FORGOTTEN] = kept[3]
            table[at, MISSED_SEQ] = primitives.NULL
            _free(table, at, state)
    kept[0], kept[1], kept[2], kept[3] = cache, ledger, entry, seq
    state[_MISSES] += 1


@jit
def _filled(seq: int, call: int, count: int, many: bool, table: Any, at: int, state: Any, flags: Any) -> None:
    """Check a fill: its own call must have missed the position, and not by a single read.

    With several threads a range lookup may have no MISS of its own, so there a miss is kept when it was filled.
    """
    was_missed = table[at, primitives.USED] and table[at, MISSED_SEQ] != primitives.NULL
    missed = was_missed and table[at, MISSED_CALL] == call
    unknown = not was_missed and (not many or state[_FORGOTTEN] != primitives.NULL)
    if count < 1 or (call != primitives.NULL and ((was_missed and not missed) or unknown)):
        primitives.flag(flags, w.READ_9, seq)
    if call != primitives.NULL and (call <= state[_FORGOTTEN] if not missed else table[at, MISSED_BY] == w.BY_REPLAY):
        primitives.flag(flags, w.READ_10, seq)
    if missed and not many:
        table[at, MISSED_SEQ] = primitives.NULL


# ---------- calls

CALLS_KEPT: Final = 1 << 12

READ_CALL, READ_SEQ, READ_LEDGER, READ_ENTRY, READ_COUNT = range(5)


def new_calls(kept: int = CALLS_KEPT) -> Array:
    """Return a table of the last fill of each call; its last row holds the latest fill that was dropped."""
    return np.full((kept + 1, 5), primitives.NULL, np.int64)


@jit
def check_read_order(c: Any, t: Any, flags: Any) -> None:
    """Check reads that name no cursor; a call of a reader may be several reads, one after the other."""
    mask = len(t) - 2
    for i in range(len(c.seq)):
        op, call = c.op[i], c.call_id[i]
        fills = op == w.INSERT and c.cause[i] == w.BY_FILL
        if (
            call == primitives.NULL
            or c.cursor[i] != 0
            or not (fills or ((op == w.HIT or op == w.MISS) and c.cause[i] == w.BY_READ))
        ):
            continue
        own = t[primitives.hash_slot(call, mask)]
        known = own[READ_CALL] == call
        lost = not known and t[mask + 1, READ_SEQ] != primitives.NULL and call <= t[mask + 1, READ_SEQ]
        if not fills:
            if known or lost:
                primitives.flag(flags, w.READ_7, c.seq[i])
            continue
        ledger, entry, count = c.ledger_id[i], c.entry_id[i], c.expected_reads[i]
        if lost or (
            known
            and (
                primitives.numbers_differ(count, own[READ_COUNT])
                or primitives.numbers_differ(ledger, own[READ_LEDGER])
                or (
                    ledger != primitives.NULL
                    and ledger == own[READ_LEDGER]
                    and entry != primitives.NULL
                    and entry <= own[READ_ENTRY]
                )
            )
        ):
            primitives.flag(flags, w.READ_9, c.seq[i])
        if not known:
            if own[READ_CALL] != primitives.NULL:
                t[mask + 1, READ_SEQ] = max(t[mask + 1, READ_SEQ], own[READ_SEQ])
            own[READ_LEDGER] = own[READ_ENTRY] = own[READ_COUNT] = primitives.NULL
        own[READ_CALL], own[READ_SEQ] = call, c.seq[i]
        if ledger != primitives.NULL:
            own[READ_LEDGER] = ledger
        if entry != primitives.NULL:
            own[READ_ENTRY] = entry
        if count != primitives.NULL:
            own[READ_COUNT] = count


# ---------- cursors

MEMBERS, GRACE_NS, OPENED_NS, RESTART_NS, ASKS, LATE_11, LATE_6, LATE_12, EPOCH, FIRST_CURSOR = range(10)
IS_READ, LATE_1 = range(10, 12)
"""The fields of a cache.

Its members, when its grace period began and it was first opened, and the begin of a period counted otherwise; whether
it asks before it caches, and the last adds that are wrong if it does; its last cursor event, and its first cursor;
whether cursors read it, and the last add with a wrong count if they do.
"""

MEMBER, STANDS, CURSOR_LEDGER, CURSOR_ENTRY, RANKED_AT, RANK, NEXT_CURSOR = range(7)
"""The fields of a cursor: membership, position, its rank since which event of the cache, and the next cursor there."""

_PRIOR_SEQ, _PRIOR_CALL, _PRIOR_OP, _UNRANKED, _CURSORS = range(5)


class Cursors:
    """The members of each cache."""

    def __init__(self) -> None:
        self._caches = _new_caches(16)
        self._cursors = np.zeros((64, 7), np.int64)
        self._keys, self._values = primitives.new_table(1 << 9)
        self._state = np.array([primitives.NULL, primitives.NULL, 0, 0, 0], np.int64)

    def follow(self, c: Any, settings: Array, caches: int, named: int, many: bool, virtual: bool, flags: Array) -> None:
        """Read a batch; `caches` is the number of caches so far, `named` the number of cursor events."""
        if caches > len(self._caches):
            self._caches = np.concatenate((self._caches, _new_caches(caches)))
        most = int(self._state[_CURSORS]) + named
        if most > len(self._cursors):
            self._cursors = np.concatenate((self._cursors, np.zeros((most, 7), np.int64)))
        if 2 * most > len(self._keys):
            keys, values = primitives.new_table(2 * most)
            primitives.copy_table(self._keys, self._values, keys, values)
            self._keys, self._values = keys, values
        table = (self._keys, self._values, self._cursors)
        _check_cursors(c, settings, many, virtual, self._caches, *table, self._state, flags)

    def end(self, flags: Array) -> None:
        """Flag adds that are wrong because their cache asks."""
        for rule, column in ((w.CURSOR_11, LATE_11), (w.CURSOR_6, LATE_6), (w.CURSOR_12, LATE_12)):
            late = self._caches[(self._caches[:, ASKS] == 1) & (self._caches[:, column] != primitives.NULL), column]
            for seq in late:
                primitives.flag(flags, rule, int(seq))
        is_managed = (self._caches[:, IS_READ] == 1) & (self._caches[:, FIRST_CURSOR] != -1)
        for seq in self._caches[is_managed & (self._caches[:, LATE_1] != primitives.NULL), LATE_1]:
            primitives.flag(flags, w.LEDGER_1, int(seq))


def _new_caches(number: int) -> Array:
    caches = np.full((number, 12), primitives.NULL, np.int64)
    caches[:, [MEMBERS, ASKS, IS_READ]] = 0
    caches[:, [EPOCH, FIRST_CURSOR]] = -1
    return caches


@jit
def _check_cursors(
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
            number = primitives.find(keys, values, np.int64(c.cache[i]) << 32 | c.cursor[i])
            if number == primitives.FREE:
                number = s[_CURSORS]
                s[_CURSORS] += 1
                primitives.put(keys, values, np.int64(c.cache[i]) << 32 | c.cursor[i], number)
                cursors[number, MEMBER] = cursors[number, STANDS] = 0
                cursors[number, RANKED_AT], cursors[number, NEXT_CURSOR] = -2, own[FIRST_CURSOR]
                own[FIRST_CURSOR] = number
            _turn(op, c.ts_ns[i], own, cursors[number])
            if c.cursor[i] != 0:
                _move(seq, op, c.ledger_id[i], c.entry_id[i], own, cursors[number])
                if now[w.RANKS] != 1:
                    s[_UNRANKED] = 1
        elif op == w.CACHE_OPEN:
            if own[OPENED_NS] == primitives.NULL:
                own[OPENED_NS] = c.ts_ns[i]
                own[GRACE_NS] = max(own[GRACE_NS], c.ts_ns[i])
            own[RESTART_NS] = max(own[RESTART_NS], c.ts_ns[i])
        elif op == w.INSERT and c.cause[i] == w.BY_ADD:
            _added(seq, c.ts_ns[i], own, now, virtual, flags)
            if now[w.RANKS] == 1 and primitives.numbers_differ(c.expected_reads[i], own[MEMBERS]):
                own[LATE_1] = seq
        elif op == w.INSERT and c.cause[i] == w.BY_FILL and c.cursor[i] != 0 and now[w.RANKS] == 1:
            number = primitives.find(keys, values, np.int64(c.cache[i]) << 32 | c.cursor[i])
            rank = 0 if number == primitives.FREE else _rank(cursors, number, own)
            # With several threads a read asked when its call began: a later move of a cursor leaves that open.
            moved = many and call != primitives.NULL and call < own[EPOCH]
            if s[_UNRANKED] or moved or c.expected_reads[i] != rank:
                primitives.flag(flags, w.CURSOR_7, seq)
        elif op == w.READ_BEGIN:
            own[IS_READ] = 1
        elif op == w.REMOVE and c.cause[i] == w.BY_CURSOR and now[w.RANKS] == 0 and now[w.DROPS_LATE] == 0:
            if _is_ahead(cursors, own, c.ledger_id[i], c.entry_id[i]):
                primitives.flag(flags, w.LEDGER_14, seq)
        elif op == w.SKIP and c.cause[i] == w.BY_NOT_WANTED and call != primitives.NULL:
            follows = s[_PRIOR_SEQ] == call and s[_PRIOR_CALL] == call and s[_PRIOR_OP] == w.CACHE_OPEN
            if seq == call or (seq == call + 1 and follows):
                own[ASKS] = 1
                _skipped(seq, c.ts_ns[i], own, now, flags)
        if op == w.CACHE_OPEN or op == w.INSERT or op == w.SKIP or op == w.MISS or op >= w.CURSOR_ADD:
            if call > seq:
                primitives.flag(flags, w.CURSOR_11, seq)
                primitives.flag(flags, w.CURSOR_12, seq)
                primitives.flag(flags, w.CURSOR_6, seq)
            s[_PRIOR_SEQ], s[_PRIOR_CALL], s[_PRIOR_OP] = seq, call, op


@jit
def _turn(op: int, ts: int, own: Any, cursor: Any) -> None:
    """Update the membership of a cursor."""
    if op == w.CURSOR_ADD:
        own[MEMBERS] += 1 - cursor[MEMBER]
        cursor[MEMBER] = 1
        own[RESTART_NS] = max(own[RESTART_NS], ts)
    elif op == w.CURSOR_REMOVE and cursor[MEMBER]:
        own[MEMBERS] -= 1
        cursor[MEMBER] = 0
        own[GRACE_NS] = max(own[GRACE_NS], ts)
        own[RESTART_NS] = max(own[RESTART_NS], ts)


@jit
def _move(seq: int, op: int, ledger: int, entry: int, own: Any, cursor: Any) -> None:
    """Update the position of a cursor."""
    own[EPOCH] = seq
    if cursor[MEMBER]:
        cursor[STANDS] = ledger != primitives.NULL
        cursor[CURSOR_LEDGER] = ledger
        cursor[CURSOR_ENTRY] = entry if entry != primitives.NULL else -4294967296
    elif op == w.CURSOR_REMOVE:
        cursor[STANDS] = 0


@jit
def _rank(cursors: Any, number: int, own: Any) -> int:
    mine = cursors[number]
    if mine[RANKED_AT] != own[EPOCH]:
        mine[RANKED_AT], mine[RANK] = own[EPOCH], 0
        other = own[FIRST_CURSOR] if mine[STANDS] else -1
        while other >= 0:
            its = cursors[other]
            before = its[CURSOR_LEDGER] < mine[CURSOR_LEDGER] or (
                its[CURSOR_LEDGER] == mine[CURSOR_LEDGER] and its[CURSOR_ENTRY] <= mine[CURSOR_ENTRY]
            )
            if its[STANDS] and before:
                mine[RANK] += 1
            other = its[NEXT_CURSOR]
    return mine[RANK]


@jit
def _is_ahead(cursors: Any, own: Any, ledger: int, entry: int) -> bool:
    """Return whether a position does not lie below all members that have one, and there are such members."""
    some, below = False, True
    at = own[FIRST_CURSOR]
    while at >= 0:
        its = cursors[at]
        if its[MEMBER] and its[STANDS]:
            some = True
            below &= ledger < its[CURSOR_LEDGER] or (ledger == its[CURSOR_LEDGER] and entry < its[CURSOR_ENTRY])
        at = its[NEXT_CURSOR]
    return some and not below


@jit
def _millis(ts: int, since: int) -> int:
    """Return the milliseconds since a moment, as the difference of two millisecond clocks; `NULL` without a moment."""
    return primitives.NULL if since == primitives.NULL else _whole_millis(ts) - _whole_millis(since)


@jit
def _whole_millis(ns: int) -> int:
    return -(-ns // 1_000_000) if ns < 0 else ns // 1_000_000


@jit
def _added(seq: int, ts: int, own: Any, now: Any, virtual: bool, flags: Any) -> None:
    if own[MEMBERS] != 0 or now[w.RANKS] == primitives.NULL:
        return
    grace = now[w.GRACE]
    if now[w.RANKS] == 0:
        own[LATE_12] = seq
        if not virtual:
            primitives.flag(flags, w.CURSOR_12, seq)
        return
    passed, restarted = _millis(ts, own[GRACE_NS]), _millis(ts, own[RESTART_NS])
    if passed == primitives.NULL or restarted == primitives.NULL or grace == primitives.NULL or passed < grace:
        return
    if restarted >= grace:
        own[LATE_11] = seq
        if not virtual:
            primitives.flag(flags, w.CURSOR_11, seq)
    else:
        own[LATE_6] = seq
        if not virtual:
            primitives.flag(flags, w.CURSOR_6, seq)


@jit
def _skipped(seq: int, ts: int, own: Any, now: Any, flags: Any) -> None:
    if now[w.RANKS] == 0:
        if own[MEMBERS] > 0:
            primitives.flag(flags, w.CURSOR_12, seq)
        return
    if now[w.RANKS] != 1:
        return
    passed, opened = _millis(ts, own[GRACE_NS]), _millis(ts, own[OPENED_NS])
    within = passed != primitives.NULL and now[w.GRACE] != primitives.NULL and passed < now[w.GRACE]
    if own[MEMBERS] > 0 or (within and opened != primitives.NULL and opened < now[w.GRACE]):
        primitives.flag(flags, w.CURSOR_11, seq)
    elif own[MEMBERS] == 0 and within and opened != primitives.NULL:
        primitives.flag(flags, w.CURSOR_6, seq)
