"""Parts that the three Pulsar systems share: limits, positions for generated cases, and imports of their Java tests.

A place is a cache and a position of a managed ledger. `make_places` gives small sets of them, so that operations meet.
`make_boundary_places` gives names and numbers at which implementations go wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Final

from entrycache_protocol import system
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import Draw, choose
from entrycache_reference.vocabulary import CacheName, Position

Places = tuple[tuple[CacheName, Position], ...]


@dataclass(frozen=True, slots=True)
class Limits(system.Limits):
    """The limits of the Pulsar systems: with `append_only` an insert comes only above all inserts of its cache."""

    append_only: bool = system.step_field(False)


def take_caches(places: Places, declaration: Declaration) -> Places:
    """Return the places in as many caches as the subject takes."""
    names = list(dict.fromkeys(cache for cache, _ in places))[: declaration.limits.namespaces]
    return tuple((cache, pos) for cache, pos in places if cache in names)


def add_sizes(menu: tuple[int, ...], sizes: Sequence[int]) -> tuple[int, ...]:
    """Return a menu of sizes with those of a subject, each with its neighbours."""
    return (*menu, *(max(0, size + off) for size in sizes for off in (0, 1, -1)))


def make_places(caches: int, ledgers: int, entries: int) -> tuple[tuple[CacheName, Position], ...]:
    """Return the positions of that many caches, ledgers and entries, the simplest first; at most 26 caches."""
    return tuple(
        (CacheName(cache), Position(1 + ledger, entry))
        for cache in ascii_lowercase[:caches]
        for ledger in range(ledgers)
        for entry in range(entries)
    )


CACHE_NAMES: Final = (
    "a",
    "A",
    "e\u0301",
    "\u00e9",
    "\U0001d11e",
    "\ufffd",
    "a/b",
    "a:b",
    "a ",
    " a",
    "1",
    "01",
    "x" * 300,
)
"""Names whose neighbours coincide if case, accents, width or the ends of a name are lost."""

NAMES_IN_ONE_ORDER: Final = tuple(name for name in CACHE_NAMES if max(map(ord, name)) < 2**16)
"""Names that have the same order by code points and by UTF-16 units; a rule that orders names does not say which."""

LEDGER_PAIRS: Final = ((9, 10), (2**31 - 1, 2**31), (1, 2**32 + 1), (99, 100), (2**53 - 3, 2**53 - 2))
"""Pairs that change their order as text, or coincide in a shorter integer."""

NEIGHBOURING_ENTRIES: Final = (
    (9, 10, 11),
    (99, 100, 101),
    (999, 1_000, 1_001),
    (2**31 - 1, 2**31, 2**31 + 1),
    (2**32 - 1, 2**32, 2**32 + 1),
    (2**53 - 403, 2**53 - 402, 2**53 - 401),
)
"""Neighbouring entries, so that no range spans more than a subject may look through one by one."""


def make_boundary_places(draw: Draw, names: tuple[str, ...] = CACHE_NAMES) -> tuple[tuple[CacheName, Position], ...]:
    """Return four neighbouring names with two ledgers and three entries at which implementations go wrong."""
    first = draw(0, len(names) - 1)
    chosen = [CacheName((names * 2)[first + at]) for at in range(4)]
    ledgers, entries = choose(draw, LEDGER_PAIRS), choose(draw, NEIGHBOURING_ENTRIES)
    return tuple((name, Position(ledger, entry)) for name in chosen for ledger in ledgers for entry in entries)


_MANAGED_LEDGER: Final = "org.apache.bookkeeper.mledger"

_ALWAYS: Final = (
    "java.lang.reflect.Field",
    "java.util.Arrays",
    "java.util.LinkedHashMap",
    "java.util.List",
    "java.util.Map",
    "java.util.concurrent.Callable",
    f"{_MANAGED_LEDGER}.Position",
    f"{_MANAGED_LEDGER}.PositionFactory",
    "sun.misc.Unsafe",
)

_BY_PART: Final = {
    "clock": ("entrycache.agent.Clock",),
    "manager": (
        "io.opentelemetry.api.OpenTelemetry",
        "java.lang.reflect.InvocationHandler",
        "java.lang.reflect.Proxy",
        "java.util.ArrayDeque",
        "java.util.Queue",
        "java.util.TreeMap",
        f"{_MANAGED_LEDGER}.ManagedLedgerConfig",
        f"{_MANAGED_LEDGER}.ManagedLedgerFactoryConfig",
        f"{_MANAGED_LEDGER}.impl.ManagedLedgerFactoryImpl",
        f"{_MANAGED_LEDGER}.impl.ManagedLedgerFactoryMBeanImpl",
        f"{_MANAGED_LEDGER}.impl.ManagedLedgerImpl",
    ),
    "insert": (
        "org.apache.pulsar.common.api.proto.MessageMetadata",
        f"{_MANAGED_LEDGER}.impl.EntryImpl",
    ),
    "payload": ("io.netty.buffer.ByteBuf", "io.netty.buffer.Unpooled", "java.util.ArrayList"),
    "wrappers": ("java.util.concurrent.atomic.AtomicReferenceArray",),
    "range": ("java.lang.reflect.Method", "java.util.function.IntSupplier"),
    "observe": ("java.util.ArrayList", "java.util.IdentityHashMap"),
    "reads": ("java.util.HashMap", f"{_MANAGED_LEDGER}.Entry"),
    "storage": (
        "java.util.HashSet",
        "java.util.Set",
        "java.util.concurrent.CompletableFuture",
        "java.util.concurrent.ConcurrentSkipListMap",
        "org.apache.bookkeeper.client.api.LedgerEntry",
        "org.apache.bookkeeper.client.api.ReadHandle",
        "org.apache.bookkeeper.client.impl.LedgerEntriesImpl",
        "org.apache.bookkeeper.client.impl.LedgerEntryImpl",
        f"{_MANAGED_LEDGER}.AsyncCallbacks.ReadEntriesCallback",
        f"{_MANAGED_LEDGER}.AsyncCallbacks.ReadEntryCallback",
        f"{_MANAGED_LEDGER}.ManagedLedgerException",
        f"{_MANAGED_LEDGER}.impl.ManagedLedgerMBeanImpl",
    ),
    "cursors": (
        "java.util.HashMap",
        f"{_MANAGED_LEDGER}.impl.ActiveManagedCursorContainer",
        f"{_MANAGED_LEDGER}.impl.ManagedCursorImpl",
    ),
    "active": (f"{_MANAGED_LEDGER}.impl.ActiveManagedCursorContainerImpl",),
    "heap": (f"{_MANAGED_LEDGER}.impl.ManagedCursorContainerImpl",),
}


def imports(parts: frozenset[str]) -> list[str]:
    """Return the names to import, sorted."""
    return sorted({*_ALWAYS, *(name for part in parts for name in _BY_PART[part])})
