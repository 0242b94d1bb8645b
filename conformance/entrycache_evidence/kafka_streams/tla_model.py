"""The second model of `kafka-streams`: bounded models paired with the TLA+ module ThreadCacheWorld.

`record` renders events and listeners as TLA+ records, which become constants of the module. `SpacesLook` renders states
and answers as the module prints them. `SECOND` lists the pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from entrycache_evidence.kafka_streams.bounded_models import ENTRY_BYTES, LISTENERS, TWO, looks
from entrycache_evidence.kafka_streams.state_space import BoundedModel
from entrycache_evidence.tlc.evidence import Beside, SecondModel
from entrycache_evidence.tlc.runner import Module, maybe, texts, tla
from entrycache_reference.kafka_streams import NAME, ops, outcomes
from entrycache_reference.kafka_streams.state import Listener, Node, Space, State, Step
from entrycache_reference.vocabulary import ABSENT

Scripts = tuple[tuple[ops.Op, ...], ...]


def scripts_of(events: Iterable[ops.Op]) -> Scripts:
    """Collect the step lists of the listeners that these events register, nested ones included; each once."""
    found: dict[tuple[ops.Op, ...], None] = {}
    for event in events:
        if isinstance(event, ops.Listen):
            steps = steps_of(event)
            found.update(dict.fromkeys((steps, *scripts_of(steps))))
    return tuple(found)


def steps_of(event: ops.Listen) -> tuple[ops.Op, ...]:
    """Return the steps of a listener."""
    return () if event.on_flush is ABSENT else event.on_flush


def write(event: Any) -> dict[str, Any]:
    """Build the record of a write, which carries nothing but its key and its value."""
    return {"key": event.key, "value": maybe(event.value), "dirty": event.dirty}


def record(event: ops.Op, scripts: Scripts) -> Mapping[str, Any]:
    """Build the record of an operation; a listener is the number of its step list."""
    if isinstance(event, ops.Resize):
        return {"op": event.name, "limit": event.max_size_bytes}
    if isinstance(event, ops.Usage | ops.Metrics):
        return {"op": event.name, "of": () if event.ns is ABSENT else (event.ns,)}
    if isinstance(event, ops.Range | ops.ReverseRange | ops.All | ops.ReverseAll):
        return {"op": "list", "ns": event.ns, **_bounds(event)}
    return {"op": event.name, "ns": getattr(event, "ns", ""), **_arguments(event, scripts)}


def _bounds(event: Any) -> dict[str, Any]:
    return {
        "from": maybe(getattr(event, "from_", None)),
        "to": maybe(getattr(event, "to", None)),
        "inclusive": getattr(event, "to_inclusive", True),
        "reverse": isinstance(event, ops.ReverseRange | ops.ReverseAll),
    }


def _arguments(event: ops.Op, scripts: Scripts) -> dict[str, Any]:
    match event:
        case ops.Put() | ops.PutIfAbsent():
            return {"write": write(event)}
        case ops.PutAll():
            return {"writes": tuple(write(one) for one in event.entries)}
        case ops.Get():
            return {"key": maybe(event.key)}
        case ops.Delete():
            return {"key": event.key}
        case ops.Listen():
            fails = 0 if event.fails is ABSENT else event.fails
            return {"script": scripts.index(steps_of(event)) + 1, "fails": fails}
        case ops.Flush() | ops.Evict() | ops.Clear() | ops.Close():
            return {}
    raise TypeError(f"{event.name} stands in no TLA+ module")


# --- States


class SpacesLook:
    """The mapping of states: the limit, and for each namespace its entries by use, dirty keys and listener."""

    def __init__(self, world: BoundedModel) -> None:
        self.events: tuple[ops.Op, ...] = world.events
        every = (*world.start, *world.events)
        self.scripts = scripts_of(every)
        inner = [event for steps in self.scripts for event in steps]
        named = [getattr(event, "ns", ABSENT) for event in (*every, *inner)]
        self.names: tuple[str, ...] = tuple(sorted({ns for ns in named if isinstance(ns, str)}))

    def fresh(self, state: State) -> State:
        """Return the state without counters, which only grow."""
        spaces = {ns: space._replace(hits=0, misses=0, overwrites=0, flushes=0) for ns, space in state.spaces.items()}
        return state._replace(spaces=spaces, puts=0, gets=0, evicts=0, flushes=0)

    def state(self, state: State) -> str:
        """Render the limit and the namespaces in the order of their names."""
        spaces = [self._space(state.spaces[ns]) if ns in state.spaces else "<<>>" for ns in self.names]
        return f"<<{state.max_size_bytes}, <<{', '.join(spaces)}>>>>"

    def _space(self, space: Space) -> str:
        nodes = [node_text(key, space.nodes[key]) for key in space.recent]
        unused = sorted(space.nodes.keys() - set(space.recent))
        amiss = f", {tla(unused)}" if unused else ""
        return f"<<<<{', '.join(nodes)}>>, {tla(space.dirty)}, {tla(self._listener(space.listener))}{amiss}>>"

    def _listener(self, listener: Listener | None) -> tuple[int, ...]:
        return () if listener is None else (self.scripts.index(listener.steps) + 1, listener.fails)

    def label(self, number: int, step: Step) -> str:
        """Render the number of the event, its answer, the calls during it, and its counters."""
        state = step.state
        calls = tuple(
            (call.ns, tuple((one.key, maybe(one.value)) for one in call.entries), tuple(map(answer, call.inner)))
            for call in step.outcome.flushed
        )
        spaces = tuple(counts(state.spaces[ns]) if ns in state.spaces else () for ns in self.names)
        thread = (state.puts, state.gets, state.evicts, state.flushes)
        return tla((number, answer(step.outcome.answer), calls, (thread, spaces)))


@lru_cache(maxsize=4096)
def node_text(key: str, node: Node) -> str:
    """Render one entry."""
    return tla((key, maybe(node.value), node.is_dirty, node.size_bytes))


def counts(space: Space) -> tuple[int, ...]:
    """Return the counters of a namespace."""
    return (space.hits, space.misses, space.overwrites, space.flushes)


def answer(told: outcomes.Answer) -> object:
    """Return an answer in the form of the TLA+ module."""
    match told:
        case outcomes.Failed():
            return told.error.value
        case outcomes.Got():
            return told.hit, maybe(told.value)
        case outcomes.Offered():
            return told.present, maybe(told.existing)
        case outcomes.Deleted():
            return told.present, maybe(told.value)
        case outcomes.Listed():
            return tuple((key, maybe(value)) for key, value in told.entries)
        case outcomes.Used():
            return told.entries, told.bytes
        case outcomes.ThreadCounters():
            return told.puts, told.gets, told.evicts, told.flushes
        case outcomes.NamespaceCounters():
            return told.hits, told.misses, told.overwrites, told.flushes, told.dirty, told.lru
        case _:
            return ()


# --- Bounded models

SMALL: Final = replace(
    LISTENERS,
    name="a listener that writes, one key",
    events=(
        ops.Put("a", "x", "1", True),
        ops.Put("a", "x", None, True),
        ops.Put("a", "x", "1"),
        ops.Get("a", "x"),
        ops.Flush("a"),
        ops.Evict("a"),
        ops.Listen("a", fails=1),
        ops.Listen("a", (ops.Put("a", "x", None, True), ops.Get("a", "x"))),
    ),
    told_of="a value or a tombstone; a listener that throws once, or writes and reads",
)
"""A model with few states."""

LOOKS: Final = replace(
    LISTENERS,
    name="lookups and one listener",
    events=(
        ops.Put("a", "x", "1", True),
        ops.Put("a", "y", "1"),
        ops.Put("a", "y", None, True),
        ops.PutIfAbsent("a", "y", "1"),
        ops.Get("a", "x"),
        ops.Get("a", None),
        ops.Get("b", "x"),
        ops.Delete("a", "y"),
        *looks("a"),
        ops.Usage(),
        ops.Metrics(),
        ops.Flush("a"),
        ops.Flush("b"),
        ops.Evict("a"),
        ops.Resize(ENTRY_BYTES),
        ops.Resize(2 * ENTRY_BYTES),
        ops.Listen("a", (ops.Get("a", "x"), ops.Range("a", None, "y", to_inclusive=False))),
    ),
    told_of="two keys; every lookup, limits of 47 and 94 bytes, a listener that looks",
)
"""Every lookup, and its effect on the order of use."""

ORDERED: Final = replace(
    TWO,
    name="two namespaces, two calls perform their steps, the limit stays",
    events=tuple(
        event
        for event in TWO.events
        if not isinstance(event, ops.Resize | ops.PutIfAbsent) and event not in {ops.Delete("b", "x"), ops.Usage()}
    ),
    told_of=TWO.told_of.replace(", limits of 0, 47 and 1000 bytes", ""),
)
"""Namespaces that act on each other; the texts leave open which one pays first for a lower limit."""


def beside(world: BoundedModel) -> Beside:
    """Pair a bounded model with the TLA+ module that has the same constants."""
    look = SpacesLook(world)
    constants = {
        "Limit": world.config.max_size_bytes,
        "Budget": world.config.reentry_budget,
        "Scripts": tuple(tuple(record(step, look.scripts) for step in steps) for steps in look.scripts),
        "Keys": ("x", "y"),
        "Spaces": look.names,
        "Before": tuple(record(event, look.scripts) for event in world.start),
        "Events": tuple(record(event, look.scripts) for event in world.events),
    }
    config = ("INIT Init", "NEXT Next", "VIEW View", "ACTION_CONSTRAINT Edge", "INVARIANT AlwaysSound")
    module = Module(NAME, "ThreadCacheWorld", texts(constants), config)
    return Beside(world, look, module)


QUICK: Final = beside(SMALL)
"""The quickest model."""

CLOSED: Final = (beside(LOOKS), beside(LISTENERS), beside(ORDERED))
"""The models that are explored completely."""


# --- The second model

SECOND: Final = SecondModel((QUICK, *CLOSED), ())
