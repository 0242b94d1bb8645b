"""The second model of `kafka-streams`: bounded models paired with the TLA+ module ThreadCacheWorld.

`build_record` renders events and listeners as TLA+ records, which become constants of the module. `SpacesRendering`
renders states and answers as the module prints them. `SECOND` lists the pairs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from entrycache_evidence.kafka_streams.bounded_models import ENTRY_BYTES, LISTENERS, TWO, BoundedModel, build_queries
from entrycache_evidence.tlc.evidence import ComparedModel, SecondModel
from entrycache_evidence.tlc.runner import Module, optional, render_constants, render_tla
from entrycache_reference.kafka_streams import NAME, ops, outcomes
from entrycache_reference.kafka_streams.state import Listener, Node, Space, State, Step
from entrycache_reference.vocabulary import ABSENT

Scripts = tuple[tuple[ops.Op, ...], ...]


def collect_scripts(events: Iterable[ops.Op]) -> Scripts:
    """Collect the step lists of the listeners that these events register, nested ones included; each once."""
    scripts: dict[tuple[ops.Op, ...], None] = {}
    for event in events:
        if isinstance(event, ops.Listen):
            steps = listener_steps(event)
            scripts.update(dict.fromkeys((steps, *collect_scripts(steps))))
    return tuple(scripts)


def listener_steps(event: ops.Listen) -> tuple[ops.Op, ...]:
    """Return the steps of a listener."""
    return () if event.on_flush is ABSENT else event.on_flush


def build_write(event: Any) -> dict[str, Any]:
    """Build the record of a write, which carries nothing but its key and its value."""
    return {"key": event.key, "value": optional(event.value), "dirty": event.dirty}


def build_record(event: ops.Op, scripts: Scripts) -> Mapping[str, Any]:
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
        "from": optional(getattr(event, "from_", None)),
        "to": optional(getattr(event, "to", None)),
        "inclusive": getattr(event, "to_inclusive", True),
        "reverse": isinstance(event, ops.ReverseRange | ops.ReverseAll),
    }


def _arguments(event: ops.Op, scripts: Scripts) -> dict[str, Any]:
    match event:
        case ops.Put() | ops.PutIfAbsent():
            return {"write": build_write(event)}
        case ops.PutAll():
            return {"writes": tuple(build_write(one) for one in event.entries)}
        case ops.Get():
            return {"key": optional(event.key)}
        case ops.Delete():
            return {"key": event.key}
        case ops.Listen():
            fails = 0 if event.fails is ABSENT else event.fails
            return {"script": scripts.index(listener_steps(event)) + 1, "fails": fails}
        case ops.Flush() | ops.Evict() | ops.Clear() | ops.Close():
            return {}
    raise TypeError(f"{event.name} stands in no TLA+ module")


# --- States


class SpacesRendering:
    """The mapping of states: the limit, and for each namespace its entries by use, dirty keys and listener."""

    def __init__(self, scope: BoundedModel) -> None:
        self.events: tuple[ops.Op, ...] = scope.events
        every = (*scope.start, *scope.events)
        self.scripts = collect_scripts(every)
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
        nodes = [render_node(key, space.nodes[key]) for key in space.recent]
        unused = sorted(space.nodes.keys() - set(space.recent))
        amiss = f", {render_tla(unused)}" if unused else ""
        listener = render_tla(self._listener(space.listener))
        return f"<<<<{', '.join(nodes)}>>, {render_tla(space.dirty)}, {listener}{amiss}>>"

    def _listener(self, listener: Listener | None) -> tuple[int, ...]:
        return () if listener is None else (self.scripts.index(listener.steps) + 1, listener.fails)

    def label(self, number: int, step: Step) -> str:
        """Render the number of the event, its answer, the calls during it, and its counters."""
        state = step.state
        calls = tuple(
            (
                call.ns,
                tuple((one.key, optional(one.value)) for one in call.entries),
                tuple(map(render_answer, call.inner)),
            )
            for call in step.outcome.flushed
        )
        spaces = tuple(counters_of(state.spaces[ns]) if ns in state.spaces else () for ns in self.names)
        thread = (state.puts, state.gets, state.evicts, state.flushes)
        return render_tla((number, render_answer(step.outcome.answer), calls, (thread, spaces)))


@lru_cache(maxsize=4096)
def render_node(key: str, node: Node) -> str:
    """Render one entry."""
    return render_tla((key, optional(node.value), node.is_dirty, node.size_bytes))


def counters_of(space: Space) -> tuple[int, ...]:
    """Return the counters of a namespace."""
    return (space.hits, space.misses, space.overwrites, space.flushes)


def render_answer(answer: outcomes.Answer) -> object:
    """Return an answer in the form of the TLA+ module."""
    match answer:
        case outcomes.Failed():
            return answer.error.value
        case outcomes.Lookup():
            return answer.hit, optional(answer.value)
        case outcomes.Offered():
            return answer.present, optional(answer.existing)
        case outcomes.Deleted():
            return answer.present, optional(answer.value)
        case outcomes.Listing():
            return tuple((key, optional(value)) for key, value in answer.entries)
        case outcomes.Used():
            return answer.entries, answer.bytes
        case outcomes.ThreadCounters():
            return answer.puts, answer.gets, answer.evicts, answer.flushes
        case outcomes.NamespaceCounters():
            return answer.hits, answer.misses, answer.overwrites, answer.flushes, answer.dirty, answer.lru
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
    description="a value or a tombstone; a listener that throws once, or writes and reads",
)
"""A model with few states."""

QUERIES: Final = replace(
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
        *build_queries("a"),
        ops.Usage(),
        ops.Metrics(),
        ops.Flush("a"),
        ops.Flush("b"),
        ops.Evict("a"),
        ops.Resize(ENTRY_BYTES),
        ops.Resize(2 * ENTRY_BYTES),
        ops.Listen("a", (ops.Get("a", "x"), ops.Range("a", None, "y", to_inclusive=False))),
    ),
    description="two keys; every lookup, limits of 47 and 94 bytes, a listener that looks",
)
"""Every lookup, and its effect on the order of use."""

TWO_NAMESPACES: Final = replace(
    TWO,
    name="two namespaces, two calls perform their steps, the limit stays",
    events=tuple(
        event
        for event in TWO.events
        if not isinstance(event, ops.Resize | ops.PutIfAbsent) and event not in {ops.Delete("b", "x"), ops.Usage()}
    ),
    description=TWO.description.replace(", limits of 0, 47 and 1000 bytes", ""),
)
"""Namespaces that act on each other; the texts leave open which one pays first for a lower limit."""


def build_compared_model(scope: BoundedModel) -> ComparedModel:
    """Pair a bounded model with the TLA+ module that has the same constants."""
    rendering = SpacesRendering(scope)
    constants = {
        "Limit": scope.config.max_size_bytes,
        "Budget": scope.config.reentry_budget,
        "Scripts": tuple(tuple(build_record(step, rendering.scripts) for step in steps) for steps in rendering.scripts),
        "Keys": ("x", "y"),
        "Spaces": rendering.names,
        "Before": tuple(build_record(event, rendering.scripts) for event in scope.start),
        "Events": tuple(build_record(event, rendering.scripts) for event in scope.events),
    }
    config = ("INIT Init", "NEXT Next", "VIEW View", "ACTION_CONSTRAINT Edge", "INVARIANT AlwaysSound")
    module = Module(NAME, "ThreadCacheWorld", render_constants(constants), config)
    return ComparedModel(scope, rendering, module)


QUICK: Final = build_compared_model(SMALL)
"""The quickest model."""

CLOSED: Final = (build_compared_model(QUERIES), build_compared_model(LISTENERS), build_compared_model(TWO_NAMESPACES))
"""The models that are explored completely."""


# --- The second model

SECOND: Final = SecondModel((QUICK, *CLOSED), ())
