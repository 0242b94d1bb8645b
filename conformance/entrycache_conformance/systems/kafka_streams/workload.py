"""The workload profiles of `kafka-streams`: which operations, keys, values and limits its cases have.

A `WorkloadProfile` has `WorkloadParameters`. `WEIGHTS` say how often each operation comes. `Aim` chooses the arguments
of the operations of one case.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from entrycache_conformance.systems.kafka_streams.limits import Limits
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError
from entrycache_protocol.system import MAX_SIZE_BYTES, Draw, choose
from entrycache_reference import rules, vocabulary
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.change import size_bytes, utf8_bytes
from entrycache_reference.kafka_streams.ops import OPS
from entrycache_reference.kafka_streams.state import State, Store, total_bytes
from entrycache_reference.kafka_streams.view_ops import RETENTION_MS, StoreKind

USUAL_BATCH: Final = 3
TOPICS: Final = ("", "t", "𝄞", "topic")
HEADERS: Final = ((), (("h", "1"),), (("𝄞", "é"), ("h", "")))
BOUNDARY_TOPICS: Final = (*TOPICS, "Topic", "t" * 130, "t ")
BOUNDARY_HEADERS: Final = (*HEADERS, (("h", "1"), ("h", "2")), (("H", "1"), ("h", "1")), (("h", "2"), ("g", "1")))
"""Topics and headers that coincide if case, length, order or all but one of a name are lost."""
NUMBERS: Final = (vocabulary.ABSENT, vocabulary.ABSENT, vocabulary.ABSENT, vocabulary.ABSENT, 0, 7)
BOUNDARY_NUMBERS: Final = (vocabulary.ABSENT, 0, 2**31 + 7, 2**32 + 5, 1_700_000_000_000, 65_536 + 3, 256 + 3)
"""Timestamps and offsets, some of which are another number in a shorter integer; a partition has 31 bits."""
NO_LIMIT: Final = 10_485_760

OPS_INSIDE_CALLS: Final = MappingProxyType(
    {
        "put": 4,
        "put_if_absent": 2,
        "evict": 2,
        "flush": 2,
        "usage": 2,
        "store_put": 4,
        "store_get": 3,
        "store_delete": 2,
        "store_flush": 2,
        "store_all": 2,
        "store_open": 0,
        "store_close": 0,
        "view_open": 0,
        "view_next": 0,
        "view_close": 0,
        "window_put": 3,
        "window_get": 3,
        "session_put": 3,
        "session_get": 3,
        "window_view": 2,
        "session_view": 2,
    }
)
"""Weights inside calls: operations that change the cache during the call come more often. No store is opened or closed
there, and no view is opened, read or closed: inside a call no answer guides the reference."""


class WorkloadParameters(NamedTuple):
    """The parameters of a profile. Every tuple is a menu whose first item is the simplest.

    `depth` is how deep listeners may hold listeners, and `patience` makes cases longer. `often` multiplies the weights
    of operations, and `within` those inside a call. `fails` says how many calls of a listener throw, and `budgets` how
    many calls of one step perform their steps. `batch` is the largest number of entries written at once, or to a store
    in a row.

    Three flags add fixed sequences. `flushes_again`: a listener writes to a namespace and flushes it, twice, so that a
    listener that has thrown is called once more. `listens_late`: before an eviction the first dirty entry is used, and
    a listener and a flush follow. `reopens`: a listener closes its namespace and writes to it again; two writes and a
    resize to 0 follow.

    With `joins_names` two namespaces and two keys are such that name and key, joined by nothing or by a separator, are
    one text.
    """

    keys: tuple[str, ...] = ("x", "y", "z")
    values: tuple[str | None, ...] = ("1", None, "2", None, "", "33", "ü")
    namespaces: tuple[int, ...] = (1, 1, 2, 3)
    stores: tuple[int, ...] = (1, 1, 2)
    max_sizes: tuple[int, ...] = (10_485_760, 100, 47, 0, 94, 95, 142, 60, 200, 46, 400)
    depth: int = 2
    steps_max: int = 40
    patience: int = 1
    often: Mapping[str, int] = MappingProxyType({})
    within: Mapping[str, int] = OPS_INSIDE_CALLS
    fails: tuple[int | vocabulary.Absent, ...] = (vocabulary.ABSENT, vocabulary.ABSENT, vocabulary.ABSENT, 1, 2)
    budgets: tuple[int, ...] = (8, 8, 8, 0, 1, 2, 3)
    flushes_again: bool = False
    listens_late: bool = False
    reopens: bool = False
    joins_names: bool = False
    batch: int = USUAL_BATCH


class WorkloadProfile(Enum):
    """The workload profiles."""

    DEFAULT = "default"
    SMALL_KEYS = "small-keys"
    REENTRY = "reentry"
    NESTED = "nested"
    TINY_LIMITS = "tiny-limits"
    LONG_RUNS = "long-runs"
    WIDE_TEXT = "wide-text"
    BATCHES = "batches"
    BUDGETS = "budgets"
    GREAT = "great"
    BOUNDARY = "odd"
    LONE = "lone"


WORKLOADS: Final = {
    WorkloadProfile.DEFAULT: WorkloadParameters(),
    WorkloadProfile.SMALL_KEYS: WorkloadParameters(
        keys=("x", "y"), values=("1", None, "2"), namespaces=(1, 2), stores=(1,)
    ),
    WorkloadProfile.REENTRY: WorkloadParameters(
        depth=3, often={"listen": 4, "on_forward": 4, "flush": 3, "evict": 3, "store_flush": 3}
    ),
    WorkloadProfile.NESTED: WorkloadParameters(
        keys=("x", "y"),
        values=("1", None, "22"),
        namespaces=(1, 1, 2),
        stores=(1, 2),
        max_sizes=(94, 95, 47, 142, 46, 0, 10_485_760),
        depth=3,
        often={"listen": 3, "on_forward": 3, "put": 3, "store_put": 3, "evict": 2, "flush": 2, "clear": 2, "usage": 2},
        within={**OPS_INSIDE_CALLS, "close": 3, "clear": 2, "resize": 3, "listen": 3},
        fails=(vocabulary.ABSENT,) * 9 + (1,),
    ),
    WorkloadProfile.TINY_LIMITS: WorkloadParameters(
        max_sizes=(0, 1, 46, 47, 48, 94), often={"listen": 2, "put": 2, "store_put": 2}
    ),
    WorkloadProfile.LONG_RUNS: WorkloadParameters(keys=tuple("uvwxyz"), steps_max=3_000, patience=60),
    WorkloadProfile.WIDE_TEXT: WorkloadParameters(
        keys=("x", "é", "ﬀ", "𝄞", "", "xy"),
        values=("1", None, "é", "𝄞", "ﬀﬀ"),
        often={"range": 3, "all": 2, "store_range": 8, "store_all": 2},
    ),
    WorkloadProfile.BATCHES: WorkloadParameters(
        values=("1", None, "22"),
        namespaces=(1,),
        stores=(1, 2),
        max_sizes=(10_485_760, 142, 189, 141, 200, 400, 95),
        depth=0,
        often={
            "put": 6,
            "put_all": 3,
            "put_if_absent": 2,
            "listen": 2,
            "evict": 3,
            "store_put": 5,
            "store_get": 6,
            "store_range": 3,
        },
        fails=(vocabulary.ABSENT,) * 9 + (1,),
    ),
    WorkloadProfile.BUDGETS: WorkloadParameters(
        keys=("x", "y"),
        values=("1", None),
        namespaces=(2,),
        depth=0,
        often={"listen": 4, "put": 4, "store_put": 4, "on_forward": 3},
        fails=(vocabulary.ABSENT, 1, 1, 1),
        budgets=(2, 2, 2, 1, 3),
        flushes_again=True,
    ),
    WorkloadProfile.GREAT: WorkloadParameters(
        keys=tuple(f"{number:03}" for number in range(150)),
        values=("1", None, "ü" * 40, "", "2"),
        namespaces=(1, 1, 2),
        stores=(1, 2),
        max_sizes=(10_485_760, 2_000, 5_000),
        depth=1,
        steps_max=120,
        often={"put_all": 6, "flush": 2, "range": 2, "listen": 3, "store_put": 3, "store_flush": 2, "resize": 2},
        budgets=(8, 64),
        batch=130,
    ),
    WorkloadProfile.BOUNDARY: WorkloadParameters(
        keys=("x", "X", "e\u0301", "\u00e9", "\U0001d11e", "\uffee", "", "x\0", "10", "9", "x" * 130),
        values=("1", None, "", "\U0001d11e" * 40, "\0", "v" * 70_000),
        namespaces=(4, 1, 2),
        stores=(2, 1),
        max_sizes=(10_485_760, 94, 47, 70_100, 2**33, 2**31 - 1, 2**31),
        steps_max=60,
        patience=2,
        often={"put": 2, "usage": 3, "all": 2, "close": 3, "clear": 3},
        joins_names=True,
    ),
    WorkloadProfile.LONE: WorkloadParameters(
        keys=("x", "y", "z"),
        values=("1", "2", None),
        namespaces=(1,),
        stores=(1,),
        max_sizes=(10_485_760, 10_485_760, 142, 94),
        depth=1,
        often={"put": 4, "get": 2, "evict": 2, "resize": 4},
        fails=(vocabulary.ABSENT,),
        listens_late=True,
        reopens=True,
    ),
}
"""The parameters of each profile."""


DEFAULT_WORKLOADS: Final = (
    WorkloadProfile.DEFAULT,
    WorkloadProfile.DEFAULT,
    WorkloadProfile.SMALL_KEYS,
    WorkloadProfile.NESTED,
    WorkloadProfile.WIDE_TEXT,
    WorkloadProfile.BATCHES,
    WorkloadProfile.BUDGETS,
)
"""The profiles of cases for which none is requested."""


WEIGHTS: Final[dict[str, int]] = {
    "put": 10,
    "put_all": 2,
    "put_if_absent": 3,
    "get": 4,
    "delete": 2,
    "range": 2,
    "reverse_range": 1,
    "all": 1,
    "reverse_all": 1,
    "listen": 6,
    "flush": 9,
    "evict": 6,
    "clear": 1,
    "close": 1,
    "resize": 5,
    "usage": 2,
    "metrics": 3,
    "store_put": 10,
    "store_get": 7,
    "store_delete": 7,
    "store_range": 1,
    "store_all": 4,
    "store_flush": 4,
    "store_inner": 2,
    "on_forward": 6,
    "share": 1,
    "store_open": 3,
    "store_view": 10,
    "store_put_if_absent": 5,
    "store_put_all": 3,
    "store_count": 2,
    "store_query": 4,
    "store_query_range": 3,
    "store_clear": 2,
    "fail_forward": 9,
    "store_close": 3,
    "view_open": 4,
    "view_next": 14,
    "view_close": 1,
    "window_put": 6,
    "window_get": 3,
    "session_put": 5,
    "session_remove": 1,
    "session_get": 2,
    "window_view": 3,
    "session_view": 2,
}

WINDOWED: Final = (StoreKind.WINDOW, StoreKind.SESSION)
FAR_MS: Final = 2**40
"""A time that is far behind all others."""

WINDOW_FORMS: Final = {
    **dict.fromkeys(("store_put", "store_put_if_absent", "store_put_all", "store_delete"), "window_put"),
    **dict.fromkeys(("store_get", "store_query"), "window_get"),
    **dict.fromkeys(("store_view", "store_all", "store_range", "store_query_range", "store_count"), "window_view"),
}
"""The operations in place of those of key-value stores in a case that has none of these."""

VARIANT_RULES: Final = frozenset(
    {
        rules.Rule.K_FLUSH_7,
        rules.Rule.K_FLUSH_8,
        rules.Rule.K_FLUSH_9,
        rules.Rule.K_METRICS_4,
        rules.Rule.K_STORE_9,
        rules.Rule.K_STORE_10,
        rules.Rule.K_STORE_11,
        rules.Rule.K_VIEW_9,
        rules.Rule.K_VIEW_10,
        rules.Rule.K_WINDOW_15,
        rules.Rule.K_WINDOW_16,
    }
)
"""Rules about a variant and not about the default behaviour."""

CONCURRENCY_RULES: Final = frozenset(rule for rule in rules.Rule if rule.value.startswith("K-CONCURRENCY-"))
"""Rules about histories and not about cases of one thread."""

RULES_NOT_REQUIRED: Final = VARIANT_RULES | CONCURRENCY_RULES | {rules.Rule.K_RESIZE_2}
"""Rules that no case for every subject is about: the order in which several namespaces pay is not specified."""

LEVEL_OF: Final = {op.name: op.level for op in OPS}


def menu(names: Iterable[str], level: str | None = None) -> tuple[str, ...]:
    """Return the operations, each as often as its weight says; those of a store's level thrice in its own cases."""
    wanted = frozenset(names)
    return tuple(
        name
        for name, weight in WEIGHTS.items()
        if name in wanted
        for _ in range(weight * (3 if LEVEL_OF[name] == level != "cache" else 1))
    )


SHORT_KEYS: Final = tuple(map(chr, (*range(ord("x"), 127), *range(33, ord("x")))))
"""Keys of one byte, those of the usual profile first."""

SMALLEST: Final = "and an entry with a key and a value of one byte is larger"


def within_sizes(traits: WorkloadParameters, declaration: Declaration) -> WorkloadParameters:
    """Return the parameters with keys and values of the sizes that the subject takes, and values of its sizes."""
    values = (*traits.values, *("v" * size for size in declaration.sizes if size != NO_LIMIT // 2))
    size, most = declaration.limits.entry_size, declaration.limits.max_size
    if most < size_bytes("x", "1", "", ()):
        raise UsageError(f"limits.max_size is {most}, {SMALLEST}")
    if size is None:
        keys = tuple(key for key in traits.keys if size_bytes(key, "1", "", ()) <= most)
        keys = keys or SHORT_KEYS[: len(traits.keys)]
        longest = max(keys, key=utf8_bytes)
        fitting = tuple(value for value in values if size_bytes(longest, value, "", ()) <= most)
        return traits._replace(keys=keys, values=fitting)
    length = size - size_bytes("x", None, "", ())
    if length < 1:
        raise UsageError(f"limits.entry_size is {size}, {SMALLEST}")
    return traits._replace(keys=SHORT_KEYS[: len(traits.keys)], values=tuple(digit * length for digit in "1230"))


def make_config(draw: Draw, declaration: Declaration, workload: WorkloadProfile) -> Any:
    """Draw a configuration of the profile within what the subject lets vary."""
    base = declaration.base_config()
    changes: dict[str, Any] = {}
    if declaration.varies("max_size_bytes"):
        changes["max_size_bytes"] = declaration.limits.clamp(choose(draw, WORKLOADS[workload].max_sizes))
    if declaration.varies("reentry_budget"):
        changes["reentry_budget"] = choose(draw, WORKLOADS[workload].budgets)
    return dataclasses.replace(base, **changes)


def takes_context(traits: WorkloadParameters, declaration: Declaration) -> bool:
    """Return whether the subject takes every key and value with every topic and header that a write may carry."""
    menus = (BOUNDARY_TOPICS, BOUNDARY_HEADERS) if traits.joins_names else (TOPICS, HEADERS)
    contexts = [size_bytes("", None, topic, headers) for topic in menus[0] for headers in menus[1]]
    content = max(map(utf8_bytes, traits.keys)) + max(utf8_bytes(value or "") for value in traits.values)
    return max(contexts) + content <= int(declaration.limits.max_size)


def join_names(name: str, separator: str) -> tuple[str, ...]:
    """Return four names, of which the second one is the first one with a separator and a part of `joined_keys`."""
    return name, f"{name}{separator}b", name.upper(), "b"


def joined_keys(separator: str) -> tuple[str, ...]:
    """Return two keys that make one text with the first two names of `join_names`."""
    return f"b{separator}x", "x"


def meet_in_text(traits: WorkloadParameters, declaration: Declaration, separator: str) -> WorkloadParameters:
    """Return the parameters with the two names and keys that are one text alone, if the subject takes such keys."""
    sizes = [size_bytes(key, "1", "", ()) for key in joined_keys(separator)]
    if declaration.limits.entry_size is not None or max(sizes) > declaration.limits.max_size:
        return traits
    return traits._replace(keys=joined_keys(separator), namespaces=(2,), stores=(2,))


def final_queries(menu: tuple[str, ...], state: State) -> tuple[Any, ...]:
    """Return queries of all counters, sizes, orders and underlying stores, where leftovers show at the latest."""
    queries: tuple[Any, ...] = (
        ops.Metrics(),
        ops.Usage(),
        *(ops.Metrics(name) for name in sorted(state.spaces)),
        *(ops.StoreInner(name) for name in sorted(state.stores)),
    )
    return tuple(op for op in queries if type(op).name in menu)


class NamesOfCase(NamedTuple):
    """The keys, the namespaces and the stores of a case."""

    keys: tuple[str, ...]
    namespaces: tuple[str, ...]
    stores: tuple[str, ...]


def fill_to_the_default(declaration: Declaration, menu: tuple[str, ...], names: NamesOfCase) -> list[Any]:
    """Return two writes that together exceed the default limit, if it is left out and such sizes are asked for."""
    half = NO_LIMIT // 2
    limits = declaration.limits
    is_asked = half in declaration.sizes and not declaration.varies("max_size_bytes") and limits.entry_size is None
    if not is_asked or size_bytes("x", "v" * half, "", ()) > limits.max_size:
        return []
    keys = names.keys[:2]
    if "put" in menu:
        return [ops.Put(names.namespaces[0], key, "v" * half, dirty=True) for key in keys]
    return [ops.StorePut(names.stores[0], key, "v" * half) for key in keys] if "store_put" in menu else []


GREAT_STEPS: Final = 12
"""The most steps of a case whose entries have megabytes."""


NAMESPACES: Final = ("a", "b", "c", "B")
STORES: Final = ("s", "t")
SEPARATORS: Final = ("", "-", ":", "_", "/", ".", "\0")
"""Texts by which an implementation may join a name and a key."""


UNLIMITED: Final = Limits()


class Aim:
    """The state of the makers of one case. `pending_ops` are operations that are made already, the next one last."""

    def __init__(
        self,
        draw: Draw,
        traits: WorkloadParameters,
        menu: tuple[str, ...],
        namespaces: int,
        stores: int,
        limits: Limits = UNLIMITED,
        has_context: bool = True,
        separator: str | None = None,
    ) -> None:
        self.draw = draw
        self.traits = traits
        self.menu = menu
        self.within = tuple(name for name in menu for _ in range(traits.within.get(name, 1)))
        joined = (NAMESPACES, STORES) if separator is None else (join_names("a", separator), join_names("s", separator))
        self.namespaces = joined[0][:namespaces]
        self.stores = joined[1][:stores]
        self.limits = limits
        self.clamp = limits.clamp
        self.has_context = has_context
        starts = dict.fromkeys(key[:1] for key in traits.keys if key)
        self.kinds = dict.fromkeys(self.stores, StoreKind.KEY_VALUE)
        self.prefixes = (
            *starts,
            *(key for key in traits.keys if len(key) > 1),
            *([""] * 3 if limits.empty_prefix else []),
        )
        self.pending_ops: list[Any] = []
        self.retention = RETENTION_MS

    def ns(self, name: str) -> str:
        """Return a namespace; sometimes that of a store, if the operation takes nothing from the store."""
        names = self.namespaces
        if self.stores and name in {"flush", "evict", "usage", "metrics"}:
            names = (*names, *self.stores)
        return str(choose(self.draw, names))

    def store(self, kinds: tuple[StoreKind, ...] = tuple(StoreKind)) -> str:
        """Return a store, of one of these kinds if there is one."""
        return str(choose(self.draw, [name for name in self.stores if self.kinds[name] in kinds] or self.stores))

    def time(self, state: State, store: str) -> int:
        """Return a time: small, or at or next to the stream time of a store or what has expired by it."""
        now, retention = state.stores.get(store, Store()).stream_time, self.retention
        near = (now, now + 1, now - 1, now + 2, now - retention, now - retention + 1, now + retention, now + 7)
        return max(0, int(choose(self.draw, near if now >= 0 and self.draw(0, 2) != 0 else tuple(range(9)))))

    def key(self) -> str:
        """Return a key."""
        return str(choose(self.draw, self.traits.keys))

    def value(self) -> str | None:
        """Return a value; None is a tombstone."""
        value: str | None = choose(self.draw, self.traits.values)
        return value

    def dirty(self) -> bool:
        """Return true for two writes in three."""
        return self.draw(0, 2) != 0

    def write(self) -> dict[str, Any]:
        """Return what a write carries besides its key; mostly nothing but its value."""
        given: dict[str, Any] = {"value": self.value(), "dirty": self.dirty()}
        if self.has_context and self.draw(0, 5) == 5:
            is_boundary = self.traits.joins_names
            given["topic"] = choose(self.draw, BOUNDARY_TOPICS if is_boundary else TOPICS)
            given["headers"] = choose(self.draw, BOUNDARY_HEADERS if is_boundary else HEADERS)
            for name in ("timestamp", "offset", "partition"):
                number = choose(self.draw, BOUNDARY_NUMBERS if is_boundary else NUMBERS)
                given[name] = number if name != "partition" or number is vocabulary.ABSENT else number % 2**31
        return given

    def longer_key(self, key: str) -> str | None:
        """Return a key with U+0000 behind it; None if the subject does not take it."""
        takes_all = self.limits.entry_size is None and self.limits.max_size == MAX_SIZE_BYTES
        return f"{key}\0" if self.limits.zero_bytes and takes_all else None

    def bound(self) -> str | None:
        """Return a bound of a range: a key or none."""
        at = self.draw(0, len(self.traits.keys))
        return None if at == len(self.traits.keys) else self.traits.keys[at]

    def limit(self, state: State) -> int:
        """Return a limit at or next to the present total, or of the menu. With several namespaces it never shrinks."""
        if len(self.namespaces) + len(self.stores) > 1:
            return max(self.clamp(NO_LIMIT), state.max_size_bytes)
        total = total_bytes(state)
        near = (total, total - 1, total + 1, total - 1, total // 2)
        return self.clamp(max(0, int(choose(self.draw, near + self.traits.max_sizes))))


@cache
def weighted_menu(menu: tuple[str, ...], workload: WorkloadProfile) -> tuple[str, ...]:
    """Return the menu with the preferences of the profile."""
    often = WORKLOADS[workload].often
    return tuple(name for name in menu for _ in range(often.get(name, 1)))
