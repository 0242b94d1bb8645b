"""The turns of the ring and the offsets of its segments.

`Turns` counts the turns and the numbers that events show of them (S-RING-1, S-INSERT-1). The entries of one segment
between two of its turns are a segment generation, numbered by the turn that made it current. `Offsets` adds up the
bytes that each generation took and compares them with events. The last generations are kept; the checker gives up if
it needs an older one.
"""

from typing import Any, Final

import numpy as np

from entrycache_spark.checkers.primitives import NULL, flag, numbers_differ
from entrycache_spark.checkers.pulsar_segmented import rows as w
from entrycache_spark.common.system import CheckerGaveUp
from entrycache_trace.jit import Array, jit

TURNS, NUMBER = range(2)
"""The fields of an event: the number of turns so far, and the number that the last one shows."""


class Turns:
    """The turns at the end of the last batch."""

    def __init__(self) -> None:
        self._now = np.zeros(2, np.int64)

    def follow(self, c: Any, settings: Array, flags: Array) -> Array:
        """Return the turns before the first event of a batch, and after each event."""
        turned = np.empty((len(c.seq) + 1, 2), np.int64)
        turned[0] = self._now
        _check_turns(c, settings, turned, flags)
        self._now = turned[-1].copy()
        return turned


@jit
def _check_turns(c: Any, settings: Any, turned: Any, flags: Any) -> None:
    for i in range(len(c.seq)):
        op, tail = c.op[i], c.tail_no[i]
        turned[i + 1, TURNS], turned[i + 1, NUMBER] = turned[i, TURNS], turned[i, NUMBER]
        if op == w.INSERT:
            if numbers_differ(c.life[i], c.seq[i]) or (
                numbers_differ(tail, turned[i, TURNS]) and tail != turned[i, NUMBER]
            ):
                flag(flags, w.INSERT_1, c.seq[i])
        elif op == w.PASS_BEGIN:
            turned[i + 1, TURNS] += 1
            turned[i + 1, NUMBER] = turned[i + 1, TURNS] if tail == NULL else tail
        if op != w.PASS_BEGIN and op != w.PASS_END:
            continue
        turns, segments, ticket = turned[i + 1, TURNS], settings[c.settings[i], w.SEGMENTS], c.ticket[i]
        wanted = turned[i, NUMBER] + 1 if op == w.PASS_BEGIN else turned[i, NUMBER]
        if numbers_differ(tail, turns) and tail != wanted:
            flag(flags, w.RING_1, c.seq[i])
        if ticket != NULL and (ticket < 0 or (segments != NULL and _is_other(ticket, turns, tail, segments))):
            flag(flags, w.RING_1, c.seq[i])


@jit
def _is_other(ticket: int, turns: int, tail: int, segments: int) -> bool:
    """Return whether the cleared segment is not the one whose turn it is."""
    return ticket != turns - segments and (tail == NULL or ticket != tail - segments)


# ---------- offsets of the segments

GENERATIONS_KEPT: Final = 1 << 16
"""The number of generations that are kept, a power of 2."""

BLOCK_BYTES: Final = 64
"""The unit of the bytes that an entry takes in copy mode."""

_GENERATION, _BYTES, _BYTES_SHOWN, _LIVE, _UNKNOWN = range(5)

_MANAGER, _WRITTEN, _INSERT_SEQ, _TURN_SEQ, _BY_RULE, _BY_SHOWN, _LOST = range(7)


class Offsets:
    """The generations, and what the last events have left.

    That is the sum of all offsets as shown and as written, the last INSERT and PASS_BEGIN, and where the next entry
    starts.
    """

    def __init__(self, kept: int = GENERATIONS_KEPT) -> None:
        self._generations = np.zeros((kept, 5), np.int64)
        self._generations[:, _GENERATION] = NULL
        self._state = np.array([0, 0, NULL, NULL, NULL, NULL, 0], np.int64)

    def follow(self, c: Any, settings: Array, turned: Array, left: Array, flags: Array) -> None:
        """Read a batch.

        Raises:
            CheckerGaveUp: a generation is no longer kept, or a sum is too large.
        """
        _check_offsets(c, settings, turned, left, self._generations, self._state, flags)
        if self._state[_LOST]:
            raise CheckerGaveUp("the bytes that a segment took are not known any more")


@jit
def _check_offsets(c: Any, settings: Any, turned: Any, left: Any, generations: Any, s: Any, flags: Any) -> None:
    for i in range(len(c.seq)):
        seq, op, manager = c.seq[i], c.op[i], c.manager_bytes[i]
        shown_bytes = NULL if manager == NULL else manager - s[_MANAGER]
        wrote, also = 0, NULL
        if op == w.INSERT:
            generation = turned[i + 1, NUMBER] if c.tail_no[i] == NULL else c.tail_no[i]
            wrote = _advance(c.size_bytes[i], settings[c.settings[i], w.COPIES])
            own = _generation_row(generations, generation, s)
            _starts(seq, c.bound[i], turned[i + 1, TURNS], own[_BYTES], s, flags)
            _takes(own, seq, c.bound[i], wrote, shown_bytes, s)
        elif op == w.EVICT:
            if left[i, 0] != NULL:
                _generation_row(generations, left[i, 0], s)[_LIVE] -= 1
        elif op == w.PASS_BEGIN:
            own = _generation_row(generations, turned[i, NUMBER], s)
            if numbers_differ(c.bound[i], 0) if _is_first(s) else _is_astray(c.bound[i], own[_BYTES], s):
                flag(flags, w.SEGMENT_4, seq)
            _shows(own, shown_bytes, s)
            s[_TURN_SEQ] = seq
        elif op == w.SKIP or op == w.REJECT:
            _shows(_generation_row(generations, turned[i, NUMBER], s), shown_bytes, s)
        elif op == w.PASS_END and settings[c.settings[i], w.SEGMENTS] != NULL:
            own = _generation_row(generations, turned[i + 1, NUMBER] - settings[c.settings[i], w.SEGMENTS], s)
            if own[_LIVE] > 0:
                flag(flags, w.RING_2, seq)
            wrote = NULL if own[_UNKNOWN] else -own[_BYTES]
            also = s[_MANAGER] - own[_BYTES_SHOWN]
        elif op == w.PASS_END:
            wrote = NULL
        if wrote != NULL:
            s[_WRITTEN] += wrote
            if not -w.MAX_BYTES < s[_WRITTEN] < w.MAX_BYTES:
                s[_LOST] = 1
        if manager != NULL:
            if wrote != NULL and manager != s[_MANAGER] + wrote and manager != s[_WRITTEN] and manager != also:
                _miswritten(seq, op, settings[c.settings[i], w.COPIES], flags)
            s[_MANAGER] = manager
        if s[_LOST]:
            return


@jit
def _generation_row(generations: Any, number: int, s: Any) -> Any:
    """Return the row of a generation; a new one replaces an older one."""
    own = generations[number & (len(generations) - 1)]
    if own[_GENERATION] > number:
        s[_LOST] = 1
    elif own[_GENERATION] < number:
        own[:] = 0
        own[_GENERATION] = number
    return own


@jit
def _advance(size: int, copies: int) -> int:
    """Return the bytes that an entry takes, or `NULL` if that is not known."""
    if size == NULL or size < 0 or copies == NULL:
        return NULL
    return (size + BLOCK_BYTES - 1) // BLOCK_BYTES * BLOCK_BYTES if copies == 1 else size


@jit
def _is_first(s: Any) -> bool:
    """Return whether no entry came in since the last turn, or since the beginning."""
    return s[_INSERT_SEQ] == NULL or (s[_TURN_SEQ] != NULL and s[_INSERT_SEQ] < s[_TURN_SEQ])


@jit
def _is_astray(bound: int, generation_bytes: int, s: Any) -> bool:
    """Return whether an offset follows neither from what the generation took, nor from its last entry."""
    return bound != NULL and bound != generation_bytes and bound != s[_BY_RULE] and bound != s[_BY_SHOWN]


@jit
def _starts(seq: int, bound: int, turns: int, generation_bytes: int, s: Any, flags: Any) -> None:
    """Check where an entry starts in its segment."""
    if not _is_first(s):
        if _is_astray(bound, generation_bytes, s):
            flag(flags, w.INSERT_1, seq)
    elif numbers_differ(bound, 0):
        if turns > 0:
            flag(flags, w.RING_3, seq)
        elif s[_INSERT_SEQ] == NULL:
            flag(flags, w.STATE_1, seq)


@jit
def _takes(own: Any, seq: int, bound: int, wrote: int, shown_bytes: int, s: Any) -> None:
    """Add an entry to its generation."""
    own[_LIVE] += 1
    own[_BYTES] += wrote if wrote != NULL else 0
    own[_UNKNOWN] |= wrote == NULL
    _shows(own, shown_bytes, s)
    s[_INSERT_SEQ] = seq
    s[_BY_RULE] = bound + wrote if bound != NULL and wrote != NULL else NULL
    s[_BY_SHOWN] = bound + shown_bytes if bound != NULL and shown_bytes != NULL else NULL


@jit
def _shows(own: Any, shown_bytes: int, s: Any) -> None:
    own[_BYTES_SHOWN] += shown_bytes if shown_bytes != NULL else 0
    if not (-w.MAX_BYTES < own[_BYTES] < w.MAX_BYTES and -w.MAX_BYTES < own[_BYTES_SHOWN] < w.MAX_BYTES):
        s[_LOST] = 1


@jit
def _miswritten(seq: int, op: int, copies: int, flags: Any) -> None:
    """Flag the rule of an event that shows another sum of offsets than the events before it."""
    if w.is_lookup(op):
        flag(flags, w.GET_2, seq)
    elif op == w.REJECT:
        flag(flags, w.INSERT_2, seq)
    elif op == w.EVICT or op == w.PASS_END:
        flag(flags, w.RING_4, seq)
    elif op == w.INSERT:
        flag(flags, w.SEGMENT_2 if copies == 1 else w.SEGMENT_3, seq)
    elif op == w.PASS_BEGIN or op == w.SKIP:
        flag(flags, w.SEGMENT_4, seq)
    elif op == w.SNAPSHOT or op == w.END:
        flag(flags, w.STATE_2, seq)
