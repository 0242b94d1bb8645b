"""Level `windows`: caching stores of windows and of sessions, which expire.

A window is a key with a start, a session a key with a start and an end. Such a store caches entries under their names
and hands them over as a key-value store does. A read of one window caches nothing. The stream time of a store is the
greatest time of its writes; what is as old as that less the retention, or older, has expired. An expired window is read
by nothing, and dropped without a write and a forward when its turn comes.

Beside: CachingWindowStore.put, .fetch, .putAndMaybeForward (kafka-streams 4.3.1)
Beside: CachingSessionStore.put, .fetchSession (kafka-streams 4.3.1)
Beside: InMemoryWindowStore.put, InMemorySessionStore.put, WindowKeySchema, SessionKeySchema (kafka-streams 4.3.1)
Beside: SegmentedCacheFunction.compareSegmentedKeys (kafka-streams 4.3.1)
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from entrycache_reference.kafka_streams import ops, view_ops
from entrycache_reference.kafka_streams.change import (
    Window,
    advance_time,
    is_expired,
    name_window,
    parse_window,
    size_bytes,
)
from entrycache_reference.kafka_streams.config import CloseCheck, Config, ExpiredWindows
from entrycache_reference.kafka_streams.entries import is_between, put_node, with_answer
from entrycache_reference.kafka_streams.flush import Environment
from entrycache_reference.kafka_streams.outcomes import (
    Answer,
    Context,
    Done,
    ErrorKind,
    Failed,
    Pair,
    Value,
    WindowEntry,
    WindowListing,
)
from entrycache_reference.kafka_streams.state import Node, OpenView, State, StoreSettings, space_of
from entrycache_reference.kafka_streams.stores import find_value, is_dropped, store_inner, store_of, with_store
from entrycache_reference.kafka_streams.view_ops import SessionView, StoreKind, Underlying, ViewOpen, WindowView
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT, Absent

REFUSED: Final = Failed(ErrorKind.ILLEGAL_STATE)

KEY_BYTES: Final = {StoreKind.KEY_VALUE: 0, StoreKind.WINDOW: 20, StoreKind.SESSION: 24}
"""The bytes of a cached key besides those of the key itself: the segment, the times, and the number of a window."""


# Settings, and operations that a store does not take.


def settings_of(event: view_ops.StoreOpen) -> StoreSettings:
    """Return the settings of a store that is opened. A store in memory orders by time alone."""
    below = Underlying.MEMORY if event.below is ABSENT else event.below
    interval = view_ops.SEGMENT_INTERVAL_MS if event.segment_interval is ABSENT else event.segment_interval
    return StoreSettings(
        StoreKind.KEY_VALUE if event.kind is ABSENT else event.kind,
        below,
        view_ops.RETENTION_MS if event.retention is ABSENT else event.retention,
        1 if below is Underlying.MEMORY else interval,
        True if event.listens is ABSENT else event.listens,
    )


KIND_OF: Final[Mapping[type[ops.Op], StoreKind]] = {
    **dict.fromkeys((ops.StorePut, ops.StoreGet, ops.StoreDelete, ops.StoreRange, ops.StoreAll), StoreKind.KEY_VALUE),
    **dict.fromkeys(
        (view_ops.StoreView, view_ops.StorePutIfAbsent, view_ops.StorePutAll, view_ops.StoreCount), StoreKind.KEY_VALUE
    ),
    **dict.fromkeys((view_ops.StoreQuery, view_ops.StoreQueryRange), StoreKind.KEY_VALUE),
    **dict.fromkeys((view_ops.WindowPut, view_ops.WindowGet, WindowView), StoreKind.WINDOW),
    **dict.fromkeys((view_ops.SessionPut, view_ops.SessionRemove, view_ops.SessionGet, SessionView), StoreKind.SESSION),
}
"""The kind of store that an operation is for; the others are for every kind."""


@rule(Rule.K_WINDOW_3)
def is_mismatched(state: State, event: ops.Op) -> bool:
    """Return whether an operation is for another kind of store, or its arguments name no session or no view."""
    store = getattr(event, "store", None)
    kind = StoreKind.KEY_VALUE if store is None else store_of(state, store).settings.kind
    if KIND_OF.get(type(event), kind) is not kind:
        return True
    if isinstance(event, view_ops.SessionPut | view_ops.SessionRemove | view_ops.SessionGet):
        return event.start > event.end
    return isinstance(event, ViewOpen | WindowView | SessionView) and not is_range(event, kind)


def is_range(event: ViewOpen | WindowView | SessionView, kind: StoreKind) -> bool:
    """Return whether the arguments of a view name keys, or times of windows or of sessions, as its store does.

    One key excludes a range of keys. A view of sessions has either.
    """
    times, ends = range_times(event)
    has_bounds = event.from_ is not ABSENT or event.to is not ABSENT
    if kind is StoreKind.KEY_VALUE:
        return event.key is ABSENT and not times and not ends
    if (isinstance(event, ViewOpen) and event.prefix is not None) or (event.key is not ABSENT and has_bounds):
        return False
    if kind is StoreKind.WINDOW:
        return not ends
    return not times and (event.key is not ABSENT or has_bounds)


def range_times(event: ViewOpen | WindowView | SessionView) -> tuple[bool, bool]:
    """Return whether a view names times of windows, and whether it names times of sessions."""
    of_windows = not isinstance(event, SessionView) and (event.time_from, event.time_to) != (ABSENT, ABSENT)
    of_sessions = not isinstance(event, WindowView) and (event.earliest_end, event.latest_start) != (ABSENT, ABSENT)
    return of_windows, of_sessions


@rule(Rule.K_CLOSE_3, Rule.K_WINDOW_16)
def may_flush_closed(state: State, event: ops.Op, config: Config) -> bool:
    """Return whether a closed store takes a flush: under `close_check` "keyvalue" one of windows or sessions."""
    if config.variants.close_check is CloseCheck.ALL or not isinstance(event, ops.StoreFlush):
        return False
    return store_of(state, event.store).settings.kind is not StoreKind.KEY_VALUE


# Order and ranges.


class Place(NamedTuple):
    """The place of an entry in the order of its store: the segment of its time, its key, and its time."""

    segment: int
    key: bytes
    time: int


@rule(Rule.K_WINDOW_1)
def place_of(settings: StoreSettings, name: str) -> Place:
    """Return the place of an entry. Sessions of one key and one end have the same."""
    if settings.kind is StoreKind.KEY_VALUE:
        return Place(0, name.encode("utf-8", "surrogatepass"), 0)
    key, _, time = parse_window(name)
    return Place(time // settings.segment_interval, key.encode("utf-8", "surrogatepass"), time)


@rule(Rule.K_WINDOW_1)
def order_names(settings: StoreSettings, names: Iterable[str], backward: bool) -> tuple[str, ...]:
    """Return names in the order of their places, or in reverse, those of one place in the order of their starts."""

    def place_and_start(name: str) -> tuple[Place, int]:
        place = place_of(settings, name)
        return place, 0 if settings.kind is StoreKind.KEY_VALUE else parse_window(name).start

    ordered = sorted(names, key=place_and_start)
    return tuple(ordered[::-1] if backward else ordered)


@rule(Rule.K_WINDOW_1)
def is_before(settings: StoreSettings, name: str, place: Place, backward: bool) -> bool:
    """Return whether an entry comes before this place, or with `backward` behind it."""
    return place_of(settings, name) > place if backward else place_of(settings, name) < place


def bound_of(bound: str | None | Absent) -> str | None:
    """Return a bound of keys; None: unbounded."""
    return None if bound is ABSENT else bound


@rule(Rule.K_WINDOW_2, Rule.K_WINDOW_13)
def is_in_range(event: ViewOpen | WindowView | SessionView, window: Window) -> bool:
    """Return whether a window or a session belongs to a view. Only those that exist are asked about."""
    if event.key is not ABSENT and window.key != event.key:
        return False
    if not is_between(window.key, bound_of(event.from_), bound_of(event.to), True):
        return False
    if not isinstance(event, SessionView) and event.time_from is not ABSENT and window.start < event.time_from:
        return False
    if not isinstance(event, SessionView) and event.time_to is not ABSENT and window.start > event.time_to:
        return False
    if not isinstance(event, WindowView) and event.earliest_end is not ABSENT and window.end < event.earliest_end:
        return False
    return isinstance(event, WindowView) or event.latest_start is ABSENT or window.start <= event.latest_start


def entry_of(settings: StoreSettings, has_key: bool, name: str, value: str | None) -> WindowEntry:
    """Return a window or a session as an entry of a view, that of one window alone without its key."""
    window = parse_window(name)
    if settings.kind is StoreKind.SESSION:
        return (window.key, window.start, window.end, value)
    return (window.start, value) if has_key else (window.key, window.start, value)


def name_entry(settings: StoreSettings, view: OpenView, entry: tuple[Any, ...]) -> Pair | None:
    """Return the name and the value of an entry of an open view; None for one that is no entry of its store."""
    *place, value = entry
    if settings.kind is StoreKind.KEY_VALUE:
        return (place[0], value) if len(place) == 1 and isinstance(place[0], str) else None
    if view.range.key is not ABSENT and settings.kind is StoreKind.WINDOW:
        place = [view.range.key, *place]
    times = place[1:]
    if [type(part) for part in place] != [str, *[int] * (2 if settings.kind is StoreKind.SESSION else 1)]:
        return None
    return name_window(settings.kind, Window(place[0], times[0], times[-1])), value


@rule(Rule.K_WINDOW_1)
def list_below(state: State, event: ops.StoreInner, config: Config, env: Environment) -> tuple[State, Answer]:
    """Return the content of the underlying store, in its order."""
    store = store_of(state, event.store)
    if store.settings.kind is StoreKind.KEY_VALUE:
        return store_inner(state, event, config, env)
    names = order_names(store.settings, store.inner, False)
    return state, WindowListing(tuple(entry_of(store.settings, False, name, store.inner[name]) for name in names))


# Writes and reads of one window.


@rule(Rule.K_WINDOW_4, Rule.K_WINDOW_5, Rule.K_WINDOW_8, Rule.K_WINDOW_14)
def put_window(
    state: State, name: str, window: Window, value: str | None, config: Config, env: Environment
) -> tuple[State, Answer]:
    """Write one window or session, a dirty entry, and let the store pay for the overflow.

    One that has expired changes nothing but the stream time. Variant `expired_windows` "cached": it is cached, and only
    a write below changes the stream time.
    """
    # GUARD: an expired one is written nowhere.
    after, store = state, store_of(state, name)
    cache_name = name_window(store.settings.kind, window)
    if config.variants.expired_windows is ExpiredWindows.GONE:
        store = advance_time(store, window.end)
        after = with_store(state, name, store)
        if is_expired(store, cache_name):
            return after, Done()

    # DECISION: none.
    # EFFECT and OUTCOME
    size = size_bytes(window.key, value, "", ()) + KEY_BYTES[store.settings.kind]
    node = Node(value, True, size, Context(), after.writes)
    return with_answer(put_node(after, name, cache_name, node, config, env), Done())


@rule(Rule.K_WINDOW_3, Rule.K_WINDOW_5, Rule.K_WINDOW_7, Rule.K_WINDOW_9)
def get_window(state: State, name: str, window: Window, config: Config) -> tuple[State, Answer]:
    """Read one window or session, and cache nothing. A cached one is a hit, an expired one has no value."""
    store = store_of(state, name)
    cache_name = name_window(store.settings.kind, window)
    after, value = find_value(state, name, cache_name)
    is_gone = is_dropped(store, cache_name, config) and cache_name in space_of(state, name).nodes
    return after, Value(None if is_gone else value)


@rule(Rule.K_WINDOW_8)
def window_put(state: State, event: view_ops.WindowPut, config: Config, env: Environment) -> tuple[State, Answer]:
    """Write one window."""
    return put_window(state, event.store, Window(event.key, event.start, event.start), event.value, config, env)


@rule(Rule.K_WINDOW_3)
def window_get(state: State, event: view_ops.WindowGet, config: Config, env: Environment) -> tuple[State, Answer]:
    """Read one window."""
    return get_window(state, event.store, Window(event.key, event.start, event.start), config)


@rule(Rule.K_WINDOW_8)
def session_put(state: State, event: view_ops.SessionPut, config: Config, env: Environment) -> tuple[State, Answer]:
    """Write one session."""
    return put_window(state, event.store, Window(event.key, event.start, event.end), event.value, config, env)


@rule(Rule.K_WINDOW_8)
def session_remove(
    state: State, event: view_ops.SessionRemove, config: Config, env: Environment
) -> tuple[State, Answer]:
    """Delete one session."""
    return put_window(state, event.store, Window(event.key, event.start, event.end), None, config, env)


@rule(Rule.K_WINDOW_3)
def session_get(state: State, event: view_ops.SessionGet, config: Config, env: Environment) -> tuple[State, Answer]:
    """Read one session."""
    return get_window(state, event.store, Window(event.key, event.start, event.end), config)
