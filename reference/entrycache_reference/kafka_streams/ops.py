"""The operations of `kafka-streams`: one frozen dataclass for each.

Schemas, generators and tables come from their fields. Each class names its operation, its level, its rule, and the
shapes of its answers. Level `cache` is one thread's cache, made of the caches of its namespaces. Level `store` adds
caching key-value stores over in-memory stores. The operations of the levels `views` and `windows` stand in `view_ops`.
`Listen` and `OnForward` hold the operations that a listener, or a processor downstream, performs when it is called.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final

from entrycache_reference.kafka_streams import outcomes
from entrycache_reference.kafka_streams.view_ops import VIEW_OPS, WINDOW_OPS, StoreName, ViewOp, WindowOp
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, INTEGER_MAX, Absent, Span, StepsOf

Natural = Annotated[int, Span(0, INTEGER_MAX)]
Header = tuple[str, str]
Namespace = str


@dataclass(frozen=True, slots=True)
class Write:
    """One entry of a `put_all`. `value` None: a tombstone."""

    key: str
    value: str | None
    dirty: bool = False
    topic: str = ""
    headers: tuple[Header, ...] = ()
    timestamp: Natural | Absent = ABSENT
    offset: Natural | Absent = ABSENT
    partition: Natural | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Put:
    """Write one entry. `value` None: a tombstone. Timestamp, offset and partition belong to the entry."""

    name: ClassVar[str] = "put"
    level: ClassVar[str] = "cache"
    rule: ClassVar[Rule] = Rule.K_PUT_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    ns: Namespace
    key: str
    value: str | None
    dirty: bool = False
    topic: str = ""
    headers: tuple[Header, ...] = ()
    timestamp: Natural | Absent = ABSENT
    offset: Natural | Absent = ABSENT
    partition: Natural | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class PutAll:
    """Write entries one by one; the first error ends it."""

    name: ClassVar[str] = "put_all"
    level: ClassVar[str] = "cache"
    rule: ClassVar[Rule] = Rule.K_PUT_6
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    ns: Namespace
    entries: tuple[Write, ...]


@dataclass(frozen=True, slots=True)
class PutIfAbsent:
    """Write one entry unless the key is there; it is looked up first."""

    name: ClassVar[str] = "put_if_absent"
    level: ClassVar[str] = "cache"
    rule: ClassVar[Rule] = Rule.K_PUT_7
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Offered,)
    ns: Namespace
    key: str
    value: str | None
    dirty: bool = False
    topic: str = ""
    headers: tuple[Header, ...] = ()
    timestamp: Natural | Absent = ABSENT
    offset: Natural | Absent = ABSENT
    partition: Natural | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Get:
    """Look one key up; a hit makes it the most recent."""

    name: ClassVar[str] = "get"
    level: ClassVar[str] = "cache"
    rule: ClassVar[Rule] = Rule.K_GET_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Lookup,)
    ns: Namespace
    key: str | None


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove one key without a call."""

    name: ClassVar[str] = "delete"
    level: ClassVar[str] = "cache"
    rule: ClassVar[Rule] = Rule.K_DELETE_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Deleted,)
    ns: Namespace
    key: str


@dataclass(frozen=True, slots=True)
class Range:
    """Look up the keys from `start` to `end`, ascending; None: unbounded. In JSON they are `from` and `to`."""

    name: ClassVar[str] = "range"
    level: ClassVar[str] = "cache"
    rule: ClassVar[Rule] = Rule.K_RANGE_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Listing,)
    ns: Namespace
    from_: str | None
    to: str | None
    to_inclusive: bool = True


@dataclass(frozen=True, slots=True)
class ReverseRange:
    """Look up the keys from `from_` to `to`, both included, descending; None: unbounded."""

    name: ClassVar[str] = "reverse_range"
    level: ClassVar[str] = "cache"
    rule: ClassVar[Rule] = Rule.K_RANGE_3
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Listing,)
    ns: Namespace
    from_: str | None
    to: str | None


@dataclass(frozen=True, slots=True)
class All:
    """Look up every key, ascending."""

    name: ClassVar[str] = "all"
    level: ClassVar[str] = "cache"
    rule: ClassVar[Rule] = Rule.K_RANGE_2
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Listing,)
    ns: Namespace


@dataclass(frozen=True, slots=True)
class ReverseAll:
    """Look up every key, descending."""

    name: ClassVar[str] = "reverse_all"
    level: ClassVar[str] = "cache"
    rule: ClassVar[Rule] = Rule.K_RANGE_3
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Listing,)
    ns: Namespace


@dataclass(frozen=True, slots=True)
class Flush:
    """Flush every dirty entry of a namespace to its listener."""

    name: ClassVar[str] = "flush"
    level: ClassVar[str] = "cache"
    rule: ClassVar[Rule] = Rule.K_FLUSH_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    ns: Namespace


@dataclass(frozen=True, slots=True)
class Evict:
    """Evict the eldest entry of a namespace."""

    name: ClassVar[str] = "evict"
    level: ClassVar[str] = "cache"
    rule: ClassVar[Rule] = Rule.K_EVICT_2
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    ns: Namespace


@dataclass(frozen=True, slots=True)
class Clear:
    """Drop the entries of a namespace; listener and counters stay."""

    name: ClassVar[str] = "clear"
    level: ClassVar[str] = "cache"
    rule: ClassVar[Rule] = Rule.K_CLOSE_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    ns: Namespace


@dataclass(frozen=True, slots=True)
class Close:
    """Drop a namespace with its listener and its counters."""

    name: ClassVar[str] = "close"
    level: ClassVar[str] = "cache"
    rule: ClassVar[Rule] = Rule.K_CLOSE_2
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    ns: Namespace


@dataclass(frozen=True, slots=True)
class Resize:
    """Set the limit; a smaller one evicts until the total is within it."""

    name: ClassVar[str] = "resize"
    level: ClassVar[str] = "cache"
    rule: ClassVar[Rule] = Rule.K_RESIZE_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    max_size_bytes: Natural


@dataclass(frozen=True, slots=True)
class Usage:
    """Ask for entries and bytes of one namespace, or of all."""

    name: ClassVar[str] = "usage"
    level: ClassVar[str] = "cache"
    rule: ClassVar[Rule] = Rule.K_METRICS_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Used,)
    ns: Namespace | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Metrics:
    """Ask for the counters of the thread, or of one namespace with its dirty keys and its order of use."""

    name: ClassVar[str] = "metrics"
    level: ClassVar[str] = "cache"
    rule: ClassVar[Rule] = Rule.K_METRICS_2
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.ThreadCounters, outcomes.NamespaceCounters)
    ns: Namespace | Absent = ABSENT


# Level `store`.


@dataclass(frozen=True, slots=True)
class StorePut:
    """Write one value; None deletes."""

    name: ClassVar[str] = "store_put"
    level: ClassVar[str] = "store"
    rule: ClassVar[Rule] = Rule.K_STORE_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    store: StoreName
    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class StoreGet:
    """Read one value."""

    name: ClassVar[str] = "store_get"
    level: ClassVar[str] = "store"
    rule: ClassVar[Rule] = Rule.K_STORE_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Value,)
    store: StoreName
    key: str


@dataclass(frozen=True, slots=True)
class StoreDelete:
    """Delete one key and answer its former value."""

    name: ClassVar[str] = "store_delete"
    level: ClassVar[str] = "store"
    rule: ClassVar[Rule] = Rule.K_STORE_7
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Value,)
    store: StoreName
    key: str


@dataclass(frozen=True, slots=True)
class StoreRange:
    """Read the keys from `from_` to `to`, both included, cache and underlying store merged; None: unbounded."""

    name: ClassVar[str] = "store_range"
    level: ClassVar[str] = "store"
    rule: ClassVar[Rule] = Rule.K_STORE_8
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Listing,)
    store: StoreName
    from_: str | None
    to: str | None


@dataclass(frozen=True, slots=True)
class StoreAll:
    """Read every key, cache and underlying store merged."""

    name: ClassVar[str] = "store_all"
    level: ClassVar[str] = "store"
    rule: ClassVar[Rule] = Rule.K_STORE_8
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Listing,)
    store: StoreName


@dataclass(frozen=True, slots=True)
class StoreFlush:
    """Write everything dirty to the underlying store, and forward it."""

    name: ClassVar[str] = "store_flush"
    level: ClassVar[str] = "store"
    rule: ClassVar[Rule] = Rule.K_STORE_2
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    store: StoreName


@dataclass(frozen=True, slots=True)
class StoreInner:
    """Ask for the content of the underlying store."""

    name: ClassVar[str] = "store_inner"
    level: ClassVar[str] = "store"
    rule: ClassVar[Rule] = Rule.K_STORE_2
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Listing, outcomes.WindowListing)
    store: StoreName


@dataclass(frozen=True, slots=True)
class Share:
    """Ask for the bytes of one thread's cache."""

    name: ClassVar[str] = "share"
    level: ClassVar[str] = "store"
    rule: ClassVar[Rule] = Rule.K_SHARE_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Shared,)
    total_bytes: Natural
    threads: Annotated[int, Span(0, INTEGER_MAX)]
    global_thread: bool


# Operations that hold operations.

Steps = Annotated[tuple[Any, ...], StepsOf(__name__)]
"""Operations of this system, performed in order."""


@dataclass(frozen=True, slots=True)
class Listen:
    """Register the listener of a namespace: it performs `on_flush` inside each call; its first `fails` calls throw."""

    name: ClassVar[str] = "listen"
    level: ClassVar[str] = "cache"
    rule: ClassVar[Rule] = Rule.K_LISTEN_5
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    ns: Namespace
    on_flush: Steps | Absent = ABSENT
    fails: Natural | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class OnForward:
    """Set the steps to take downstream whenever that store forwards an entry with that key."""

    name: ClassVar[str] = "on_forward"
    level: ClassVar[str] = "store"
    rule: ClassVar[Rule] = Rule.K_STORE_5
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    store: StoreName
    key: str
    steps: Steps


# All operations.

Op = (
    Put
    | PutAll
    | PutIfAbsent
    | Get
    | Delete
    | Range
    | ReverseRange
    | All
    | ReverseAll
    | Listen
    | Flush
    | Evict
    | Clear
    | Close
    | Resize
    | Usage
    | Metrics
    | StorePut
    | StoreGet
    | StoreDelete
    | StoreRange
    | StoreAll
    | StoreFlush
    | StoreInner
    | OnForward
    | Share
    | ViewOp
    | WindowOp
)

LEVELS: Final = ("cache", "store", "views", "windows")
"""The levels of the system, each holding those before it."""

OPS: Final[tuple[type[Op], ...]] = (
    Put,
    PutAll,
    PutIfAbsent,
    Get,
    Delete,
    Range,
    ReverseRange,
    All,
    ReverseAll,
    Listen,
    Flush,
    Evict,
    Clear,
    Close,
    Resize,
    Usage,
    Metrics,
    StorePut,
    StoreGet,
    StoreDelete,
    StoreRange,
    StoreAll,
    StoreFlush,
    StoreInner,
    OnForward,
    Share,
    *VIEW_OPS,
    *WINDOW_OPS,
)
"""Every operation, level by level."""
