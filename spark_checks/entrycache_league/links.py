"""Lists of entries, linked both ways in arrays: an entry stands in one list at a time."""

from __future__ import annotations

import numpy as np

from entrycache_trace.compiled import Array, compiled

NONE = -1
NOWHERE = 0
"""The list 0, of entries that stand in none."""


@compiled
def new_links(entries: int, lists: int) -> tuple[Array, Array]:
    """The neighbours of each entry, towards the front and the back, and front and back of each list."""
    return np.full((entries, 2), NONE, np.int32), np.full((lists, 2), NONE, np.int32)


@compiled
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


@compiled
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


@compiled
def move(links: Array, ends: Array, where: Array, used: Array, sizes: Array, entry: int, to: int) -> None:
    """Put an entry at the front of another list; `where` each one stands and the bytes `used` of each list follow."""
    if where[entry] != NOWHERE:
        unlink(links, ends, where[entry], entry)
        used[where[entry]] -= sizes[entry]
    where[entry] = to
    if to != NOWHERE:
        push(links, ends, to, entry)
        used[to] += sizes[entry]
