"""Policies that keep entries in linked lists: FIFO, LRU, CLOCK, SIEVE, S3-FIFO, ARC and W-TinyLFU.

The lists are linked both ways in arrays, and an entry is in one list at a time. Every policy makes room first and then
takes the entry that missed; it takes every entry that is added or read and that fits into the capacity at all.

- CLOCK has one bit, which is clear when an entry comes (Corbato 1968). SIEVE is that of Zhang and others, NSDI 2024. -
S3-FIFO is algorithm 1 of Yang and others, SOSP 2023, in bytes. Its small queue has a tenth of the capacity. Its ghost
queue remembers entries of as many bytes as the main queue has. An entry counts its reads up to 3. An entry that was
read more than once moves from the small to the main queue, and its count is cleared. - ARC is figure 4 of Megiddo and
Modha, FAST 2003, in bytes. A hit in a ghost list moves the target by the entry's size times the bytes of the other
ghost list for each of its own, in whole bytes, and at least by the entry's size. - W-TinyLFU is that of Einziger,
Friedman and Manes, ACM TOS 2017. The window has a hundredth of the capacity; the rest is a segmented LRU with four
fifths protected. Frequencies are exact counts up to 15, halved after every ten times as many requests as entries of the
mean size fit: the answer of a sketch without collisions and without a doorkeeper.
"""

import numpy as np

from entrycache_league.requests import EXAMINED, READ, count_eviction
from entrycache_trace.jit import Array, jit

NONE = -1
NOWHERE = 0
"""The list of entries that are in no list."""


@jit
def new_links(entries: int, lists: int) -> tuple[Array, Array]:
    """Return the neighbours of each entry, towards front and back, and the front and back of each list."""
    return np.full((entries, 2), NONE, np.int32), np.full((lists, 2), NONE, np.int32)


@jit
def push(links: Array, ends: Array, which: int, entry: int) -> None:
    """Put an entry at the front of a list."""
    front = ends[which, 0]
    links[entry, 0] = NONE
    links[entry, 1] = front
    if front == NONE:
        ends[which, 1] = entry
    else:
        links[front, 0] = entry
    ends[which, 0] = entry


@jit
def unlink(links: Array, ends: Array, which: int, entry: int) -> None:
    """Take an entry out of its list."""
    before, after = links[entry, 0], links[entry, 1]
    if before == NONE:
        ends[which, 0] = after
    else:
        links[before, 1] = after
    if after == NONE:
        ends[which, 1] = before
    else:
        links[after, 0] = before


@jit
def move(links: Array, ends: Array, where: Array, used: Array, sizes: Array, entry: int, to: int) -> None:
    """Move an entry to the front of another list, and update the list and the bytes `used` of each list."""
    if where[entry] != NOWHERE:
        unlink(links, ends, where[entry], entry)
        used[where[entry]] -= sizes[entry]
    where[entry] = to
    if to != NOWHERE:
        push(links, ends, to, entry)
        used[to] += sizes[entry]


FIFO, LRU, CLOCK, SIEVE = range(4)


@jit
def replay_queue(
    policy: int,
    kinds: Array,
    numbers: Array,
    sizes: Array,
    capacity: int,
    hits: Array,
    held_bytes: Array,
    totals: Array,
) -> None:
    """Replay requests with one queue.

    A read gives an entry nothing (FIFO), the front of the queue (LRU), or a mark that spares it once. A spared entry
    goes to the front (CLOCK), or keeps its place while the hand moves on to newer entries (SIEVE).
    """
    links, ends = new_links(len(sizes), 1)
    cached = np.zeros(len(sizes), np.bool_)
    marked = np.zeros(len(sizes), np.bool_)
    used = 0
    hand = NONE
    for i in range(len(numbers)):
        entry = numbers[i]
        if kinds[i] <= READ and cached[entry]:
            if kinds[i] == READ:
                hits[i] = True
                marked[entry] = policy >= CLOCK
                if policy == LRU:
                    unlink(links, ends, 0, entry)
                    push(links, ends, 0, entry)
        elif kinds[i] <= READ and sizes[entry] <= capacity:
            while used + sizes[entry] > capacity:
                victim = ends[0, 1] if hand == NONE else hand
                if policy == SIEVE:
                    hand = links[victim, 0]
                if marked[victim]:
                    marked[victim] = False
                    totals[EXAMINED] += 1
                    if policy == CLOCK:
                        unlink(links, ends, 0, victim)
                        push(links, ends, 0, victim)
                    continue
                unlink(links, ends, 0, victim)
                cached[victim] = False
                used -= sizes[victim]
                count_eviction(totals, sizes[victim])
            push(links, ends, 0, entry)
            cached[entry] = True
            used += sizes[entry]
        held_bytes[i] = used


# S3-FIFO

SMALL, MAIN, GHOST = 1, 2, 3
MAX_READS = 3


@jit
def replay_s3fifo(
    kinds: Array, numbers: Array, sizes: Array, capacity: int, hits: Array, held_bytes: Array, totals: Array
) -> None:
    """Replay requests; write hits, held bytes and totals into the last three arrays."""
    links, ends = new_links(len(sizes), 4)
    where = np.zeros(len(sizes), np.uint8)
    reads = np.zeros(len(sizes), np.uint8)
    used = np.zeros(4, np.int64)
    small_share = capacity // 10
    for i in range(len(numbers)):
        entry = numbers[i]
        if kinds[i] <= READ and where[entry] in (SMALL, MAIN):
            if kinds[i] == READ:
                hits[i] = True
                reads[entry] = min(MAX_READS, reads[entry] + 1)
        elif kinds[i] <= READ and sizes[entry] <= capacity:
            to = MAIN if where[entry] == GHOST else SMALL
            move(links, ends, where, used, sizes, entry, NOWHERE)
            while used[SMALL] + used[MAIN] + sizes[entry] > capacity:
                _evict_s3fifo(links, ends, where, used, sizes, reads, small_share, totals)
            while used[GHOST] > capacity - small_share:
                move(links, ends, where, used, sizes, ends[GHOST, 1], NOWHERE)
            reads[entry] = 0
            move(links, ends, where, used, sizes, entry, to)
        held_bytes[i] = used[SMALL] + used[MAIN]


@jit
def _evict_s3fifo(
    links: Array, ends: Array, where: Array, used: Array, sizes: Array, reads: Array, small_share: int, totals: Array
) -> None:
    """Evict one entry, or move it to the front of the main queue."""
    if ends[SMALL, 1] != NONE and (used[SMALL] >= small_share or ends[MAIN, 1] == NONE):
        victim = ends[SMALL, 1]
        stays = reads[victim] > 1
        reads[victim] = 0
        to = MAIN if stays else GHOST
    else:
        victim = ends[MAIN, 1]
        stays = reads[victim] > 0
        if stays:
            reads[victim] -= 1
        to = MAIN if stays else NOWHERE
    move(links, ends, where, used, sizes, victim, to)
    if stays:
        totals[EXAMINED] += 1
    else:
        count_eviction(totals, sizes[victim])


# ARC

READ_ONCE, READ_AGAIN, READ_ONCE_GHOST, READ_AGAIN_GHOST = 1, 2, 3, 4


@jit
def replay_arc(
    kinds: Array, numbers: Array, sizes: Array, capacity: int, hits: Array, held_bytes: Array, totals: Array
) -> None:
    """Replay requests; write hits, held bytes and totals into the last three arrays."""
    links, ends = new_links(len(sizes), 5)
    where = np.zeros(len(sizes), np.uint8)
    used = np.zeros(5, np.int64)
    target = 0
    for i in range(len(numbers)):
        entry = numbers[i]
        if kinds[i] <= READ and where[entry] in (READ_ONCE, READ_AGAIN):
            if kinds[i] == READ:
                hits[i] = True
                move(links, ends, where, used, sizes, entry, READ_AGAIN)
        elif kinds[i] <= READ and sizes[entry] <= capacity:
            size = sizes[entry]
            was = where[entry]
            if was == READ_ONCE_GHOST:
                target = min(
                    capacity, target + max(size, size * used[READ_AGAIN_GHOST] // max(1, used[READ_ONCE_GHOST]))
                )
            elif was == READ_AGAIN_GHOST:
                target = max(0, target - max(size, size * used[READ_ONCE_GHOST] // max(1, used[READ_AGAIN_GHOST])))
            else:
                _trim_ghosts(links, ends, where, used, sizes, capacity - size, totals)
            move(links, ends, where, used, sizes, entry, NOWHERE)
            while used[READ_ONCE] + used[READ_AGAIN] + size > capacity:
                _evict_arc(links, ends, where, used, sizes, target, was == READ_AGAIN_GHOST, totals)
            while was == NOWHERE and used.sum() + size > 2 * capacity:
                move(links, ends, where, used, sizes, ends[READ_AGAIN_GHOST, 1], NOWHERE)
            move(links, ends, where, used, sizes, entry, READ_ONCE if was == NOWHERE else READ_AGAIN)
        held_bytes[i] = used[READ_ONCE] + used[READ_AGAIN]


@jit
def _trim_ghosts(links: Array, ends: Array, where: Array, used: Array, sizes: Array, most: int, totals: Array) -> None:
    """Trim the entries that were read once, and their ghosts, to `most` bytes."""
    while used[READ_ONCE] + used[READ_ONCE_GHOST] > most:
        if ends[READ_ONCE_GHOST, 1] != NONE:
            move(links, ends, where, used, sizes, ends[READ_ONCE_GHOST, 1], NOWHERE)
        else:
            count_eviction(totals, sizes[ends[READ_ONCE, 1]])
            move(links, ends, where, used, sizes, ends[READ_ONCE, 1], NOWHERE)


@jit
def _evict_arc(
    links: Array, ends: Array, where: Array, used: Array, sizes: Array, target: int, again: bool, totals: Array
) -> None:
    """Evict one entry and keep its ghost."""
    over = used[READ_ONCE] > target or (again and used[READ_ONCE] == target)
    which = READ_ONCE if ends[READ_ONCE, 1] != NONE and (over or ends[READ_AGAIN, 1] == NONE) else READ_AGAIN
    victim = ends[which, 1]
    count_eviction(totals, sizes[victim])
    move(links, ends, where, used, sizes, victim, which + 2)


# W-TinyLFU

WINDOW, PROBATION, PROTECTED = 1, 2, 3
MAX_FREQUENCY = 15


@jit
def replay_tinylfu(
    kinds: Array, numbers: Array, sizes: Array, capacity: int, hits: Array, held_bytes: Array, totals: Array
) -> None:
    """Replay requests; write hits, held bytes and totals into the last three arrays."""
    links, ends = new_links(len(sizes), 4)
    where = np.zeros(len(sizes), np.uint8)
    used = np.zeros(4, np.int64)
    frequency = np.zeros(len(sizes), np.uint8)
    window_share = capacity // 100
    main_share = capacity - window_share
    period = max(10, 10 * capacity * len(sizes) // max(1, sizes.sum()))
    requests = 0
    for i in range(len(numbers)):
        entry = numbers[i]
        if kinds[i] <= READ:
            requests += 1
            frequency[entry] = min(MAX_FREQUENCY, frequency[entry] + 1)
            if requests % period == 0:
                frequency[:] = frequency >> 1
            if where[entry] == NOWHERE:
                if sizes[entry] <= capacity:
                    move(links, ends, where, used, sizes, entry, WINDOW)
                    while used[WINDOW] > window_share:
                        _leave_window(links, ends, where, used, sizes, frequency, main_share, totals)
            elif kinds[i] == READ:
                hits[i] = True
                move(links, ends, where, used, sizes, entry, WINDOW if where[entry] == WINDOW else PROTECTED)
                while used[PROTECTED] > main_share * 4 // 5:
                    move(links, ends, where, used, sizes, ends[PROTECTED, 1], PROBATION)
        held_bytes[i] = used.sum()


@jit
def _leave_window(
    links: Array, ends: Array, where: Array, used: Array, sizes: Array, frequency: Array, main_share: int, totals: Array
) -> None:
    """Move the oldest entry out of the window: it replaces entries with lower frequencies, or is evicted."""
    entry = ends[WINDOW, 1]
    while used[PROBATION] + used[PROTECTED] + sizes[entry] > main_share:
        victim = ends[PROBATION, 1] if ends[PROBATION, 1] != NONE else ends[PROTECTED, 1]
        if victim == NONE or frequency[entry] <= frequency[victim]:
            count_eviction(totals, sizes[entry])
            totals[EXAMINED] += victim != NONE
            move(links, ends, where, used, sizes, entry, NOWHERE)
            return
        count_eviction(totals, sizes[victim])
        move(links, ends, where, used, sizes, victim, NOWHERE)
    move(links, ends, where, used, sizes, entry, PROBATION)
