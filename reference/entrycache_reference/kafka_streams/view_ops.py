"""The operations of level `views`: one frozen dataclass for each; `ops` lists them with all others."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from entrycache_reference.kafka_streams import outcomes
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import INTEGER_MAX, Span

StoreName = str
Failures = Annotated[int, Span(0, INTEGER_MAX)]


@dataclass(frozen=True, slots=True)
class StoreOpen:
    """Open a store, empty. Other operations open a store that was never closed by themselves, without old values."""

    name: ClassVar[str] = "store_open"
    level: ClassVar[str] = "views"
    rule: ClassVar[Rule] = Rule.K_CLOSE_3
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    store: StoreName
    old_values: bool = False


@dataclass(frozen=True, slots=True)
class StoreView:
    """Read the keys from `from_` to `to`, both included, or the keys that begin with `prefix`; None: unbounded."""

    name: ClassVar[str] = "store_view"
    level: ClassVar[str] = "views"
    rule: ClassVar[Rule] = Rule.K_VIEW_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Listing,)
    store: StoreName
    from_: str | None = None
    to: str | None = None
    backward: bool = False
    prefix: str | None = None


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
    """Open a view under a name, to be read step by step; its range is said as in `store_view`."""

    name: ClassVar[str] = "view_open"
    level: ClassVar[str] = "views"
    rule: ClassVar[Rule] = Rule.K_VIEW_6
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    view: str
    store: StoreName
    from_: str | None = None
    to: str | None = None
    backward: bool = False
    prefix: str | None = None


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
