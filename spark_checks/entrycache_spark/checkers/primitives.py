"""Building blocks of compiled loops: null, flags, comparisons with unknown values, and hash tables.

A loop flags a rule where it is not certain that an event keeps it; the rule's window then decides. The hash tables use
open addressing and stand in numpy arrays: one maps integers to small numbers, the other maps positions (cache, ledger,
entry) to rows with further fields.
"""

from typing import Any, Final

import numpy as np

from entrycache_trace.jit import Array, jit

NULL: Final = -(1 << 63)
"""Null in a column of integers; no column of a trace may hold this value except `key_hash`."""


def new_flags(rules: int) -> Array:
    """Return a table with a row for each rule: the number of flagged events, and the first of them."""
    import numpy as np  # noqa: PLC0415 - of the extra `trace`

    return np.zeros((rules, 2), np.int64)


@jit
def flag(flags: Any, rule: int, seq: int) -> None:
    """Flag a rule at an event: its window must decide."""
    if flags[rule, 0] == 0:
        flags[rule, 1] = seq
    flags[rule, 0] += 1


@jit
def numbers_differ(number: int, expected: int) -> bool:
    """Return whether two numbers are both known and differ."""
    return number != NULL and expected != NULL and number != expected


@jit
def names_differ(name: int, other: int) -> bool:
    """Return whether two names are both known and differ."""
    return name != 0 and other != 0 and name != other


# ---------- passes


@jit
def is_out_of_pass(begins: bool, belongs: bool, within: bool, pass_id: int, seq: int, open_pass: int) -> bool:
    """Return whether an event breaks into the open pass.

    `begins`: it begins a pass. `belongs`: it is part of one. `within`: it directly follows an event of a pass.
    """
    if begins:
        return open_pass != NULL or pass_id != seq
    if belongs:
        return pass_id == NULL or open_pass != pass_id
    return within and open_pass != NULL


# ---------- a hash table of integers

FREE = -1


def new_table(least: int) -> tuple[Array, Array]:
    """Return empty keys and values with room for twice as many as `least`."""
    size = 1 << max(10, (2 * least - 1).bit_length())
    return np.zeros(size, np.int64), np.full(size, FREE, np.int32)


@jit
def hash_slot(key: int, mask: int) -> Any:
    """Return the slot at which the search for a key begins."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    return np.int64(mixed & np.uint64(mask))


@jit
def find(keys: Any, values: Any, key: int) -> int:
    """Return the value of a key, or `FREE` if it has none."""
    mask = len(keys) - 1
    at = hash_slot(key, mask)
    while values[at] != FREE:
        if keys[at] == key:
            return values[at]
        at = (at + 1) & mask
    return FREE


@jit
def put(keys: Any, values: Any, key: int, value: int) -> None:
    """Add a key that is not in the table."""
    mask = len(keys) - 1
    at = hash_slot(key, mask)
    while values[at] != FREE:
        at = (at + 1) & mask
    keys[at], values[at] = key, value


@jit
def drop(keys: Any, values: Any, key: int) -> None:
    """Remove a key that is in the table, and close the gap."""
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
    """Copy all keys of one table into another."""
    for at in range(len(keys)):
        if values[at] != FREE:
            put(into_keys, into_values, keys[at], values[at])


# ---------- a hash table of positions

USED, CACHE, LEDGER, ENTRY = range(4)
LEAST_ROOM = 1 << 12


def new_positions(fields: int) -> Array:
    """Return an empty table of positions."""
    return np.zeros((LEAST_ROOM, fields), np.int64)


def with_positions(table: Array, most: int) -> Array:
    """Return the table, widened if it lacks room for so many positions."""
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
    """Return the row of a position, or the free row where it would stand."""
    mask = len(table) - 1
    at = _home(cache, ledger, entry, mask)
    while table[at, USED]:
        if table[at, ENTRY] == entry and table[at, LEDGER] == ledger and table[at, CACHE] == cache:
            break
        at = (at + 1) & mask
    return at


@jit
def occupy(table: Any, at: int, cache: int, ledger: int, entry: int) -> bool:
    """Give a free row to a position; return False if the row is taken. The other fields keep their old values."""
    if table[at, USED]:
        return False
    table[at, USED], table[at, CACHE], table[at, LEDGER], table[at, ENTRY] = 1, cache, ledger, entry
    return True


@jit
def forget(table: Any, at: int) -> None:
    """Free the row of a position, and close the gap."""
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
