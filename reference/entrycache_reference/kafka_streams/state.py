"""What the cache of one stream thread holds, and what a step hands back.

Beside: ThreadCache, NamedCache (kafka-streams 4.3.1)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.ops import Op
from entrycache_reference.kafka_streams.outcomes import Answer, Call, Context, ErrorKind, Forward, Outcome
from entrycache_reference.rules import Rule


class Node(NamedTuple):
    """One cached entry. `value` None: a tombstone. `write` is the number of the write that made it."""

    value: str | None
    is_dirty: bool
    size_bytes: int
    context: Context
    write: int


class Listener(NamedTuple):
    """Who gets the dirty entries of a namespace. `of_store`: it is the caching store of that name."""

    steps: tuple[Op, ...] = ()
    fails: int = 0
    of_store: bool = False


class Space(NamedTuple):
    """The cache of one namespace.

    `recent` names its keys from most to least recent, `dirty` the dirty ones in the order of their writes.
    """

    nodes: Mapping[str, Node] = {}
    recent: tuple[str, ...] = ()
    dirty: tuple[str, ...] = ()
    listener: Listener | None = None
    hits: int = 0
    misses: int = 0
    overwrites: int = 0
    flushes: int = 0


class Store(NamedTuple):
    """One caching store: what lies in the store below, what is done downstream, what was passed on last.

    `passed_on` holds for each key the number of the write that was forwarded last.
    """

    inner: Mapping[str, str] = {}
    downstream: Mapping[str, tuple[Op, ...]] = {}
    forwarded_writes: Mapping[str, int] = {}


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
    """One thing that a step did, and the rule that made it: to an entry, or to a namespace or the limit as a whole.

    `node` is the entry that it is about, None where there is none; `total_bytes` the sum of all sizes after it.
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
    """What there is only while a step is under way. Between steps it is `IDLE`.

    `called` counts the calls of listeners and of processors downstream; `calls` and `forwards` are what they got and
    answered, in the order in which they began. `closed` names the namespaces that were closed, as often as they
    were. `stuck`: why the step gives no answer. `parts`: the steps that were performed inside calls.
    """

    called: int = 0
    calls: tuple[Call, ...] = ()
    forwards: tuple[Forward, ...] = ()
    events: tuple[Event, ...] = ()
    closed: tuple[str, ...] = ()
    stuck: str = ""
    parts: tuple[Part, ...] = ()


IDLE: Final = StepInProgress()


class State(NamedTuple):
    """The state that lasts, and beside it what the step under way has done so far.

    `writes` counts the writes of the run; `running` is the running total, kept where the variant `total` asks for
    one.
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
    in_progress: StepInProgress = IDLE


class Part(NamedTuple):
    """One step that was performed inside a call: the state that it met, and what it made of it, both under way."""

    pre: State
    event: Op
    after: State
    answer: Answer
    parts: tuple[Part, ...]


class Change(NamedTuple):
    """What a part of a step made of a state; `error`: it failed, and the step with it."""

    state: State
    error: ErrorKind | None = None


class Step(NamedTuple):
    """What one step makes of a state: the state after it, its answer, and its events in order.

    `parts` are the steps that were performed inside the calls that it made, each with those inside its own.
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
    return sum(node.size_bytes for space in state.spaces.values() for node in space.nodes.values())


def space_of(state: State, ns: str) -> Space:
    """Return the namespace of that name; an empty one where there is none."""
    return state.spaces.get(ns, Space())


def with_space(state: State, ns: str, space: Space) -> State:
    """Return the state with this namespace."""
    return state._replace(spaces={**state.spaces, ns: space})


def with_event(state: State, event: Event) -> State:
    """Return the state with one more event of the step under way."""
    now = state.in_progress
    return state._replace(in_progress=now._replace(events=(*now.events, event)))


def with_entry_event(
    state: State, rule: Rule, op: str, ns: str, key: str, node: Node | None, cause: str | None = None
) -> State:
    """Return the state with one more event about an entry, or about a key that has none."""
    return with_event(state, Event(rule, op, total_bytes(state), ns, key, node, cause))


def with_cache_event(state: State, rule: Rule, op: str, ns: str | None = None, value: str | None = None) -> State:
    """Return the state with one more event that is about no entry."""
    return with_event(state, Event(rule, op, total_bytes(state), ns, value=value))
