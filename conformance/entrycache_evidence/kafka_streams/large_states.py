"""Runs of `kafka-streams` that begin in a state with thousands of items of a collection, or with great numbers.

A proof of a loop says nothing about a bound outside of it, and a step-by-step run reaches only hundreds of items. So
each run here begins in a state that was built at once, and plays the operations that work on its large part. A test
demands such a state for every collection of the state, and great numbers for every integer.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from entrycache_evidence.kafka_streams.runs import RELEASED
from entrycache_reference.kafka_streams import config as configuration
from entrycache_reference.kafka_streams import ops, view_ops
from entrycache_reference.kafka_streams.change import Window, name_window, size_bytes
from entrycache_reference.kafka_streams.outcomes import Context
from entrycache_reference.kafka_streams.state import (
    Listener,
    Node,
    OpenView,
    Space,
    State,
    Store,
    StoreSettings,
    initial,
)
from entrycache_reference.kafka_streams.view_ops import StoreKind, Underlying
from entrycache_reference.kafka_streams.views import values_now
from entrycache_reference.kafka_streams.windows import order_names

Run = tuple[configuration.Config, tuple[State | ops.Op, ...]]

PLENTY_BYTES: Final = 1_000_000
GREAT: Final = 2**53 + 2**31 + 7
"""A number that neither an integer of 32 bits nor a double holds."""
LAST: Final = "~"
"""A key behind all others."""
READ_MOST: Final = 1_100
"""The greatest number of sessions of one end in an open view: each of them is compared with all that have come."""


def build_nodes(values: dict[str, str | None], is_dirty: bool = True) -> dict[str, Node]:
    """Build the entries of these values; their writes are numbered from 0."""
    return {
        key: Node(value, is_dirty, size_bytes(key, value, "", ()), Context(), number)
        for number, (key, value) in enumerate(values.items())
    }


def build_state(config: configuration.Config, space: Space, store: Store | None) -> State:
    """Build a state with a namespace "s", and the store of that name if there is one."""
    running = sum(node.size_bytes for node in space.nodes.values())
    stores = {} if store is None else {"s": store}
    writes = len(space.nodes)
    return initial(config)._replace(spaces={"s": space}, stores=stores, writes=writes, running=running)


def build_keys(config: configuration.Config, large: int) -> State:
    """Build a store with many dirty keys, some of them tombstones; all were forwarded, and every third lies below."""
    names = tuple(f"{number * 7 % large:04}" for number in range(large))
    values = {name: None if number % 50 == 3 else "1" for number, name in enumerate(names)}
    space = Space(build_nodes(values), names[::-1], names, Listener(of_store=True))
    store = Store(
        dict.fromkeys((*names[::3], *(f"{name}-" for name in names)), "0"),
        {**dict.fromkeys(names, ()), names[-1]: (ops.Metrics(),)},
        dict.fromkeys(names, -1),
        old_values=True,
        forwarded=dict.fromkeys(names, "0"),
        failing={f"{name}-": 1 for name in names},
        owed=tuple(f"{name}+" for name in names),
    )
    return build_state(config, space, store)


def begin_with_keys(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """List, query, write and delete among many keys of a store."""
    state, last = build_keys(config, large), f"{large - 1:04}"
    yield from (state, ops.Usage("s"), ops.Usage(), ops.Metrics("s"), ops.Get("s", last), ops.Put("s", last, "2", True))
    yield from (ops.PutIfAbsent("s", last, "3"), ops.PutIfAbsent("s", LAST, "3"), ops.Delete("s", last))
    yield from (
        ops.StorePut("s", last, "4"),
        ops.StoreGet("s", last),
        ops.StoreDelete("s", last),
        ops.StoreGet("s", "0"),
    )
    yield from (view_ops.StoreCount("s"), ops.StoreInner("s"), view_ops.StoreQuery("s", last, True))
    yield from (view_ops.StoreQuery("s", f"{last}-"), view_ops.StorePutIfAbsent("s", last, "5"), ops.Metrics("s"))
    yield from (ops.Range("s", f"{large - 20:04}", None), ops.StoreRange("s", f"{large - 20:04}", LAST))
    yield from (ops.OnForward("s", LAST, ()), ops.StorePut("s", LAST, "1"), view_ops.StoreQueryRange("s", last))
    yield from (view_ops.StorePutAll("s", ((last, "7"), (LAST, None))), ops.Range("s", None, "0009"))
    yield from (ops.ReverseRange("s", None, "0009"), ops.Metrics(), view_ops.StoreView("s", prefix=f"{large // 10}"))


def begin_with_lists(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """List all of many keys, in each way and direction."""
    state = build_keys(config, large)
    yield from (state, ops.All("s"), ops.ReverseAll("s"))


def begin_with_merges(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """List all of many keys, cached and stored, as one view, in each direction."""
    yield from (build_keys(config, large), ops.StoreAll("s"), view_ops.StoreView("s", backward=True))


def begin_with_flush(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Flush many dirty keys of a store, and few keys of a store that has many values."""
    state = build_keys(config, large)
    space, store = state.spaces["s"], state.stores["s"]
    few = space.dirty[-60:]
    nodes = {key: node._replace(is_dirty=key in few) for key, node in space.nodes.items()}
    flushed = (ops.StoreFlush("s"), ops.StoreInner("s"), ops.Metrics("s"), ops.Metrics())
    yield from (state._replace(spaces={"s": space._replace(nodes=nodes, dirty=few)}), *flushed)
    yield from (state._replace(stores={"s": Store({}, {few[-1]: store.downstream[few[-1]]})}), *flushed)


def begin_with_throws(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Flush many deletions of a store whose first forward throws, then again."""
    names = tuple(f"{number * 7 % large:04}" for number in range(large))
    space = Space(build_nodes(dict.fromkeys(names)), names[::-1], names, Listener(of_store=True))
    yield build_state(config, space, Store(dict.fromkeys(names[-90:], "0"), owed=names[:-90]))
    yield from (view_ops.FailForward("s", names[0], 1), ops.StoreFlush("s"), ops.StoreInner("s"), ops.Metrics("s"))


def begin_with_clear(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Drop many keys by a call."""
    state = build_keys(config, large)
    yield from (state, view_ops.StoreClear("s"), ops.Usage(), state, ops.Close("s"), ops.Usage())


def begin_with_overflow(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Evict many clean keys by one write, and by a lower limit."""
    names = tuple(f"{number * 7 % large:04}" for number in range(large))
    nodes = build_nodes(dict.fromkeys(names, "1"), False)
    state = build_state(config, Space(nodes, names[::-1]), None)
    limit = 60 * len(names[0])
    yield from (state._replace(max_size_bytes=limit), ops.Put("s", LAST, "1"), ops.Usage("s"), ops.Metrics())
    yield from (state, ops.Resize(limit), ops.Usage("s"), ops.Metrics(), ops.Evict("s"))


def begin_with_writes(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Write many keys by one operation, and write one of them again."""
    names = tuple(f"{number * 7 % large:04}" for number in range(large))
    yield from (initial(config), ops.PutAll("a", tuple(ops.Write(name, "1", True) for name in names)), ops.Usage("a"))
    yield from (initial(config), view_ops.StorePutAll("s", tuple((name, "1") for name in names)), ops.Usage("s"))


def begin_with_failures(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Flush many tombstones, let a listener refuse them, and flush and evict them while nobody listens."""
    names = tuple(f"{number * 7 % large:04}" for number in range(large))
    nodes = build_nodes(dict.fromkeys(names))
    for listener in (Listener(), Listener(fails=1), None):
        yield build_state(config, Space(nodes, names[::-1], names, listener), None)
        yield from (ops.Flush("s") if listener else ops.Evict("s"), ops.Usage("s"), ops.Metrics("s"))


def begin_with_views(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Read a view of many keys, one of many views, and one whose key had many values."""
    names = tuple(f"{number:04}" for number in range(large))
    inner = dict.fromkeys(names, "1")
    state = build_state(config, Space(listener=Listener(of_store=True)), Store(inner))
    had: dict[str, tuple[str | None, ...]] = dict.fromkeys(names, ("1",))
    for backward, key in ((False, names[-2]), (True, names[1])):
        view = OpenView(view_ops.ViewOpen("v", "s", backward=backward), had, key, came=(key,))
        yield from (state._replace(views={"v": view}), view_ops.ViewNext("v"), view_ops.ViewNext("v"))
        yield from (ops.StorePut("s", "0", "1"), view_ops.ViewClose("v"))
    yield from (state, view_ops.ViewOpen("v", "s"), view_ops.ViewNext("v"), ops.StorePut("s", names[-1], "2"))
    few = build_state(config, Space(listener=Listener(of_store=True)), Store({"a": "1", "b": "1"}))
    opened = OpenView(view_ops.ViewOpen("v", "s"), {"a": ("1",), "b": ("1",)})
    views = {name: opened._replace(range=view_ops.ViewOpen(name, "s")) for name in names}
    yield few._replace(views=views)
    yield from (ops.StorePut("s", "b", "2"), view_ops.ViewNext(names[-1]), view_ops.ViewNext(names[-1]))
    yield from (view_ops.ViewClose(names[-2]), view_ops.ViewOpen("new", "s"), view_ops.StoreClose("s"))
    values = opened._replace(had={"a": ("1",), "b": tuple(names)})
    yield from (few._replace(views={"v": values}), ops.StorePut("s", "b", names[-1]), view_ops.ViewNext("v"))
    yield from (ops.StorePut("s", "b", names[0]), view_ops.ViewNext("v"))


def begin_with_spaces(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Count, close and evict from one of many namespaces, and lower the limit of all."""
    names = tuple(f"{number * 7 % large:04}" for number in range(large))
    nodes = build_nodes({"x": "1"}, False)
    size = nodes["x"].size_bytes
    spaces = {name: Space(nodes, ("x",), (), Listener()) for name in names}
    state = initial(config)._replace(spaces=spaces, writes=1, running=size * large)
    yield from (state, ops.Usage(), ops.Metrics(), ops.Usage(names[-1]), ops.Put(names[-1], "y", "1", True))
    yield from (ops.Put("new", "y", "1"), ops.Flush(names[-1]), ops.Evict(names[-2]), ops.Listen(names[-3]))
    yield from (ops.Clear(names[-4]), ops.Close(names[-5]), ops.Get(names[-6], "x"), ops.Share(10**12, large, True))
    yield from (state, ops.Resize(size), ops.Usage(), ops.Metrics())


def begin_with_stores(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Write to, flush, open and close one of many stores."""
    names = tuple(f"{number}" for number in range(large))
    space = Space(listener=Listener(of_store=True))
    state = initial(config)._replace(spaces=dict.fromkeys(names, space), stores=dict.fromkeys(names, Store({"x": "1"})))
    last = names[-1]
    yield from (
        state,
        ops.StorePut(last, "x", "2"),
        ops.StoreGet(last, "x"),
        ops.StoreFlush(last),
        ops.StoreInner(last),
    )
    yield from (view_ops.StoreOpen("new", True), view_ops.StoreClose(last), view_ops.StoreOpen(last), ops.StoreAll("1"))
    yield from (ops.OnForward(last, "x", ()), ops.StorePut(last, "x", "2"), ops.StoreDelete(names[-2], "x"))


def begin_with_steps(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Let a listener and a store downstream perform many steps in one call."""
    many: tuple[ops.Op, ...] = (*(ops.Get("b", "x") for _ in range(large)), ops.Put("b", "y", "1"))
    nodes = build_nodes({"x": "1"})
    space = Space(nodes, ("x",), ("x",), Listener(many))
    yield from (build_state(config, space, None), ops.Flush("s"), ops.Metrics("b"), ops.Metrics())
    store = space._replace(listener=Listener(of_store=True))
    yield from (build_state(config, store, Store(downstream={"x": many})), ops.StoreFlush("s"), ops.Metrics("b"))


def begin_with_calls(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Let one step make many calls, each with a step of its own."""
    write: tuple[ops.Op, ...] = (ops.Put("b", "y", "1", True), ops.Flush("b"))
    nodes = build_nodes({"x": "1"})
    state = build_state(config, Space(nodes, ("x",), ("x",), Listener(write * (large // 4))), None)
    listening = {**state.spaces, "b": Space(listener=Listener((ops.Get("a", "z"),)))}
    yield from (state._replace(spaces=listening), ops.Flush("s"), ops.Metrics("b"), ops.Metrics())


def begin_with_texts(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Write an entry with a long key, value and topic, and with many headers."""
    long = "vé" * 2**20
    headers = tuple((f"h{number}", "é") for number in range(large))
    yield from (initial(config)._replace(max_size_bytes=GREAT), ops.Put("a", "x", long), ops.Usage("a"))
    yield from (ops.Put("a", long[: 2**18], "1", True), ops.Put("a", "y", "1", True, long[: 2**18]), ops.Usage("a"))
    yield from (ops.Put("a", "z", "1", True, "t", headers), ops.Usage("a"), ops.Listen("a"), ops.Flush("a"))


def begin_with_great_numbers(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Play every operation on sizes, writes and counters that neither 32 bits nor a double hold."""
    context = Context(GREAT, GREAT + 1, GREAT + 2)
    sizes = dict(zip("xyz", (GREAT, GREAT + 1, GREAT + 4), strict=True))
    nodes = {
        key: Node("1" if key != "y" else None, key != "z", size, context, GREAT + size) for key, size in sizes.items()
    }
    space = Space(nodes, tuple("zyx"), tuple("xy"), Listener(of_store=True), GREAT, GREAT + 1, GREAT + 2, GREAT + 3)
    store = Store({"x": "0", "y": "0", "v": "0"}, {}, {"x": 2 * GREAT - 1, "y": 2 * GREAT + 2}, failing={"v": GREAT})
    listening = space._replace(listener=Listener((ops.Usage(),), GREAT))
    total = sum(sizes.values())
    state = initial(config)._replace(
        max_size_bytes=4 * GREAT,
        spaces={"s": space, "t": listening},
        stores={"s": store},
        puts=GREAT,
        gets=GREAT + 1,
        evicts=GREAT + 2,
        flushes=GREAT + 3,
        writes=3 * GREAT,
        running=2 * total,
    )
    yield state
    yield from (ops.Usage(), ops.Usage("s"), ops.Metrics(), ops.Metrics("s"), ops.Get("s", "x"), ops.All("s"))
    yield from (ops.ReverseAll("s"), ops.Range("s", "x", "y"), ops.ReverseRange("s", "x", "y"), ops.StoreAll("s"))
    yield from (ops.StoreRange("s", "a", "z"), view_ops.StoreView("s"), view_ops.StoreQueryRange("s"), ops.Metrics("s"))
    yield from (view_ops.StoreCount("s"), view_ops.StoreQuery("s", "x"), ops.Share(GREAT**2 + 3, 2, True))
    for event in (
        ops.Put("s", "x", "2", True, timestamp=GREAT, offset=GREAT, partition=GREAT),
        ops.Put("s", "z", "2"),
        ops.PutAll("s", (ops.Write("w", "1", True), ops.Write("x", "2", True))),
        ops.PutIfAbsent("s", "w", "1", True),
        ops.Delete("s", "x"),
        ops.Flush("s"),
        ops.Flush("t"),
        ops.Evict("s"),
        ops.Evict("t"),
        ops.Clear("s"),
        ops.Close("s"),
        ops.Listen("s", fails=GREAT),
        ops.Resize(4 * GREAT - 1),
        ops.Resize(2 * GREAT),
        ops.StorePut("s", "x", "3"),
        ops.StoreGet("s", "v"),
        ops.StoreDelete("s", "x"),
        ops.StoreFlush("s"),
        ops.OnForward("s", "x", (ops.Metrics(),)),
        view_ops.StorePutIfAbsent("s", "u", "1"),
        view_ops.StorePutAll("s", (("x", "5"), ("u", "6"))),
        view_ops.StoreClear("s"),
        view_ops.StoreClose("s"),
        view_ops.StoreOpen("u", True),
        view_ops.ViewOpen("v", "s"),
    ):
        yield from (
            state,
            event,
            ops.StoreInner("s"),
            ops.Metrics("s"),
            ops.Metrics(),
            ops.Usage(),
            ops.StoreFlush("s"),
        )
    yield from (view_ops.ViewNext("v"), view_ops.ViewClose("v"))
    yield state._replace(stores={"s": store._replace(forwarded_writes={"x": GREAT})})
    yield from (view_ops.FailForward("s", "x", GREAT), ops.StoreFlush("s"), ops.StoreInner("s"), ops.StoreFlush("s"))
    overtaken = store._replace(forwarded_writes={"x": 2 * GREAT, "y": 2 * GREAT + 1})
    yield from (state._replace(stores={"s": overtaken}), ops.StoreFlush("s"), ops.StoreInner("s"))


def build_windows(config: configuration.Config, kind: StoreKind, large: int, time: int) -> State:
    """Build a store with many cached and many stored windows or sessions of the key "k", which end after this time.

    Those in the cache are dirty, every fiftieth deletes one below, and the windows of the first ten times have expired.
    """
    names = tuple(name_window(kind, window_at(kind, number, large, time)) for number in range(large))
    values = {name: None if number % 50 == 3 else "1" for number, name in enumerate(names[::2])}
    below = dict.fromkeys((*names[11::2], *names[106::100]), "0")
    space = Space(build_nodes(values), tuple(values)[::-1], tuple(values), Listener(of_store=True))
    interval = time + large // 2 if time else 60
    settings = StoreSettings(kind, Underlying.SEGMENTS, time + large - 10, interval)
    return build_state(config, space, Store(below, settings=settings, stream_time=2 * time + large))


def window_at(kind: StoreKind, number: int, large: int, time: int) -> Window:
    """Return the window or session of the key "k" with this number. All sessions end at one time."""
    start = time + number + 1
    return Window("k", start, time + large if kind is StoreKind.SESSION else start)


def begin_with_windows(config: configuration.Config, large: int, time: int = 0) -> Iterator[State | ops.Op]:
    """Write, read, list and flush many windows of a store, and let half of them expire."""
    state, last = build_windows(config, StoreKind.WINDOW, large, time), time + large
    yield from (state, view_ops.WindowGet("s", "k", last), view_ops.WindowGet("s", "k", time + 3))
    yield from (view_ops.WindowPut("s", "k", last, "2"), view_ops.WindowView("s", "k", time_from=last - large // 2))
    yield from (view_ops.WindowView("s", backward=True), view_ops.ViewOpen("v", "s", key="k"))
    yield from (view_ops.WindowPut("s", "k", last + time + large // 2, "3"), view_ops.ViewNext("v"))
    yield view_ops.ViewClose("v")
    yield from (view_ops.FailForward("s", "k", 2), ops.StoreFlush("s"), ops.StoreFlush("s"), ops.StoreFlush("s"))
    yield from (ops.StoreInner("s"), ops.Metrics("s"), view_ops.WindowView("s"))


def begin_with_sessions(config: configuration.Config, large: int, time: int = 0) -> Iterator[State | ops.Op]:
    """Write, read, list and flush many sessions that end together, and read a view that has come to nearly all."""
    state = build_windows(config, StoreKind.SESSION, large, time)
    start, end = time + large // 2, time + large
    yield from (state, view_ops.SessionGet("s", "k", start, end), view_ops.SessionPut("s", "k", start, end, "2"))
    yield from (view_ops.SessionRemove("s", "k", start + 1, end), view_ops.SessionGet("s", "k", start + 1, end))
    yield from (view_ops.SessionView("s", "k", latest_start=start), view_ops.SessionView("s", to="k", backward=True))
    yield from (ops.StoreFlush("s"), ops.StoreInner("s"), ops.Metrics("s"))
    state = build_windows(config, StoreKind.SESSION, min(large, READ_MOST), time)
    view = OpenView(view_ops.ViewOpen("v", "s", key="k"), {})
    had = {name: (value,) for name, value in values_now(state, view, config).items()}
    names = order_names(state.stores["s"].settings, had, False)
    view = view._replace(had=had, last=names[-2], came=names[:-1])
    yield from (state._replace(views={"v": view}), view_ops.ViewNext("v"), view_ops.ViewNext("v"))


def begin_with_great_times(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Play the operations of windows and sessions on times that neither 32 bits nor a double hold."""
    yield from begin_with_windows(config, 60, GREAT)
    yield from begin_with_sessions(config, 60, GREAT)


LARGE_STATES: Final = (
    begin_with_keys,
    begin_with_lists,
    begin_with_merges,
    begin_with_flush,
    begin_with_throws,
    begin_with_clear,
    begin_with_overflow,
    begin_with_writes,
    begin_with_failures,
    begin_with_views,
    begin_with_spaces,
    begin_with_stores,
    begin_with_steps,
    begin_with_calls,
    begin_with_texts,
    begin_with_windows,
    begin_with_sessions,
    begin_with_great_times,
    begin_with_great_numbers,
)
OF_RELEASES: Final = (
    begin_with_merges,
    begin_with_flush,
    begin_with_spaces,
    begin_with_failures,
    begin_with_great_times,
    begin_with_great_numbers,
)


def generate_runs_from_large_states(large: int) -> Iterator[Run]:
    """Generate the runs that begin in a large state, some of them as the releases behave too."""
    config = configuration.Config(PLENTY_BYTES, 10**9)
    for begin in LARGE_STATES:
        yield config, tuple(begin(config, large))
    released = replace(config, variants=RELEASED)
    for begin in OF_RELEASES:
        yield released, tuple(begin(released, large))
