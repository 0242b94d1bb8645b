"""The operations of the levels `views` and `windows`: one frozen dataclass for each; `ops` lists them with all others.

A window is a key with a start, a session a key with a start and an end. Times are milliseconds.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, ClassVar, Final

from entrycache_reference.kafka_streams import outcomes
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, INTEGER_MAX, Absent, Span

StoreName = str
Failures = Annotated[int, Span(0, INTEGER_MAX)]
Time = Annotated[int, Span(0, INTEGER_MAX)]
Duration = Annotated[int, Span(1, INTEGER_MAX)]


class StoreKind(Enum):
    """The kind of a caching store."""

    KEY_VALUE = "kv"
    WINDOW = "window"
    SESSION = "session"


class Underlying(Enum):
    """The kind of the underlying store, which decides the order of views: in memory, or segments of an interval."""

    MEMORY = "memory"
    SEGMENTS = "segments"


class Isolation(Enum):
    """The writes that an isolated read shows: those in the underlying store alone, or those in the cache too."""

    COMMITTED = "committed"
    UNCOMMITTED = "uncommitted"


RETENTION_MS: Final = 1_000_000
SEGMENT_INTERVAL_MS: Final = 60


@dataclass(frozen=True, slots=True)
class StoreOpen:
    """Open a store, empty. Other operations open a key-value store that was never closed by themselves.

    Without `listens` nobody listens downstream. `retention` and the two after it are milliseconds, for windows and
    sessions. `window_size` has no effect; over "memory" neither has `segment_interval`. `windows` has the defaults.
    """

    name: ClassVar[str] = "store_open"
    level: ClassVar[str] = "views"
    rule: ClassVar[Rule] = Rule.K_CLOSE_3
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    store: StoreName
    old_values: bool = False
    kind: StoreKind | Absent = ABSENT
    below: Underlying | Absent = ABSENT
    retention: Duration | Absent = ABSENT
    window_size: Duration | Absent = ABSENT
    segment_interval: Duration | Absent = ABSENT
    listens: bool | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class StoreView:
    """Read the keys from `from_` to `to`, both included, or the keys that begin with `prefix`; None: unbounded.

    With an isolation the view is one of the read-only stores that a store has for each level of isolation.
    """

    name: ClassVar[str] = "store_view"
    level: ClassVar[str] = "views"
    rule: ClassVar[Rule] = Rule.K_VIEW_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Listing,)
    store: StoreName
    from_: str | None = None
    to: str | None = None
    backward: bool = False
    prefix: str | None = None
    isolation: Isolation | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class StorePutIfAbsent:
    """Write one value unless the key has one; answer the value that it has."""

    name: ClassVar[str] = "store_put_if_absent"
    level: ClassVar[str] = "views"
    rule: ClassVar[Rule] = Rule.K_VIEW_5
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Value,)
    store: StoreName
    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class StorePutAll:
    """Write values one by one; the first error ends it."""

    name: ClassVar[str] = "store_put_all"
    level: ClassVar[str] = "views"
    rule: ClassVar[Rule] = Rule.K_STORE_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    store: StoreName
    entries: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class StoreCount:
    """Ask for the number of keys in the underlying store."""

    name: ClassVar[str] = "store_count"
    level: ClassVar[str] = "views"
    rule: ClassVar[Rule] = Rule.K_VIEW_4
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Counted,)
    store: StoreName


@dataclass(frozen=True, slots=True)
class StoreQuery:
    """Read one value as an interactive query does; `skip_cache`: from the underlying store alone."""

    name: ClassVar[str] = "store_query"
    level: ClassVar[str] = "views"
    rule: ClassVar[Rule] = Rule.K_VIEW_8
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Value,)
    store: StoreName
    key: str
    skip_cache: bool = False


@dataclass(frozen=True, slots=True)
class StoreQueryRange:
    """Read the keys from `from_` to `to`, both included, as an interactive query does; None: unbounded."""

    name: ClassVar[str] = "store_query_range"
    level: ClassVar[str] = "views"
    rule: ClassVar[Rule] = Rule.K_VIEW_8
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Listing,)
    store: StoreName
    from_: str | None = None
    to: str | None = None


@dataclass(frozen=True, slots=True)
class StoreClear:
    """Drop everything that a store has cached, dirty or not."""

    name: ClassVar[str] = "store_clear"
    level: ClassVar[str] = "views"
    rule: ClassVar[Rule] = Rule.K_CLEAR_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    store: StoreName


@dataclass(frozen=True, slots=True)
class FailForward:
    """Let the next `n` forwards of a key throw, before the steps that are set for it; 0: none."""

    name: ClassVar[str] = "fail_forward"
    level: ClassVar[str] = "views"
    rule: ClassVar[Rule] = Rule.K_FAIL_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    store: StoreName
    key: str
    n: Failures


@dataclass(frozen=True, slots=True)
class StoreClose:
    """Flush a store and close it."""

    name: ClassVar[str] = "store_close"
    level: ClassVar[str] = "views"
    rule: ClassVar[Rule] = Rule.K_CLOSE_3
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    store: StoreName


@dataclass(frozen=True, slots=True)
class ViewOpen:
    """Open a view under a name, to be read step by step; its range is said as in the view of its kind of store."""

    name: ClassVar[str] = "view_open"
    level: ClassVar[str] = "views"
    rule: ClassVar[Rule] = Rule.K_VIEW_6
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    view: str
    store: StoreName
    from_: str | None | Absent = ABSENT
    to: str | None | Absent = ABSENT
    backward: bool = False
    prefix: str | None = None
    key: str | Absent = ABSENT
    time_from: Time | Absent = ABSENT
    time_to: Time | Absent = ABSENT
    earliest_end: Time | Absent = ABSENT
    latest_start: Time | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class ViewNext:
    """Read the next entry of an open view; None at its end and ever after."""

    name: ClassVar[str] = "view_next"
    level: ClassVar[str] = "views"
    rule: ClassVar[Rule] = Rule.K_VIEW_6
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.NextEntry,)
    view: str


@dataclass(frozen=True, slots=True)
class ViewClose:
    """Close an open view; its name is free again."""

    name: ClassVar[str] = "view_close"
    level: ClassVar[str] = "views"
    rule: ClassVar[Rule] = Rule.K_VIEW_6
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    view: str


# Level `windows`.


@dataclass(frozen=True, slots=True)
class WindowPut:
    """Write the value of one window; None deletes."""

    name: ClassVar[str] = "window_put"
    level: ClassVar[str] = "windows"
    rule: ClassVar[Rule] = Rule.K_WINDOW_8
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    store: StoreName
    key: str
    start: Time
    value: str | None


@dataclass(frozen=True, slots=True)
class WindowGet:
    """Read the value of one window."""

    name: ClassVar[str] = "window_get"
    level: ClassVar[str] = "windows"
    rule: ClassVar[Rule] = Rule.K_WINDOW_3
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Value,)
    store: StoreName
    key: str
    start: Time


@dataclass(frozen=True, slots=True)
class SessionPut:
    """Write the value of one session; None deletes."""

    name: ClassVar[str] = "session_put"
    level: ClassVar[str] = "windows"
    rule: ClassVar[Rule] = Rule.K_WINDOW_8
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    store: StoreName
    key: str
    start: Time
    end: Time
    value: str | None


@dataclass(frozen=True, slots=True)
class SessionRemove:
    """Delete one session: a `session_put` of null."""

    name: ClassVar[str] = "session_remove"
    level: ClassVar[str] = "windows"
    rule: ClassVar[Rule] = Rule.K_WINDOW_8
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    store: StoreName
    key: str
    start: Time
    end: Time


@dataclass(frozen=True, slots=True)
class SessionGet:
    """Read the value of one session."""

    name: ClassVar[str] = "session_get"
    level: ClassVar[str] = "windows"
    rule: ClassVar[Rule] = Rule.K_WINDOW_3
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Value,)
    store: StoreName
    key: str
    start: Time
    end: Time


@dataclass(frozen=True, slots=True)
class WindowView:
    """Read the windows that start from `time_from` to `time_to`: of `key`, of the keys from `from_` to `to`, or all.

    Both bounds are included. None is an open bound, which a subject may answer in another way than an absent one.
    """

    name: ClassVar[str] = "window_view"
    level: ClassVar[str] = "windows"
    rule: ClassVar[Rule] = Rule.K_WINDOW_2
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.WindowListing,)
    store: StoreName
    key: str | Absent = ABSENT
    from_: str | None | Absent = ABSENT
    to: str | None | Absent = ABSENT
    time_from: Time | Absent = ABSENT
    time_to: Time | Absent = ABSENT
    backward: bool = False


@dataclass(frozen=True, slots=True)
class SessionView:
    """Read the sessions that end at `earliest_end` or later and start at `latest_start` or earlier.

    They are those of `key`, or of the keys from `from_` to `to`, both included, None an open bound.
    """

    name: ClassVar[str] = "session_view"
    level: ClassVar[str] = "windows"
    rule: ClassVar[Rule] = Rule.K_WINDOW_2
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.WindowListing,)
    store: StoreName
    key: str | Absent = ABSENT
    from_: str | None | Absent = ABSENT
    to: str | None | Absent = ABSENT
    earliest_end: Time | Absent = ABSENT
    latest_start: Time | Absent = ABSENT
    backward: bool = False


WindowOp = WindowPut | WindowGet | SessionPut | SessionRemove | SessionGet | WindowView | SessionView
"""An operation of level `windows`."""

WINDOW_OPS: Final[tuple[type[WindowOp], ...]] = (
    WindowPut,
    WindowGet,
    SessionPut,
    SessionRemove,
    SessionGet,
    WindowView,
    SessionView,
)
"""The operations of level `windows`."""

ViewOp = (
    StoreOpen
    | StoreView
    | StorePutIfAbsent
    | StorePutAll
    | StoreCount
    | StoreQuery
    | StoreQueryRange
    | StoreClear
    | FailForward
    | StoreClose
    | ViewOpen
    | ViewNext
    | ViewClose
)
"""An operation of level `views`."""

VIEW_OPS: Final[tuple[type[ViewOp], ...]] = (
    StoreOpen,
    StoreView,
    StorePutIfAbsent,
    StorePutAll,
    StoreCount,
    StoreQuery,
    StoreQueryRange,
    StoreClear,
    FailForward,
    StoreClose,
    ViewOpen,
    ViewNext,
    ViewClose,
)
"""The operations of level `views`."""
