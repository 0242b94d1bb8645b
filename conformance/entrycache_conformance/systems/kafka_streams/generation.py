"""The plan of one case of `kafka-streams`, and the arguments of its operations.

Key spaces are small, so that writes meet, and limits are taken from the state. An operation may hold others that a
listener or a downstream processor performs inside a call, up to the depth of the profile. A case ends with queries of
all counters, sizes and orders.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

from entrycache_conformance.systems.kafka_streams.limits import Limits, only_answered
from entrycache_conformance.systems.kafka_streams.workload import (
    BOUNDARY_HEADERS,
    BOUNDARY_TOPICS,
    DEFAULT_WORKLOADS,
    FAR_MS,
    GREAT_STEPS,
    HEADERS,
    LEVEL_OF,
    NO_LIMIT,
    TOPICS,
    USUAL_BATCH,
    WINDOW_FORMS,
    WINDOWED,
    WORKLOADS,
    NamesOfCase,
    WorkloadParameters,
    WorkloadProfile,
    fill_to_the_default,
    final_queries,
    join_names,
    make_config,
    meet_in_text,
    takes_context,
    within_sizes,
)
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import CasePlan, Draw, choose
from entrycache_reference.kafka_streams import ops, view_ops
from entrycache_reference.kafka_streams.change import parse_window
from entrycache_reference.kafka_streams.state import State, Store, space_of, total_bytes
from entrycache_reference.kafka_streams.view_ops import RETENTION_MS, StoreKind, Underlying
from entrycache_reference.vocabulary import ABSENT, INTEGER_MAX, Absent

VIEWS: Final = ("v", "w")
NAMESPACES: Final = ("a", "b", "c", "B")
STORES: Final = ("s", "t")
SEPARATORS: Final = ("", "-", ":", "_", "/", ".", "\0")
"""Texts by which an implementation may join a name and a key."""

NUMBERS: Final = (ABSENT, ABSENT, ABSENT, ABSENT, 0, 7)
BOUNDARY_NUMBERS: Final = (ABSENT, 0, 2**31 + 7, 2**32 + 5, 1_700_000_000_000, 65_536 + 3, 256 + 3)
"""Timestamps and offsets, some of which are another number in a shorter integer; a partition has 31 bits."""

INNER_STEPS: Final = 3
ROOMY: Final = 2_000


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
                given[name] = number if name != "partition" or number is ABSENT else number % 2**31
        return given

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

    def steps(self, state: State, depth: int) -> tuple[Any, ...]:
        """Make the operations inside a call."""
        if depth >= self.traits.depth:
            return ()
        names = tuple(name for name in self.within if depth + 1 < self.traits.depth or name not in NESTING_OPS)
        count = self.draw(0, INNER_STEPS) if names else 0
        steps = [self.op(choose(self.draw, names), state, depth + 1) for _ in range(count)]
        return tuple(op for op in steps if op is not None)

    def op(self, name: str, state: State, depth: int = 0) -> Any:
        """Make an operation of that name; None if the subject offers none that fits."""
        if self.pending_ops and depth == 0:
            return self.pending_ops.pop()
        if name in WINDOW_FORMS and StoreKind.KEY_VALUE not in self.kinds.values() and self.draw(0, 19) != 19:
            name = WINDOW_FORMS[name]
        return MAKERS[name](self, state, depth)


def _put_all(aim: Aim, state: State, depth: int) -> Any:
    entries = tuple(ops.Write(aim.key(), **aim.write()) for _ in range(aim.draw(0, aim.traits.batch)))
    return ops.PutAll(aim.ns("put_all"), entries)


def _listen(aim: Aim, state: State, depth: int) -> Any:
    fails: int | Absent = choose(aim.draw, aim.traits.fails)
    ns = aim.ns("listen")
    if aim.traits.reopens and depth == 0 and {"put", "close", "resize"} <= set(aim.menu) and not aim.stores:
        aim.pending_ops = [ops.Resize(0), *(ops.Put(ns, aim.key(), aim.value(), dirty=True) for _ in range(2))]
        return ops.Listen(ns, (ops.Close(ns), ops.Put(ns, aim.key(), **aim.write())))
    steps = aim.steps(state, depth)
    if "put" in aim.menu and aim.draw(0, 2) == 2:
        steps = (*steps, ops.Put(ns, aim.key(), **aim.write()))
    if aim.traits.flushes_again and {"put", "flush"} <= set(aim.menu):
        other = str(choose(aim.draw, aim.namespaces))
        steps = (*steps, *(ops.Put(other, aim.key(), value="1", dirty=True), ops.Flush(other)) * 2)
    return ops.Listen(ns, steps, fails)


def _on_forward(aim: Aim, state: State, depth: int) -> Any:
    store, key = aim.store(), aim.key()
    steps = aim.steps(state, depth)
    if depth == 0 and aim.kinds.get(store) in WINDOWED and aim.draw(0, 2) != 2:
        return _read_inside(aim, state, store, key)
    if {"store_put", "store_flush"} <= set(aim.menu) and aim.draw(0, 3) == 3:
        steps = (*steps, ops.StorePut(store, aim.key(), aim.value()), ops.StoreFlush(store))
    return ops.OnForward(store, key, steps)


def _store_put(aim: Aim, state: State, depth: int) -> Any:
    store = aim.store()
    if depth == 0 and aim.traits.batch > USUAL_BATCH and aim.draw(0, 2) == 2:
        first, number = aim.draw(0, len(aim.traits.keys) - 1), aim.draw(0, aim.traits.batch)
        keys = (*aim.traits.keys, *aim.traits.keys)[first : first + number]
        value = aim.value()
        aim.pending_ops = [ops.StorePut(store, key, None if at % 5 == 4 else value) for at, key in enumerate(keys)]
    return ops.StorePut(store, aim.key(), aim.value())


def _evict(aim: Aim, state: State, depth: int) -> Any:
    ns = aim.ns("evict")
    dirty = state.spaces[ns].dirty if ns in state.spaces else ()
    has_keys = aim.kinds.get(ns, StoreKind.KEY_VALUE) is StoreKind.KEY_VALUE
    listens_late = aim.traits.listens_late and depth == 0 and has_keys
    if not (listens_late and dirty and {"get", "listen", "flush"} <= set(aim.menu)):
        return ops.Evict(ns)
    aim.pending_ops = [ops.Flush(ns), ops.Listen(ns), ops.Evict(ns)]
    return ops.Get(ns, dirty[0])


def _usage(aim: Aim, state: State, depth: int) -> Any:
    return ops.Usage() if aim.draw(0, 1) == 0 else ops.Usage(aim.ns("usage"))


def _metrics(aim: Aim, state: State, depth: int) -> Any:
    return ops.Metrics(aim.ns("metrics")) if aim.draw(0, 2) else ops.Metrics()


def _get(aim: Aim, state: State, depth: int) -> Any:
    return ops.Get(aim.ns("get"), None if aim.draw(0, 15) == 15 else aim.key())


def _share(aim: Aim, state: State, depth: int) -> Any:
    total = choose(aim.draw, (10_485_760, 0, 1, 7, 100, INTEGER_MAX))
    return ops.Share(total, aim.draw(0, 5), aim.draw(0, 1) == 1)


def _store_view(aim: Aim, state: State, depth: int) -> Any:
    isolation = choose(aim.draw, (ABSENT, ABSENT, ABSENT, *view_ops.Isolation))
    if aim.draw(0, 2) == 2:
        return view_ops.StoreView(aim.store(), prefix=choose(aim.draw, aim.prefixes), isolation=isolation)
    return view_ops.StoreView(aim.store(), aim.bound(), aim.bound(), aim.draw(0, 1) == 1, None, isolation)


def _store_put_all(aim: Aim, state: State, depth: int) -> Any:
    entries = tuple((aim.key(), aim.value()) for _ in range(aim.draw(0, aim.traits.batch)))
    return view_ops.StorePutAll(aim.store(), entries)


def _read_inside(aim: Aim, state: State, store: str, key: str) -> Any:
    """Make steps that read inside the forward of a key; mostly a write of the key and a flush follow."""
    time, is_session = aim.time(state, store), aim.kinds[store] is StoreKind.SESSION
    read = view_ops.SessionGet(store, key, time, time) if is_session else view_ops.WindowGet(store, key, time)
    view = (view_ops.SessionView if is_session else view_ops.WindowView)(store, key=key)
    written = _put_of(aim, store, key, time, "1")
    again = _put_of(aim, store, key, time + (aim.draw(0, 3) == 3), aim.value())
    inside = ops.OnForward(store, key, (read, again, choose(aim.draw, (read, view)))[aim.draw(0, 2) :])
    if "store_flush" not in aim.menu:
        return inside
    aim.pending_ops = [ops.StoreFlush(store), written, inside]
    return ops.StoreFlush(store) if aim.draw(0, 2) else aim.pending_ops.pop()


def _special_windows(aim: Aim, state: State, store: str) -> Any:
    """Make a sequence about one key: reads inside its forward, or, if the subject takes such steps, rarer ones.

    A put evicts what a view inside the forward lists, or windows lie far apart. None if the subject has no operation
    that it needs.
    """
    settings, key = state.stores.get(store, Store()).settings, aim.key()
    is_session, in_segments = aim.kinds[store] is StoreKind.SESSION, settings.below is Underlying.SEGMENTS
    view_type = view_ops.SessionView if is_session else view_ops.WindowView
    names = ("earliest_end", "latest_start") if is_session else ("time_from", "time_to")
    if aim.limits.far_fetch and in_segments and aim.draw(0, 11) == 11:
        first: dict[str, Any] = {names[0]: aim.time(state, store)} if aim.draw(0, 1) else {}
        aim.pending_ops = [view_type(store, key=key, **first)] if view_type.name in aim.menu else []
        return _put_of(aim, store, key, FAR_MS, "1")
    evicts = state.max_size_bytes in HOLDING_ONE_BYTES and view_type.name in aim.menu
    if "on_forward" not in aim.menu or not (aim.limits.views_in_put_forward and in_segments and evicts):
        return _read_inside(aim, state, store, key) if "on_forward" in aim.menu else None
    time = aim.time(state, store)
    later = max(time, state.stores[store].stream_time) + settings.segment_interval * aim.draw(1, 3)
    between: dict[str, Any] = dict(zip(names, (time, later + 1), strict=True))
    inside = view_type(store, key=key, **between)
    aim.pending_ops = [_put_of(aim, store, key, later, "2"), _put_of(aim, store, key, time, "1")]
    return ops.OnForward(store, key, (inside,))


HOLDING_ONE_BYTES: Final = range(72, 133)
"""The limits that hold one window or session with a key of a byte, and not two."""


def _put_of(aim: Aim, store: str, key: str, time: int, value: str | None) -> Any:
    """Make a write of a window or of a session of this time."""
    if aim.kinds[store] is StoreKind.SESSION:
        return view_ops.SessionPut(store, key, time, time, value)
    return view_ops.WindowPut(store, key, time, value)


def _window_put(aim: Aim, state: State, depth: int) -> Any:
    """Make a write of a window or a session.

    At times another one that makes it expire follows, or a deletion, and then a flush.
    """
    store = aim.store(WINDOWED)
    if depth == 0 and aim.kinds[store] in WINDOWED and aim.draw(0, 9) >= 8:
        special = _special_windows(aim, state, store)
        if special is not None:
            return special
    time = aim.time(state, store)
    if depth == 0 and "store_flush" in aim.menu and aim.draw(0, 2) == 2:
        later = time + (aim.retention if aim.retention < RETENTION_MS else 1)
        deletes = aim.draw(0, 2) == 2
        after = _put_of(aim, store, aim.key(), time if deletes else later, None if deletes else "1")
        aim.pending_ops = [ops.StoreFlush(store), after]
    if aim.kinds[store] is not StoreKind.SESSION:
        return view_ops.WindowPut(store, aim.key(), time, aim.value())
    start = max(0, time - aim.draw(0, 3)) + (aim.draw(0, 30) == 30)
    if aim.draw(0, 4) == 4 and "session_remove" in aim.menu:
        return view_ops.SessionRemove(store, aim.key(), start, time)
    return view_ops.SessionPut(store, aim.key(), start, time, aim.value())


def _window_get(aim: Aim, state: State, depth: int) -> Any:
    """Make a read of a window or a session, mostly of one that is cached or lies below."""
    store = aim.store(WINDOWED)
    names = sorted({*space_of(state, store).nodes, *state.stores.get(store, Store()).inner})
    if names and aim.draw(0, 3) != 3:
        key, start, end = parse_window(choose(aim.draw, names))
    else:
        end = aim.time(state, store)
        key, start = aim.key(), max(0, end - aim.draw(0, 3))
    if aim.kinds[store] is StoreKind.SESSION:
        return view_ops.SessionGet(store, key, start, end)
    return view_ops.WindowGet(store, key, end)


def _window_range(aim: Aim, state: State, store: str) -> dict[str, Any]:
    """Make the range of a view: of a key, of several or of all, with times or without."""
    is_session, of = aim.kinds[store] is StoreKind.SESSION, aim.draw(0, 2)
    given: dict[str, Any] = {"backward": aim.draw(0, 1) == 1}
    if of == 0:
        given["key"] = aim.key()
    elif of == 1 or is_session:
        given |= {"from_": aim.bound(), "to": aim.bound()}
    if aim.draw(0, 2) != 2:
        first, last = ("earliest_end", "latest_start") if is_session else ("time_from", "time_to")
        wide = aim.draw(0, 1) == 1
        given[first] = 0 if wide else aim.time(state, store)
        given[last] = FAR_MS if wide else aim.time(state, store) + aim.draw(0, 5)
    return given


def _window_view(aim: Aim, state: State, depth: int) -> Any:
    """Make a view of windows or sessions. Mostly the order of use is asked for after it."""
    store = aim.store(WINDOWED)
    if depth == 0 and "metrics" in aim.menu and aim.draw(0, 4) != 4:
        aim.pending_ops = [ops.Metrics(store)]
    kind = view_ops.SessionView if aim.kinds[store] is StoreKind.SESSION else view_ops.WindowView
    return kind(store, **_window_range(aim, state, store))


def _store_open(aim: Aim, state: State, depth: int) -> Any:
    """Make the opening of a store that is not open, or the closing of one."""
    free = tuple(name for name in aim.stores if name not in state.stores or not state.stores[name].is_open)
    if not free and "store_close" in aim.menu and aim.draw(0, 2) != 2:
        return _store_close(aim, state, depth)
    return _open(aim, choose(aim.draw, free) if free and aim.draw(0, 3) != 3 else aim.store())


def _open(aim: Aim, store: str) -> Any:
    """Make the opening of this store, mostly with old values.

    Mostly work that writes a key again and flushes it follows, so that one step forwards the key twice.
    """
    if aim.kinds[store] is not StoreKind.KEY_VALUE:
        return open_windows(aim, store)
    key, old_values = aim.key(), aim.draw(0, 2) != 2
    if old_values and {"store_put", "store_flush", "on_forward"} <= set(aim.menu) and aim.draw(0, 3) != 3:
        again = (ops.StorePut(store, key, aim.value()), ops.StoreFlush(store))
        written = ops.StorePut(store, key, aim.value() or "1")
        aim.pending_ops = [ops.StoreFlush(store), written, ops.OnForward(store, key, again)]
    return view_ops.StoreOpen(store, old_values)


def _fail_forward(aim: Aim, state: State, depth: int) -> Any:
    """Make failures of a key, mostly of one that is dirty; a flush or a close that meets them often follows."""
    store = aim.store()
    is_of_keys = aim.kinds[store] is StoreKind.KEY_VALUE
    dirty = state.spaces[store].dirty if store in state.spaces else ()
    key = choose(aim.draw, dirty) if dirty and aim.draw(0, 3) != 3 else aim.key()
    key = key if is_of_keys else parse_window(key).key
    if depth == 0 and {"store_flush", "store_put"} <= set(aim.menu) and aim.draw(0, 2) != 2:
        closes = {"store_close", "store_open"} <= set(aim.menu) and aim.draw(0, 4) >= 3
        flush = ops.StoreFlush(store)
        ending = [_open(aim, store), view_ops.StoreClose(store)] if closes else [flush, flush]
        write: tuple[Any, ...] = ()
        if not dirty or not aim.draw(0, 1):
            value, time = aim.value(), 0 if is_of_keys else aim.time(state, store)
            write = (ops.StorePut(store, key, value) if is_of_keys else _put_of(aim, store, key, time, value),)
        aim.pending_ops = [*ending, *write]
    return view_ops.FailForward(store, key, aim.draw(0, 2))


def _store_close(aim: Aim, state: State, depth: int) -> Any:
    """Make a close. Mostly another operation and then the opening of the store follow."""
    store = aim.store()
    if {"store_open", "store_get"} <= set(aim.menu) and aim.draw(0, 3) != 3:
        opened = _open(aim, store)
        has_windows = aim.kinds[store] is not StoreKind.KEY_VALUE and "store_flush" in aim.menu
        is_flushed = has_windows and aim.draw(0, 1) == 1
        refused = ops.StoreFlush(store) if is_flushed else ops.StoreGet(store, aim.key())
        aim.pending_ops = [*aim.pending_ops, opened, refused]
    return view_ops.StoreClose(store)


def open_windows(aim: Aim, store: str) -> Any:
    """Make the opening of a store of windows or sessions."""
    below = choose(aim.draw, tuple(Underlying))
    return view_ops.StoreOpen(
        store,
        aim.draw(0, 2) == 2,
        aim.kinds[store],
        below,
        aim.retention,
        ABSENT,
        choose(aim.draw, (5, 10, 60, 1)) if below is Underlying.SEGMENTS else ABSENT,
        False if aim.draw(0, 9) == 9 else ABSENT,
    )


def choose_kinds(aim: Aim) -> list[Any]:
    """Choose the kinds of the stores of a case with windows; return the operations that open them, the last first."""
    offered = [kind for kind in WINDOWED if f"{kind.value}_put" in aim.menu]
    if not offered or "store_open" not in aim.menu:
        return []
    aim.retention = choose(aim.draw, (10, 25, RETENTION_MS, 3, 1, 40))
    aim.kinds = {name: choose(aim.draw, offered * 4 + [StoreKind.KEY_VALUE]) for name in aim.stores}
    if not {*aim.kinds.values()} & {*offered}:
        aim.kinds[aim.stores[0]] = offered[0]
    return [open_windows(aim, name) for name, kind in aim.kinds.items() if kind is not StoreKind.KEY_VALUE][::-1]


def _view_open(aim: Aim, state: State, depth: int) -> Any:
    """Make the opening of a view, mostly under a free name and of every key. Often a few keys are written before it.

    Sometimes the eldest entry is evicted before the view is read. A subject that must not evict under an open view gets
    one only where there is room.
    """
    if {*WINDOWED} & {*aim.kinds.values()} and aim.draw(0, 2) != 0:
        return _window_view_open(aim, state)
    view = _store_view(aim, state, depth)
    if not aim.limits.open_views_overflow and state.max_size_bytes < ROOMY:
        return view if "store_view" in aim.menu else None
    free = tuple(name for name in VIEWS if name not in state.views)
    name = choose(aim.draw, free if free and aim.draw(0, 3) != 3 else VIEWS)
    is_wide = aim.draw(0, 2) != 2
    bounds = (None, None, view.backward) if is_wide else (view.from_, view.to, view.backward, view.prefix)
    opened = view_ops.ViewOpen(name, view.store, *bounds)
    if depth == 0 and "store_put" in aim.menu and aim.draw(0, 1) == 1:
        shows_order = {"view_next", "metrics", "evict"} <= set(aim.menu)
        evicts = aim.limits.open_views_overflow and shows_order and aim.draw(0, 2) == 2
        later = [view_ops.ViewNext(name), ops.Evict(view.store), ops.Metrics(view.store)] if evicts else []
        writes = (ops.StorePut(view.store, aim.key(), aim.value()) for _ in range(2))
        aim.pending_ops = [*later, opened, *writes]
        return ops.StorePut(view.store, aim.key(), aim.value())
    return opened


def _window_view_open(aim: Aim, state: State) -> Any:
    """Make the opening of a view of windows or sessions, mostly of many. Often a few are written before it."""
    store = aim.store(WINDOWED)
    free = tuple(name for name in VIEWS if name not in state.views)
    given = _window_range(aim, state, store)
    if aim.draw(0, 2) != 2:
        times = ("time_from", "time_to", "earliest_end", "latest_start")
        given = {name: value for name, value in given.items() if name not in times}
    name = choose(aim.draw, free if free and aim.draw(0, 3) != 3 else VIEWS)
    opened = view_ops.ViewOpen(name, store, **given)
    if aim.draw(0, 1) == 1:
        return opened
    aim.pending_ops = [opened, *(_window_put(aim, state, 0) for _ in range(2))]
    return _window_put(aim, state, 0)


def _view_next(aim: Aim, state: State, depth: int) -> Any:
    """Make a read of a view, or the opening of one. Sometimes the order of use is asked for, and a write follows."""
    unread = tuple(sorted(name for name, view in state.views.items() if not view.has_ended))
    if not unread and aim.draw(0, 3) != 3:
        ended = tuple(sorted(state.views))
        required = "view_close" if len(ended) == len(VIEWS) else "view_open"
        if required in aim.menu:
            return view_ops.ViewClose(ended[0]) if required == "view_close" else _view_open(aim, state, depth)
    view = choose(aim.draw, unread or VIEWS)
    if depth == 0 and unread and {"metrics", "store_put"} <= set(aim.menu) and aim.draw(0, 3) == 3:
        store = state.views[view].range.store
        is_kv = aim.kinds[store] is StoreKind.KEY_VALUE
        written = ops.StorePut(store, aim.key(), aim.value()) if is_kv else _window_put(aim, state, depth)
        aim.pending_ops = [written, ops.Metrics(store)]
    return view_ops.ViewNext(view)


NESTING_OPS: Final = frozenset({"listen", "on_forward"})

MAKERS: Final[dict[str, Callable[[Aim, State, int], Any]]] = {
    "put": lambda aim, state, depth: ops.Put(aim.ns("put"), aim.key(), **aim.write()),
    "put_all": _put_all,
    "put_if_absent": lambda aim, state, depth: ops.PutIfAbsent(aim.ns("put_if_absent"), aim.key(), **aim.write()),
    "get": _get,
    "delete": lambda aim, state, depth: ops.Delete(aim.ns("delete"), aim.key()),
    "range": lambda aim, state, depth: ops.Range(aim.ns("range"), aim.bound(), aim.bound(), aim.draw(0, 2) != 2),
    "reverse_range": lambda aim, state, depth: ops.ReverseRange(aim.ns("range"), aim.bound(), aim.bound()),
    "all": lambda aim, state, depth: ops.All(aim.ns("all")),
    "reverse_all": lambda aim, state, depth: ops.ReverseAll(aim.ns("all")),
    "listen": _listen,
    "flush": lambda aim, state, depth: ops.Flush(aim.ns("flush")),
    "evict": _evict,
    "clear": lambda aim, state, depth: ops.Clear(aim.ns("clear")),
    "close": lambda aim, state, depth: ops.Close(aim.ns("close")),
    "resize": lambda aim, state, depth: ops.Resize(aim.limit(state)),
    "usage": _usage,
    "metrics": _metrics,
    "store_put": _store_put,
    "store_get": lambda aim, state, depth: ops.StoreGet(aim.store(), aim.key()),
    "store_delete": lambda aim, state, depth: ops.StoreDelete(aim.store(), aim.key()),
    "store_range": lambda aim, state, depth: ops.StoreRange(aim.store(), aim.bound(), aim.bound()),
    "store_all": lambda aim, state, depth: ops.StoreAll(aim.store()),
    "store_flush": lambda aim, state, depth: ops.StoreFlush(aim.store()),
    "store_inner": lambda aim, state, depth: ops.StoreInner(aim.store()),
    "on_forward": _on_forward,
    "share": _share,
    "store_open": _store_open,
    "store_view": _store_view,
    "store_put_if_absent": lambda aim, state, depth: view_ops.StorePutIfAbsent(aim.store(), aim.key(), aim.value()),
    "store_put_all": _store_put_all,
    "store_count": lambda aim, state, depth: view_ops.StoreCount(aim.store()),
    "store_query": lambda aim, state, depth: view_ops.StoreQuery(aim.store(), aim.key(), aim.draw(0, 3) == 3),
    "store_query_range": lambda aim, state, depth: view_ops.StoreQueryRange(aim.store(), aim.bound(), aim.bound()),
    "store_clear": lambda aim, state, depth: view_ops.StoreClear(aim.store()),
    "fail_forward": _fail_forward,
    "store_close": _store_close,
    "view_open": _view_open,
    "view_next": _view_next,
    "view_close": lambda aim, state, depth: view_ops.ViewClose(choose(aim.draw, VIEWS)),
    **dict.fromkeys(("window_put", "session_put", "session_remove"), _window_put),
    **dict.fromkeys(("window_get", "session_get"), _window_get),
    **dict.fromkeys(("window_view", "session_view"), _window_view),
}
"""The maker of each operation."""


USUAL_STEPS = 20


@cache
def weighted_menu(menu: tuple[str, ...], workload: WorkloadProfile) -> tuple[str, ...]:
    """Return the menu with the preferences of the profile."""
    often = WORKLOADS[workload].often
    return tuple(name for name in menu for _ in range(often.get(name, 1)))


def plan_case(
    draw: Draw, declaration: Declaration, menu: tuple[str, ...], workload: WorkloadProfile | None
) -> CasePlan:
    """Plan a case of these operations."""
    profile = choose(draw, DEFAULT_WORKLOADS) if workload is None else workload
    traits = within_sizes(WORKLOADS[profile], declaration)
    separator = choose(draw, SEPARATORS) if traits.joins_names else None
    if separator is not None and draw(0, 1) == 1:
        traits = meet_in_text(traits, declaration, separator)
    config = make_config(draw, declaration, profile)
    with_stores = any(LEVEL_OF[name] != "cache" for name in menu)
    namespaces = min(choose(draw, traits.namespaces), declaration.limits.namespaces or len(NAMESPACES))
    stores = choose(draw, traits.stores) if with_stores else 0
    chosen = weighted_menu(menu, profile)
    limits = declaration.limits
    aim = Aim(
        draw,
        traits,
        tuple(dict.fromkeys(chosen)),
        namespaces,
        stores,
        limits,
        takes_context(traits, declaration),
        separator,
    )
    names = NamesOfCase(traits.keys, aim.namespaces, aim.stores)
    aim.pending_ops = fill_to_the_default(declaration, menu, names) or choose_kinds(aim)
    is_filled = any(isinstance(op, ops.Put | ops.StorePut) for op in aim.pending_ops)
    steps_max = GREAT_STEPS if is_filled else traits.steps_max
    make = only_answered(aim.op, config, limits, menu, ops.Usage() if "usage" in aim.menu else None)
    return CasePlan(
        config,
        chosen,
        steps_max,
        USUAL_STEPS * traits.patience,
        make,
        partial(final_queries, menu),
        lambda: len(aim.pending_ops),
    )
