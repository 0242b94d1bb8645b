"""Parts that the three Pulsar systems share: limits, positions for generated cases, and imports of their Java tests.

A place is a cache and a position of a managed ledger. `make_places` gives small sets of them, so that operations meet.
`make_boundary_places` gives names and numbers at which implementations go wrong: at the ends of integers, or where two
places become one.
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

OTHER_NAMES: Final = ("s", "S", "s ", "s1", "s" * 300, "e\u0301", "\u00e9", "\ufffd")
"""Names of cursors, holds and reads whose neighbours coincide if case, accents, length or ends of a name are lost."""


def take_names(draw: Draw, number: int, usual: Sequence[str]) -> tuple[str, ...]:
    """Return this many names, the first of which are neighbours of `OTHER_NAMES` and the rest are usual ones."""
    first = draw(0, len(OTHER_NAMES) - 1)
    chosen = (OTHER_NAMES * 2)[first : first + min(number, len(OTHER_NAMES))]
    return (*chosen, *usual)[:number]


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


PACKED_LEDGERS: Final = (1_000, 2**32, 10_000, 2**16, 31, 10**6, 100, 2**20, 10**9, 256, 100_000, 10)
"""Factors of a ledger in numbers that stand for a position, such as ledger * 1,000 + entry; some are also the number of
entries at which a shorter integer begins again.
"""

FACTORS_OF_A_CASE: Final = 2

JOINED_NAMES: Final = ("a", "a1", "Aa", "BB")
"""Names of which two coincide if a ledger is joined to them without a separator, and two in a hash of Java."""

JOINED_NUMBERS: Final = (1, 11, 111)
"""Ledgers and entries that coincide if one is joined to the other as text."""


def make_boundary_places(draw: Draw, names: tuple[str, ...] = CACHE_NAMES) -> Places:
    """Return places at which implementations go wrong.

    Half of them are four neighbouring names with two ledgers and three entries. In the other half two places are one
    if a position becomes a single number or a text.
    """
    kind = draw(0, 5)
    if kind in {3, 4}:
        return _make_packed_places(draw, names)
    if kind == 5:
        return _make_joined_places()
    first = draw(0, len(names) - 1)
    chosen = [CacheName((names * 2)[first + at]) for at in range(4)]
    ledgers, entries = choose(draw, LEDGER_PAIRS), choose(draw, NEIGHBOURING_ENTRIES)
    return tuple((name, Position(ledger, entry)) for name in chosen for ledger in ledgers for entry in entries)


def _make_packed_places(draw: Draw, names: tuple[str, ...]) -> Places:
    """Return places of one cache: for each of some factors two neighbouring ledgers, whose positions meet as numbers.

    The ledgers of each factor are their own.
    """
    first, name = draw(0, len(PACKED_LEDGERS) - 1), CacheName(names[0])
    factors = (PACKED_LEDGERS * 2)[first : first + FACTORS_OF_A_CASE]
    numbers = [
        number for at, factor in enumerate(factors) for number in ((at * 2, 0), (at * 2, factor), (at * 2 + 1, 0))
    ]
    return tuple((name, Position(4 + ledger, entry)) for ledger, entry in numbers)


def _make_joined_places() -> Places:
    """Return places in the order of their joined text, so that those of one text are neighbours."""
    numbers = [(ledger, entry) for ledger in JOINED_NUMBERS for entry in JOINED_NUMBERS[:2]]
    places = [(CacheName(name), Position(*number)) for name in JOINED_NAMES for number in numbers]
    texts = {place: f"{place[0]}{place[1].ledger}{place[1].entry}".replace(*JOINED_NAMES[:1:-1]) for place in places}
    return tuple(sorted(places, key=lambda place: (texts[place], place)))


class PlaceWalk:
    """A walk between places that an implementation may take for one another: half of the steps go to a neighbour.

    `may_meet` says that there are such places; `patience` makes cases longer then, so that they do meet.
    """

    def __init__(self, draw: Draw, places: Places) -> None:
        self._draw = draw
        self._places = places
        self.may_meet = len({pos.ledger for _, pos in places}) > len(LEDGER_PAIRS[0])
        self._last = 0

    @property
    def patience(self) -> int:
        """The factor by which such places make cases longer."""
        return 2 if self.may_meet else 1

    def note(self, place: tuple[CacheName, Position]) -> None:
        """Go on from this place, if it is one of them."""
        if self.may_meet and place in self._places:
            self._last = self._places.index(place)

    def next_place(self) -> tuple[CacheName, Position] | None:
        """Return a neighbour of the last place half of the time, if such places are in use."""
        if not self.may_meet or self._draw(0, 1) == 0:
            return None
        offset = (1, -1, 2, -2)[self._draw(0, 3)]
        self._last = (self._last + offset) % len(self._places)
        return self._places[self._last]


WIDEST_RANGE: Final = 100_000
"""The most entries of one ledger between the bounds of a range: a subject may look through them one by one."""


def narrow_range(first: Position, last: Position) -> Position:
    """Return the last position of a range, or the first one if too many entries of its ledger lie between them."""
    is_too_wide = first.ledger == last.ledger and last.entry - first.entry > WIDEST_RANGE
    return first if is_too_wide else last


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
