"""The state of the cache of one stream thread, and the result of a step.

`State` holds the namespaces (`Space`) with their entries (`Node`), the caching stores (`Store`), and the counters.
While a step runs, `State.in_progress` collects its calls, events and inner steps (`Part`). A `Step` is the result: the
state after it, its outcome, and its rows. Values are never changed in place.

Beside: ThreadCache, NamedCache (kafka-streams 4.3.1)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.ops import Op
from entrycache_reference.kafka_streams.outcomes import Answer, Call, Context, ErrorKind, Forward, Outcome
from entrycache_reference.kafka_streams.view_ops import (
    RETENTION_MS,
    SEGMENT_INTERVAL_MS,
    StoreKind,
    Underlying,
    ViewOpen,
)
from entrycache_reference.rules import Rule


class Node(NamedTuple):
    """One cached entry. `value` None: a tombstone. `write` is the number of the write that made it."""

    value: str | None
    is_dirty: bool
    size_bytes: int
    context: Context
    write: int


class Listener(NamedTuple):
    """The receiver of the dirty entries of a namespace. `of_store`: it is the caching store of that name."""

    steps: tuple[Op, ...] = ()
    fails: int = 0
    of_store: bool = False


class Space(NamedTuple):
    """The cache of one namespace.

    `recent` names its keys from most to least recent, `dirty` the dirty ones in the order of their writes. `is_loose`:
    since `metrics` last answered this order, an open view may have used any of the keys (K-VIEW-7).
    """

    nodes: Mapping[str, Node] = {}
    recent: tuple[str, ...] = ()
    dirty: tuple[str, ...] = ()
    listener: Listener | None = None
    hits: int = 0
    misses: int = 0
    overwrites: int = 0
    flushes: int = 0
    is_loose: bool = False


class StoreSettings(NamedTuple):
    """The kind of a store, what lies below it, how long that keeps windows, and whether anybody listens downstream."""

    kind: StoreKind = StoreKind.KEY_VALUE
    below: Underlying = Underlying.MEMORY
    retention: int = RETENTION_MS
    segment_interval: int = SEGMENT_INTERVAL_MS
    listens: bool = True


class Store(NamedTuple):
    """One caching store: the underlying store, the steps to take downstream, and the last forwarded writes.

    `forwarded_writes` holds for each key the number of the write that was forwarded last. A closed store keeps its name
    until it is opened again. With `old_values` each forward also has the value before, and `forwarded` holds the value
    that was forwarded last for each key. `failing` holds for each key how many of its next forwards throw; `owed` names
    the deleted keys whose forward has to be repeated, although nothing lies below any more. A store of windows or
    sessions has their names (`change.name_window`) in place of keys, except in `downstream` and `failing`. Its
    `stream_time` is the greatest time of its writes.
    """

    inner: Mapping[str, str] = {}
    downstream: Mapping[str, tuple[Op, ...]] = {}
    forwarded_writes: Mapping[str, int] = {}
    is_open: bool = True
    old_values: bool = False
    forwarded: Mapping[str, str] = {}
    failing: Mapping[str, int] = {}
    owed: tuple[str, ...] = ()
    settings: StoreSettings = StoreSettings()
    stream_time: int = -1


class OpenView(NamedTuple):
    """A view that is read step by step: its range, the values since its opening, and how far it has come.

    `had` holds for each key of the range the values that it had at the opening, which comes first, and since; None: it
    had none. `last` is the key that came last. `came` has the keys of its place in the order that have come: several
    only of sessions that end together.
    """

    range: ViewOpen
    had: Mapping[str, tuple[str | None, ...]]
    last: str | None = None
    has_ended: bool = False
    came: tuple[str, ...] = ()


class Row(NamedTuple):
    """One event as a recorded trace shows it, with the rule that made it; a recorder adds hash and ordinals."""

    rule: Rule
    op: str
    cause: str | None
    bytes_after: int
    ns: str | None = None
    key: str | None = None
    size_bytes: int | None = None
    dirty: bool | None = None
    value: str | None = None


class Event(NamedTuple):
    """One action of a step, with the rule that made it: on an entry, a namespace or the limit.

    `node` is the entry concerned, None where there is none. `total_bytes` is the sum of all sizes after the event.
    """

    rule: Rule
    op: str
    total_bytes: int
    ns: str | None = None
    key: str | None = None
    node: Node | None = None
    cause: str | None = None
    value: str | None = None


class StepInProgress(NamedTuple):
    """The part of the state that exists only while a step runs. Between steps it is `IDLE`.

    `called` counts the calls of listeners and of processors downstream; `calls` and `forwards` hold their entries and
    answers, in the order in which they began. `closed` names each namespace as often as it was closed, `emptied` as
    often as it was closed or cleared. `has_thrown`: a forward has thrown, and the flush that it belongs to has not
    ended. `no_answer_reason` says why the step gives no answer. `parts` are the steps that were performed inside calls.

    `taking` names the stores that are taking entries, the innermost last, each with the number of times that its
    namespace had been closed before. `former` holds those of them that have been closed meanwhile: a store that closes
    goes on with the entries that it took.
    """

    called: int = 0
    calls: tuple[Call, ...] = ()
    forwards: tuple[Forward, ...] = ()
    events: tuple[Event, ...] = ()
    closed: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()
    has_thrown: bool = False
    no_answer_reason: str = ""
    parts: tuple[Part, ...] = ()
    taking: tuple[tuple[str, int], ...] = ()
    former: Mapping[tuple[str, int], Store] = {}


IDLE: Final = StepInProgress()


class State(NamedTuple):
    """The lasting state, and beside it the step in progress.

    `writes` counts the writes of the run. `running` is the running total, kept only under the variant `total`. `views`
    holds the open views by name. `is_unjudged`: the subject chose what it evicted, and no later answer is judged.
    """

    max_size_bytes: int
    spaces: Mapping[str, Space] = {}
    stores: Mapping[str, Store] = {}
    puts: int = 0
    gets: int = 0
    evicts: int = 0
    flushes: int = 0
    writes: int = 0
    running: int = 0
    views: Mapping[str, OpenView] = {}
    is_unjudged: bool = False
    in_progress: StepInProgress = IDLE


class Part(NamedTuple):
    """One step that was performed inside a call, with the states before and after it, both in progress."""

    pre: State
    event: Op
    after: State
    answer: Answer
    parts: tuple[Part, ...]


class Change(NamedTuple):
    """The result of a part of a step; with an `error` the step fails."""

    state: State
    error: ErrorKind | None = None


class Step(NamedTuple):
    """The result of one step: the state after it, its outcome, and its rows in order.

    `parts` are the steps that were performed inside its calls, each with those inside its own.
    """

    state: State
    outcome: Outcome
    rows: tuple[Row, ...]
    parts: tuple[Part, ...] = ()


def initial(config: Config) -> State:
    """Return the empty state."""
    return State(config.max_size_bytes)


def total_bytes(state: State) -> int:
    """Return the exact sum of the sizes of all entries."""
    return sum([node.size_bytes for space in state.spaces.values() for node in space.nodes.values()])


def space_of(state: State, ns: str) -> Space:
    """Return the namespace of that name; an empty one where there is none."""
    return state.spaces.get(ns, Space())


def with_space(state: State, ns: str, space: Space) -> State:
    """Return the state with this namespace."""
    return state._replace(spaces={**state.spaces, ns: space})


def with_event(state: State, event: Event) -> State:
    """Return the state with one more event of the step in progress."""
    now = state.in_progress
    return state._replace(in_progress=now._replace(events=(*now.events, event)))


def with_entry_event(
    state: State, rule: Rule, op: str, ns: str, key: str, node: Node | None, cause: str | None = None
) -> State:
    """Return the state with one more event about an entry, or about a key without one."""
    return with_event(state, Event(rule, op, total_bytes(state), ns, key, node, cause))


def with_cache_event(state: State, rule: Rule, op: str, ns: str | None = None, value: str | None = None) -> State:
    """Return the state with one more event that concerns no entry."""
    return with_event(state, Event(rule, op, total_bytes(state), ns, value=value))
