"""The cache of PIP-430 as a policy: one removal queue over all topics, time passes and size passes.

It follows the rules R-EVICT, R-REQUEUE and R-READ over arrays: `rules` has the settings, `of` the facts about each
entry, `ring` the slots of the queue, and `state` its head, its tail and the bytes in use. Tests compare it, request by
request, with `entrycache_fast.BrokerCache`.
"""

import numpy as np

from entrycache_league.requests import ADD, EXAMINED, EXPECT, OVERSHOOT, PASSED, PEAK, READ, count_eviction
from entrycache_trace.jit import Array, jit

TTL, INTERVAL, MAX_REQUEUES, BY_COUNT, FILLS, EXTEND, SPLIT, INLINE, ERA_5, TRIGGER, TARGET = range(11)
"""The columns of `rules`.

INTERVAL is the time between cycles. With FILLS, reads fill even without BY_COUNT, with the count 1; added entries then
carry none. With INLINE, size passes run within adds and fills and not only in cycles. ERA_5 is the behaviour of 5.0.1:
a count stops at 0 and may begin there, the count of a duplicate replaces that of the entry, and a size pass spares an
entry once (R-COUNT-8, R-INSERT-7, R-READ-13, R-INSERT-8, R-REQUEUE-9).
"""

CACHED, ACCESSED, COUNTED, EXPECTS, REQUEUES, STAMP, LIFE = range(7)
"""The columns of `of`; LIFE counts the lives of an entry, so that slots of earlier lives are dead."""

HEAD, TAIL, USED = range(3)
TIMED, SIZED = range(2)


@jit
def _run_pass(
    kind: int, now: int, bound: int, rules: Array, sizes: Array, ring: Array, state: Array, of: Array, totals: Array
) -> None:
    """Take slots from the head until one stays: it is young enough, or enough bytes are freed."""
    wrap = len(ring) - 1
    freed = 0
    round_end = state[TAIL]
    while state[HEAD] != state[TAIL]:
        at = state[HEAD] & wrap
        entry, life = ring[at, 0], ring[at, 1]
        if life != of[entry, LIFE]:
            state[HEAD] += 1
            totals[EXAMINED] += 1
            continue
        if of[entry, STAMP] >= bound if kind == TIMED else freed >= bound:
            break
        is_late = kind == SIZED and rules[ERA_5] and state[HEAD] >= round_end
        state[HEAD] += 1
        touched = of[entry, ACCESSED] and rules[EXTEND]
        is_spared = touched or (of[entry, EXPECTS] >= 1 and of[entry, REQUEUES] < rules[MAX_REQUEUES])
        if is_spared and not is_late:
            totals[EXAMINED] += 1
            of[entry, STAMP] = now
            of[entry, ACCESSED] = 0
            of[entry, REQUEUES] += 0 if touched and rules[SPLIT] else 1
            _enqueue(entry, life, ring, state)
        else:
            of[entry, CACHED] = 0
            of[entry, LIFE] += 1
            state[USED] -= sizes[entry]
            freed += sizes[entry]
            count_eviction(totals, sizes[entry])
    if kind == SIZED:
        totals[OVERSHOOT] = max(totals[OVERSHOOT], freed - bound)


@jit
def _run_size_pass(now: int, rules: Array, sizes: Array, ring: Array, state: Array, of: Array, totals: Array) -> None:
    """Run a size pass if the bytes are above the trigger."""
    if state[USED] > rules[TRIGGER] and state[USED] > rules[TARGET]:
        _run_pass(SIZED, now, state[USED] - rules[TARGET], rules, sizes, ring, state, of, totals)


@jit
def _enqueue(entry: int, life: int, ring: Array, state: Array) -> None:
    """Put a slot at the tail."""
    at = state[TAIL] & (len(ring) - 1)
    ring[at, 0] = entry
    ring[at, 1] = life
    state[TAIL] += 1


@jit
def _drop_dead_slots(ring: Array, state: Array, of: Array) -> None:
    """Make room in a full ring by dropping dead slots."""
    wrap = len(ring) - 1
    end = state[TAIL]
    state[TAIL] = state[HEAD]
    for at in range(state[HEAD], end):
        entry, life = ring[at & wrap, 0], ring[at & wrap, 1]
        if life == of[entry, LIFE]:
            _enqueue(entry, life, ring, state)


@jit
def _set_expected(entry: int, expects: int, rules: Array, of: Array) -> None:
    """Set the expected reads of a new entry, or those of a duplicate."""
    of[entry, COUNTED] = expects > 0 or (rules[ERA_5] and rules[BY_COUNT] and expects == 0)
    of[entry, EXPECTS] = max(0, expects)


@jit
def _insert(
    entry: int, now: int, expects: int, rules: Array, sizes: Array, ring: Array, state: Array, of: Array, totals: Array
) -> None:
    """Insert an entry, and run a size pass if that crosses the trigger."""
    of[entry, CACHED] = 1
    of[entry, ACCESSED] = 0
    _set_expected(entry, expects, rules, of)
    of[entry, REQUEUES] = 0
    of[entry, STAMP] = now
    if state[TAIL] - state[HEAD] == len(ring):
        _drop_dead_slots(ring, state, of)
    _enqueue(entry, of[entry, LIFE], ring, state)
    state[USED] += sizes[entry]
    totals[PEAK] = max(totals[PEAK], state[USED])
    if rules[INLINE]:
        _run_size_pass(now, rules, sizes, ring, state, of, totals)


@jit
def _remove_passed(topic: int, below: int, low: Array, sizes: Array, state: Array, of: Array) -> None:
    """Remove the entries that every cursor of a topic has passed; their slots stay in the queue as dead slots."""
    while low[topic] < below:
        entry = low[topic]
        if of[entry, CACHED]:
            of[entry, CACHED] = 0
            of[entry, LIFE] += 1
            state[USED] -= sizes[entry]
        low[topic] += 1


@jit
def _look_up(first: int, end: int, numbers: Array, hits: Array, of: Array) -> None:
    """Look up the entries of a read and mark those that are cached."""
    for j in range(first, end):
        hits[j] = of[numbers[j], CACHED] == 1
        if hits[j]:
            of[numbers[j], ACCESSED] = 1


@jit
def replay_pip430(
    kinds: Array, times: Array, numbers: Array, counts: Array, ends: Array, sizes: Array, topics: Array, starts: Array,
    rules: Array, hits: Array, held_bytes: Array, totals: Array,
) -> None:  # fmt: skip
    """Replay requests; write hits, held bytes and totals into the last three arrays."""
    of = np.zeros((len(sizes), 7), np.int64)
    ring = np.zeros((1 << int(np.ceil(np.log2(2 * len(sizes) + 2))), 2), np.int64)
    state = np.zeros(3, np.int64)
    low = starts[:-1].copy()
    tick = times[0] + rules[INTERVAL]
    i = 0
    while i < len(numbers):
        now = times[i]
        while tick <= now:
            if state[HEAD] == state[TAIL]:
                tick += (now - tick) // rules[INTERVAL] * rules[INTERVAL]
            _run_pass(TIMED, tick, tick - rules[TTL], rules, sizes, ring, state, of, totals)
            _run_size_pass(tick, rules, sizes, ring, state, of, totals)
            tick += rules[INTERVAL]
        kind = kinds[i]
        end = ends[i] if kind == READ else i + 1
        if kind == READ:
            _look_up(i, end, numbers, hits, of)
        elif kind == PASSED and not rules[BY_COUNT]:
            _remove_passed(counts[i], numbers[i], low, sizes, state, of)
        for j in range(i, end):
            wanted = counts[j] + rules[ERA_5] > 0 if rules[BY_COUNT] else rules[FILLS] == 1
            filled = kind == READ and not hits[j] and wanted
            if kind == ADD and rules[ERA_5] and rules[BY_COUNT] and of[numbers[j], CACHED]:
                _set_expected(numbers[j], counts[j], rules, of)
            if (kind == ADD or filled) and not of[numbers[j], CACHED]:
                topic = topics[numbers[j]]
                low[topic] = min(low[topic], numbers[j])
                expects = counts[j] if rules[BY_COUNT] else int(filled)
                _insert(numbers[j], now, expects, rules, sizes, ring, state, of, totals)
        for j in range(i, end):
            if kind in (READ, EXPECT) and of[numbers[j], CACHED] and of[numbers[j], COUNTED]:
                of[numbers[j], EXPECTS] += 1 if kind == EXPECT else -1
                if rules[ERA_5]:
                    of[numbers[j], EXPECTS] = max(0, of[numbers[j], EXPECTS])
            held_bytes[j] = state[USED]
        i = end
