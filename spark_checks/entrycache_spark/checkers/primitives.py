"""What all loops speak in: null, and a note that a rule's window has to look."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from entrycache_trace.jit import Array, jit

NULL: Final = -(1 << 63)
"""Null in a column of integers; no column of a trace may hold it but `key_hash`."""


def new_flags(rules: int) -> Array:
    """A table with a row a rule: how often something was met that the rule's window has to look at, and where first."""
    import numpy as np  # noqa: PLC0415 - of the extra `trace`

    return np.zeros((rules, 2), np.int64)


@jit
def flag(flags: Any, rule: int, seq: int) -> None:
    """Note that a rule's window has to look at an event."""
    if flags[rule, 0] == 0:
        flags[rule, 1] = seq
    flags[rule, 0] += 1


@jit
def numbers_differ(told: int, wanted: int) -> bool:
    """Whether two numbers are known to be two."""
    return told != NULL and wanted != NULL and told != wanted


@jit
def names_differ(name: int, other: int) -> bool:
    """Whether two names are known to be two."""
    return name != 0 and other != 0 and name != other


# ---------- passes


@jit
def is_out_of_pass(begins: bool, belongs: bool, within: bool, pass_id: int, seq: int, open_pass: int) -> bool:
    """Whether an event that begins a pass, or belongs to one, or stands behind what does, breaks into the open one."""
    if begins:
        return open_pass != NULL or pass_id != seq
    if belongs:
        return pass_id == NULL or open_pass != pass_id
    return within and open_pass != NULL


# ---------- a hash table of integers

FREE = -1


def new_table(least: int) -> tuple[Array, Array]:
    """Keys and values with room for twice as many as `least`, all free."""
    size = 1 << max(10, (2 * least - 1).bit_length())
    return np.zeros(size, np.int64), np.full(size, FREE, np.int32)


@jit
def hash_slot(key: int, mask: int) -> Any:
    """Where to begin to look for a key."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    return np.int64(mixed & np.uint64(mask))


@jit
def find(keys: Any, values: Any, key: int) -> int:
    """The value of a key, `FREE` if it has none."""
    mask = len(keys) - 1
    at = hash_slot(key, mask)
    while values[at] != FREE:
        if keys[at] == key:
            return values[at]
        at = (at + 1) & mask
    return FREE


@jit
def put(keys: Any, values: Any, key: int, value: int) -> None:
    """Give a value to a key that has none."""
    mask = len(keys) - 1
    at = hash_slot(key, mask)
    while values[at] != FREE:
        at = (at + 1) & mask
    keys[at], values[at] = key, value


@jit
def drop(keys: Any, values: Any, key: int) -> None:
    """Forget a key that has a value, and close the gap."""
    mask = len(keys) - 1
    at = hash_slot(key, mask)
    while keys[at] != key or values[at] == FREE:
        at = (at + 1) & mask
    gap = at
    while True:
        at = (at + 1) & mask
        if values[at] == FREE:
            break
        home = hash_slot(keys[at], mask)
        if ((at - home) & mask) >= ((at - gap) & mask):
            keys[gap], values[gap] = keys[at], values[at]
            gap = at
    values[gap] = FREE


@jit
def copy_table(keys: Any, values: Any, into_keys: Any, into_values: Any) -> None:
    """Put all that one table has into another."""
    for at in range(len(keys)):
        if values[at] != FREE:
            put(into_keys, into_values, keys[at], values[at])


# ---------- a hash table of positions

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
    _copy_positions(table, wider)
    return wider


@jit
def _home(cache: int, ledger: int, entry: int, mask: int) -> int:
    return hash_slot(hash_slot(hash_slot(entry, -1) + ledger, -1) + cache, mask)


@jit
def position(table: Any, cache: int, ledger: int, entry: int) -> int:
    """Where a position stands in the table, or would."""
    mask = len(table) - 1
    at = _home(cache, ledger, entry, mask)
    while table[at, USED]:
        if table[at, ENTRY] == entry and table[at, LEDGER] == ledger and table[at, CACHE] == cache:
            break
        at = (at + 1) & mask
    return at


@jit
def occupy(table: Any, at: int, cache: int, ledger: int, entry: int) -> bool:
    """Make a position of a free place, if it is free; its other fields are those that stood there."""
    if table[at, USED]:
        return False
    table[at, USED], table[at, CACHE], table[at, LEDGER], table[at, ENTRY] = 1, cache, ledger, entry
    return True


@jit
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


@jit
def _copy_positions(table: Any, wider: Any) -> None:
    for old in table:
        if old[USED]:
            wider[position(wider, old[CACHE], old[LEDGER], old[ENTRY])] = old
