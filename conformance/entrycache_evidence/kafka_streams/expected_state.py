"""What a step has to make of a state: a picture that is drawn thing by thing, and then held beside what there is.

Where a listener, or what stands downstream, performs steps of its own, the picture up to there has to be what the
first of them met; then it is drawn anew from what the last one left. Each of those steps has a picture of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from entrycache_reference.kafka_streams.config import (
    Config,
    Delivery,
    FailedFlush,
    FlushedTombstone,
    Total,
    UndeliveredEviction,
)
from entrycache_reference.kafka_streams.laws.law import EMPTY_SPACE
from entrycache_reference.kafka_streams.ops import Op
from entrycache_reference.kafka_streams.outcomes import Answer, Call, Context, ErrorKind, Forward, Handed
from entrycache_reference.kafka_streams.state import Listener, Node, Part, Row, Space, State, Store
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT


class ExpectedSpace:
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
        """Return the namespace as a state holds it."""
        counters = (self.hits, self.misses, self.overwrites, self.flushes)
        return Space(self.nodes, tuple(self.recent), tuple(self.dirty), self.listener, *counters)


class ExpectedState:
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
        done = state.in_progress
        self.state = state
        self.touched: dict[str, ExpectedSpace | None] = {}
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
        """Return whether there is a namespace of that name."""
        return self.touched[ns] is not None if ns in self.touched else ns in self.state.spaces

    def open(self, ns: str) -> ExpectedSpace:
        """Return the namespace of that name, which is there from now on."""
        own = self.touched.get(ns)
        if own is None:
            is_known = ns in self.state.spaces and ns not in self.touched
            own = self.touched[ns] = ExpectedSpace(self.state.spaces[ns] if is_known else EMPTY_SPACE)
        return own

    def close(self, ns: str) -> None:
        """There is no namespace of that name any more."""
        self.touched[ns] = None
        self.closed.append(ns)

    def closings(self, ns: str) -> int:
        """How often a namespace of that name was closed in the step under way."""
        return self.closed.count(ns)

    def names(self) -> list[str]:
        """Return the names of the namespaces, in order."""
        return sorted(ns for ns in self.state.spaces.keys() | self.touched.keys() if ns in self)

    def tell(
        self, rule: Rule, op: str, ns: str | None, key: str | None, node: Node | None, cause: str | None = None
    ) -> None:
        """A row, by the bytes of this moment."""
        size, is_dirty = (None, None) if node is None else (node.size_bytes, node.is_dirty)
        self.rows.append(Row(rule, op, cause, self.total, ns, key, size, is_dirty))

    def limited(self) -> int:
        """Return the total that the limit is held against."""
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
        """Return the state that the picture shows, with nothing under way."""
        spaces = dict(self.state.spaces)
        for ns, own in self.touched.items():
            if own is not None:
                spaces[ns] = own.space()
            else:
                spaces.pop(ns, None)
        counters = (self.puts, self.gets, self.evicts, self.flushes, self.writes, self.running)
        return State(self.limit, spaces, self.stores, *counters)

    def is_shown(self, state: State) -> bool:
        """Return whether a state under way is the one that the picture shows."""
        done = state.in_progress
        return (
            self.lasting() == state._replace(in_progress=IDLE)
            and (done.called, done.calls, done.forwards) == (self.called, tuple(self.calls), tuple(self.forwards))
            and sorted(done.closed) == sorted(self.closed)
            and tuple(self.rows) == self.all_rows[: len(done.events)]
        )


IDLE = State(0).in_progress


# Flushes.

Entries = list[tuple[str, Node]]


def order_keys(own: ExpectedSpace, evicted: str | None) -> list[str]:
    """Return the evicted key, then the dirty ones in the order of their writes."""
    return sorted({*own.dirty, *([] if evicted is None else [evicted])}, key=lambda key: _rank_key(own, key, evicted))


def _rank_key(own: ExpectedSpace, key: str, evicted: str | None) -> int:
    return -1 if key == evicted else own.dirty.index(key)


def hand_over(picture: ExpectedState, ns: str, evicted: str | None) -> None:
    """Every dirty entry of a namespace goes to its listener; `evicted`: that one leaves, and comes first."""
    own = picture.open(ns)
    own.flushes += 1
    keys = order_keys(own, evicted)
    lost = [key for key in keys if key not in own.nodes]
    if own.listener is None:
        report_undelivered(picture, ns, keys)
        fail_without_listener(picture, ns, evicted)
        picture.error = ErrorKind.ILLEGAL_ARGUMENT
    elif lost:
        fail_at_missing_entry(picture, ns, evicted, keys, lost[0])
        picture.error = ErrorKind.ILLEGAL_STATE
    elif keys:
        own.hits += len(keys) - (evicted is not None)
        if own.listener.fails:
            fail_by_listener(picture, ns, evicted, keys)
            picture.error = ErrorKind.LISTENER_FAILED
        else:
            deliver_entries(picture, ns, evicted, [(key, own.nodes[key]) for key in keys])


def report_undelivered(picture: ExpectedState, ns: str, keys: list[str]) -> None:
    """The rows of what is not handed over."""
    own = picture.open(ns)
    for key in keys:
        if key in own.nodes:
            picture.tell(Rule.K_FLUSH_3, "FLUSH", ns, key, own.nodes[key], "FAILED")


def loses_undelivered(picture: ExpectedState) -> bool:
    """Return whether an evicted entry that nobody takes is lost."""
    return picture.config.variants.undelivered_eviction is UndeliveredEviction.LOST


def lose_entry(picture: ExpectedState, ns: str, evicted: str, stays_dirty: bool) -> None:
    """Under `undelivered_eviction` `lost`: the entry has left before anybody was asked."""
    own = picture.open(ns)
    node, dirty = own.nodes[evicted], list(own.dirty)
    picture.drop(ns, evicted)
    if stays_dirty:
        own.dirty = dirty
    picture.tell(Rule.K_FLUSH_7, "EVICT", ns, evicted, node)


def fail_without_listener(picture: ExpectedState, ns: str, evicted: str | None) -> None:
    """Nobody listens: all stays; an entry that is lost leaves its key among the dirty ones."""
    if evicted is not None and loses_undelivered(picture):
        lose_entry(picture, ns, evicted, stays_dirty=True)


def mark_clean(own: ExpectedSpace, keys: list[str]) -> None:
    """These entries are clean."""
    for key in keys:
        if key in own.nodes:
            own.nodes[key] = own.nodes[key]._replace(is_dirty=False)


def fail_at_missing_entry(picture: ExpectedState, ns: str, evicted: str | None, keys: list[str], lost: str) -> None:
    """A dirty key without an entry ends it: a miss; what was looked up before is clean under a variant, but listed."""
    own = picture.open(ns)
    looked_up = [key for key in keys[: keys.index(lost)] if key != evicted]
    own.hits += len(looked_up)
    own.misses += 1
    if evicted is not None and loses_undelivered(picture):
        lose_entry(picture, ns, evicted, stays_dirty=False)
    if picture.config.variants.failed_flush is FailedFlush.CLEAN:
        mark_clean(own, looked_up)


def fail_by_listener(picture: ExpectedState, ns: str, evicted: str | None, keys: list[str]) -> None:
    """The listener is called, and throws: one call fewer that will; all else stays, but under two variants."""
    own = picture.open(ns)
    assert own.listener is not None
    own.listener = own.listener._replace(fails=own.listener.fails - 1)
    picture.called += 1
    picture.calls.append(build_call(ns, [(key, own.nodes[key]) for key in keys]))
    report_undelivered(picture, ns, keys)
    if evicted is not None and loses_undelivered(picture):
        lose_entry(picture, ns, evicted, stays_dirty=False)
    if picture.config.variants.failed_flush is FailedFlush.CLEAN:
        mark_clean(own, [key for key in keys if key != evicted])
        own.dirty = [key for key in own.dirty if key == evicted]


def build_call(ns: str, entries: Entries) -> Call:
    """What a listener gets."""
    return Call(ns, tuple([Handed(key, node.value, node.context) for key, node in entries]))


def deliver_entries(picture: ExpectedState, ns: str, evicted: str | None, entries: Entries) -> None:
    """The listener takes the entries: they are clean, and the evicted one has left, before it is called."""
    own, closings = picture.open(ns), picture.closings(ns)
    if evicted is not None:
        picture.drop(ns, evicted)
        picture.tell(Rule.K_EVICT_3, "EVICT", ns, evicted, entries[0][1])
    mark_clean(own, list(own.nodes))
    own.dirty = []
    for key, node in entries:
        picture.tell(Rule.K_FLUSH_1, "FLUSH", ns, key, node, "EVICT" if key == evicted else "CALL")
    assert own.listener is not None
    if own.listener.of_store:
        receive(picture, ns, entries)
    else:
        call = build_call(ns, entries)
        at = len(picture.calls)
        picture.calls.append(call)
        answers = picture.perform(own.listener.steps)
        picture.calls[at : at + 1] = [Call(ns, call.entries, answers)]
    if picture.is_right:
        drop_tombstones(picture, ns, evicted, entries, closings)


def drop_tombstones(picture: ExpectedState, ns: str, evicted: str | None, entries: Entries, closings: int) -> None:
    """Tombstones that were handed over have served; not, by the norm, what was written to their keys meanwhile."""
    any_write = picture.config.variants.flushed_tombstone is FlushedTombstone.ANY_WRITE
    if any_write and picture.closings(ns) != closings:
        return
    for key, node in entries:
        now = picture.open(ns).nodes.get(key) if ns in picture else None
        if now is None or node.value is not None:
            continue
        if any_write and key != evicted:
            picture.drop(ns, key)
            picture.tell(Rule.K_FLUSH_9, "DELETE", ns, key, now, "FLUSH")
        elif not any_write and now.write == node.write:
            picture.drop(ns, key)
            picture.tell(Rule.K_FLUSH_4, "DELETE", ns, key, now, "FLUSH")


def receive(picture: ExpectedState, name: str, entries: Entries) -> None:
    """A caching store takes them: below first, then downstream; by a variant one after the other."""
    if picture.config.variants.delivery is Delivery.ONE_BY_ONE:
        for key, node in entries:
            if picture.is_right and write_underlying(picture, name, key, node):
                forward_entry(picture, name, key, node)
        return
    known = [(key, node) for key, node in entries if write_underlying(picture, name, key, node)]
    for key, node in known:
        passed = picture.stores.get(name, Store()).forwarded_writes.get(key)
        if picture.is_right and (passed is None or passed < node.write):
            forward_entry(picture, name, key, node)


def write_underlying(picture: ExpectedState, name: str, key: str, node: Node) -> bool:
    """A value lies below from now on, a tombstone takes away what lies there; one that finds nothing goes nowhere."""
    store = picture.stores.get(name, Store())
    if node.value is None and key not in store.inner:
        return False
    inner = {**store.inner, key: node.value}
    kept = {one: value for one, value in inner.items() if value is not None}
    picture.stores[name] = store._replace(inner=kept)
    return True


def forward_entry(picture: ExpectedState, name: str, key: str, node: Node) -> None:
    """One entry goes downstream, where what is to be done for its key is done."""
    store = picture.stores.get(name, Store())
    picture.stores[name] = store._replace(forwarded_writes={**store.forwarded_writes, key: node.write})
    at = len(picture.forwards)
    picture.forwards.append(Forward(name, key, node.value))
    answers = picture.perform(store.downstream.get(key, ()))
    picture.forwards[at : at + 1] = [Forward(name, key, node.value, answers)]


# Lookups, writes and the overflow.


def text_bytes(text: str) -> int:
    """Return the bytes of a text in UTF-8, letter by letter: 1, 2, 3, and 4 beyond the first plane."""
    return sum([1 + (ord(one) > 0x7F) + (ord(one) > 0x7FF) + (ord(one) > 0xFFFF) for one in text])


def code_units(text: str) -> int:
    """Return the code units of a text in UTF-16: two for a letter beyond the first plane."""
    return sum([1 + (ord(one) > 0xFFFF) for one in text])


def node_size(key: str, value: str | None, topic: str, headers: Any) -> int:
    """45 bytes for every entry, and what it carries."""
    of_headers = sum([code_units(name) + text_bytes(content) for name, content in headers])
    return 45 + text_bytes(key) + text_bytes(value or "") + code_units(topic) + of_headers


def build_node(write: Any, number: int) -> Node:
    """Return the entry that a write of a namespace makes."""
    given = [None if one is ABSENT else one for one in (write.timestamp, write.offset, write.partition)]
    size = node_size(write.key, write.value, write.topic, write.headers)
    return Node(write.value, write.dirty, size, Context(*given), number)


def look_up(picture: ExpectedState, ns: str, key: str) -> Node | None:
    """Return a lookup in a namespace: it counts, and what is found is the most recent."""
    own = picture.open(ns)
    node = own.nodes.get(key)
    own.hits += node is not None
    own.misses += node is None
    if node is not None:
        own.use(key)
    picture.tell(Rule.K_GET_1, "MISS" if node is None else "HIT", ns, key, node, "GET")
    return node


def would_hide_dirty(picture: ExpectedState, ns: str, key: str, is_dirty: bool) -> bool:
    """Return whether a write would hide a dirty one behind a clean one."""
    return not is_dirty and key in picture.open(ns).dirty


def write_entry(picture: ExpectedState, ns: str, key: str, node: Node) -> None:
    """One entry is written, and what that changes in its namespace is added to the running total."""
    own = picture.open(ns)
    former = own.nodes.get(key)
    own.overwrites += former is not None
    own.nodes[key] = node
    own.use(key)
    if node.is_dirty:
        own.dirty = [other for other in own.dirty if other != key] + [key]
    more = node.size_bytes - (0 if former is None else former.size_bytes)
    picture.total += more
    picture.writes += 1
    book_bytes(picture, more)
    picture.tell(Rule.K_PUT_1, "PUT", ns, key, node)


def book_bytes(picture: ExpectedState, more: int) -> None:
    """Bytes that a call reports."""
    if picture.config.variants.total is Total.RUNNING:
        picture.running += more


def put_entry(picture: ExpectedState, ns: str, key: str, node: Node) -> None:
    """A write that counts at its beginning, with its overflow."""
    picture.puts += 1
    if would_hide_dirty(picture, ns, key, node.is_dirty):
        picture.error = ErrorKind.ILLEGAL_STATE
        return
    write_entry(picture, ns, key, node)
    evict_overflow(picture, ns)


def evict_overflow(picture: ExpectedState, ns: str) -> None:
    """The namespace pays while the total is above the limit and it holds entries.

    Clean entries at the eldest end leave together, as many as their sizes have to add up to; a dirty one among them is
    handed over with all other dirty entries, and then it is asked again.
    """
    closings = picture.closings(ns)
    is_exact = picture.config.variants.total is Total.EXACT
    while picture.limited() > picture.limit and ns in picture and (is_exact or picture.closings(ns) == closings):
        own = picture.open(ns)
        eldest_first = own.recent[::-1]
        if not eldest_first:
            return
        clean = next((at for at, key in enumerate(eldest_first) if own.nodes[key].is_dirty), len(eldest_first))
        freed = accumulate([own.nodes[key].size_bytes for key in eldest_first[:clean]])
        excess = picture.limited() - picture.limit
        count = next((at for at, so_far in enumerate(freed, start=1) if so_far >= excess), clean)
        for key in eldest_first[:count]:
            book_bytes(picture, -own.nodes[key].size_bytes)
            drop_clean(picture, ns, key)
            picture.evicts += 1
        if count < clean or picture.limited() <= picture.limit or count == len(eldest_first):
            continue
        hand_over_eldest(picture, ns, closings)
        if picture.error is not None or not picture.is_right:
            return
        picture.evicts += 1


def hand_over_eldest(picture: ExpectedState, ns: str, closings: int) -> None:
    """The eldest entry, a dirty one, is handed over; what its namespace has lost then is reported."""
    before = picture.open(ns).size_bytes
    hand_over(picture, ns, picture.open(ns).recent[-1])
    if picture.error is None:
        book_bytes(picture, bytes_left(picture, ns, closings) - before)


def bytes_left(picture: ExpectedState, ns: str, closings: int) -> int:
    """Return the bytes of the namespace that a call began with: none, if it was closed meanwhile."""
    return picture.open(ns).size_bytes if picture.closings(ns) == closings and ns in picture else 0


def drop_clean(picture: ExpectedState, ns: str, key: str) -> None:
    """A clean entry is evicted, and nobody is told. Its key can only be dirty where a variant has lost its entry."""
    own = picture.open(ns)
    node, dirty = own.nodes[key], list(own.dirty)
    picture.drop(ns, key)
    own.dirty = dirty
    picture.tell(Rule.K_EVICT_2, "EVICT", ns, key, node)


def evict_eldest(picture: ExpectedState, ns: str) -> None:
    """The eldest entry of a namespace is evicted."""
    if ns not in picture or not picture.open(ns).recent:
        return
    own, closings = picture.open(ns), picture.closings(ns)
    key = own.recent[-1]
    if own.nodes[key].is_dirty:
        hand_over_eldest(picture, ns, closings)
        return
    book_bytes(picture, -own.nodes[key].size_bytes)
    drop_clean(picture, ns, key)
