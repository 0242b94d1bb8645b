"""The frames of `kafka-streams`: which aspects of the state each operation may change, and of which keys.

`Aspect` and `Extent` are the words of a declaration; `MAY_CHANGE` declares every operation. `STATE` is the shape of the
state. `changes_outside` compares the states before and after a step and returns every change that is not declared. A
step that was performed inside a call has the frame of its own operation. The sections before, between and after such
steps have the frame of the operation that made the call.
"""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

from entrycache_evidence.core.frame import Change, Key, KeyedValues, Record, build_comparison, undeclared_changes
from entrycache_reference.kafka_streams import ops, view_ops
from entrycache_reference.kafka_streams.laws.law import EMPTY_SPACE
from entrycache_reference.kafka_streams.ops import Op
from entrycache_reference.kafka_streams.state import Part, State, Store


class Aspect(Enum):
    """An aspect of the state, in words."""

    __hash__ = object.__hash__  # the fastest hash: frames are checked after every step

    LIMIT = "the limit"
    SPACES = "which namespaces there are"
    ENTRIES = "which keys are cached"
    CONTENT = "what was written"
    IS_DIRTY = "whether an entry is dirty"
    RECENT = "the order of use"
    DIRTY = "the dirty keys"
    LISTENER = "the listener"
    HITS = "the hits"
    MISSES = "the misses"
    OVERWRITES = "the overwrites"
    HANDED = "its flushes"
    LOOSE = "whether an open view has left the order of use open"
    STORES = "which stores there are"
    BELOW = "the underlying store"
    DOWNSTREAM = "what is done downstream"
    FAILING = "which forwards will throw"
    OWED = "the forwards of deletions that are owed"
    FORWARDED = "the last forwarded entries"
    OPEN = "whether the store is open"
    TIME = "the stream time"
    PUTS = "the thread's puts"
    GETS = "the thread's gets"
    EVICTS = "the thread's evictions"
    FLUSHES = "the thread's flushes"
    WRITES = "the number of writes"
    RUNNING = "the running total"


class Extent(Enum):
    """The part of the state in which an aspect may change, in words."""

    __hash__ = object.__hash__

    KEY = "its key"
    KEYS = "its keys"
    SPACE = "its namespace"
    ALL = "all"


MayChange = Mapping[Aspect, Extent]

NO_CHANGE: Final[MayChange] = {}


def handing(whose: Extent) -> MayChange:
    """Return the changes that an eviction or a flush may make in a namespace, and in the store that listens to it."""
    aspects = (
        *(
            Aspect.ENTRIES,
            Aspect.IS_DIRTY,
            Aspect.RECENT,
            Aspect.DIRTY,
            Aspect.LISTENER,
            Aspect.HITS,
            Aspect.MISSES,
            Aspect.HANDED,
        ),
        *(Aspect.BELOW, Aspect.FORWARDED, Aspect.TIME, Aspect.FAILING, Aspect.OWED),
    )
    return {**dict.fromkeys(aspects, whose), Aspect.RUNNING: Extent.ALL}


def removing(whose: Extent) -> MayChange:
    """Return the changes that the removal of these keys by a call may make."""
    return {Aspect.ENTRIES: whose, Aspect.RECENT: Extent.SPACE, Aspect.DIRTY: Extent.SPACE, Aspect.RUNNING: Extent.ALL}


ADDING: Final[MayChange] = {
    **handing(Extent.SPACE),
    Aspect.SPACES: Extent.SPACE,
    Aspect.PUTS: Extent.ALL,
    Aspect.EVICTS: Extent.ALL,
    Aspect.WRITES: Extent.ALL,
}
"""The changes that the write of an uncached key may make, with the overflow that follows."""


def writing(whose: Extent) -> MayChange:
    """Return the changes that a write of these keys may make, cached or not."""
    return {**ADDING, Aspect.CONTENT: whose, Aspect.OVERWRITES: Extent.SPACE}


def of_keys(may_change: MayChange) -> MayChange:
    """Return the changes that an operation may make if it is for key-value stores, whose stream time never moves."""
    return {aspect: whose for aspect, whose in may_change.items() if aspect is not Aspect.TIME}


LOOKING: Final[MayChange] = {Aspect.RECENT: Extent.SPACE, Aspect.HITS: Extent.SPACE}
"""The changes that lookups of cached keys may make."""

ASKING: Final[MayChange] = {**LOOKING, Aspect.MISSES: Extent.SPACE, Aspect.GETS: Extent.ALL}
"""The changes that the lookup of one key may make."""

LOOSENING: Final[MayChange] = {Aspect.LOOSE: Extent.SPACE}
"""The changes that a view may make whose order of use is the subject's."""

OPENED: Final[MayChange] = {Aspect.STORES: Extent.SPACE, Aspect.SPACES: Extent.SPACE, Aspect.LISTENER: Extent.SPACE}
"""The changes that the first use of a store may make, in addition to those of its operation."""

RETURNED: Final[MayChange] = {Aspect.CONTENT: Extent.ALL}
"""The changes that a forward may make which throws: an entry comes back in place of a copy that was read meanwhile."""


# The shape of the state, and the comparison.

NODE: Final = Record((Aspect.CONTENT, Aspect.IS_DIRTY, Aspect.CONTENT, Aspect.CONTENT, Aspect.CONTENT))

SPACE: Final = Record(
    (
        KeyedValues(Aspect.ENTRIES, NODE),
        *(Aspect.RECENT, Aspect.DIRTY, Aspect.LISTENER, Aspect.HITS, Aspect.MISSES, Aspect.OVERWRITES, Aspect.HANDED),
        Aspect.LOOSE,
    )
)

STORE: Final = Record(
    (
        *(KeyedValues(Aspect.BELOW), KeyedValues(Aspect.DOWNSTREAM), KeyedValues(Aspect.FORWARDED)),
        *(Aspect.OPEN, Aspect.OPEN, KeyedValues(Aspect.FORWARDED), KeyedValues(Aspect.FAILING), Aspect.OWED),
        *(Aspect.OPEN, Aspect.TIME),
    )
)

STATE: Final = Record(
    (
        Aspect.LIMIT,
        KeyedValues(Aspect.SPACES, SPACE, EMPTY_SPACE),
        KeyedValues(Aspect.STORES, STORE, Store({}, {}, {}, True)),
        *(Aspect.PUTS, Aspect.GETS, Aspect.EVICTS, Aspect.FLUSHES, Aspect.WRITES, Aspect.RUNNING),
        *(None, None, None),
    )
)
"""The aspects of the state, one for each field of `State` and of its parts.

The open views, whether answers are judged, and the step in progress have none: every operation may change them.
"""

MAY_CHANGE: Final[Mapping[type[ops.Op], MayChange]] = {
    ops.Put: writing(Extent.KEY),
    ops.PutAll: writing(Extent.KEYS),
    ops.PutIfAbsent: ADDING,
    ops.Get: {**LOOKING, Aspect.MISSES: Extent.SPACE, Aspect.GETS: Extent.ALL},
    ops.Delete: removing(Extent.KEY),
    ops.Range: LOOKING,
    ops.ReverseRange: LOOKING,
    ops.All: LOOKING,
    ops.ReverseAll: LOOKING,
    ops.Flush: {**handing(Extent.SPACE), Aspect.FLUSHES: Extent.ALL},
    ops.Evict: handing(Extent.SPACE),
    ops.Clear: removing(Extent.SPACE),
    ops.Close: {
        Aspect.SPACES: Extent.SPACE,
        Aspect.ENTRIES: Extent.SPACE,
        Aspect.RECENT: Extent.SPACE,
        Aspect.DIRTY: Extent.SPACE,
        Aspect.LISTENER: Extent.SPACE,
        Aspect.HITS: Extent.SPACE,
        Aspect.MISSES: Extent.SPACE,
        Aspect.OVERWRITES: Extent.SPACE,
        Aspect.HANDED: Extent.SPACE,
        Aspect.LOOSE: Extent.SPACE,
        Aspect.RUNNING: Extent.ALL,
    },
    ops.Resize: {**handing(Extent.ALL), Aspect.LIMIT: Extent.ALL, Aspect.EVICTS: Extent.ALL},
    ops.Usage: NO_CHANGE,
    ops.Metrics: {Aspect.LOOSE: Extent.SPACE},
    ops.Listen: {Aspect.SPACES: Extent.SPACE, Aspect.LISTENER: Extent.SPACE},
    ops.OnForward: {Aspect.DOWNSTREAM: Extent.KEY},
    ops.StorePut: of_keys(writing(Extent.KEY)),
    ops.StoreGet: {**of_keys(ADDING), Aspect.GETS: Extent.ALL},
    ops.StoreDelete: {**of_keys(writing(Extent.KEY)), Aspect.GETS: Extent.ALL},
    ops.StoreRange: LOOKING,
    ops.StoreAll: LOOKING,
    ops.StoreFlush: {**handing(Extent.SPACE), Aspect.FLUSHES: Extent.ALL},
    ops.StoreInner: NO_CHANGE,
    ops.Share: NO_CHANGE,
    view_ops.StoreOpen: {**OPENED, Aspect.OPEN: Extent.SPACE},
    view_ops.StoreView: LOOKING,
    view_ops.StorePutIfAbsent: {**of_keys(writing(Extent.KEY)), Aspect.GETS: Extent.ALL},
    view_ops.StorePutAll: of_keys(writing(Extent.KEYS)),
    view_ops.StoreCount: NO_CHANGE,
    view_ops.StoreQuery: {**LOOKING, Aspect.MISSES: Extent.SPACE, Aspect.GETS: Extent.ALL},
    view_ops.StoreQueryRange: LOOKING,
    view_ops.StoreClear: removing(Extent.SPACE),
    view_ops.FailForward: {Aspect.FAILING: Extent.KEY},
    view_ops.StoreClose: {
        **handing(Extent.SPACE),
        Aspect.SPACES: Extent.SPACE,
        Aspect.OVERWRITES: Extent.SPACE,
        Aspect.FLUSHES: Extent.ALL,
        Aspect.DOWNSTREAM: Extent.SPACE,
        Aspect.OPEN: Extent.SPACE,
        Aspect.LOOSE: Extent.SPACE,
    },
    view_ops.ViewOpen: {Aspect.LOOSE: Extent.SPACE},
    view_ops.ViewNext: {Aspect.LOOSE: Extent.ALL},
    view_ops.ViewClose: NO_CHANGE,
    **dict.fromkeys((view_ops.WindowPut, view_ops.SessionPut, view_ops.SessionRemove), writing(Extent.KEY)),
    **dict.fromkeys((view_ops.WindowGet, view_ops.SessionGet), ASKING),
    **dict.fromkeys((view_ops.WindowView, view_ops.SessionView), LOOSENING),
}
"""The changes that each operation may make."""

BETWEEN_PARTS: Final[Mapping[type[ops.Op], MayChange]] = {}
"""The changes that an operation may make between its parts, if they differ from those without parts."""

changes: Final = build_comparison(STATE)


def space_of(event: Any) -> str:
    """Return the namespace or store name that an operation is about."""
    name: str = event.store if hasattr(event, "store") else event.ns
    return name


def keys_of(event: Any) -> set[str]:
    """Return the keys that an operation writes, one by one."""
    if isinstance(event, view_ops.StorePutAll):
        return {key for key, _ in event.entries}
    return {write.key for write in event.entries}


def key_of(event: Any) -> str:
    """Return the key that an operation is about, or the name of its window or session."""
    if not hasattr(event, "start"):
        return str(event.key)
    return f"{event.key}@{event.start}" + (f"-{event.end}" if hasattr(event, "end") else "")


IS_IN: Final[dict[Extent, Callable[[Any, Key], bool]]] = {
    Extent.KEY: lambda event, key: key == (space_of(event), key_of(event)),
    Extent.KEYS: lambda event, key: key[0] == space_of(event) and key[1] in keys_of(event),
    Extent.SPACE: lambda event, key: key[0] == space_of(event),
}
"""The meaning of each word of a declaration; `Extent.ALL` excludes nothing."""


class FramedStep(NamedTuple):
    """The changes of an operation itself: a whole step, or a section around the steps inside its calls."""

    pre: State
    event: Op
    after: State


def framed_steps(pre: State, event: Op, after: State, parts: tuple[Part, ...]) -> Iterator[FramedStep]:
    """Yield every section of a step that has a frame."""
    previous = pre
    for part in parts:
        yield FramedStep(previous, event, part.pre)
        yield from framed_steps(part.pre, part.event, part.after, part.parts)
        previous = part.after
    yield FramedStep(previous, event, after)


def changes_outside_frame(one: FramedStep) -> list[Change]:
    """Return the changes of one section that are not declared."""
    pre, event, after = one
    differences = changes(pre, after)
    if not differences:
        return []

    def is_in(whose: Extent, key: Key) -> bool:
        return whose is Extent.ALL or IS_IN[whose](event, key)

    wrong = undeclared_changes(differences, MAY_CHANGE[type(event)], is_in)
    opens = hasattr(event, "store") and event.store not in pre.stores
    wrong = undeclared_changes(wrong, OPENED, is_in) if wrong and opens else wrong
    throws = any(aspect is Aspect.FAILING for aspect, _ in differences)
    return undeclared_changes(wrong, RETURNED, is_in) if wrong and throws else wrong


def changes_outside(pre: State, event: Op, after: State, parts: tuple[Part, ...]) -> list[Change]:
    """Return the undeclared changes of a step and of the steps inside it."""
    return [change for one in framed_steps(pre, event, after, parts) for change in changes_outside_frame(one)]
