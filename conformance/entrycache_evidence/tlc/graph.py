"""Two graphs of one small world, TLC's and the explorer's: the same states and edges, or the first difference."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, Protocol

from entrycache_evidence.explore.parts import AnyWorld
from entrycache_evidence.explore.search import after
from entrycache_faults.model import Model

NUMBER: Final = re.compile(r"<<(\d+)")


class Edge(NamedTuple):
    """One step: the text of the state before, of what was done and answered, and of the state after."""

    before: str
    label: str
    after: str

    @property
    def event(self) -> int:
        """The number of its event, from 1 on."""
        found = NUMBER.match(self.label)
        assert found is not None, self.label
        return int(found[1])


class Look(Protocol):
    """How the explorer's states and steps read in the words of a TLA+ module: the abstraction, written down."""

    @property
    def events(self) -> tuple[Any, ...]:
        """Every event of the world; their numbers begin with 1."""

    def fresh(self, state: Any) -> Any:
        """The state as a step begins with it: what only grows is taken away."""

    def state(self, state: Any) -> str:
        """A state as the module shows it."""

    def label(self, number: int, step: Any) -> str:
        """What a step answered and counted, as the module shows it."""


class Graph(NamedTuple):
    """The edges of a world in the order in which they were found."""

    edges: dict[Edge, None]

    @property
    def states(self) -> frozenset[str]:
        """Every state that an edge leaves or enters."""
        return frozenset(text for edge in self.edges for text in (edge.before, edge.after))


def graph(edges: Iterable[Edge]) -> Graph:
    """The graph of these edges; one that is found twice is one edge."""
    return Graph(dict.fromkeys(edges))


def explored(world: AnyWorld, look: Look, model: Model | None = None) -> Iterator[Edge]:
    """The edges of a world, breadth first, by the step of the reference or of a model."""
    config = world.config
    system, events_of, canon, start = world.parts()
    played = model or system.model
    number_of = {event: number for number, event in enumerate(look.events, 1)}
    first = look.fresh(canon.settled(after(played, config, start)))
    seen, waiting = {look.state(first)}, deque([first])
    while waiting:
        state = waiting.popleft()
        before = look.state(state)
        for event in events_of(state):
            done = played.step(state, event, config)
            if not canon.follows(done):
                continue
            edge = Edge(before, look.label(number_of[event], done), look.state(done.state))
            yield edge
            if edge.after not in seen:
                seen.add(edge.after)
                waiting.append(look.fresh(canon.settled(done.state)))


def difference(ours: Graph, other: Iterable[Edge], events: tuple[Any, ...], whole: bool = True) -> str:
    """The first edge of the explorer that TLC does not have, or else of TLC that the explorer lacks; empty: none.

    Only where the explorer's edges are all there (`whole`) are TLC's looked for among them.
    """
    met: dict[Edge, None] = {}
    for edge in other:
        met[edge] = None
        if edge not in ours.edges:
            instead = next((one for one in ours.edges if one[0] == edge.before and one.event == edge.event), None)
            theirs = "no such step" if instead is None else f"{instead.label} to {instead.after}"
            what = f"from {edge.before} by {events[edge.event - 1]}"
            return f"{what}: the explorer has {edge.label} to {edge.after}, TLC {theirs}"
    for edge in ours.edges if whole else ():
        if edge not in met:
            what = f"from {edge.before} by {events[edge.event - 1]}"
            return f"{what}: TLC has {edge.label} to {edge.after}, the explorer no such step"
    return ""
