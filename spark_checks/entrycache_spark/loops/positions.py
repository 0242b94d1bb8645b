"""A table of positions, with open addressing: a row each, whose first fields are these; the others are a system's."""

from __future__ import annotations

from typing import Any

import numpy as np

from entrycache_spark.loops.hashing import place
from entrycache_trace.compiled import Array, compiled

USED, CACHE, LEDGER, ENTRY = range(4)
LEAST_ROOM = 1 << 12


def new_positions(fields: int) -> Array:
    """A table without any."""
    return np.zeros((LEAST_ROOM, fields), np.int64)


def with_positions(table: Array, most: int) -> Array:
    """The table, with room for so many positions."""
    if 2 * most <= len(table):
        return table
    wider = np.zeros((1 << (4 * most).bit_length(), table.shape[1]), np.int64)
    _copied(table, wider)
    return wider


@compiled
def _home(cache: int, ledger: int, entry: int, mask: int) -> int:
    return place(place(place(entry, -1) + ledger, -1) + cache, mask)


@compiled
def position(table: Any, cache: int, ledger: int, entry: int) -> int:
    """Where a position stands in the table, or would."""
    mask = len(table) - 1
    at = _home(cache, ledger, entry, mask)
    while table[at, USED]:
        if table[at, ENTRY] == entry and table[at, LEDGER] == ledger and table[at, CACHE] == cache:
            break
        at = (at + 1) & mask
    return at


@compiled
def settle(table: Any, at: int, cache: int, ledger: int, entry: int) -> bool:
    """Make a position of a free place, if it is free; its other fields are those that stood there."""
    if table[at, USED]:
        return False
    table[at, USED], table[at, CACHE], table[at, LEDGER], table[at, ENTRY] = 1, cache, ledger, entry
    return True


@compiled
def forget(table: Any, at: int) -> None:
    """Free the place of a position, and close the gap."""
    mask = len(table) - 1
    gap = at
    while True:
        at = (at + 1) & mask
        if not table[at, USED]:
            break
        home = _home(table[at, CACHE], table[at, LEDGER], table[at, ENTRY], mask)
        if ((at - home) & mask) >= ((at - gap) & mask):
            table[gap] = table[at]
            gap = at
    table[gap, USED] = 0


@compiled
def _copied(table: Any, wider: Any) -> None:
    for old in table:
        if old[USED]:
            wider[position(wider, old[CACHE], old[LEDGER], old[ENTRY])] = old
