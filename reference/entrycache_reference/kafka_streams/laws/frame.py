"""The law of frames: a step changes what its operation declares, and nothing else.

A step that was performed inside a call is held to the frame of its own operation; what lies between two of them, and
before and after them, to that of the operation that made the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from entrycache_reference.frame import Change, Key, Keyed, Record, comparing, undeclared
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.laws.law import NOTHING as NO_SPACE
from entrycache_reference.kafka_streams.ops import Op
from entrycache_reference.kafka_streams.ops.frame import (
    ADDING,
    LOOKING,
    NOTHING,
    OPENED,
    MayChange,
    Of,
    What,
    handing,
    removing,
    writing,
)
from entrycache_reference.kafka_streams.state import Part, State, Store

NODE: Final = Record((What.CONTENT, What.IS_DIRTY, What.CONTENT, What.CONTENT, What.CONTENT))

SPACE: Final = Record(
    (
        Keyed(What.ENTRIES, NODE),
        *(What.RECENT, What.DIRTY, What.LISTENER, What.HITS, What.MISSES, What.OVERWRITES, What.HANDED),
    )
)

STORE: Final = Record((Keyed(What.BELOW), Keyed(What.DOWNSTREAM), Keyed(What.PASSED_ON)))

STATE: Final = Record(
    (
        What.LIMIT,
        Keyed(What.SPACES, SPACE, NO_SPACE),
        Keyed(What.STORES, STORE, Store({}, {}, {})),
        *(What.PUTS, What.GETS, What.EVICTS, What.FLUSHES, What.WRITES, What.RUNNING),
        None,
    )
)
"""The aspects of the state: one for each field of `State`, and of what it is made of; not what is under way."""

MAY_CHANGE: Final[Mapping[type[ops.Op], MayChange]] = {
    ops.Put: writing(Of.KEY),
    ops.PutAll: writing(Of.KEYS),
    ops.PutIfAbsent: ADDING,
    ops.Get: {**LOOKING, What.MISSES: Of.SPACE, What.GETS: Of.ALL},
    ops.Delete: removing(Of.KEY),
    ops.Range: LOOKING,
    ops.ReverseRange: LOOKING,
    ops.All: LOOKING,
    ops.ReverseAll: LOOKING,
    ops.Flush: {**handing(Of.SPACE), What.FLUSHES: Of.ALL},
    ops.Evict: handing(Of.SPACE),
    ops.Clear: removing(Of.SPACE),
    ops.Close: {
        What.SPACES: Of.SPACE,
        What.ENTRIES: Of.SPACE,
        What.RECENT: Of.SPACE,
        What.DIRTY: Of.SPACE,
        What.LISTENER: Of.SPACE,
        What.HITS: Of.SPACE,
        What.MISSES: Of.SPACE,
        What.OVERWRITES: Of.SPACE,
        What.HANDED: Of.SPACE,
        What.RUNNING: Of.ALL,
    },
    ops.Resize: {**handing(Of.ALL), What.LIMIT: Of.ALL, What.EVICTS: Of.ALL},
    ops.Usage: NOTHING,
    ops.Metrics: NOTHING,
    ops.Listen: {What.SPACES: Of.SPACE, What.LISTENER: Of.SPACE},
    ops.OnForward: {What.DOWNSTREAM: Of.KEY},
    ops.StorePut: writing(Of.KEY),
    ops.StoreGet: {**ADDING, What.GETS: Of.ALL},
    ops.StoreDelete: {**writing(Of.KEY), What.GETS: Of.ALL},
    ops.StoreRange: LOOKING,
    ops.StoreAll: LOOKING,
    ops.StoreFlush: {**handing(Of.SPACE), What.FLUSHES: Of.ALL},
    ops.StoreInner: NOTHING,
    ops.Share: NOTHING,
}
"""What each operation may change."""

BESIDE: Final[Mapping[type[ops.Op], MayChange]] = {}
"""What an operation may change beside its parts, where that is not what it may change without any."""

changes: Final = comparing(STATE)


def space_of(event: Any) -> str:
    """The namespace, or the store with that name, that an operation is about."""
    name: str = event.store if hasattr(event, "store") else event.ns
    return name


IS_IN: Final[dict[Of, Callable[[Any, Key], bool]]] = {
    Of.KEY: lambda event, key: key == (space_of(event), event.key),
    Of.KEYS: lambda event, key: key[0] == event.ns and any(key[1] == write.key for write in event.entries),
    Of.SPACE: lambda event, key: key[0] == space_of(event),
}
"""What each word of a declaration means; `Of.ALL` leaves nothing out."""


class Framed(NamedTuple):
    """What an operation did of its own: all of it, or what lies around the steps inside its calls."""

    pre: State
    event: Op
    after: State


def framed(pre: State, event: Op, after: State, parts: tuple[Part, ...]) -> Iterator[Framed]:
    """Everything in a step that has a frame."""
    met = pre
    for part in parts:
        yield Framed(met, event, part.pre)
        yield from framed(part.pre, part.event, part.after, part.parts)
        met = part.after
    yield Framed(met, event, after)


def unframed(one: Framed) -> list[Change]:
    """What changed though it is not declared."""
    pre, event, after = one
    found = changes(pre, after)
    if not found:
        return []

    def is_in(whose: Of, key: Key) -> bool:
        return whose is Of.ALL or IS_IN[whose](event, key)

    wrong = undeclared(found, MAY_CHANGE[type(event)], is_in)
    opens = hasattr(event, "store") and event.store not in pre.stores
    return undeclared(wrong, OPENED, is_in) if wrong and opens else wrong


def outside(pre: State, event: Op, after: State, parts: tuple[Part, ...]) -> list[Change]:
    """Everything that a step changed outside the frames: its own, and those of the steps inside it."""
    return [change for one in framed(pre, event, after, parts) for change in unframed(one)]
