"""The smallest changes of one namespace, the sizes of entries, and the total that the limit applies to.

Every rule function is made of these. `write_key`, `remove_key`, `look_up_key` and `mark_all_clean` change one `Space`.
`size_bytes` counts an entry byte for byte. A window or a session is cached under its name (`name_window`). `build_rows`
turns the events of a step into rows of a trace.

The limit applies to the exact sum of all sizes, or (variant `total`) to a running total. Each call adds to the running
total by how much its namespace has changed between the beginning and the end of the call. If a listener changes the
same namespace meanwhile, the change is added twice: by its own call and by the outer one. A call keeps the namespace
that it began with: once that is closed, the call sees an empty one, even if the name is opened again.

Beside: NamedCache.put, .get, .delete (kafka-streams 4.3.1)
Beside: LRUCacheEntry, NamedCache.LRUNode.size, ProcessorRecordContext.residentMemorySizeEstimate (kafka-streams 4.3.1)
Beside: ThreadCache.sizeInBytes, .sizeBytes (kafka-streams 4.3.1)
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from entrycache_reference.kafka_streams.config import Config, Total
from entrycache_reference.kafka_streams.ops import Header
from entrycache_reference.kafka_streams.state import (
    Change,
    Event,
    Node,
    Row,
    Space,
    State,
    Store,
    space_of,
    total_bytes,
)
from entrycache_reference.kafka_streams.view_ops import StoreKind
from entrycache_reference.rules import Rule, rule


def without_key(keys: tuple[str, ...], key: str) -> tuple[str, ...]:
    """Return the keys in their order, without one."""
    return tuple([other for other in keys if other != key]) if key in keys else keys


@rule(Rule.K_PUT_1, Rule.K_PUT_2, Rule.K_PUT_3)
def write_key(space: Space, key: str, node: Node) -> Space:
    """Return the namespace with this write: its key is the most recent one, and if dirty the last dirty key."""
    overwrites = space.overwrites + (1 if key in space.nodes else 0)
    dirty = (*without_key(space.dirty, key), key) if node.is_dirty else space.dirty
    return space._replace(
        nodes={**space.nodes, key: node},
        recent=(key, *without_key(space.recent, key)),
        dirty=dirty,
        overwrites=overwrites,
    )


@rule(Rule.K_DELETE_1)
def remove_key(space: Space, key: str) -> Space:
    """Return the namespace without this key."""
    return space._replace(
        nodes={other: node for other, node in space.nodes.items() if other != key},
        recent=without_key(space.recent, key),
        dirty=without_key(space.dirty, key),
    )


@rule(Rule.K_GET_1, Rule.K_GET_2)
def look_up_key(space: Space, key: str) -> Space:
    """Return the namespace after a lookup, which makes a cached key the most recent one."""
    if key not in space.nodes:
        return space._replace(misses=space.misses + 1)
    return space._replace(hits=space.hits + 1, recent=(key, *without_key(space.recent, key)))


@rule(Rule.K_FLUSH_2)
def mark_all_clean(space: Space) -> Space:
    """Return the namespace with every entry clean."""
    nodes = {key: node._replace(is_dirty=False) for key, node in space.nodes.items()}
    return space._replace(nodes=nodes, dirty=())


# Sizes.

FLAG_BYTES: Final = 1
TIMESTAMP_BYTES: Final = 8
OFFSET_BYTES: Final = 8
PARTITION_BYTES: Final = 4
REFERENCES_BYTES: Final = 24
"""Three references in the list of use."""


def utf8_bytes(text: str) -> int:
    """Return the bytes of a text in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def utf16_units(text: str) -> int:
    """Return the UTF-16 code units of a text, which the released code counts for topics and header names."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@rule(Rule.K_SIZE_1)
def size_bytes(key: str, value: str | None, topic: str, headers: Sequence[Header]) -> int:
    """Return what one entry counts: its key, its value (a tombstone: 0), its context, and its place in the cache."""
    of_headers = sum(utf16_units(name) + utf8_bytes(content) for name, content in headers)
    of_value = 0 if value is None else utf8_bytes(value)
    context = TIMESTAMP_BYTES + OFFSET_BYTES + utf16_units(topic) + PARTITION_BYTES + of_headers
    return utf8_bytes(key) + REFERENCES_BYTES + FLAG_BYTES + of_value + context


def sort_by_bytes(keys: Sequence[str]) -> tuple[str, ...]:
    """Return keys in the order of their bytes."""
    return tuple(sorted(keys, key=lambda key: key.encode("utf-8", "surrogatepass")))


# Windows and sessions.


class Window(NamedTuple):
    """A window or a session of a key. Its time is its end; a window ends where it starts."""

    key: str
    start: int
    end: int


def name_window(kind: StoreKind, window: Window) -> str:
    """Return the name of a window, `key@start`, or of a session, `key@start-end`."""
    name = f"{window.key}@{window.start}"
    return name if kind is StoreKind.WINDOW else f"{name}-{window.end}"


def parse_window(name: str) -> Window:
    """Return the window or session of a name. What is no name of one is a window of time 0."""
    key, _, times = name.rpartition("@")
    start, _, end = times.partition("-")
    if not (start + end).isdecimal():
        return Window(name, 0, 0)
    return Window(key, int(start), int(end or start))


@rule(Rule.K_WINDOW_4)
def is_expired(store: Store, name: str) -> bool:
    """Return whether a window or a session is as old as the stream time less the retention, or older."""
    if store.settings.kind is StoreKind.KEY_VALUE:
        return False
    return parse_window(name).end <= store.stream_time - store.settings.retention


@rule(Rule.K_WINDOW_4, Rule.K_WINDOW_6)
def advance_time(store: Store, time: int) -> Store:
    """Return the store after a write of this time: what has expired leaves the underlying store."""
    if time <= store.stream_time:
        return store
    after = store._replace(stream_time=time)
    inner = {name: value for name, value in store.inner.items() if not is_expired(after, name)}
    forwarded = {name: value for name, value in store.forwarded.items() if not is_expired(after, name)}
    return after._replace(inner=inner, forwarded=forwarded)


# The total that the limit applies to.


class NamespaceHandle(NamedTuple):
    """A namespace as a call holds it: its name, and how often the step had closed that name before."""

    ns: str
    closings: int


def handle_of(state: State, ns: str) -> NamespaceHandle:
    """Return a handle of the namespace that has this name now."""
    return NamespaceHandle(ns, state.in_progress.closed.count(ns))


def is_still_open(state: State, handle: NamespaceHandle) -> bool:
    """Return whether the namespace of a handle has not been closed meanwhile."""
    return state.in_progress.closed.count(handle.ns) == handle.closings


def limited_bytes(state: State, config: Config) -> int:
    """Return the total that the limit applies to."""
    return total_bytes(state) if config.variants.total is Total.EXACT else state.running


def can_evict(state: State, handle: NamespaceHandle, config: Config) -> bool:
    """Return whether a namespace has an entry to evict."""
    return bool(space_of(state, handle.ns).recent) and (
        config.variants.total is Total.EXACT or is_still_open(state, handle)
    )


@rule(Rule.K_METRICS_4)
def book_bytes(before: State, after: State, handle: NamespaceHandle, config: Config) -> State:
    """Return the state after a call, with the change of its namespace added to the running total."""
    if config.variants.total is Total.EXACT:
        return after
    return after._replace(running=after.running + bytes_of(after, handle) - bytes_of(before, handle))


def book_change(before: State, change: Change, ns: str, config: Config) -> Change:
    """Return a change with its namespace entered in the running total; a failed change adds nothing."""
    return (
        change if change.error is not None else Change(book_bytes(before, change.state, handle_of(before, ns), config))
    )


def bytes_of(state: State, handle: NamespaceHandle) -> int:
    """Return the bytes of a namespace; 0 for a closed one."""
    return (
        sum(node.size_bytes for node in space_of(state, handle.ns).nodes.values())
        if is_still_open(state, handle)
        else 0
    )


# The rows of a trace.


def build_rows(events: tuple[Event, ...]) -> tuple[Row, ...]:
    """Return one row for each event, in order."""
    return tuple([build_row(event) for event in events])


def build_row(event: Event) -> Row:
    """Return the row of one event, with the size and the dirty flag of its entry."""
    node = event.node
    return Row(
        event.rule,
        event.op,
        event.cause,
        event.total_bytes,
        event.ns,
        event.key,
        None if node is None else node.size_bytes,
        None if node is None else node.is_dirty,
        event.value,
    )
