"""The plan of one case of `kafka-streams`, and the arguments of its operations.

Key spaces are small, so that writes meet, and limits are taken from the state. An operation may hold others that a
listener or a downstream processor performs inside a call, up to the depth of the profile. A case ends with queries of
all counters, sizes and orders.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from entrycache_conformance.systems.kafka_streams.limits import only_answered
from entrycache_conformance.systems.kafka_streams.workload import (
    DEFAULT_WORKLOADS,
    FAR_MS,
    GREAT_STEPS,
    LEVEL_OF,
    NAMESPACES,
    SEPARATORS,
    USUAL_BATCH,
    WINDOW_FORMS,
    WINDOWED,
    WORKLOADS,
    Aim,
    NamesOfCase,
    WorkloadProfile,
    fill_to_the_default,
    final_queries,
    make_config,
    meet_in_text,
    takes_context,
    weighted_menu,
    within_sizes,
)
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import CasePlan, Draw, choose
from entrycache_reference.kafka_streams import ops, view_ops
from entrycache_reference.kafka_streams.change import parse_window
from entrycache_reference.kafka_streams.state import State, Store, space_of
from entrycache_reference.kafka_streams.view_ops import RETENTION_MS, StoreKind, Underlying
from entrycache_reference.vocabulary import ABSENT, INTEGER_MAX, Absent

VIEWS: Final = ("v", "w")
INNER_STEPS: Final = 3
ROOMY: Final = 2_000


def make_steps(aim: Aim, state: State, depth: int) -> tuple[Any, ...]:
    """Make the operations inside a call."""
    if depth >= aim.traits.depth:
        return ()
    names = tuple(name for name in aim.within if depth + 1 < aim.traits.depth or name not in NESTING_OPS)
    count = aim.draw(0, INNER_STEPS) if names else 0
    steps = [make_op(aim, choose(aim.draw, names), state, depth + 1) for _ in range(count)]
    return tuple(op for op in steps if op is not None)


def make_op(aim: Aim, name: str, state: State, depth: int = 0) -> Any:
    """Make an operation of that name; None if the subject offers none that fits."""
    if aim.pending_ops and depth == 0:
        return aim.pending_ops.pop()
    if name in WINDOW_FORMS and StoreKind.KEY_VALUE not in aim.kinds.values() and aim.draw(0, 19) != 19:
        name = WINDOW_FORMS[name]
    return MAKERS[name](aim, state, depth)


def _put_all(aim: Aim, state: State, depth: int) -> Any:
    entries = tuple(ops.Write(aim.key(), **aim.write()) for _ in range(aim.draw(0, aim.traits.batch)))
    return ops.PutAll(aim.ns("put_all"), entries)


def _listen(aim: Aim, state: State, depth: int) -> Any:
    fails: int | Absent = choose(aim.draw, aim.traits.fails)
    ns = aim.ns("listen")
    if aim.traits.reopens and depth == 0 and {"put", "close", "resize"} <= set(aim.menu) and not aim.stores:
        aim.pending_ops = [ops.Resize(0), *(ops.Put(ns, aim.key(), aim.value(), dirty=True) for _ in range(2))]
        return ops.Listen(ns, (ops.Close(ns), ops.Put(ns, aim.key(), **aim.write())))
    steps = make_steps(aim, state, depth)
    if "put" in aim.menu and aim.draw(0, 2) == 2:
        steps = (*steps, ops.Put(ns, aim.key(), **aim.write()))
    if aim.traits.flushes_again and {"put", "flush"} <= set(aim.menu):
        other = str(choose(aim.draw, aim.namespaces))
        steps = (*steps, *(ops.Put(other, aim.key(), value="1", dirty=True), ops.Flush(other)) * 2)
    return ops.Listen(ns, steps, fails)


def _on_forward(aim: Aim, state: State, depth: int) -> Any:
    store, key = aim.store(), aim.key()
    steps = make_steps(aim, state, depth)
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


def _view_of_keys(aim: Aim, isolation: view_ops.Isolation | Absent = ABSENT) -> Any:
    """Make a view of a store of keys: of a prefix, or between bounds."""
    if aim.draw(0, 2) == 2:
        return view_ops.StoreView(aim.store(), prefix=choose(aim.draw, aim.prefixes), isolation=isolation)
    return view_ops.StoreView(aim.store(), aim.bound(), aim.bound(), aim.draw(0, 1) == 1, None, isolation)


def _store_view(aim: Aim, state: State, depth: int) -> Any:
    """Make a view. At times a backward one of keys that lie below, of which a cached deletion hides one."""
    view = _view_of_keys(aim, choose(aim.draw, (ABSENT, ABSENT, ABSENT, *view_ops.Isolation)))
    if _takes_uncaching(aim, view.store, depth) and aim.draw(0, 11) == 11:
        deleted = ops.StorePut(view.store, aim.key(), None)
        aim.pending_ops = [view_ops.StoreView(view.store, backward=True), deleted, *_uncached(aim, view.store)]
        return aim.pending_ops.pop()
    return view


UNCACHING_OPS: Final = frozenset({"store_put", "store_flush", "store_clear"})


def _takes_uncaching(aim: Aim, store: str, depth: int) -> bool:
    """Return whether a step may be followed by those of `_uncached`."""
    return depth == 0 and aim.kinds[store] is StoreKind.KEY_VALUE and set(aim.menu) >= UNCACHING_OPS


def _uncached(aim: Aim, store: str) -> list[Any]:
    """Make operations, the last one first, after which two keys lie below and no key is cached."""
    writes = [ops.StorePut(store, key, "1") for key in aim.traits.keys[:2]]
    return [view_ops.StoreClear(store), ops.StoreFlush(store), *writes]


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

    A put evicts what a view inside the forward lists, windows lie far apart, a view goes backward over sessions, or
    what is written again is next to another one. None if the subject has no operation that it needs.
    """
    opened, key = state.stores.get(store, Store()), aim.key()
    settings = opened.settings
    is_session, in_segments = aim.kinds[store] is StoreKind.SESSION, settings.below is Underlying.SEGMENTS
    view_type = view_ops.SessionView if is_session else view_ops.WindowView
    names = ("earliest_end", "latest_start") if is_session else ("time_from", "time_to")
    has_views, time = view_type.name in aim.menu, aim.time(state, store)
    if aim.limits.far_fetch and in_segments and aim.draw(0, 11) == 11:
        first: dict[str, Any] = {names[0]: aim.time(state, store)} if aim.draw(0, 1) else {}
        aim.pending_ops = [view_type(store, key=key, **first)] if has_views else []
        return _put_of(aim, store, key, FAR_MS, "1")
    later = max(time, opened.stream_time) + settings.segment_interval * aim.draw(1, 3)
    if aim.limits.backward_sessions and is_session and in_segments and has_views and aim.draw(0, 5) == 5:
        aim.pending_ops = [view_ops.SessionView(store, key=key, latest_start=time, backward=True)]
        return view_ops.SessionPut(store, key, time, later, "1")
    rewritten = None if in_segments or not has_views or aim.draw(0, 3) != 3 else _rewritten(aim, store, key, later)
    if rewritten is not None and "store_flush" in aim.menu:
        view = view_ops.SessionView(store, from_=None, to=None) if is_session else view_ops.WindowView(store)
        aim.pending_ops = [view, replace(rewritten, value="2"), ops.StoreFlush(store), rewritten]
        return _put_of(aim, store, key, later, "1")
    evicts = state.max_size_bytes in HOLDING_ONE_BYTES and has_views
    if "on_forward" not in aim.menu or not (aim.limits.views_in_put_forward and in_segments and evicts):
        return _read_inside(aim, state, store, key) if "on_forward" in aim.menu else None
    between: dict[str, Any] = dict(zip(names, (time, later + 1), strict=True))
    inside = view_type(store, key=key, **between)
    aim.pending_ops = [_put_of(aim, store, key, later, "2"), _put_of(aim, store, key, time, "1")]
    return ops.OnForward(store, key, (inside,))


def _rewritten(aim: Aim, store: str, key: str, time: int) -> Any:
    """Make a write beside the window or session of this key and time: of one end with it, or of a longer key.

    None if the subject takes no such steps.
    """
    if aim.limits.equal_ends and aim.kinds[store] is StoreKind.SESSION and aim.draw(0, 1):
        return view_ops.SessionPut(store, key, time - 1, time, "1")
    longer = aim.longer_key(key)
    return None if longer is None else _put_of(aim, store, longer, time, "1")


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
    view = _view_of_keys(aim)
    if not aim.limits.open_views_overflow and state.max_size_bytes < ROOMY:
        return view if "store_view" in aim.menu else None
    free = tuple(name for name in VIEWS if name not in state.views)
    name = choose(aim.draw, free if free and aim.draw(0, 3) != 3 else VIEWS)
    is_wide = aim.draw(0, 2) != 2
    bounds = (None, None, view.backward) if is_wide else (view.from_, view.to, view.backward, view.prefix)
    opened = view_ops.ViewOpen(name, view.store, *bounds)
    if aim.limits.delete_under_view and _takes_uncaching(aim, view.store, depth) and aim.draw(0, 9) == 9:
        deletes = [ops.StorePut(view.store, key, None) for key in aim.traits.keys[:2]]
        read = view_ops.ViewNext(name)
        later = [read, ops.StoreFlush(view.store), *deletes, read] if "view_next" in aim.menu else []
        aim.pending_ops = [
            *later,
            view_ops.ViewOpen(name, view.store, backward=view.backward),
            *_uncached(aim, view.store),
        ]
        return aim.pending_ops.pop()
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
    make = only_answered(partial(make_op, aim), config, limits, menu, ops.Usage() if "usage" in aim.menu else None)
    return CasePlan(
        config,
        chosen,
        steps_max,
        USUAL_STEPS * traits.patience,
        make,
        partial(final_queries, menu),
        lambda: len(aim.pending_ops),
    )
