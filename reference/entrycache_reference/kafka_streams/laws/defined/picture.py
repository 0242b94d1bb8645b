"""What a step has to make of a state: a picture that is drawn thing by thing, and then held beside what there is.

Where a listener, or what stands downstream, performs steps of its own, the picture up to there has to be what the
first of them met; then it is drawn anew from what the last one left. Each of those steps has a picture of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from entrycache_reference.kafka_streams.config import Config, Total
from entrycache_reference.kafka_streams.laws.law import NOTHING
from entrycache_reference.kafka_streams.ops import Op
from entrycache_reference.kafka_streams.outcomes import Answer, Call, ErrorKind, Forward
from entrycache_reference.kafka_streams.state import Listener, Node, Part, Row, Space, State, Store
from entrycache_reference.rules import Rule


class OwnSpace:
    """A namespace in the picture: its entries, their use from most to least recent, its dirty keys in order."""

    def __init__(self, space: Space) -> None:
        self.nodes = dict(space.nodes)
        self.recent = list(space.recent)
        self.dirty = list(space.dirty)
        self.listener: Listener | None = space.listener
        self.hits, self.misses = space.hits, space.misses
        self.overwrites, self.flushes = space.overwrites, space.flushes

    @property
    def size_bytes(self) -> int:
        """The sum of the sizes of its entries."""
        return sum([node.size_bytes for node in self.nodes.values()])

    def use(self, key: str) -> None:
        """The key is the most recent one from now on."""
        if key in self.recent:
            self.recent.remove(key)
        self.recent.insert(0, key)

    def drop(self, key: str) -> None:
        """The key is neither cached nor dirty any more."""
        del self.nodes[key]
        self.recent.remove(key)
        if key in self.dirty:
            self.dirty.remove(key)

    def space(self) -> Space:
        """The namespace as a state holds it."""
        counters = (self.hits, self.misses, self.overwrites, self.flushes)
        return Space(self.nodes, tuple(self.recent), tuple(self.dirty), self.listener, *counters)


class Picture:
    """The state that a step has to lead to, what it has to tell, and what it has to call.

    `is_right` turns false where a step inside a call met anything else than the picture shows. `all_rows` are those of
    the whole step. `stuck`: why the step gives no answer; empty where it gives one.
    """

    def __init__(self, config: Config, pre: State, parts: Sequence[Part], all_rows: tuple[Row, ...]) -> None:
        self.config = config
        self.all_rows = all_rows
        self.parts = iter(parts)
        self.is_right = True
        self.error: ErrorKind | None = None
        self.show(pre)

    def show(self, state: State) -> None:
        """Draw what a state shows."""
        done = state.under_way
        self.state = state
        self.touched: dict[str, OwnSpace | None] = {}
        self.stores: dict[str, Store] = dict(state.stores)
        self.limit = state.max_size_bytes
        self.puts, self.gets, self.evicts = state.puts, state.gets, state.evicts
        self.flushes, self.writes, self.running = state.flushes, state.writes, state.running
        self.total = sum([node.size_bytes for space in state.spaces.values() for node in space.nodes.values()])
        self.called = done.called
        self.calls: list[Call] = list(done.calls)
        self.forwards: list[Forward] = list(done.forwards)
        self.rows: list[Row] = list(self.all_rows[: len(done.events)])
        self.closed = list(done.closed)
        self.stuck = done.stuck

    def __contains__(self, ns: str) -> bool:
        """Whether there is a namespace of that name."""
        return self.touched[ns] is not None if ns in self.touched else ns in self.state.spaces

    def open(self, ns: str) -> OwnSpace:
        """The namespace of that name, which is there from now on."""
        own = self.touched.get(ns)
        if own is None:
            is_known = ns in self.state.spaces and ns not in self.touched
            own = self.touched[ns] = OwnSpace(self.state.spaces[ns] if is_known else NOTHING)
        return own

    def close(self, ns: str) -> None:
        """There is no namespace of that name any more."""
        self.touched[ns] = None
        self.closed.append(ns)

    def closings(self, ns: str) -> int:
        """How often a namespace of that name was closed in the step under way."""
        return self.closed.count(ns)

    def names(self) -> list[str]:
        """The names of the namespaces, in order."""
        return sorted(ns for ns in self.state.spaces.keys() | self.touched.keys() if ns in self)

    def tell(
        self, rule: Rule, op: str, ns: str | None, key: str | None, node: Node | None, cause: str | None = None
    ) -> None:
        """A row, by the bytes of this moment."""
        size, is_dirty = (None, None) if node is None else (node.size_bytes, node.is_dirty)
        self.rows.append(Row(rule, op, cause, self.total, ns, key, size, is_dirty))

    def limited(self) -> int:
        """The total that the limit is held against."""
        return self.total if self.config.variants.total is Total.EXACT else self.running

    def drop(self, ns: str, key: str) -> None:
        """A cached key leaves."""
        own = self.open(ns)
        self.total -= own.nodes[key].size_bytes
        own.drop(key)

    def perform(self, steps: Sequence[Op]) -> tuple[Answer, ...]:
        """A call: its steps are performed, if there are calls left for that; the picture is then what they left."""
        self.called += 1
        if self.called > self.config.reentry_budget:
            return ()
        answers = []
        for op in steps:
            part = next(self.parts, None)
            if part is None or part.event != op or not self.is_shown(part.pre):
                self.is_right = False
                return ()
            self.show(part.after)
            answers.append(part.answer)
        return tuple(answers)

    def lasting(self) -> State:
        """The state that the picture shows, with nothing under way."""
        spaces = dict(self.state.spaces)
        for ns, own in self.touched.items():
            if own is not None:
                spaces[ns] = own.space()
            else:
                spaces.pop(ns, None)
        counters = (self.puts, self.gets, self.evicts, self.flushes, self.writes, self.running)
        return State(self.limit, spaces, self.stores, *counters)

    def is_shown(self, state: State) -> bool:
        """Whether a state under way is the one that the picture shows."""
        done = state.under_way
        return (
            self.lasting() == state._replace(under_way=IDLE)
            and (done.called, done.calls, done.forwards) == (self.called, tuple(self.calls), tuple(self.forwards))
            and sorted(done.closed) == sorted(self.closed)
            and tuple(self.rows) == self.all_rows[: len(done.events)]
        )


IDLE = State(0).under_way
