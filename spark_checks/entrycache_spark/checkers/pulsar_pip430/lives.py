"""The lives of entries: their numbers, what their events carry, and their expected-read counts.

`Lives` gives each life a number that the tables of other families share. A life is kept while its entry is cached;
the last `max_removed` that have ended are kept too, for reads that return late. Where an event names a life that is no
longer kept, the rules of lives are left to their windows, so memory is bounded by what is cached at once.

`check_carried` compares position, size, stamp, mark and requeues with the earlier events of a life. The count of
expected reads follows R-COUNT-1 to 3.
"""

from typing import Any, Final

import numpy as np

from entrycache_spark.checkers import primitives
from entrycache_spark.checkers.pulsar_pip430 import rows as w
from entrycache_spark.common.system import CheckerGaveUp
from entrycache_trace.jit import Array, jit

MAX_REMOVED: Final = 1 << 20

MAX_LIVES: Final = 4_000_000
"""The number of cached entries above which the checker gives up; DuckDB decides then, which can use the disk."""

BORN, AFTER_END, BEGINS = 1, 2, 4
"""The reports of `Lives.number` about an event: it is the first of a life, comes after its end, or begins it."""

_REMOVED, _DROPPED, _UNBORN, _OLDEST, _FREED, _NUMBERED, _UNUSED = range(7)


class Lives:
    """The numbers of lives: dense, and reused once a life is forgotten."""

    def __init__(self, max_removed: int = MAX_REMOVED) -> None:
        self._keys, self._values = primitives.new_table(1 << 12)
        self._removed = np.zeros(max_removed, np.int32)
        self._gone = np.zeros(1 << 12, np.int8)
        self._life = np.zeros(1 << 12, np.int64)
        self._unused = np.zeros(1 << 12, np.int32)
        self._freed = np.zeros(0, np.int32)
        self._state = np.zeros(8, np.int64)
        self._state[_UNBORN] = primitives.NULL

    @property
    def room(self) -> int:
        """The number of lives for which tables have room."""
        return len(self._gone)

    @property
    def unborn(self) -> int:
        """The first event of a life that did not begin before, or `NULL`."""
        return int(self._state[_UNBORN])

    def freed(self) -> Array:
        """Return the lives that the last batch forgot, and allow their numbers to be reused."""
        freed_numbers = self._freed[: self._state[_FREED]]
        unused = int(self._state[_UNUSED])
        self._unused[unused : unused + len(freed_numbers)] = freed_numbers
        self._state[_UNUSED] += len(freed_numbers)
        self._state[_FREED] = 0
        return freed_numbers

    def used(self) -> int:
        """Return the number of lives ever numbered."""
        return int(self._state[_NUMBERED])

    def number(self, c: Any, flags: Array) -> tuple[Array, Array]:
        """Return the number of each event's life, or -1, and what is reported about it.

        Raises:
            CheckerGaveUp: there are too many lives.
        """
        self._make_room(len(c.seq))
        numbers, how = np.empty(len(c.seq), np.int32), np.empty(len(c.seq), np.int8)
        table = (self._keys, self._values, self._life, self._gone)
        _number_lives(c, *table, self._removed, self._unused, self._freed, self._state, numbers, how, flags)
        return numbers, how

    def _make_room(self, more: int) -> None:
        most = int(self._state[_NUMBERED]) + more
        if most - len(self._removed) - int(self._state[_UNUSED]) - more > MAX_LIVES:
            raise CheckerGaveUp("more entries are cached at once than the checker keeps in memory")
        if len(self._freed) < more:
            self._freed = np.zeros(more, np.int32)
        if most > self.room:
            self._gone, self._life, self._unused = (
                np.concatenate((old, np.zeros(most, old.dtype))) for old in (self._gone, self._life, self._unused)
            )
        if 2 * most > len(self._keys):
            keys, values = primitives.new_table(2 * most)
            primitives.copy_table(self._keys, self._values, keys, values)
            self._keys, self._values = keys, values


@jit
def _number_lives(
    c: Any,
    keys: Any,
    values: Any,
    life_of: Any,
    gone: Any,
    removed: Any,
    unused: Any,
    freed: Any,
    s: Any,
    numbers: Any,
    how: Any,
    flags: Any,
) -> None:
    """Number the lives, and check R-STATE-8."""
    for i in range(len(c.seq)):
        life, op, seq = c.life[i], c.op[i], c.seq[i]
        numbers[i], how[i] = -1, 0
        if life == primitives.NULL:
            continue
        begins = op == w.INSERT or (op == w.SNAPSHOT and c.cause[i] == w.BY_OPEN)
        if op == w.INSERT and life != seq:
            primitives.flag(flags, w.STATE_8, seq)
        number = primitives.find(keys, values, life)
        if op == w.TOMBSTONE:
            numbers[i] = number
            continue
        if number == primitives.FREE:
            if s[_DROPPED] > 0 and not begins:
                _left_open(seq, flags)
                continue
            if not begins and s[_UNBORN] == primitives.NULL:
                s[_UNBORN] = seq
            if seq < life:
                primitives.flag(flags, w.STATE_8, seq)
            if s[_UNUSED] > 0:
                s[_UNUSED] -= 1
                number = unused[s[_UNUSED]]
            else:
                number = s[_NUMBERED]
                s[_NUMBERED] += 1
            life_of[number], gone[number] = life, 0
            primitives.put(keys, values, life, number)
            how[i] = BORN
        elif gone[number] == 1:
            how[i] = AFTER_END
            if op != w.READ_DONE:
                primitives.flag(flags, w.STATE_8, seq)
        if begins:
            if how[i] != BORN:
                _left_open(seq, flags)
            how[i] |= BEGINS
        numbers[i] = number
        if (op == w.EVICT or op == w.REMOVE) and gone[number] == 0:
            gone[number] = 1
            at = s[_REMOVED] % len(removed)
            if s[_REMOVED] >= len(removed):
                oldest = removed[at]
                primitives.drop(keys, values, life_of[oldest])
                freed[s[_FREED]] = oldest
                s[_FREED] += 1
                s[_DROPPED] += 1
            removed[at] = number
            s[_REMOVED] += 1


@jit
def _left_open(seq: int, flags: Any) -> None:
    """Leave the rules of lives to their windows: a life is no longer kept, or begins again."""
    primitives.flag(flags, w.COUNT_1, seq)
    primitives.flag(flags, w.COUNT_2, seq)
    primitives.flag(flags, w.COUNT_3, seq)
    primitives.flag(flags, w.EVICT_8, seq)
    primitives.flag(flags, w.INSERT_1, seq)
    primitives.flag(flags, w.READ_2, seq)
    primitives.flag(flags, w.REQUEUE_3, seq)
    primitives.flag(flags, w.REQUEUE_4, seq)
    primitives.flag(flags, w.REQUEUE_5, seq)
    primitives.flag(flags, w.REQUEUE_6, seq)
    primitives.flag(flags, w.STATE_1, seq)
    primitives.flag(flags, w.STATE_2, seq)
    primitives.flag(flags, w.STATE_8, seq)
    primitives.flag(flags, w.INVALIDATE_1, seq)
    primitives.flag(flags, w.INVALIDATE_4, seq)
    primitives.flag(flags, w.INVALIDATE_7, seq)
    primitives.flag(flags, w.INVALIDATE_8, seq)
    primitives.flag(flags, w.INVALIDATE_9, seq)


# ---------- the state of a life

HAS_BEGIN, CACHE, LEDGER, ENTRY, SIZE, AHEAD, STEPS, STAMP, GIVER, MARK, SLOT, IN_SNAPSHOT, HAD, FROM_BEGIN = range(14)
"""The fields of a life: whether its first event begins it, and the values of that event.

`AHEAD`: the requeue count shown, less the `STEPS` recorded. `STAMP`, `MARK` (-1: unknown) and `SLOT`: the values of
the event `GIVER`. `IN_SNAPSHOT`: the last snapshot showed it. `HAD`: its requeues. `FROM_BEGIN`: those since its
begin.
"""
CARRIED_FIELDS = 14


@jit
def check_carried(c: Any, numbers: Any, how: Any, virtual: bool, split: bool, t: Any, flags: Any) -> None:
    """Check what events show of a life.

    These are R-STATE-2, R-READ-2, R-REQUEUE-3, 5 and 6, and the later events of R-INSERT-1, R-REQUEUE-4 and R-STATE-1.
    """
    for i in range(len(c.seq)):
        n, op = numbers[i], c.op[i]
        if n < 0 or op == w.TOMBSTONE:
            continue
        if how[i] & BORN:
            t[n, HAS_BEGIN], t[n, STEPS], t[n, IN_SNAPSHOT], t[n, HAD], t[n, FROM_BEGIN] = how[i] & BEGINS, 0, 0, 0, 0
            t[n, AHEAD], t[n, GIVER], t[n, MARK], t[n, SIZE] = primitives.NULL, primitives.NULL, -1, primitives.NULL
        leaves = op == w.EVICT or op == w.REMOVE
        if leaves and t[n, HAS_BEGIN] and primitives.numbers_differ(c.size_bytes[i], t[n, SIZE]):
            primitives.flag(flags, w.STATE_1, c.seq[i])
        if op == w.EVICT:
            touched = c.accessed[i] == 1 and c.extend_accessed[i] == 1
            if touched or _has_budget(t[n], c.expected_reads[i], c.requeues[i], c.max_requeues[i]):
                primitives.flag(flags, w.REQUEUE_3, c.seq[i])
        elif op == w.REQUEUE or how[i] & BEGINS:
            _spent(c.seq[i], op, c.cause[i], c.requeues[i], c.max_requeues[i], split, t[n], flags)
        shows = leaves or op == w.SNAPSHOT or op == w.INSERT or op == w.HIT or op == w.REQUEUE
        if how[i] & AFTER_END or not (shows or op == w.READ_DONE or op == w.EXPECT):
            continue
        if op == w.REQUEUE and not (split and c.cause[i] == w.BY_ACCESSED):
            t[n, STEPS] += 1
        if how[i] & BEGINS:
            _set_begin(c.cache[i], c.ledger_id[i], c.entry_id[i], c.size_bytes[i], c.requeues[i], t[n])
            if op == w.INSERT:
                _set_given(op, c.new_stamp_ns[i], c.ts_ns[i], virtual, 0, c.tail_no[i], t[n])
            else:
                _set_given(op, c.stamp_ns[i], primitives.NULL, False, c.accessed[i], c.tail_no[i], t[n])
            continue
        if t[n, HAS_BEGIN]:
            size = primitives.NULL if leaves else c.size_bytes[i]
            if _lies(c.requeues[i], c.stamp_ns[i], c.accessed[i], t[n]):
                _check_shown(c.seq[i], c.requeues[i], c.stamp_ns[i], c.accessed[i], t[n], flags)
            if _is_displaced(c.cache[i], c.ledger_id[i], c.entry_id[i], size, t[n]):
                primitives.flag(flags, w.STATE_2, c.seq[i])
            if op == w.SNAPSHOT and (
                primitives.numbers_differ(c.tail_no[i], t[n, SLOT]) or (c.cause[i] == w.BY_END and t[n, IN_SNAPSHOT])
            ):
                primitives.flag(flags, w.STATE_2, c.seq[i])
        if c.requeues[i] != primitives.NULL:
            t[n, AHEAD] = c.requeues[i] - t[n, STEPS]
        if op == w.HIT:
            t[n, MARK] = 1
        elif op == w.REQUEUE:
            _set_given(op, c.new_stamp_ns[i], c.ts_ns[i], virtual, 0, c.tail_no[i], t[n])
        elif op == w.SNAPSHOT and c.cause[i] == w.BY_END:
            t[n, IN_SNAPSHOT] = 1


@jit
def _set_begin(cache: int, ledger: int, entry: int, size: int, requeues: int, own: Any) -> None:
    own[CACHE], own[LEDGER], own[ENTRY], own[SIZE] = cache, ledger, entry, size
    if requeues != primitives.NULL:
        own[AHEAD] = requeues


@jit
def _set_given(op: int, stamp: int, now: int, virtual: bool, mark: int, slot: int, own: Any) -> None:
    """Store what a slot of the removal queue gives; a virtual clock determines a stamp that is not recorded."""
    own[STAMP] = now if virtual and stamp == primitives.NULL else stamp
    own[GIVER], own[MARK], own[SLOT] = op, mark, slot


@jit
def _lies(requeues: int, stamp: int, mark: int, own: Any) -> bool:
    """Return whether an event contradicts what was given."""
    return (
        (requeues != primitives.NULL and own[AHEAD] != primitives.NULL and requeues - own[STEPS] != own[AHEAD])
        or primitives.numbers_differ(stamp, own[STAMP])
        or (mark >= 0 and own[MARK] >= 0 and mark != own[MARK])
    )


@jit
def _check_shown(seq: int, requeues: int, stamp: int, mark: int, own: Any, flags: Any) -> None:
    """Flag the rules that the event violates."""
    if requeues != primitives.NULL and own[AHEAD] != primitives.NULL and requeues - own[STEPS] != own[AHEAD]:
        primitives.flag(flags, w.REQUEUE_5, seq)
    if primitives.numbers_differ(stamp, own[STAMP]):
        primitives.flag(flags, w.REQUEUE_4 if own[GIVER] == w.REQUEUE else w.INSERT_1, seq)
    if mark >= 0 and own[MARK] >= 0 and mark != own[MARK]:
        primitives.flag(flags, w.READ_2, seq)


@jit
def _is_displaced(cache: int, ledger: int, entry: int, size: int, own: Any) -> bool:
    return (
        (cache != 0 and own[CACHE] != 0 and cache != own[CACHE])
        or primitives.numbers_differ(ledger, own[LEDGER])
        or primitives.numbers_differ(entry, own[ENTRY])
        or primitives.numbers_differ(size, own[SIZE])
    )


@jit
def _spent(seq: int, op: int, cause: int, requeues: int, most: int, split: bool, own: Any, flags: Any) -> None:
    """Count the requeues of an entry, including those before the trace."""
    if op != w.REQUEUE:
        own[FROM_BEGIN] = 1
        if op == w.SNAPSHOT and requeues != primitives.NULL:
            own[HAD] += requeues
        return
    if not (split and cause == w.BY_ACCESSED):
        own[HAD] += 1
    if cause == w.BY_EXPECTED and most != primitives.NULL and (own[HAD] > most or requeues > most):
        primitives.flag(flags, w.REQUEUE_6, seq)


@jit
def _has_budget(own: Any, expected: int, requeues: int, most: int) -> bool:
    """Return whether an expected read keeps an entry."""
    used = requeues
    if own[FROM_BEGIN] and (used == primitives.NULL or own[HAD] < used):
        used = own[HAD]
    return expected >= 1 and used != primitives.NULL and most != primitives.NULL and used < most


# ---------- expected-read counts

COUNT_SEEN, COUNT, COUNT_BEGUN, FIRST_COUNT, COUNT_STEPS, COUNT_MOVES = range(6)
"""The fields of a life: whether it was seen, its count, whether its first event begins it, and that event's count.

`COUNT_STEPS` is the change of the count. `MOVES` adds up tokens of what each change took and gave, for several threads.
"""
COUNT_FIELDS = 6


@jit
def check_read_counts(c: Any, numbers: Any, how: Any, many: bool, t: Any, flags: Any) -> None:
    """Check the counts.

    With one thread each count follows from the one before. With several threads they match when the life is over.
    """
    for i in range(len(c.seq)):
        n, op = numbers[i], c.op[i]
        if n < 0:
            continue
        if how[i] & BORN:
            t[n, COUNT_SEEN] = t[n, COUNT_STEPS] = t[n, COUNT_MOVES] = 0
        count = c.expected_reads[i]
        steps = op == w.READ_DONE or op == w.EXPECT
        if not steps:
            if op == w.HIT or op == w.REQUEUE:
                if count == primitives.NULL or many:
                    continue
            elif op != w.INSERT and op != w.EVICT and op != w.REMOVE and op != w.SNAPSHOT:
                continue
        step = (1 if op == w.EXPECT else -1) if steps else 0
        if t[n, COUNT_SEEN] == 0:
            t[n, COUNT_SEEN], t[n, COUNT_BEGUN], t[n, FIRST_COUNT] = 1, how[i] & BEGINS, count
            if steps and count == primitives.NULL:
                primitives.flag(flags, w.COUNT_3, c.seq[i])
        else:
            _check_count(op, count, t[n, COUNT], step, many, c.seq[i], flags)
        t[n, COUNT] = count
        t[n, COUNT_STEPS] += step
        if many and steps and count != primitives.NULL:
            t[n, COUNT_MOVES] += token(count) - token(count - step)


@jit
def _check_count(op: int, count: int, before: int, step: int, many: bool, seq: int, flags: Any) -> None:
    if step == 0:
        if not many and op != w.INSERT and count != before:
            primitives.flag(flags, w.COUNT_3, seq)
        return
    if count == primitives.NULL or before == primitives.NULL:
        primitives.flag(flags, w.COUNT_3, seq)
    elif not many and count != before + step:
        primitives.flag(flags, w.COUNT_1 if step < 0 else w.COUNT_2, seq)


@jit
def token(count: int) -> Any:
    """Return a number that no sum of others equals by chance."""
    mixed = np.uint64(count) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64(mixed ^ (mixed >> np.uint64(31)))


@jit
def close_counts(t: Any, lives: Any, many: bool, flags: Any) -> None:
    """Check lives of which no further event follows."""
    for n in lives:
        first = t[n, FIRST_COUNT]
        if many and t[n, COUNT_SEEN] == 1 and t[n, COUNT_BEGUN] != 0:
            # A life that begins without a count has none to change.
            if t[n, COUNT_MOVES] != (
                0 if first == primitives.NULL else token(first + t[n, COUNT_STEPS]) - token(first)
            ):
                primitives.flag(flags, w.COUNT_1, 0)
