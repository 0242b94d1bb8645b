"""Strategies for rules of your own in a subclass of what `entrycache.state_machine` returns.

They draw next to the reference's present state: what is cached, held or tracked, and numbers at and next to the
thresholds of that state. They work in the rules of such a subclass only. `docs/how-to/stateful-tests.md` shows them.
"""

from hypothesis.strategies import SearchStrategy

from entrycache_conformance.strategies import arguments, configs, operations

__all__ = [
    "ages",
    "arguments",
    "caches",
    "configs",
    "cursors",
    "holds",
    "keys",
    "ledgers",
    "namespaces",
    "operations",
    "positions",
    "ranges",
    "sizes",
    "stores",
    "values",
    "waits",
]

Place = tuple[int, int]
"""A position: a ledger and an entry."""


def caches() -> SearchStrategy[str]:
    """Return a strategy of caches, mostly such that hold something."""
    return arguments("get", "cache")


def positions() -> SearchStrategy[Place]:
    """Return a strategy of positions, mostly cached ones."""
    return arguments("get", "pos")


def ledgers() -> SearchStrategy[int]:
    """Return a strategy of ledgers, half of them with cached entries."""
    return arguments("invalidate_ledger", "ledger")


def ranges() -> SearchStrategy[tuple[Place, Place]]:
    """Return a strategy of first and last positions, mostly in order, and at or next to what is cached."""
    return arguments("get_range", "first", "last")


def sizes() -> SearchStrategy[int]:
    """Return a strategy of entry sizes; many bring the bytes to the trigger, the target or the limit, or next to it."""
    return arguments("insert", "size")


def ages() -> SearchStrategy[int | None]:
    """Return a strategy of ages in nanoseconds at which a time pass decides differently; None: the time to live."""
    return arguments("expire", "older_than_nanos")


def waits() -> SearchStrategy[int]:
    """Return a strategy of waits in nanoseconds after which a pass or a grace period decides differently."""
    return arguments("advance", "nanos")


def cursors() -> SearchStrategy[str]:
    """Return a strategy of cursors, mostly members of a cache."""
    return arguments("cursor_move", "cursor")


def holds() -> SearchStrategy[str]:
    """Return a strategy of holds, mostly open ones."""
    return arguments("release", "hold")


def namespaces() -> SearchStrategy[str]:
    """Return a strategy of the namespaces of a record cache."""
    return arguments("put", "ns")


def keys() -> SearchStrategy[str]:
    """Return a strategy of the keys of a record cache, few enough to meet."""
    return arguments("put", "key")


def values() -> SearchStrategy[str | None]:
    """Return a strategy of the values of a record cache; None is a tombstone."""
    return arguments("put", "value")


def stores() -> SearchStrategy[str]:
    """Return a strategy of the stores of a record cache."""
    return arguments("store_get", "store")
