"""The constants of a run of `kafka-streams`: the first limit, the budget of calls, and the variants of the releases."""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated

from entrycache_reference.vocabulary import INTEGER_MAX, Span

Size = Annotated[int, Span(0, INTEGER_MAX)]
CALLS_MAX = 64


class UndeliveredEviction(Enum):
    """Variant `undelivered_eviction` (K-FLUSH-3): what becomes of an evicted entry that no listener has taken."""

    KEPT = "kept"
    LOST = "lost"


class FailedFlush(Enum):
    """Variant `failed_flush` (K-FLUSH-3): the state of the other entries after a listener throws."""

    DIRTY = "dirty"
    CLEAN = "clean"


class Total(Enum):
    """Variant `total` (K-EVICT-4, K-METRICS-1): the total that the limit applies to."""

    EXACT = "exact"
    RUNNING = "running"


class FlushedTombstone(Enum):
    """Variant `flushed_tombstone` (K-FLUSH-4): the writes that are dropped after a tombstone was flushed."""

    SAME_WRITE = "same-write"
    ANY_WRITE = "any-write"


class Delivery(Enum):
    """Variant `delivery` (K-STORE-2, K-STORE-4): how a caching store forwards the entries that it receives."""

    BELOW_FIRST = "below-first"
    ONE_BY_ONE = "one-by-one"


class DeleteRead(Enum):
    """Variant `delete_read` (K-STORE-7): whether a deletion first caches the value that it reads."""

    UNCACHED = "uncached"
    CACHED = "cached"


class ViewTombstone(Enum):
    """Variant `view_tombstone` (K-STORE-8, K-VIEW-1): the effect of a cached tombstone on a view."""

    HIDES = "hides"
    DROPPED = "dropped"


class BackwardTombstone(Enum):
    """Variant `backward_tombstone` (K-VIEW-1): the effect of a cached tombstone on a backward view."""

    HIDES = "hides"
    SHOWS = "shows"


class RangeQuery(Enum):
    """Variant `range_query` (K-VIEW-8): what a query of a range reads."""

    MERGED = "merged"
    BELOW = "below"


class ExpiredWindows(Enum):
    """Variant `expired_windows` (K-WINDOW-5): what is answered of a cached window that has expired."""

    GONE = "gone"
    CACHED = "cached"


class CloseCheck(Enum):
    """Variant `close_check` (K-CLOSE-3): the kinds of stores that refuse `store_flush` after they were closed."""

    ALL = "all"
    KEY_VALUE = "keyvalue"


@dataclass(frozen=True, slots=True)
class Variants:
    """The differences between releases; the defaults are the specification."""

    undelivered_eviction: UndeliveredEviction = UndeliveredEviction.KEPT
    failed_flush: FailedFlush = FailedFlush.DIRTY
    total: Total = Total.EXACT
    flushed_tombstone: FlushedTombstone = FlushedTombstone.SAME_WRITE
    delivery: Delivery = Delivery.BELOW_FIRST
    delete_read: DeleteRead = DeleteRead.UNCACHED
    backward_tombstone: BackwardTombstone = BackwardTombstone.HIDES
    range_query: RangeQuery = RangeQuery.MERGED
    view_tombstone: ViewTombstone = ViewTombstone.HIDES
    expired_windows: ExpiredWindows = ExpiredWindows.GONE
    close_check: CloseCheck = CloseCheck.ALL


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration that a run starts with.

    `reentry_budget` is the number of calls of listeners in one step that perform their steps. Later calls are recorded
    and return.
    """

    max_size_bytes: Size = 10_485_760
    reentry_budget: Annotated[int, Span(0, CALLS_MAX)] = 8
    variants: Variants = Variants()
