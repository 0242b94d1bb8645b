"""A table from an integer to a small number, with open addressing: for what is looked up at every event."""

from __future__ import annotations

from typing import Any

import numpy as np

from entrycache_trace.compiled import Array, compiled

FREE = -1


def new_table(least: int) -> tuple[Array, Array]:
    """Keys and values with room for twice as many as `least`, all free."""
    size = 1 << max(10, (2 * least - 1).bit_length())
    return np.zeros(size, np.int64), np.full(size, FREE, np.int32)


@compiled
def place(key: int, mask: int) -> Any:
    """Where to begin to look for a key."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    return np.int64(mixed & np.uint64(mask))


@compiled
def find(keys: Any, values: Any, key: int) -> int:
    """The value of a key, `FREE` if it has none."""
    mask = len(keys) - 1
    at = place(key, mask)
    while values[at] != FREE:
        if keys[at] == key:
            return values[at]
        at = (at + 1) & mask
    return FREE


@compiled
def put(keys: Any, values: Any, key: int, value: int) -> None:
    """Give a value to a key that has none."""
    mask = len(keys) - 1
    at = place(key, mask)
    while values[at] != FREE:
        at = (at + 1) & mask
    keys[at], values[at] = key, value


@compiled
def drop(keys: Any, values: Any, key: int) -> None:
    """Forget a key that has a value, and close the gap."""
    mask = len(keys) - 1
    at = place(key, mask)
    while keys[at] != key or values[at] == FREE:
        at = (at + 1) & mask
    gap = at
    while True:
        at = (at + 1) & mask
        if values[at] == FREE:
            break
        home = place(keys[at], mask)
        if ((at - home) & mask) >= ((at - gap) & mask):
            keys[gap], values[gap] = keys[at], values[at]
            gap = at
    values[gap] = FREE


@compiled
def copied(keys: Any, values: Any, into_keys: Any, into_values: Any) -> None:
    """Put all that one table has into another."""
    for at in range(len(keys)):
        if values[at] != FREE:
            put(into_keys, into_values, keys[at], values[at])
