"""How a state and a step of `kafka-streams` read in the words of its TLA+ module: the abstraction between the two."""

from __future__ import annotations

from functools import lru_cache

from entrycache_evidence.kafka_streams.tlc.events import scripts_of
from entrycache_evidence.kafka_streams.worlds.world import World
from entrycache_evidence.tlc.text import maybe, tla
from entrycache_reference.kafka_streams import ops, outcomes
from entrycache_reference.kafka_streams.state import Listener, Node, Space, State, Step
from entrycache_reference.vocabulary import ABSENT


class SpacesLook:
    """The limit, and each namespace: nodes in the order of use, dirty keys, listener. No numbers of writes."""

    def __init__(self, world: World) -> None:
        self.events: tuple[ops.Op, ...] = world.events
        every = (*world.start, *world.events)
        self.scripts = scripts_of(every)
        inner = [event for steps in self.scripts for event in steps]
        named = [getattr(event, "ns", ABSENT) for event in (*every, *inner)]
        self.names: tuple[str, ...] = tuple(sorted({ns for ns in named if isinstance(ns, str)}))

    def fresh(self, state: State) -> State:
        """A step begins with no counts: they only grow, and nothing looks at them."""
        spaces = {ns: space._replace(hits=0, misses=0, overwrites=0, flushes=0) for ns, space in state.spaces.items()}
        return state._replace(spaces=spaces, puts=0, gets=0, evicts=0, flushes=0)

    def state(self, state: State) -> str:
        """The limit and the namespaces in the order of their names."""
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
        """The number of the event, its answer, the calls during it, and what it counted."""
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
    """One entry."""
    return tla((key, maybe(node.value), node.is_dirty, node.size_bytes))


def counts(space: Space) -> tuple[int, ...]:
    """The counters of a namespace."""
    return (space.hits, space.misses, space.overwrites, space.flushes)


def answer(told: outcomes.Answer) -> object:
    """An answer as the module gives it."""
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
