"""Evictions and flushes: how dirty entries reach the listener of their namespace.

`flush_dirty` gathers the entries and calls the listener; `evict_eldest` drops a clean entry or flushes a dirty one.
`Environment` is what a rule function leaves to the dispatch: performing a step inside a call, and the listener of a
caching store. `perform_steps` runs the steps of one call.

The specification keeps everything if no listener takes the entries. Two variants differ. Under `undelivered_eviction`
`lost`, the evicted entry leaves before anybody is called; without a listener its key stays among the dirty keys, and a
later flush stops at it. Under `failed_flush` `clean`, the other entries are clean from before the call on. `take_back`
does the same for a call of a caching store that a forward has ended by throwing.

Under variant `total` `running`, `shrink_running` lowers the limit. It chooses the next namespace before the present one
has had its turn, so that a namespace closed meanwhile still gets a turn, which takes nothing. If the running total is
above the sum of all sizes, the turns never end; if no namespace is left, the released code throws an error that the
protocol does not name. Such a step is marked as non-terminating.

Beside: NamedCache.flush, .evict, ThreadCache.DirtyEntry, ThreadCache.resize (kafka-streams 4.3.1)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from entrycache_reference.kafka_streams.change import (
    NamespaceHandle,
    book_bytes,
    can_evict,
    handle_of,
    is_still_open,
    mark_all_clean,
    remove_key,
    without_key,
)
from entrycache_reference.kafka_streams.config import Config, FailedFlush, FlushedTombstone, UndeliveredEviction
from entrycache_reference.kafka_streams.ops import Op
from entrycache_reference.kafka_streams.outcomes import Answer, Call, Done, ErrorKind, Failed, Handed
from entrycache_reference.kafka_streams.state import (
    Change,
    Event,
    Listener,
    Node,
    Part,
    Space,
    State,
    space_of,
    with_entry_event,
    with_space,
)
from entrycache_reference.rules import Rule, rule

NO_LISTENER: Final = ErrorKind.ILLEGAL_ARGUMENT

Entries = tuple[tuple[str, Node], ...]
"""Keys with their entries, in the order in which a listener gets them."""


# The environment of a step.


class Environment(NamedTuple):
    """The functions that a rule function calls for steps inside its own step.

    `perform` takes one step and gives the state after it and its answer. `receive` is the listener that a caching store
    registers for itself.
    """

    perform: Callable[[State, Op, Config], tuple[State, Answer]]
    receive: Callable[[State, str, tuple[tuple[str, Node], ...], Config, Environment], State]


# Calls, and the steps inside them.


@rule(Rule.K_LISTEN_3, Rule.K_FAIL_3)
def perform_steps(
    state: State, steps: tuple[Op, ...], config: Config, env: Environment
) -> tuple[State, tuple[Answer, ...]]:
    """Perform the steps of one call in order, if the budget allows; an error ends none of them."""
    after = count_call(state)
    if after.in_progress.called > config.reentry_budget:
        return after, ()
    answers: tuple[Answer, ...] = ()
    for op in steps:
        before = after
        after, answer = env.perform(with_parts(before, ()), op, config)
        part = Part(before, op, after, answer, after.in_progress.parts)
        after = with_parts(after, (*before.in_progress.parts, part))
        answers += (answer,)
    return after, answers


def with_parts(state: State, parts: tuple[Part, ...]) -> State:
    """Return the state with these steps as the inner steps of the step in progress."""
    return state._replace(in_progress=state.in_progress._replace(parts=parts))


def count_call(state: State) -> State:
    """Return the state with one more call in the step in progress."""
    return state._replace(in_progress=state.in_progress._replace(called=state.in_progress.called + 1))


def with_calls(state: State, calls: tuple[Call, ...]) -> State:
    """Return the state with these calls of listeners in the step in progress."""
    return state._replace(in_progress=state.in_progress._replace(calls=calls))


@rule(Rule.K_LISTEN_1)
def build_call(ns: str, entries: tuple[tuple[str, Node], ...]) -> Call:
    """Return a call as its listener gets it."""
    return Call(ns, tuple(Handed(key, node.value, node.context) for key, node in entries))


@rule(Rule.K_LISTEN_1, Rule.K_LISTEN_2)
def call_listener(
    state: State, ns: str, listener: Listener, entries: tuple[tuple[str, Node], ...], config: Config, env: Environment
) -> State:
    """Call a listener once. The call is recorded when it begins; its answers are added when it has ended."""
    at = len(state.in_progress.calls)
    call = build_call(ns, entries)
    started = with_calls(state, (*state.in_progress.calls, call))
    after, answers = perform_steps(started, listener.steps, config, env)
    calls = after.in_progress.calls
    return with_calls(after, (*calls[:at], Call(ns, call.entries, answers), *calls[at + 1 :]))


# Entries that no listener has taken.


@rule(Rule.K_FLUSH_7)
def handle_no_listener(state: State, ns: str, evicted: str | None, config: Config) -> State:
    """Return the state without a listener; an entry that is lost leaves its key among the dirty keys."""
    if evicted is None or config.variants.undelivered_eviction is UndeliveredEviction.KEPT:
        return state
    space = space_of(state, ns)
    remaining = remove_key(space, evicted)._replace(dirty=space.dirty)
    after_loss = with_space(state, ns, remaining)
    return with_entry_event(after_loss, Rule.K_FLUSH_7, "EVICT", ns, evicted, space.nodes[evicted])


@rule(Rule.K_FLUSH_7, Rule.K_FLUSH_8)
def handle_listener_error(state: State, ns: str, evicted: str | None, config: Config) -> State:
    """Return the state after the listener has thrown."""
    after = state if evicted is None else without_evicted(state, ns, evicted, config)
    if config.variants.failed_flush is FailedFlush.DIRTY:
        return after
    space = space_of(after, ns)
    still_dirty = tuple(key for key in space.dirty if key == evicted)
    return with_space(after, ns, mark_clean(space, space.dirty, evicted)._replace(dirty=still_dirty))


@rule(Rule.K_FLUSH_7, Rule.K_FLUSH_8)
def handle_missing_entry(state: State, ns: str, evicted: str | None, config: Config) -> State:
    """Return the state after a flush that stops at a dirty key without an entry.

    The entries before it were looked up; under a variant they are clean, but their keys stay listed.
    """
    after = state if evicted is None else without_evicted(state, ns, evicted, config)
    space = space_of(after, ns)
    keys = tuple(key for key in space.dirty if key != evicted)
    missing_at = next(at for at, key in enumerate(keys) if key not in space.nodes)
    space = space._replace(hits=space.hits + missing_at, misses=space.misses + 1)
    if config.variants.failed_flush is FailedFlush.CLEAN:
        space = mark_clean(space, keys[:missing_at], evicted)
    return with_space(after, ns, space)


def without_evicted(state: State, ns: str, evicted: str, config: Config) -> State:
    """Return the state without the entry to be evicted, if the variant loses it."""
    if config.variants.undelivered_eviction is UndeliveredEviction.KEPT:
        return state
    space = space_of(state, ns)
    after_loss = with_space(state, ns, remove_key(space, evicted))
    return with_entry_event(after_loss, Rule.K_FLUSH_7, "EVICT", ns, evicted, space.nodes[evicted])


def mark_clean(space: Space, keys: tuple[str, ...], but: str | None) -> Space:
    """Return the namespace with these entries clean, except one."""
    clean = {key: space.nodes[key]._replace(is_dirty=False) for key in keys if key in space.nodes and key != but}
    return space._replace(nodes={**space.nodes, **clean})


@rule(Rule.K_FAIL_1)
def take_back(before: State, after: State, ns: str, evicted: str | None, entries: Entries, config: Config) -> State:
    """Return the state after a forward has thrown: the entries of the call are dirty again, in their order and places.

    A key that was written or removed meanwhile stays as it is, and an emptied namespace stays empty.
    """
    after = after._replace(in_progress=after.in_progress._replace(has_thrown=False))
    if after.in_progress.emptied.count(ns) != before.in_progress.emptied.count(ns):
        return after
    since = after.in_progress.events[len(before.in_progress.events) :]
    lasting, gone = untouched_keys(tuple(event for event in since if event.ns == ns), tuple(key for key, _ in entries))
    back = {key: node for key, node in entries if key in lasting and returns(key == evicted, config)}
    return put_back(after, ns, space_of(before, ns).dirty, back, tuple(key for key in gone[::-1] if key in back))


def untouched_keys(events: tuple[Event, ...], keys: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the keys that were neither written nor removed during a call, and those of them that were evicted.

    The evicted ones come in the order of their evictions. A clean copy that a read has cached since is not a write.
    """
    lasting, gone = keys, tuple[str, ...]()
    for event in events:
        key = event.key
        if key is None or key not in lasting:
            continue
        if event.op == "EVICT":
            gone = gone if key in gone else (*gone, key)
        is_copy = event.op == "PUT" and key in gone and event.node is not None and not event.node.is_dirty
        if event.op in {"PUT", "DELETE", "REMOVE"} and not is_copy:
            lasting, gone = without_key(lasting, key), without_key(gone, key)
    return lasting, gone


def returns(is_evicted: bool, config: Config) -> bool:
    """Return whether an entry is dirty again after a forward has thrown; a variant may lose it."""
    if is_evicted:
        return config.variants.undelivered_eviction is UndeliveredEviction.KEPT
    return config.variants.failed_flush is FailedFlush.DIRTY


@rule(Rule.K_FAIL_1)
def put_back(state: State, ns: str, dirty: tuple[str, ...], back: Mapping[str, Node], gone: tuple[str, ...]) -> State:
    """Return the state in which these entries are dirty again, before later writes.

    `gone` names those that were evicted meanwhile, the last one first. They are the least recently used ones again.
    """
    after = state
    for key in gone:
        space = space_of(after, ns)
        recent = space.recent if key in space.nodes else (*space.recent, key)
        after = with_space(after, ns, space._replace(nodes={**space.nodes, key: back[key]}, recent=recent))
        after = with_entry_event(after, Rule.K_FAIL_1, "PUT", ns, key, back[key])
    space = space_of(after, ns)
    again = tuple(key for key in dirty if key in back)
    after = with_space(after, ns, space._replace(nodes={**space.nodes, **back}, dirty=(*again, *space.dirty)))
    for key, node in back.items():
        after = with_entry_event(after, Rule.K_FLUSH_3, "FLUSH", ns, key, node, "FAILED")
    return after


@rule(Rule.K_FLUSH_9)
def without_keys(state: State, handle: NamespaceHandle, keys: tuple[str, ...]) -> State:
    """Return the state without these keys, even if written meanwhile: `flushed_tombstone` `any-write`."""
    after = state
    for key in keys:
        node = space_of(after, handle.ns).nodes.get(key)
        if node is not None and is_still_open(after, handle):
            after = with_space(after, handle.ns, remove_key(space_of(after, handle.ns), key))
            after = with_entry_event(after, Rule.K_FLUSH_9, "DELETE", handle.ns, key, node, "FLUSH")
    return after


# Flushes and evictions.


@rule(Rule.K_FLUSH_1, Rule.K_FLUSH_2, Rule.K_FLUSH_3, Rule.K_FLUSH_4, Rule.K_FLUSH_5, Rule.K_LISTEN_4)
def flush_dirty(state: State, ns: str, evicted: str | None, config: Config, env: Environment) -> Change:
    """Flush every dirty entry of a namespace to its listener; `evicted` leaves the cache and comes first."""
    # GUARD: without a listener no entry is looked up and none is lost.
    space = space_of(state, ns)
    counted = with_space(state, ns, space._replace(flushes=space.flushes + 1))
    if space.listener is None:
        return Change(handle_no_listener(report_undelivered(counted, ns, evicted), ns, evicted, config), NO_LISTENER)

    # DECISION: the evicted entry first, then every other dirty one in the order of their writes.
    keys = order_flushed_keys(space, evicted)
    if not keys:
        return Change(counted)
    if any(key not in space.nodes for key in keys):
        return Change(handle_missing_entry(counted, ns, evicted, config), ErrorKind.ILLEGAL_STATE)
    entries = tuple((key, space.nodes[key]) for key in keys)
    looked_up = len(keys) if evicted is None else len(keys) - 1
    space = space._replace(flushes=space.flushes + 1, hits=space.hits + looked_up)

    # EFFECT: a listener that throws leaves the namespace unchanged.
    if space.listener is not None and space.listener.fails > 0:
        called = record_failed_call(state, ns, space, entries)
        return Change(
            handle_listener_error(report_undelivered(called, ns, evicted), ns, evicted, config),
            ErrorKind.LISTENER_FAILED,
        )

    # EFFECT: during the call the evicted entry is out of the cache, and the others are clean.
    remaining = space if evicted is None else remove_key(space, evicted)
    after = with_space(state, ns, mark_all_clean(remaining))
    after = deliver_entries(after, ns, evicted, entries, config, env)
    if after.in_progress.has_thrown:
        return Change(take_back(state, after, ns, evicted, entries, config), ErrorKind.LISTENER_FAILED)

    # OUTCOME: delivered tombstones leave, unless their key was written again meanwhile.
    if config.variants.flushed_tombstone is FlushedTombstone.ANY_WRITE:
        deleted = tuple(key for key, node in entries if node.value is None and key != evicted)
        return Change(without_keys(after, handle_of(state, ns), deleted))
    return Change(without_tombstones(after, ns, entries))


@rule(Rule.K_FLUSH_1, Rule.K_EVICT_3)
def order_flushed_keys(space: Space, evicted: str | None) -> tuple[str, ...]:
    """Return the keys of a flush: the evicted one first, then the dirty ones in the order of their writes."""
    others = tuple(key for key in space.dirty if key != evicted)
    return others if evicted is None else (evicted, *others)


@rule(Rule.K_LISTEN_4)
def record_failed_call(state: State, ns: str, space: Space, entries: Entries) -> State:
    """Return the state after a call that throws: the call is recorded, and one fewer will throw."""
    assert space.listener is not None
    called_space = space._replace(listener=space.listener._replace(fails=space.listener.fails - 1))
    called = count_call(with_space(state, ns, called_space))
    return with_calls(called, (*called.in_progress.calls, build_call(ns, entries)))


def deliver_entries(
    state: State, ns: str, evicted: str | None, entries: Entries, config: Config, env: Environment
) -> State:
    """Return the state after the listener, a caching store or a registered one, took these entries."""
    listener = space_of(state, ns).listener
    assert listener is not None
    after = state
    if evicted is not None:
        after = with_entry_event(after, Rule.K_EVICT_3, "EVICT", ns, evicted, entries[0][1])
    for key, node in entries:
        after = with_entry_event(after, Rule.K_FLUSH_1, "FLUSH", ns, key, node, "EVICT" if key == evicted else "CALL")
    if listener.of_store:
        return env.receive(after, ns, entries, config, env)
    return call_listener(after, ns, listener, entries, config, env)


def report_undelivered(state: State, ns: str, evicted: str | None) -> State:
    """Return the state with an event for each entry that is not delivered."""
    space = space_of(state, ns)
    after = state
    for key in order_flushed_keys(space, evicted):
        if key in space.nodes:
            after = with_entry_event(after, Rule.K_FLUSH_3, "FLUSH", ns, key, space.nodes[key], "FAILED")
    return after


@rule(Rule.K_FLUSH_4)
def without_tombstones(state: State, ns: str, entries: Entries) -> State:
    """Return the state without the delivered tombstones whose keys were not written again."""
    after = state
    for key, node in entries:
        now = space_of(after, ns).nodes.get(key)
        if node.value is None and now is not None and now.write == node.write:
            after = with_space(after, ns, remove_key(space_of(after, ns), key))
            after = with_entry_event(after, Rule.K_FLUSH_4, "DELETE", ns, key, now, "FLUSH")
    return after


@rule(Rule.K_EVICT_1, Rule.K_EVICT_2, Rule.K_EVICT_3)
def evict_eldest(state: State, ns: str, config: Config, env: Environment) -> Change:
    """Evict the eldest entry of a namespace: drop a clean one, flush a dirty one."""
    # GUARD: an empty namespace evicts nothing.
    space = space_of(state, ns)
    if not space.recent:
        return Change(state)

    # DECISION: the least recently used key. After the reads of an open view the subject alone knows which one that is.
    if space.is_loose and len(space.recent) > 1:
        state = mark_no_answer(state, LOOSE_ORDER)
    key = space.recent[-1]
    node = space.nodes[key]
    if node.is_dirty:
        return flush_dirty(state, ns, key, config, env)

    # EFFECT and OUTCOME: a clean key is dirty only if a variant has lost an entry of it.
    after = with_space(state, ns, remove_key(space, key)._replace(dirty=space.dirty))
    return Change(with_entry_event(after, Rule.K_EVICT_2, "EVICT", ns, key, node))


LOOSE_ORDER: Final = "it evicts by an order of use that an open view has left open; `metrics` before it would answer it"


# Lowering the limit of a running total.

ENDLESS: Final = "resize evicts from nothing for ever: the running total is above the limit, and nothing is left"
NOTHING_TO_CHOOSE: Final = "resize throws NoSuchElementException: its listener closed the last namespace"


def shrink_running(state: State, config: Config, env: Environment) -> tuple[State, Answer]:
    """Evict by turns, in the order of names, until the running total is within the limit."""
    if not state.spaces:
        return state, Done()
    after = state
    turns = Turns(after)
    while after.running > after.max_size_bytes:
        if not after.spaces:
            return mark_no_answer(after, NOTHING_TO_CHOOSE), Done()
        handle = turns.next(after)
        if not can_evict(after, handle, config) and not any(space.recent for space in after.spaces.values()):
            return mark_no_answer(after, ENDLESS), Done()
        if can_evict(after, handle, config):
            change = evict_eldest(after, handle.ns, config, env)
            if change.error is not None:
                return change.state, Failed(change.error)
            after = book_bytes(after, change.state, handle, config)
        after = after._replace(evicts=after.evicts + 1)
    return after, Done()


def mark_no_answer(state: State, reason: str) -> State:
    """Return the state of a step whose answer is missing or is not judged."""
    return state._replace(in_progress=state.in_progress._replace(no_answer_reason=reason))


class Turns:
    """The order of turns: round after round over the namespaces, each chosen one turn ahead."""

    def __init__(self, state: State) -> None:
        self.names: list[str] = []
        self.coming = self.chosen(state)

    def chosen(self, state: State) -> NamespaceHandle:
        """Return the next namespace of this round, or the first of another one."""
        self.names = self.names or sorted(state.spaces)
        return handle_of(state, self.names.pop(0))

    def next(self, state: State) -> NamespaceHandle:
        """Return the namespace that pays now."""
        now, self.coming = self.coming, self.chosen(state)
        return now
