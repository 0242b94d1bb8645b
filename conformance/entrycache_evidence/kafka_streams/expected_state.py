"""The expected state of a step of `kafka-streams`, built in another way than the reference builds it.

`ExpectedState` starts from the state before a step. The functions below change it in place: flushes are ordered by
sorting, evictions are chosen by sums from the eldest end. Where a listener or a processor downstream performs steps,
the expected state must equal the state before the first of them. It then continues from the state that the last one
left; each inner step has an expected state of its own.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from entrycache_reference import rules
from entrycache_reference.kafka_streams import config as configuration
from entrycache_reference.kafka_streams.flush import LOOSE_ORDER
from entrycache_reference.kafka_streams.laws.law import EMPTY_SPACE, loses_undelivered, time_of
from entrycache_reference.kafka_streams.ops import Op
from entrycache_reference.kafka_streams.outcomes import Answer, Call, ErrorKind, Forward, Handed
from entrycache_reference.kafka_streams.state import Listener, Node, OpenView, Part, Row, Space, State, Store
from entrycache_reference.kafka_streams.view_ops import StoreKind
from entrycache_reference.vocabulary import ABSENT, Absent


class ExpectedSpace:
    """A namespace of the expected state: entries, order of use, and dirty keys in order."""

    def __init__(self, space: Space) -> None:
        self.nodes = dict(space.nodes)
        self.recent = list(space.recent)
        self.dirty = list(space.dirty)
        self.listener: Listener | None = space.listener
        self.hits, self.misses = space.hits, space.misses
        self.overwrites, self.flushes, self.is_loose = space.overwrites, space.flushes, space.is_loose

    @property
    def size_bytes(self) -> int:
        """The sum of the sizes of its entries."""
        return sum([node.size_bytes for node in self.nodes.values()])

    def use(self, key: str) -> None:
        """Make the key the most recent one."""
        if key in self.recent:
            self.recent.remove(key)
        self.recent.insert(0, key)

    def drop(self, key: str) -> None:
        """Remove the key from the entries, the order of use and the dirty keys."""
        del self.nodes[key]
        self.recent.remove(key)
        if key in self.dirty:
            self.dirty.remove(key)

    def space(self) -> Space:
        """Return the namespace as a state holds it."""
        counters = (self.hits, self.misses, self.overwrites, self.flushes, self.is_loose)
        return Space(self.nodes, tuple(self.recent), tuple(self.dirty), self.listener, *counters)


class ExpectedState:
    """The state, the rows and the calls that a step must produce.

    `is_right` turns false if the state before a step inside a call was not the expected one. `all_rows` are the rows of
    the whole step. `no_answer_reason` says why the step gives no answer; it is empty if there is one.
    """

    def __init__(
        self, config: configuration.Config, pre: State, parts: Sequence[Part], all_rows: tuple[Row, ...]
    ) -> None:
        self.config = config
        self.all_rows = all_rows
        self.parts = iter(parts)
        self.is_right = True
        self.error: ErrorKind | None = None
        self.load(pre)

    def load(self, state: State) -> None:
        """Take over the content of a state."""
        progress = state.in_progress
        self.state = state
        self.touched: dict[str, ExpectedSpace | None] = {}
        self.stores: dict[str, Store] = dict(state.stores)
        self.views: dict[str, OpenView] = dict(state.views)
        self.limit = state.max_size_bytes
        self.puts, self.gets, self.evicts = state.puts, state.gets, state.evicts
        self.flushes, self.writes, self.running = state.flushes, state.writes, state.running
        self.total = sum([node.size_bytes for space in state.spaces.values() for node in space.nodes.values()])
        self.called = progress.called
        self.calls: list[Call] = list(progress.calls)
        self.forwards: list[Forward] = list(progress.forwards)
        self.rows: list[Row] = list(self.all_rows[: len(progress.events)])
        self.closed = list(progress.closed)
        self.emptied = list(progress.emptied)
        self.taking = list(progress.taking)
        self.former = dict(progress.former)
        self.has_thrown = False
        self.no_answer_reason = progress.no_answer_reason

    def __contains__(self, ns: str) -> bool:
        """Return whether there is a namespace of that name."""
        return self.touched[ns] is not None if ns in self.touched else ns in self.state.spaces

    def open(self, ns: str) -> ExpectedSpace:
        """Return the namespace of that name, opened if necessary."""
        namespace = self.touched.get(ns)
        if namespace is None:
            is_known = ns in self.state.spaces and ns not in self.touched
            namespace = self.touched[ns] = ExpectedSpace(self.state.spaces[ns] if is_known else EMPTY_SPACE)
        return namespace

    def close(self, ns: str) -> None:
        """Close the namespace of that name."""
        self.touched[ns] = None
        self.closed.append(ns)
        self.emptied.append(ns)

    def closings(self, ns: str) -> int:
        """Return how often a namespace of that name was closed in the step in progress."""
        return self.closed.count(ns)

    def taking_store(self, name: str) -> Store:
        """Return the store that takes entries under a name; one that has closed meanwhile goes on."""
        return self.former.get(self.taking[-1]) or self.stores.get(name, Store())

    def keep_taking(self, name: str, store: Store) -> Store:
        """Keep that store after a change, and return it."""
        if self.taking[-1] in self.former:
            self.former[self.taking[-1]] = store
        else:
            self.stores[name] = store
        return store

    def names(self) -> list[str]:
        """Return the names of the namespaces, in order."""
        return sorted(ns for ns in self.state.spaces.keys() | self.touched.keys() if ns in self)

    def add_row(
        self, rule: rules.Rule, op: str, ns: str | None, key: str | None, node: Node | None, cause: str | None = None
    ) -> None:
        """Add a row with the present sum of bytes."""
        size, is_dirty = (None, None) if node is None else (node.size_bytes, node.is_dirty)
        self.rows.append(Row(rule, op, cause, self.total, ns, key, size, is_dirty))

    def limited_bytes(self) -> int:
        """Return the total that the limit applies to."""
        return self.total if self.config.variants.total is configuration.Total.EXACT else self.running

    def drop(self, ns: str, key: str) -> None:
        """Remove a cached key."""
        namespace = self.open(ns)
        self.total -= namespace.nodes[key].size_bytes
        namespace.drop(key)

    def perform(self, steps: Sequence[Op]) -> tuple[Answer, ...]:
        """Count a call, and take over the results of its steps if the budget allows them."""
        self.called += 1
        if self.called > self.config.reentry_budget:
            return ()
        answers = []
        for op in steps:
            part = next(self.parts, None)
            if part is None or part.event != op or not self.equals(part.pre):
                self.is_right = False
                return ()
            self.load(part.after)
            answers.append(part.answer)
        return tuple(answers)

    def to_state(self) -> State:
        """Return the expected state with no step in progress."""
        spaces = dict(self.state.spaces)
        for ns, namespace in self.touched.items():
            if namespace is not None:
                spaces[ns] = namespace.space()
            else:
                spaces.pop(ns, None)
        counters = (self.puts, self.gets, self.evicts, self.flushes, self.writes, self.running)
        return State(self.limit, spaces, self.stores, *counters, self.views, self.state.is_unjudged)

    def equals(self, state: State) -> bool:
        """Return whether a state in progress equals the expected state."""
        progress = state.in_progress
        return (
            self.to_state() == state._replace(in_progress=IDLE)
            and (progress.called, progress.calls, progress.forwards)
            == (self.called, tuple(self.calls), tuple(self.forwards))
            and (sorted(progress.closed), sorted(progress.emptied)) == (sorted(self.closed), sorted(self.emptied))
            and tuple(self.rows) == self.all_rows[: len(progress.events)]
        )


IDLE = State(0).in_progress


# Flushes.

Entries = list[tuple[str, Node]]


def order_keys(namespace: ExpectedSpace, evicted: str | None) -> list[str]:
    """Return the evicted key, then the dirty ones in the order of their writes."""
    return sorted(
        {*namespace.dirty, *([] if evicted is None else [evicted])}, key=lambda key: _rank_key(namespace, key, evicted)
    )


def _rank_key(namespace: ExpectedSpace, key: str, evicted: str | None) -> int:
    return -1 if key == evicted else namespace.dirty.index(key)


def hand_over(expected: ExpectedState, ns: str, evicted: str | None) -> None:
    """Flush every dirty entry of a namespace to its listener; `evicted` leaves the cache and comes first."""
    namespace = expected.open(ns)
    check_order(expected, namespace, evicted)
    namespace.flushes += 1
    keys = order_keys(namespace, evicted)
    missing = [key for key in keys if key not in namespace.nodes]
    if namespace.listener is None:
        report_undelivered(expected, ns, keys)
        fail_without_listener(expected, ns, evicted)
        expected.error = ErrorKind.ILLEGAL_ARGUMENT
    elif missing:
        fail_at_missing_entry(expected, ns, evicted, keys, missing[0])
        expected.error = ErrorKind.ILLEGAL_STATE
    elif keys:
        namespace.hits += len(keys) - (evicted is not None)
        if namespace.listener.fails:
            fail_by_listener(expected, ns, evicted, keys)
            expected.error = ErrorKind.LISTENER_FAILED
        else:
            deliver_entries(expected, ns, evicted, [(key, namespace.nodes[key]) for key in keys])


def check_order(expected: ExpectedState, namespace: ExpectedSpace, evicted: str | None) -> None:
    """Leave the step unanswered if it evicts by an order of use that an open view has left open."""
    if namespace.is_loose and evicted is not None and len(namespace.recent) > 1:
        expected.no_answer_reason = LOOSE_ORDER


def report_undelivered(expected: ExpectedState, ns: str, keys: list[str]) -> None:
    """Add the rows of the entries that are not delivered."""
    namespace = expected.open(ns)
    for key in keys:
        if key in namespace.nodes:
            expected.add_row(rules.Rule.K_FLUSH_3, "FLUSH", ns, key, namespace.nodes[key], "FAILED")


def lose_entry(expected: ExpectedState, ns: str, evicted: str, stays_dirty: bool) -> None:
    """Drop the evicted entry before any call: `undelivered_eviction` `lost`."""
    namespace = expected.open(ns)
    node, dirty = namespace.nodes[evicted], list(namespace.dirty)
    expected.drop(ns, evicted)
    if stays_dirty:
        namespace.dirty = dirty
    expected.add_row(rules.Rule.K_FLUSH_7, "EVICT", ns, evicted, node)


def fail_without_listener(expected: ExpectedState, ns: str, evicted: str | None) -> None:
    """Keep everything; a lost entry leaves its key among the dirty keys."""
    if evicted is not None and loses_undelivered(expected.config):
        lose_entry(expected, ns, evicted, stays_dirty=True)


def mark_clean(namespace: ExpectedSpace, keys: list[str]) -> None:
    """Mark these entries clean."""
    for key in keys:
        if key in namespace.nodes:
            namespace.nodes[key] = namespace.nodes[key]._replace(is_dirty=False)


def fail_at_missing_entry(expected: ExpectedState, ns: str, evicted: str | None, keys: list[str], missing: str) -> None:
    """Stop at a dirty key without an entry, which counts as a miss.

    Under a variant the entries that were looked up before are clean, but their keys stay listed.
    """
    namespace = expected.open(ns)
    looked_up = [key for key in keys[: keys.index(missing)] if key != evicted]
    namespace.hits += len(looked_up)
    namespace.misses += 1
    if evicted is not None and loses_undelivered(expected.config):
        lose_entry(expected, ns, evicted, stays_dirty=False)
    if expected.config.variants.failed_flush is configuration.FailedFlush.CLEAN:
        mark_clean(namespace, looked_up)


def fail_by_listener(expected: ExpectedState, ns: str, evicted: str | None, keys: list[str]) -> None:
    """Call a listener that throws. Everything else stays, except under two variants."""
    namespace = expected.open(ns)
    assert namespace.listener is not None
    namespace.listener = namespace.listener._replace(fails=namespace.listener.fails - 1)
    expected.called += 1
    expected.calls.append(build_call(ns, [(key, namespace.nodes[key]) for key in keys]))
    report_undelivered(expected, ns, keys)
    if evicted is not None and loses_undelivered(expected.config):
        lose_entry(expected, ns, evicted, stays_dirty=False)
    if expected.config.variants.failed_flush is configuration.FailedFlush.CLEAN:
        mark_clean(namespace, [key for key in keys if key != evicted])
        namespace.dirty = [key for key in namespace.dirty if key == evicted]


def build_call(ns: str, entries: Entries) -> Call:
    """Return a call as its listener gets it."""
    return Call(ns, tuple([Handed(key, node.value, node.context) for key, node in entries]))


def deliver_entries(expected: ExpectedState, ns: str, evicted: str | None, entries: Entries) -> None:
    """Mark the entries clean, remove the evicted one, and call the listener with all of them."""
    namespace, closings = expected.open(ns), expected.closings(ns)
    former = namespace.space()._replace(nodes=dict(namespace.nodes))
    before = CallStart(
        former, expected.stores.get(ns, Store()), len(expected.rows), closings, expected.emptied.count(ns)
    )
    if evicted is not None:
        expected.drop(ns, evicted)
        expected.add_row(rules.Rule.K_EVICT_3, "EVICT", ns, evicted, entries[0][1])
    mark_clean(namespace, list(namespace.nodes))
    namespace.dirty = []
    for key, node in entries:
        expected.add_row(rules.Rule.K_FLUSH_1, "FLUSH", ns, key, node, "EVICT" if key == evicted else "CALL")
    assert namespace.listener is not None
    if namespace.listener.of_store:
        receive(expected, ns, entries)
    else:
        call = build_call(ns, entries)
        at = len(expected.calls)
        expected.calls.append(call)
        answers = expected.perform(namespace.listener.steps)
        expected.calls[at : at + 1] = [Call(ns, call.entries, answers)]
    if expected.is_right and expected.has_thrown:
        expected.has_thrown = False
        expected.error = ErrorKind.LISTENER_FAILED
        restore_entries(expected, ns, evicted, entries, before)
    elif expected.is_right:
        drop_tombstones(expected, ns, evicted, entries, closings)


def drop_tombstones(expected: ExpectedState, ns: str, evicted: str | None, entries: Entries, closings: int) -> None:
    """Drop the delivered tombstones; by default not the writes made to their keys meanwhile."""
    any_write = expected.config.variants.flushed_tombstone is configuration.FlushedTombstone.ANY_WRITE
    if any_write and expected.closings(ns) != closings:
        return
    rule = rules.Rule.K_FLUSH_9 if any_write else rules.Rule.K_FLUSH_4
    for key, node in entries:
        now = expected.open(ns).nodes.get(key) if ns in expected else None
        if now is None or node.value is not None:
            continue
        if key != evicted if any_write else now.write == node.write:
            expected.drop(ns, key)
            expected.add_row(rule, "DELETE", ns, key, now, "FLUSH")


def receive(expected: ExpectedState, name: str, entries: Entries) -> None:
    """Write all entries to the underlying store, then forward them; by a variant one after another."""
    expected.taking.append((name, expected.closings(name)))
    if expected.config.variants.delivery is configuration.Delivery.ONE_BY_ONE:
        for key, node in entries:
            if expected.is_right and not expected.has_thrown and write_underlying(expected, name, key, node):
                forward_entry(expected, name, key, node)
        entries = []
    for key, node in [entry for entry in entries if write_underlying(expected, name, *entry)]:
        store = expected.taking_store(name)
        is_late = has_expired(store, key) and not shows_expired(expected)
        is_overtaken = store.forwarded_writes.get(key, -1) >= node.write
        if expected.is_right and not expected.has_thrown and not is_late and not is_overtaken:
            forward_entry(expected, name, key, node)
    expected.taking.pop()


def shows_expired(expected: ExpectedState) -> bool:
    """Return whether what is cached is answered whatever its age."""
    return expected.config.variants.expired_windows is configuration.ExpiredWindows.CACHED


def has_expired(store: Store, name: str) -> bool:
    """Return whether a window or a session of a store has expired."""
    is_timed = store.settings.kind is not StoreKind.KEY_VALUE
    return is_timed and store.stream_time >= time_of(name) + store.settings.retention


def advance(store: Store, name: str) -> Store:
    """Return the store after a write of the time of this window or session."""
    after = store._replace(stream_time=max(store.stream_time, time_of(name)))
    parts = (store.inner, store.forwarded)
    inner, forwarded = ({one: value for one, value in part.items() if not has_expired(after, one)} for part in parts)
    return after._replace(inner=inner, forwarded=forwarded)


def write_underlying(expected: ExpectedState, name: str, key: str, node: Node) -> bool:
    """Write a value, or remove a key, below; return false if there is nothing to remove, or the window has expired."""
    store = expected.taking_store(name)
    if node.value is None and key not in {*store.inner, *store.owed} and store.settings.listens:
        return False
    if not shows_expired(expected) and has_expired(store, key):
        return False
    if shows_expired(expected) and store.settings.kind is not StoreKind.KEY_VALUE:
        store = expected.keep_taking(name, advance(store, key))
        if has_expired(store, key):
            return True
    remaining = {one: value for one, value in {**store.inner, key: node.value}.items() if value is not None}
    expected.keep_taking(name, store._replace(inner=remaining))
    return True


def forward_entry(expected: ExpectedState, name: str, key: str, node: Node) -> None:
    """Forward one entry downstream, and perform the steps set for its key."""
    store = expected.taking_store(name)
    if not store.settings.listens:
        return
    old: str | None | Absent = store.forwarded.get(key) if store.old_values else ABSENT
    if store.old_values and not has_expired(store, key):
        values = {**store.forwarded, key: node.value}
        store = store._replace(forwarded={one: value for one, value in values.items() if value is not None})
    store = expected.keep_taking(name, store._replace(forwarded_writes={**store.forwarded_writes, key: node.write}))
    at = len(expected.forwards)
    own_key: str = key
    times: list[int] = []
    if store.settings.kind is not StoreKind.KEY_VALUE:
        own_key, *times = key.rsplit("@", 1)[0], *map(int, key.rsplit("@", 1)[1].split("-"))
    expected.forwards.append(Forward(name, own_key, node.value, (), old, *times))
    if own_key in store.failing:
        failing = {one: left - (one == own_key) for one, left in store.failing.items()}
        expected.keep_taking(name, store._replace(failing={one: left for one, left in failing.items() if left}))
        expected.called += 1
        expected.has_thrown = True
        return
    expected.keep_taking(name, store._replace(owed=tuple([one for one in store.owed if one != key])))
    answers = expected.perform(store.downstream.get(own_key, ()))
    expected.forwards[at : at + 1] = [Forward(name, own_key, node.value, answers, old, *times)]


# Lookups, writes and the overflow.


def look_up(expected: ExpectedState, ns: str, key: str) -> Node | None:
    """Look a key up and count it; a cached key becomes the most recent one."""
    namespace = expected.open(ns)
    node = namespace.nodes.get(key)
    namespace.hits += node is not None
    namespace.misses += node is None
    if node is not None:
        namespace.use(key)
    expected.add_row(rules.Rule.K_GET_1, "MISS" if node is None else "HIT", ns, key, node, "GET")
    return node


def write_entry(expected: ExpectedState, ns: str, key: str, node: Node) -> None:
    """Write one entry, and add the change of its namespace to the running total."""
    namespace = expected.open(ns)
    former = namespace.nodes.get(key)
    namespace.overwrites += former is not None
    namespace.nodes[key] = node
    namespace.use(key)
    if node.is_dirty:
        namespace.dirty = [other for other in namespace.dirty if other != key] + [key]
    added_bytes = node.size_bytes - (0 if former is None else former.size_bytes)
    expected.total += added_bytes
    expected.writes += 1
    book_bytes(expected, added_bytes)
    expected.add_row(rules.Rule.K_PUT_1, "PUT", ns, key, node)


def book_bytes(expected: ExpectedState, added_bytes: int) -> None:
    """Add bytes to the running total."""
    if expected.config.variants.total is configuration.Total.RUNNING:
        expected.running += added_bytes


def evict_overflow(expected: ExpectedState, ns: str) -> None:
    """Evict from the namespace while the total is above the limit and it holds entries.

    Clean entries at the eldest end leave together, as many as their sizes have to add up to. A dirty entry among them
    is flushed with all other dirty entries, and then the total is compared with the limit again.
    """
    closings = expected.closings(ns)
    is_exact = expected.config.variants.total is configuration.Total.EXACT
    while (
        expected.limited_bytes() > expected.limit and ns in expected and (is_exact or expected.closings(ns) == closings)
    ):
        namespace = expected.open(ns)
        eldest_first = namespace.recent[::-1]
        if not eldest_first:
            return
        clean = next((at for at, key in enumerate(eldest_first) if namespace.nodes[key].is_dirty), len(eldest_first))
        freed_so_far = accumulate([namespace.nodes[key].size_bytes for key in eldest_first[:clean]])
        excess = expected.limited_bytes() - expected.limit
        count = next((at for at, partial_result in enumerate(freed_so_far, start=1) if partial_result >= excess), clean)
        for key in eldest_first[:count]:
            book_bytes(expected, -namespace.nodes[key].size_bytes)
            drop_clean(expected, ns, key)
            expected.evicts += 1
        if count < clean or expected.limited_bytes() <= expected.limit or count == len(eldest_first):
            continue
        hand_over_eldest(expected, ns, closings)
        if expected.error is not None or not expected.is_right:
            return
        expected.evicts += 1


def hand_over_eldest(expected: ExpectedState, ns: str, closings: int) -> None:
    """Flush the eldest entry, a dirty one, and book what its namespace has lost."""
    before = expected.open(ns).size_bytes
    hand_over(expected, ns, expected.open(ns).recent[-1])
    if expected.error is None:
        book_bytes(expected, bytes_left(expected, ns, closings) - before)


def bytes_left(expected: ExpectedState, ns: str, closings: int) -> int:
    """Return the bytes of the namespace that a call began with: 0 if it was closed meanwhile."""
    return expected.open(ns).size_bytes if expected.closings(ns) == closings and ns in expected else 0


def drop_clean(expected: ExpectedState, ns: str, key: str) -> None:
    """Evict a clean entry without a call. Its key can be dirty only if a variant has lost its entry."""
    namespace = expected.open(ns)
    check_order(expected, namespace, key)
    node, dirty = namespace.nodes[key], list(namespace.dirty)
    expected.drop(ns, key)
    namespace.dirty = dirty
    expected.add_row(rules.Rule.K_EVICT_2, "EVICT", ns, key, node)


def evict_eldest(expected: ExpectedState, ns: str) -> None:
    """Evict the eldest entry of a namespace."""
    if ns not in expected or not expected.open(ns).recent:
        return
    namespace, closings = expected.open(ns), expected.closings(ns)
    key = namespace.recent[-1]
    if namespace.nodes[key].is_dirty:
        hand_over_eldest(expected, ns, closings)
        return
    book_bytes(expected, -namespace.nodes[key].size_bytes)
    drop_clean(expected, ns, key)


# Forwards that throw.


class CallStart(NamedTuple):
    """The namespace and the store before a call, the rows until then, and how often it had been closed and emptied."""

    space: Space
    store: Store
    rows: int
    closings: int
    emptied: int


def restore_entries(expected: ExpectedState, ns: str, evicted: str | None, entries: Entries, before: CallStart) -> None:
    """Make the entries of a call whose forward has thrown dirty again, and owe their forwards."""
    owe_forwards(expected, ns, entries, before)
    since = [row for row in expected.rows[before.rows :] if row.ns == ns]
    if expected.emptied.count(ns) != before.emptied:
        return
    lost = expected.config.variants.failed_flush is configuration.FailedFlush.CLEAN
    back = {
        key: node
        for key, node in entries
        if is_untouched(key, since) and not (loses_undelivered(expected.config) if key == evicted else lost)
    }
    namespace, gone = expected.open(ns), [row.key for row in since if row.op == "EVICT"]
    order = [key for at, key in enumerate(gone) if key in back and key not in gone[:at]]
    for key in reversed(order):
        assert key is not None
        copy = namespace.nodes.get(key)
        expected.total += back[key].size_bytes - (0 if copy is None else copy.size_bytes)
        namespace.nodes[key] = back[key]
        namespace.recent += [] if key in namespace.recent else [key]
        expected.add_row(rules.Rule.K_FAIL_1, "PUT", ns, key, back[key])
    namespace.nodes.update(back)
    namespace.dirty = [key for key in before.space.dirty if key in back] + namespace.dirty
    for key, node in back.items():
        expected.add_row(rules.Rule.K_FLUSH_3, "FLUSH", ns, key, node, "FAILED")


def is_untouched(key: str, rows: list[Row]) -> bool:
    """Return whether no row writes or removes a key; a clean write after its eviction is a copy of what lies below."""
    is_gone = False
    for row in rows:
        if (
            row.key == key
            and row.op in {"PUT", "DELETE", "REMOVE"}
            and not (row.op == "PUT" and is_gone and not row.dirty)
        ):
            return False
        is_gone = is_gone or (row.key == key and row.op == "EVICT")
    return True


def owe_forwards(expected: ExpectedState, name: str, entries: Entries, before: CallStart) -> None:
    """Let the next flush forward the entries again, deletions of what lay below too."""
    listener = expected.open(name).listener if name in expected else None
    is_same = listener is not None and listener.of_store and expected.closings(name) == before.closings
    if not is_same or expected.config.variants.failed_flush is configuration.FailedFlush.CLEAN:
        return
    store, known = expected.stores[name], {*before.store.inner, *before.store.owed}
    deleted = [key for key, node in entries if node.value is None and key in known and key not in store.owed]
    writes = dict(store.forwarded_writes)
    for key, node in entries:
        if writes.get(key) == node.write:
            writes[key] = node.write - 1
    expected.stores[name] = store._replace(forwarded_writes=writes, owed=(*store.owed, *deleted))
