"""The places that the cases of a Pulsar system ask for: positions of managed ledgers whose names are one letter."""

from __future__ import annotations

from string import ascii_lowercase
from typing import Final

from entrycache_protocol.draw import Draw, choose
from entrycache_reference.vocabulary import CacheName, Position


def places(caches: int, ledgers: int, entries: int) -> tuple[tuple[CacheName, Position], ...]:
    """So many caches with so many ledgers of so many entries, the simplest first; at most 26 caches."""
    return tuple(
        (CacheName(cache), Position(1 + ledger, entry))
        for cache in ascii_lowercase[:caches]
        for ledger in range(ledgers)
        for entry in range(entries)
    )


NAMES: Final = ("a", "A", "e\u0301", "\u00e9", "\U0001d11e", "\ufffd", "a/b", "a:b", "a ", " a", "1", "01", "x" * 300)
"""Those that stand side by side are taken for one where case, accents, width or ends of a name are lost."""

ONE_ORDER: Final = tuple(name for name in NAMES if max(map(ord, name)) < 2**16)
"""Those whose order is the same by code points and by UTF-16 units: a rule that goes by names does not say which."""

LEDGERS: Final = ((9, 10), (2**31 - 1, 2**31), (1, 2**32 + 1), (99, 100), (2**53 - 3, 2**53 - 2))
"""Pairs that another order of numbers turns round, or a shorter number lets coincide."""

ENTRIES: Final = (
    (9, 10, 11),
    (99, 100, 101),
    (999, 1_000, 1_001),
    (2**31 - 1, 2**31, 2**31 + 1),
    (2**32 - 1, 2**32, 2**32 + 1),
    (2**53 - 403, 2**53 - 402, 2**53 - 401),
)
"""Neighbours, so that no range spans more than a subject may look through one by one."""


def odd_places(draw: Draw, names: tuple[str, ...] = NAMES) -> tuple[tuple[CacheName, Position], ...]:
    """Four names side by side, two ledgers and three entries: names and numbers at which implementations go wrong."""
    first = draw(0, len(names) - 1)
    chosen = [CacheName((names * 2)[first + at]) for at in range(4)]
    ledgers, entries = choose(draw, LEDGERS), choose(draw, ENTRIES)
    return tuple((name, Position(ledger, entry)) for name in chosen for ledger in ledgers for entry in entries)
