"""The places that the cases of a Pulsar system ask for: positions of managed ledgers whose names are one letter."""

from __future__ import annotations

from string import ascii_lowercase

from entrycache_reference.vocabulary import CacheName, Position


def places(caches: int, ledgers: int, entries: int) -> tuple[tuple[CacheName, Position], ...]:
    """So many caches with so many ledgers of so many entries, the simplest first; at most 26 caches."""
    return tuple(
        (CacheName(cache), Position(1 + ledger, entry))
        for cache in ascii_lowercase[:caches]
        for ledger in range(ledgers)
        for entry in range(entries)
    )
