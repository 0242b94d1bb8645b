"""The bounded models of `kafka-streams` that are exhausted; together they fire every law of its steps.

The models of level `cache` use entries of one letter, which count 47 bytes. Those of level `store` use caching stores
over in-memory stores, those of level `views` also views of them. The models of variants take each variant of a release
alone, then all of them. `CI`, `LONG` and `NIGHTLY` are the models of the profiles.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from entrycache_conformance.systems.kafka_streams.system import SYSTEM
from entrycache_evidence.kafka_streams import runs
from entrycache_evidence.model_checker.checker import AnyBoundedModel, Parts, limit_depths
from entrycache_reference.kafka_streams import config as configuration
from entrycache_reference.kafka_streams import ops, outcomes, view_ops
from entrycache_reference.kafka_streams.state import OpenView, Space, State, Step, total_bytes


@dataclass(frozen=True, slots=True)
class BoundedModel:
    """The scope of an exploration: a configuration and its events; `description` names the events and `start`.

    Every event may happen in every state that is reached from `start` and is within the bounds. A step that leaves the
    bounds is judged but not followed: with variant `total` "running", one that moves the total more than `drift_bytes`
    away from the sum. A step without an answer is not followed either.
    """

    name: str
    config: configuration.Config
    events: tuple[ops.Op, ...]
    description: str
    start: tuple[ops.Op, ...] = ()
    drift_bytes: int = 0
    depth: int | None = None

    def parts(self) -> Parts:
        """Return the events, which are the same in every state, and the equality of states."""
        return Parts(SYSTEM, lambda _: self.events, RelativeStates(self), self.start)

    def describe(self) -> str:
        """Describe the bounds."""
        drift = f", the running total within {self.drift_bytes} bytes of the sum"
        drifts = drift if self.config.variants.total is configuration.Total.RUNNING else ""
        return f"{self.name}: {len(self.events)} events ({self.description}){drifts}"


class RelativeStates:
    """Equality of states without counters, and with only the order of the numbers of writes.

    Functions and laws only add to a counter and compare it with its former value. Numbers of writes are compared within
    a key only: with the write that its store forwarded last, and with the write that was handed over. A new write has
    the greatest number of all.
    """

    def __init__(self, scope: BoundedModel) -> None:
        self._drift = scope.drift_bytes
        self._running = scope.config.variants.total is configuration.Total.RUNNING
        self._seen: dict[int, tuple[Any, int]] = {}
        self._numbers: dict[Any, int] = {}

    def key(self, state: State) -> Hashable:
        """Return a key that is equal for states that no further event and no law tells apart."""
        spaces = tuple([(ns, self._space(space, state, ns)) for ns, space in sorted(state.spaces.items())])
        stores = tuple(
            [
                (
                    name,
                    tuple(sorted(store.inner.items())),
                    tuple([(key, self._number(steps)) for key, steps in sorted(store.downstream.items())]),
                    store.is_open,
                    store.old_values,
                    (store.settings, store.stream_time),
                    *(tuple(sorted(values.items())) for values in (store.forwarded, store.failing)),
                    tuple(sorted(store.owed)),
                )
                for name, store in sorted(state.stores.items())
            ]
        )
        drift = state.running - total_bytes(state) if self._running else 0
        views = tuple([(name, view_key(view)) for name, view in sorted(state.views.items())])
        return state.max_size_bytes, spaces, stores, drift, views

    def _space(self, space: Space, state: State, ns: str) -> Hashable:
        store = state.stores.get(ns)
        forwarded_writes = {} if store is None else store.forwarded_writes
        nodes = tuple(
            [
                (
                    key,
                    node.value,
                    node.is_dirty,
                    node.size_bytes,
                    node.context,
                    forwarded_writes.get(key, -1) < node.write,
                )
                for key, node in sorted(space.nodes.items())
            ]
        )
        listener = space.listener
        listener_key = listener and (self._number(listener.steps), listener.fails, listener.of_store)
        return nodes, space.recent, space.dirty, listener_key, space.is_loose

    def _number(self, steps: Any) -> int:
        """Return a number that is equal for equal steps; the lookup is by identity, as hashing is slow."""
        known = self._seen.get(id(steps))
        if known is None:
            known = self._seen[id(steps)] = (steps, self._numbers.setdefault(steps, len(self._numbers)))
        return known[1]

    def representative(self, state: State) -> State:
        """Return the representative of a state: the one that was reached first."""
        return state

    def follows(self, step: Step) -> bool:
        """Return whether the step has an answer and its state is within the bounds."""
        if isinstance(step.outcome.answer, outcomes.Unanswered):
            return False
        return not self._running or abs(step.state.running - total_bytes(step.state)) <= self._drift


def view_key(view: OpenView) -> Hashable:
    """Return a key of an open view: of the values since its opening, only the first one has a place."""
    had = tuple([(key, values[0], frozenset(values)) for key, values in sorted(view.had.items())])
    return view.range, had, view.last, view.has_ended, view.came


# The models of level `cache`.

ENTRY_BYTES: Final = 47
PLENTY_BYTES: Final = 1000


def build_puts(ns: str, keys: str, *values: str | None, clean: bool = True) -> tuple[ops.Op, ...]:
    """Build writes of every value to every key, dirty ones and, if requested, clean ones."""
    flags = (True, False) if clean else (True,)
    return tuple(ops.Put(ns, key, value, dirty) for key in keys for value in values for dirty in flags)


def build_queries(ns: str) -> tuple[ops.Op, ...]:
    """Build the iterators and the queries of a namespace."""
    return (
        ops.Range(ns, "x", "y"),
        ops.Range(ns, "x", "y", to_inclusive=False),
        ops.Range(ns, "y", "x"),
        ops.ReverseRange(ns, None, "x"),
        ops.All(ns),
        ops.ReverseAll(ns),
        ops.Usage(ns),
        ops.Metrics(ns),
    )


EVERY: Final = BoundedModel(
    "every operation on a namespace",
    configuration.Config(PLENTY_BYTES),
    (
        *build_puts("a", "xy", "1", None),
        ops.Put("a", "x", "1", True, topic="é", headers=(("é", "é"),), timestamp=7),
        ops.PutAll("a", (ops.Write("x", "1", True), ops.Write("y", None), ops.Write("x", "1", True))),
        ops.PutIfAbsent("a", "x", "1", True),
        ops.PutIfAbsent("a", "y", None),
        *(ops.Get("a", key) for key in ("x", "y", None)),
        *(ops.Delete("a", key) for key in "xy"),
        *build_queries("a"),
        ops.Get("b", "x"),
        ops.Flush("b"),
        ops.Usage(),
        ops.Metrics(),
        ops.Flush("a"),
        ops.Evict("a"),
        ops.Clear("a"),
        ops.Close("a"),
        *(ops.Resize(bytes_) for bytes_ in (0, ENTRY_BYTES, 2 * ENTRY_BYTES, PLENTY_BYTES)),
        ops.Listen("a"),
        ops.Listen("a", fails=1),
        ops.Share(100, 2, True),
        ops.Share(100, 0, True),
    ),
    "two keys, a value or a tombstone, dirty or clean, one write with a topic, a header and a timestamp; every "
    "operation, limits of 0, 47, 94 and 1000 bytes, no listener, one that takes, one that throws once",
)
"""Every operation of the level, explored completely."""

LISTENERS: Final = BoundedModel(
    "listeners that act on their own namespace",
    configuration.Config(2 * ENTRY_BYTES),
    (
        *build_puts("a", "xy", "1", None),
        ops.PutAll("a", (ops.Write("x", "1", True), ops.Write("y", None, True))),
        ops.PutIfAbsent("a", "x", "1", True),
        ops.Get("a", "x"),
        ops.Delete("a", "x"),
        ops.Flush("a"),
        ops.Evict("a"),
        ops.Clear("a"),
        ops.Close("a"),
        ops.Resize(0),
        ops.Resize(ENTRY_BYTES),
        ops.Resize(2 * ENTRY_BYTES),
        ops.Listen("a"),
        ops.Listen("a", fails=1),
        ops.Listen("a", (ops.Put("a", "x", "1", True),)),
        ops.Listen("a", (ops.Put("a", "y", None, True), ops.Get("a", "x"))),
        ops.Listen("a", (ops.Put("a", "x", "1"), ops.Flush("a"))),
        ops.Listen("a", (ops.Delete("a", "x"), ops.Evict("a"))),
        ops.Listen("a", (ops.Clear("a"), ops.Put("a", "x", "1", True))),
        ops.Listen("a", (ops.Close("a"), ops.Put("a", "y", "1"))),
        ops.Listen("a", (ops.Listen("a", fails=1), ops.Resize(ENTRY_BYTES), ops.Put("a", "x", "1"))),
    ),
    "two keys, a value or a tombstone, dirty or clean; listeners that take, throw once, write, read, delete, flush, "
    "evict, clear, close, resize and replace themselves, limits of 0, 47 and 94 bytes",
)
"""Listeners that call back into the namespace that is being flushed."""

TWO: Final = BoundedModel(
    "two namespaces, two calls perform their steps",
    configuration.Config(PLENTY_BYTES, reentry_budget=2),
    (
        *build_puts("a", "xy", "1", None, clean=False),
        *build_puts("b", "x", "1", None),
        ops.Get("a", "x"),
        ops.Flush("a"),
        ops.Flush("b"),
        ops.Evict("a"),
        ops.Evict("b"),
        ops.Delete("b", "x"),
        ops.Clear("a"),
        ops.Close("b"),
        ops.Resize(0),
        ops.Resize(ENTRY_BYTES),
        ops.Resize(PLENTY_BYTES),
        ops.Usage(),
        ops.Metrics("b"),
        ops.Listen("a"),
        ops.Listen("a", (ops.Put("b", "x", "1", True), ops.Flush("b"), ops.Flush("b"))),
        ops.Listen("b"),
        ops.Listen("b", (ops.Put("b", "x", "1", True),), fails=1),
        ops.Listen("b", (ops.Put("a", "x", None, True), ops.Evict("a"))),
        ops.Listen("b", (ops.Close("a"),)),
    ),
    "two keys in one, one in the other, a value or a tombstone; listeners that take, throw once, write, flush, "
    "evict and close in the other, limits of 0, 47 and 1000 bytes",
)
"""Namespaces that act on each other, with a budget that is soon used up."""

DEEP: Final = replace(
    TWO, name="two namespaces, eight calls perform their steps", config=configuration.Config(PLENTY_BYTES)
)
"""The same with the default budget."""

SILENT: Final = replace(
    LISTENERS, name="listeners that perform nothing", config=configuration.Config(2 * ENTRY_BYTES, 0)
)
"""A budget of 0: each call is recorded and returns."""

WIDE: Final = BoundedModel(
    "two keys in each of two namespaces",
    configuration.Config(PLENTY_BYTES),
    (
        *(event for ns in "ab" for event in build_puts(ns, "xy", "1", "2", None, clean=False)),
        *(ops.Get(ns, key) for ns in "ab" for key in "xy"),
        *(event for ns in "ab" for event in (ops.Flush(ns), ops.Evict(ns))),
        ops.Listen("a"),
        ops.Listen("a", fails=1),
    ),
    "two values or a tombstone, all dirty; lookups, flushes and evictions; in one namespace no listener, one that "
    "takes or one that throws once, in the other one that takes",
    (ops.Listen("b"),),
)
"""A large model: every order of use and of dirty keys, with several values."""

ORDERS: Final = replace(
    WIDE,
    name="two keys in each of two namespaces, one value",
    events=(*(event for ns in "ab" for event in build_puts(ns, "xy", "1", None, clean=False)), *WIDE.events[12:]),
    description=WIDE.description.replace("two values", "a value"),
)
"""Every order of use and of dirty keys."""

VAST: Final = replace(
    WIDE,
    name="two keys in each of two namespaces, clean writes, a limit of three entries",
    events=(
        *(event for ns in "ab" for event in build_puts(ns, "xy", "1", "2", None)),
        *WIDE.events[12:],
        ops.Listen("a", (ops.Put("b", "x", "1", True), ops.Get("a", "y"))),
        ops.Resize(3 * ENTRY_BYTES),
        ops.Resize(PLENTY_BYTES),
    ),
    description="two values or a tombstone, dirty or clean; lookups, flushes and evictions; in one namespace no "
    "listener, one that takes, one that throws once or one that writes into the other, where one takes; limits of "
    "141 and 1000 bytes",
)
"""The large model of a nightly run."""


# --- Level `store`

STORE: Final = BoundedModel(
    "a store, nothing done downstream",
    configuration.Config(PLENTY_BYTES),
    (
        *(ops.StorePut("s", key, value) for key in "xy" for value in ("1", "2", None)),
        *(ops.StoreGet("s", key) for key in "xy"),
        *(ops.StoreDelete("s", key) for key in "xy"),
        ops.StoreRange("s", "x", "x"),
        ops.StoreRange("s", "y", None),
        ops.StoreAll("s"),
        ops.StoreFlush("s"),
        ops.StoreInner("s"),
        ops.Evict("s"),
        *(ops.Resize(bytes_) for bytes_ in (0, ENTRY_BYTES, PLENTY_BYTES)),
        ops.Share(7, 2, True),
        ops.Share(7, 0, True),
    ),
    "two keys, two values or deleted; every operation of the level, an eviction, limits of 0, 47 and 1000 bytes",
)
"""A store used as a plain map."""

FORWARDS: Final = BoundedModel(
    "a store, its own keys written downstream",
    configuration.Config(PLENTY_BYTES),
    (
        *(ops.StorePut("s", key, value) for key in "xy" for value in ("1", None)),
        ops.StoreGet("s", "x"),
        ops.StoreDelete("s", "y"),
        ops.StoreAll("s"),
        ops.StoreFlush("s"),
        ops.Evict("s"),
        ops.Resize(ENTRY_BYTES),
        ops.Resize(PLENTY_BYTES),
        ops.OnForward("s", "x", ()),
        ops.OnForward("s", "x", (ops.StorePut("s", "y", "2"), ops.StoreGet("s", "x"))),
        ops.OnForward("s", "x", (ops.StorePut("s", "y", "2"), ops.StoreFlush("s"))),
        ops.OnForward("s", "x", (ops.StoreDelete("s", "y"), ops.StoreFlush("s"))),
        ops.OnForward("s", "y", (ops.StoreDelete("s", "x"),)),
        ops.OnForward("s", "y", (ops.StorePut("s", "y", "2"), ops.StoreAll("s"))),
    ),
    "two keys, a value or deleted; downstream writes, deletes, reads and flushes of the same and of the other key, "
    "an eviction, limits of 47 and 1000 bytes",
)
"""A topology that writes back into its store."""

STORES: Final = BoundedModel(
    "two stores that write each other",
    configuration.Config(PLENTY_BYTES),
    (
        *(ops.StorePut(store, "x", value) for store in "st" for value in ("1", None)),
        *(ops.StoreGet(store, "x") for store in "st"),
        ops.StoreDelete("t", "x"),
        *(ops.StoreFlush(store) for store in "st"),
        ops.Resize(0),
        ops.Resize(ENTRY_BYTES),
        ops.Resize(PLENTY_BYTES),
        ops.OnForward("s", "x", (ops.StorePut("t", "x", "2"), ops.StoreGet("s", "x"))),
        ops.OnForward("s", "x", (ops.StoreDelete("t", "x"), ops.StoreFlush("t"))),
        ops.OnForward("t", "x", ()),
        ops.OnForward("t", "x", (ops.StorePut("s", "x", "2"), ops.StoreGet("t", "x"))),
    ),
    "a key in each, a value or deleted; downstream of each writes, deletes, reads and flushes in the other, limits of "
    "0, 47 and 1000 bytes",
)
"""Several stores in the cache of one thread."""

SECOND_KEY: Final = replace(
    STORES,
    name="two stores that write each other, two keys in one",
    events=(*STORES.events, ops.StorePut("s", "y", "1")),
    description=STORES.description.replace("a key in each", "two keys in one, one in the other"),
)
"""Two stores that together hold more than the smallest limit, in every order."""

ONE_CALL: Final = replace(
    STORES, name="two stores, one call performs its steps", config=configuration.Config(PLENTY_BYTES, 1)
)
"""A budget of one call."""

USED: Final = BoundedModel(
    "a store whose namespace somebody else uses",
    configuration.Config(PLENTY_BYTES),
    runs.USED_EVENTS,
    "one key; the operations of both levels on the same namespace, also downstream, limits of 0 and 1000 bytes",
)
"""A store whose namespace is used directly too."""


# --- Level `views`

VIEWS: Final = BoundedModel(
    "views, queries, writes and the closing of a store",
    configuration.Config(PLENTY_BYTES),
    (
        *(ops.StorePut("s", key, value) for key in "xy" for value in ("1", None)),
        *(view_ops.StoreView("s", *bounds) for bounds in ((), (None, None, True), (None, None, False, ""), ("y", "x"))),
        *(view_ops.StoreView("s", None, "x", backward) for backward in (False, True)),
        view_ops.StorePutIfAbsent("s", "x", "2"),
        view_ops.StorePutAll("s", (("x", "2"), ("x", None), ("y", "2"))),
        view_ops.StoreCount("s"),
        *(view_ops.StoreQuery("s", "x", skips) for skips in (False, True)),
        view_ops.StoreQueryRange("s"),
        view_ops.StoreClear("s"),
        view_ops.StoreClose("s"),
        view_ops.StoreOpen("s"),
        ops.StoreFlush("s"),
        ops.StoreInner("s"),
        ops.Resize(ENTRY_BYTES),
    ),
    "two keys, a value or deleted; views of all, backward, of an empty prefix and of bounds, a limit of 47 bytes",
)
"""A store that is read as a whole, emptied, closed and opened."""

OPEN_VIEW: Final = BoundedModel(
    "a view that stays open",
    configuration.Config(PLENTY_BYTES),
    runs.OPEN_VIEW_EVENTS,
    "two keys, a value or deleted; a view is open while each of the other operations happens",
    start=(*(ops.StorePut("s", key, "1") for key in "xy"), view_ops.ViewOpen("v", "s")),
    depth=6,
)
"""A view that is held open over writes, flushes, evictions, and the emptying and closing of its store."""

VIEWED_STORE: Final = BoundedModel(
    "a view over every other operation",
    configuration.Config(PLENTY_BYTES),
    runs.VIEWED_EVENTS,
    "a key with a value or deleted, another one with a value; a view in either direction is open or not in every state",
    start=runs.VIEWED_START,
)
"""A view that is open over each operation of its store, explored completely."""
VIEWED_KEYS: Final = replace(
    VIEWED_STORE,
    name=f"{VIEWED_STORE.name}, two keys written",
    events=(*VIEWED_STORE.events, ops.StorePut("s", "y", "1")),
)

OLD_VALUES: Final = BoundedModel(
    "a store that forwards old values",
    configuration.Config(PLENTY_BYTES),
    runs.OLD_VALUE_EVENTS,
    "two keys, a value or deleted; downstream writes, deletes and flushes of the same key, with old values or without",
    start=(view_ops.StoreOpen("s", True),),
)
"""A store that forwards the value before too, also of a key that is forwarded again meanwhile."""


FAILING: Final = BoundedModel(
    "forwards that throw",
    configuration.Config(PLENTY_BYTES),
    runs.FAILING_EVENTS,
    "two keys, a value or deleted; the forward of one throws, also inside that of the other, or the store closes",
    start=(view_ops.StoreOpen("s"),),
)


# --- Level `windows`

WINDOWS: Final = BoundedModel(
    "windows that expire while they are cached",
    configuration.Config(PLENTY_BYTES),
    runs.EXPIRING_EVENTS,
    "two keys, three times of which the last makes the first expire; all of a store of windows, limits of 67 and 1000",
    start=(ops.StorePut("t", "x", "1"), ops.StorePut("t", "y", "1"), runs.EXPIRING),
    depth=4,
)
SESSIONS: Final = BoundedModel(
    "sessions of one end, and an open view of them",
    configuration.Config(PLENTY_BYTES),
    runs.SESSION_EVENTS,
    "two keys, two sessions of one end and one that makes them expire; a view is open while each operation happens",
    start=(runs.SESSIONS, *runs.SESSION_EVENTS[:3:2], view_ops.ViewOpen("v", "s", from_=None)),
    depth=4,
)
SEGMENT_WINDOWS: Final = BoundedModel(
    "windows over segments",
    configuration.Config(PLENTY_BYTES),
    runs.SEGMENT_EVENTS,
    "two keys, three times in three segments, of which the last makes the first expire; views in both directions, far "
    "and near ranges, flushes, evictions, limits of 67 and 1000 bytes",
    start=runs.SEGMENT_START,
)
VIEWED_SESSIONS: Final = BoundedModel(
    "sessions that expire under an open view",
    configuration.Config(PLENTY_BYTES),
    runs.VIEWED_SESSION_EVENTS,
    "two sessions of one end, one of another key that makes them expire; a view is open or not in every state",
    start=runs.VIEWED_SESSIONS_START,
)
"""Stores of windows and of sessions, explored completely."""
SEGMENT_FORWARDS: Final = replace(
    SEGMENT_WINDOWS,
    name=f"{SEGMENT_WINDOWS.name}, another store and a read in a forward",
    events=(*SEGMENT_WINDOWS.events, runs.SEGMENT_FORWARD),
    start=(runs.OTHER_STORE, *runs.SEGMENT_START),
)
VIEWED_SEGMENTS: Final = replace(
    SEGMENT_WINDOWS, name="windows over segments, viewed", events=(*SEGMENT_WINDOWS.events, *runs.SEGMENT_VIEW)
)
SESSION_CLOSINGS: Final = replace(
    VIEWED_SESSIONS,
    name=f"{VIEWED_SESSIONS.name}, the store closes",
    events=(*VIEWED_SESSIONS.events, *runs.SESSION_CLOSINGS),
)
"""The same with more events."""


# --- Variants of releases


def with_variants(
    scope: BoundedModel, label: str, variants: configuration.Variants, depth: int | None = None
) -> BoundedModel:
    """Return the same model under other variants."""
    config = replace(scope.config, variants=variants)
    name = f"{scope.name}, {label}"
    return replace(scope, name=name, config=config, drift_bytes=2 * ENTRY_BYTES, depth=depth)


LOST_EVICTION: Final = with_variants(
    LISTENERS,
    "undelivered_eviction lost",
    configuration.Variants(undelivered_eviction=configuration.UndeliveredEviction.LOST),
)
CLEAN_FLUSH: Final = with_variants(
    LISTENERS, "failed_flush clean", configuration.Variants(failed_flush=configuration.FailedFlush.CLEAN)
)
ANY_WRITE: Final = with_variants(
    LISTENERS,
    "flushed_tombstone any-write",
    configuration.Variants(flushed_tombstone=configuration.FlushedTombstone.ANY_WRITE),
)
ONE_BY_ONE: Final = with_variants(
    FORWARDS, "delivery one-by-one", configuration.Variants(delivery=configuration.Delivery.ONE_BY_ONE)
)
CACHED_DELETE: Final = with_variants(
    STORE, "delete_read cached", configuration.Variants(delete_read=configuration.DeleteRead.CACHED)
)
SINGLE_VARIANTS: Final = (LOST_EVICTION, CLEAN_FLUSH, ANY_WRITE, ONE_BY_ONE, CACHED_DELETE)
"""One variant at a time, explored completely."""

RUNNING: Final = with_variants(
    LISTENERS, "total running", configuration.Variants(total=configuration.Total.RUNNING), depth=5
)
"""The running total, within a bounded number of steps, since it may drift from the sum in many ways."""

ALL_VARIANTS: Final = tuple(
    with_variants(one, "all variants of the releases", runs.RELEASED, depth=depth)
    for one, depth in ((LISTENERS, 5), (TWO, 5), (FORWARDS, 6), (STORES, 7), (VIEWS, 6), (WINDOWS, 4))
)
"""All variants of the releases at once."""


# --- Profiles

UNLIMITED: Final[tuple[AnyBoundedModel, ...]] = (
    EVERY,
    LISTENERS,
    TWO,
    SILENT,
    STORE,
    FORWARDS,
    STORES,
    *(VIEWS, OPEN_VIEW, VIEWED_STORE, OLD_VALUES, FAILING, WINDOWS, SESSIONS, SEGMENT_WINDOWS, VIEWED_SESSIONS),
    *SINGLE_VARIANTS,
    RUNNING,
    USED,
    *ALL_VARIANTS,
    ORDERS,
)
"""The models of a long run."""

BOUNDED: Final[Mapping[str, int]] = {
    TWO.name: 5,
    SILENT.name: 4,
    ORDERS.name: 6,
    FORWARDS.name: 6,
    STORES.name: 6,
    OPEN_VIEW.name: 5,
    LOST_EVICTION.name: 4,
    CLEAN_FLUSH.name: 4,
    ANY_WRITE.name: 4,
    ONE_BY_ONE.name: 6,
    RUNNING.name: 4,
    **{one.name: depth for one, depth in zip(ALL_VARIANTS, (4, 4, 5, 6, 5, 4), strict=True)},
}
"""The greatest number of steps of the largest models in a pull request."""

CI: Final = limit_depths(UNLIMITED, BOUNDED)


def deepen(steps: int) -> tuple[AnyBoundedModel, ...]:
    """Return the models of all variants at once, this many steps deeper than in a pull request; views grow too fast."""
    scopes = ALL_VARIANTS[:-2]
    return tuple(replace(one, name=f"{one.name}, deeper", depth=(one.depth or 0) + steps) for one in scopes)


LARGER: Final = (ONE_CALL, SECOND_KEY, VIEWED_KEYS, SEGMENT_FORWARDS, VIEWED_SEGMENTS, SESSION_CLOSINGS)
LONG: Final[tuple[AnyBoundedModel, ...]] = (*UNLIMITED, *LARGER, *deepen(1), DEEP, WIDE)
NIGHTLY: Final[tuple[AnyBoundedModel, ...]] = (*UNLIMITED, *LARGER, *deepen(3), DEEP, WIDE, VAST)
