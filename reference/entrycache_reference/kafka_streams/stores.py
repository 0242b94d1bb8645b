"""Level `store`: caching stores over in-memory stores. Every read returns the last write, and no write is lost.

A caching store writes dirty entries into its namespace and is the listener of that namespace. `receive` takes flushed
entries: it writes them to the underlying store and forwards them downstream. Reads merge the cache with the underlying
store; a cached tombstone hides the value in the underlying store.

Beside: CachingKeyValueStore.putAndMaybeForward, .getInternal, KafkaStreams.getCacheSizePerThread (kafka-streams 4.3.1)
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.change import (
    advance_time,
    handle_of,
    is_expired,
    is_still_open,
    parse_window,
    size_bytes,
    sort_by_bytes,
    without_key,
)
from entrycache_reference.kafka_streams.config import (
    Config,
    DeleteRead,
    Delivery,
    ExpiredWindows,
    FailedFlush,
    ViewTombstone,
)
from entrycache_reference.kafka_streams.entries import is_between, keys_between, look_up, put_node, with_answer
from entrycache_reference.kafka_streams.flush import Environment, count_call, perform_steps
from entrycache_reference.kafka_streams.namespaces import flush
from entrycache_reference.kafka_streams.outcomes import Answer, Context, Done, Forward, Listing, Pair, Shared, Value
from entrycache_reference.kafka_streams.state import Change, Listener, Node, State, Store, space_of, with_space
from entrycache_reference.kafka_streams.view_ops import FailForward, StoreKind
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT, Absent

OF_STORE: Final = Listener(of_store=True)


def store_of(state: State, name: str) -> Store:
    """Return the store of that name."""
    return state.stores.get(name, Store())


def with_store(state: State, name: str, store: Store) -> State:
    """Return the state with this store."""
    return state._replace(stores={**state.stores, name: store})


def is_former(state: State, name: str) -> bool:
    """Return whether the store that is taking entries under this name has been closed meanwhile."""
    taking = state.in_progress.taking
    return bool(taking) and taking[-1][0] == name and taking[-1] in state.in_progress.former


@rule(Rule.K_CLOSE_3)
def taking_store(state: State, name: str) -> Store:
    """Return the store that is taking entries under this name, even if it has been closed or opened again meanwhile."""
    return state.in_progress.former[state.in_progress.taking[-1]] if is_former(state, name) else store_of(state, name)


def with_taking_store(state: State, name: str, store: Store) -> State:
    """Return the state with that store."""
    now = state.in_progress
    if not is_former(state, name):
        return with_store(state, name, store)
    return state._replace(in_progress=now._replace(former={**now.former, now.taking[-1]: store}))


def begin_taking(state: State, name: str) -> State:
    """Return the state in which a store begins to take entries."""
    now = state.in_progress
    return state._replace(in_progress=now._replace(taking=(*now.taking, handle_of(state, name))))


def end_taking(state: State) -> State:
    """Return the state in which the innermost store has taken its entries."""
    return state._replace(in_progress=state.in_progress._replace(taking=state.in_progress.taking[:-1]))


def ensure_store(state: State, name: str) -> State:
    """Return the state with that store; from its first use on it is the listener of its namespace."""
    if name in state.stores:
        return state
    return with_store(with_space(state, name, space_of(state, name)._replace(listener=OF_STORE)), name, Store())


def build_store_node(key: str, value: str | None, is_dirty: bool, number: int) -> Node:
    """Return an entry as a caching store writes it."""
    return Node(value, is_dirty, size_bytes(key, value, "", ()), Context(), number)


@rule(Rule.K_STORE_1, Rule.K_STORE_2)
def write_underlying(inner: Mapping[str, str], key: str, value: str | None) -> Mapping[str, str]:
    """Return the underlying store with this value; None: without the key."""
    remaining = {other: remaining for other, remaining in inner.items() if other != key}
    return remaining if value is None else {**remaining, key: value}


@rule(Rule.K_WINDOW_5, Rule.K_WINDOW_6, Rule.K_WINDOW_15)
def is_dropped(store: Store, name: str, config: Config) -> bool:
    """Return whether an entry is read by nothing, and dropped when its turn comes: an expired window.

    Variant `expired_windows` "cached": a cached entry counts, whatever its age.
    """
    return config.variants.expired_windows is ExpiredWindows.GONE and is_expired(store, name)


@rule(Rule.K_STORE_3, Rule.K_WINDOW_6, Rule.K_WINDOW_10)
def takes_write(store: Store, name: str, node: Node, config: Config) -> bool:
    """Return whether an entry is written and forwarded: not the tombstone of what is not there, nor an expired window.

    A store that nobody listens to writes those tombstones too.
    """
    is_known = is_accepted(store, name, node) or not store.settings.listens
    return is_known and not is_dropped(store, name, config)


@rule(Rule.K_STORE_2, Rule.K_WINDOW_15)
def write_below(store: Store, name: str, value: str | None, config: Config) -> Store:
    """Return the store with this value in the underlying store.

    Variant `expired_windows` "cached": the underlying store knows the times that were written to it, and takes nothing
    that has expired by them.
    """
    is_of_keys = store.settings.kind is StoreKind.KEY_VALUE
    if not is_of_keys and config.variants.expired_windows is ExpiredWindows.CACHED:
        store = advance_time(store, parse_window(name).end)
        if is_expired(store, name):
            return store
    return store._replace(inner=write_underlying(store.inner, name, value))


@rule(Rule.K_STORE_1, Rule.K_STORE_2, Rule.K_STORE_3, Rule.K_STORE_4, Rule.K_FAIL_4)
def receive(state: State, name: str, entries: tuple[tuple[str, Node], ...], config: Config, env: Environment) -> State:
    """Return the state after a caching store received its dirty entries.

    All entries go to the underlying store before any is forwarded, so that the steps downstream meet a store with the
    last write of every key. A tombstone of a key that the underlying store lacks goes nowhere, and neither does an
    expired window. A write that a later forwarded write has overtaken is not forwarded. Variant `delivery`: each entry
    is written and forwarded before the next one.
    """
    if config.variants.delivery is Delivery.ONE_BY_ONE:
        return receive_one_by_one(state, name, entries, config, env)
    after = begin_taking(state, name)
    accepted: tuple[tuple[str, Node], ...] = ()
    for key, node in entries:
        store = taking_store(after, name)
        if takes_write(store, key, node, config):
            accepted += ((key, node),)
            after = with_taking_store(after, name, write_below(store, key, node.value, config))
    taken = end_taking(forward_accepted(after, name, accepted, config, env))
    return owe_forwards(state, taken, name, entries, config) if taken.in_progress.has_thrown else taken


@rule(Rule.K_STORE_3, Rule.K_FAIL_4)
def forward_accepted(
    state: State, name: str, accepted: tuple[tuple[str, Node], ...], config: Config, env: Environment
) -> State:
    """Return the state after a store has forwarded what it has written below, but for what was overtaken meanwhile."""
    after = state
    for key, node in accepted:
        store = taking_store(after, name)
        is_overtaken = store.forwarded_writes.get(key, -1) >= node.write
        if not is_overtaken and not is_dropped(store, key, config) and not after.in_progress.has_thrown:
            after = forward_entry(after, name, key, node, config, env)
    return after


@rule(Rule.K_STORE_9, Rule.K_STORE_3, Rule.K_FAIL_4)
def receive_one_by_one(
    state: State, name: str, entries: tuple[tuple[str, Node], ...], config: Config, env: Environment
) -> State:
    """Return the state after a store received entries as the releases do, one after another.

    The steps downstream meet an underlying store that lacks the entries after this one. The cached copies are clean by
    then, so evicting one of them brings back the older value until its turn comes. Its turn also comes if a later write
    of the key has overtaken it.
    """
    after = begin_taking(state, name)
    for key, node in entries:
        store = taking_store(after, name)
        if takes_write(store, key, node, config) and not after.in_progress.has_thrown:
            below = write_below(store, key, node.value, config)
            after = forward_entry(with_taking_store(after, name, below), name, key, node, config, env)
    taken = end_taking(after)
    return owe_forwards(state, taken, name, entries, config) if taken.in_progress.has_thrown else taken


@rule(Rule.K_STORE_3, Rule.K_FAIL_2)
def is_accepted(store: Store, key: str, node: Node) -> bool:
    """Return whether a store writes and forwards an entry: a value, or the deletion of what lies below or is owed."""
    return node.value is not None or key in store.inner or key in store.owed


@rule(Rule.K_FAIL_2)
def owe_forwards(
    before: State, after: State, name: str, entries: tuple[tuple[str, Node], ...], config: Config
) -> State:
    """Return the state after a forward has thrown, in which the next flush forwards these entries again.

    That includes deletions of what lay below. Earlier writes of their keys stay overtaken. A store whose namespace has
    been closed or given away owes nothing.
    """
    listener = space_of(after, name).listener
    is_own = listener is not None and listener.of_store and is_still_open(after, handle_of(before, name))
    if not is_own or config.variants.failed_flush is FailedFlush.CLEAN:
        return after
    former, store = store_of(before, name), store_of(after, name)
    deleted = tuple(key for key, node in entries if node.value is None and is_accepted(former, key, node))
    owed = (*store.owed, *(key for key in deleted if key not in store.owed))
    again = {(key, node.write) for key, node in entries}
    writes = {key: write - ((key, write) in again) for key, write in store.forwarded_writes.items()}
    return with_store(after, name, store._replace(forwarded_writes=writes, owed=owed))


@rule(Rule.K_OLD_1, Rule.K_OLD_2)
def old_value(state: State, name: str, key: str) -> str | None | Absent:
    """Return the value that a store forwarded last for a key, None without one; absent if it forwards no old values."""
    store = taking_store(state, name)
    return store.forwarded.get(key) if store.old_values else ABSENT


@rule(Rule.K_STORE_4, Rule.K_STORE_5)
def forward_entry(state: State, name: str, key: str, node: Node, config: Config, env: Environment) -> State:
    """Forward one entry downstream, and perform the steps that are set for its key."""
    at = len(state.in_progress.forwards)
    store, old = taking_store(state, name), old_value(state, name, key)
    if not store.settings.listens:
        return state
    is_known = store.old_values and not is_expired(store, key)
    forwarded = write_underlying(store.forwarded, key, node.value) if is_known else store.forwarded
    writes = {**store.forwarded_writes, key: node.write}
    noted = with_taking_store(state, name, store._replace(forwarded_writes=writes, forwarded=forwarded))
    forward = build_forward(store, name, key, node.value, old)
    started = with_forwards(noted, (*noted.in_progress.forwards, forward))
    if store.failing.get(forward.key, 0) > 0:
        return throw(started, name, forward.key)
    started = with_taking_store(started, name, taking_store(started, name)._replace(owed=without_key(store.owed, key)))
    after, answers = perform_steps(started, store.downstream.get(forward.key, ()), config, env)
    forwards = after.in_progress.forwards
    return with_forwards(after, (*forwards[:at], replace(forward, inner=answers), *forwards[at + 1 :]))


@rule(Rule.K_WINDOW_8)
def build_forward(store: Store, name: str, key: str, value: str | None, old: str | None | Absent) -> Forward:
    """Return an entry as it is forwarded; a window has its key and its times."""
    if store.settings.kind is StoreKind.KEY_VALUE:
        return Forward(name, key, value, (), old)
    window = parse_window(key)
    end = window.end if store.settings.kind is StoreKind.SESSION else ABSENT
    return Forward(name, window.key, value, (), old, window.start, end)


@rule(Rule.K_FAIL_1)
def throw(state: State, name: str, key: str) -> State:
    """Return the state after a forward that throws before its steps: one fewer will throw."""
    store = taking_store(state, name)
    left = with_failures(store, key, store.failing[key] - 1)
    called = count_call(with_taking_store(state, name, store._replace(failing=left)))
    return called._replace(in_progress=called.in_progress._replace(has_thrown=True))


def with_forwards(state: State, forwards: tuple[Forward, ...]) -> State:
    """Return the state with these entries forwarded downstream in the step in progress."""
    return state._replace(in_progress=state.in_progress._replace(forwards=forwards))


@rule(Rule.K_STORE_1)
def store_put(state: State, event: ops.StorePut, config: Config, env: Environment) -> tuple[State, Answer]:
    """Write one value: a dirty entry."""
    there = ensure_store(state, event.store)
    node = build_store_node(event.key, event.value, True, there.writes)
    return with_answer(put_node(there, event.store, event.key, node, config, env), Done())


@rule(Rule.K_STORE_1)
def find_value(state: State, name: str, key: str) -> tuple[State, str | None]:
    """Return the last write of a key: that of the cache, where a tombstone hides, else of the underlying store."""
    counted = ensure_store(state, name)._replace(gets=state.gets + 1)
    after = look_up(counted, name, key) if name in counted.spaces else counted
    cached = space_of(after, name).nodes.get(key)
    return after, store_of(after, name).inner.get(key) if cached is None else cached.value


@rule(Rule.K_STORE_1, Rule.K_STORE_6)
def read_value(state: State, name: str, key: str, config: Config, env: Environment) -> tuple[Change, str | None]:
    """Return the last write of a key; a value from the underlying store is cached, clean."""
    # GUARD: none.
    # DECISION: only a value that the underlying store has and the cache lacks is cached.
    after, value = find_value(state, name, key)
    if value is None or key in space_of(after, name).nodes:
        return Change(after), value

    # EFFECT: the write may evict, even itself.
    # OUTCOME
    return put_node(after, name, key, build_store_node(key, value, False, after.writes), config, env), value


@rule(Rule.K_STORE_1, Rule.K_STORE_6)
def store_get(state: State, event: ops.StoreGet, config: Config, env: Environment) -> tuple[State, Answer]:
    """Read one value."""
    change, value = read_value(state, event.store, event.key, config, env)
    return with_answer(change, Value(value))


@rule(Rule.K_STORE_7, Rule.K_STORE_10)
def read_to_delete(state: State, name: str, key: str, config: Config, env: Environment) -> tuple[Change, str | None]:
    """Return the answer of a deletion. Variant `delete_read` reads like `store_get`, which may evict and forward."""
    if config.variants.delete_read is DeleteRead.CACHED:
        return read_value(state, name, key, config, env)
    after, value = find_value(state, name, key)
    return Change(after), value


@rule(Rule.K_STORE_1, Rule.K_STORE_7)
def store_delete(state: State, event: ops.StoreDelete, config: Config, env: Environment) -> tuple[State, Answer]:
    """Delete one key: a read that caches nothing, then a tombstone, with no step between the two."""
    change, value = read_to_delete(state, event.store, event.key, config, env)
    if change.error is None:
        node = build_store_node(event.key, None, True, change.state.writes)
        change = put_node(change.state, event.store, event.key, node, config, env)
    return with_answer(change, Value(value))


@rule(Rule.K_STORE_11)
def merge_as_released(keys: tuple[str, ...], nodes: Mapping[str, Node], inner: Mapping[str, str]) -> tuple[Pair, ...]:
    """Return the entries of a view of these keys under `view_tombstone` "dropped".

    While an entry of the underlying store is next, the tombstones that are next in the cache are dropped. They do not
    hide their keys, which come after that entry.
    """
    entries: tuple[Pair, ...] = ()
    is_dropped = False
    for key in keys:
        if key not in nodes:
            entries += ((key, inner[key]),)
            is_dropped = True
        elif nodes[key].value is not None:
            entries += ((key, nodes[key].value),)
            is_dropped = False
        elif is_dropped and key in inner:
            entries += ((key, inner[key]),)
    return entries


@rule(Rule.K_STORE_8)
def list_merged_view(
    state: State, name: str, first: str | None, last: str | None, config: Config
) -> tuple[State, Answer]:
    """Return cache and underlying store as one view: the cache wins, and its tombstones hide."""
    after = ensure_store(state, name)
    below = store_of(after, name).inner
    view: dict[str, str | None] = {key: value for key, value in below.items() if is_between(key, first, last, True)}
    for key in keys_between(after, name, first, last, True):
        view[key] = space_of(after, name).nodes[key].value
        after = look_up(after, name, key)
    if config.variants.view_tombstone is ViewTombstone.DROPPED:
        return after, Listing(merge_as_released(sort_by_bytes(tuple(view)), space_of(after, name).nodes, below))
    return after, Listing(tuple((key, view[key]) for key in sort_by_bytes(tuple(view)) if view[key] is not None))


@rule(Rule.K_STORE_8)
def store_range(state: State, event: ops.StoreRange, config: Config, env: Environment) -> tuple[State, Answer]:
    """Read a range, both ends included."""
    return list_merged_view(state, event.store, event.from_, event.to, config)


@rule(Rule.K_STORE_8)
def store_all(state: State, event: ops.StoreAll, config: Config, env: Environment) -> tuple[State, Answer]:
    """Read every key."""
    return list_merged_view(state, event.store, None, None, config)


@rule(Rule.K_STORE_2)
def store_flush(state: State, event: ops.StoreFlush, config: Config, env: Environment) -> tuple[State, Answer]:
    """Write everything dirty to the underlying store, and forward it."""
    return flush(ensure_store(state, event.store), ops.Flush(event.store), config, env)


@rule(Rule.K_STORE_2)
def store_inner(state: State, event: ops.StoreInner, config: Config, env: Environment) -> tuple[State, Answer]:
    """Return the content of the underlying store, by key."""
    after = ensure_store(state, event.store)
    inner = store_of(after, event.store).inner
    return after, Listing(tuple((key, inner[key]) for key in sort_by_bytes(tuple(inner))))


@rule(Rule.K_STORE_5)
def on_forward(state: State, event: ops.OnForward, config: Config, env: Environment) -> tuple[State, Answer]:
    """Set the steps to take downstream for a key from now on."""
    after = ensure_store(state, event.store)
    store = store_of(after, event.store)
    downstream = {**store.downstream, event.key: event.steps}
    return with_store(after, event.store, store._replace(downstream=downstream)), Done()


@rule(Rule.K_FAIL_1)
def fail_forward(state: State, event: FailForward, config: Config, env: Environment) -> tuple[State, Answer]:
    """Let the next forwards of a key throw."""
    after = ensure_store(state, event.store)
    store = store_of(after, event.store)
    return with_store(after, event.store, store._replace(failing=with_failures(store, event.key, event.n))), Done()


def with_failures(store: Store, key: str, forwards: int) -> Mapping[str, int]:
    """Return how many forwards of each key throw, with this number for one key; 0: the key is not listed."""
    others = {other: left for other, left in store.failing.items() if other != key}
    return {**others, key: forwards} if forwards > 0 else others


@rule(Rule.K_SHARE_1)
def share(state: State, event: ops.Share, config: Config, env: Environment) -> tuple[State, Answer]:
    """Return the bytes of one thread's cache: equal shares, one for the global thread; without threads all."""
    takers = event.threads + (1 if event.global_thread else 0)
    return state, Shared(event.total_bytes if event.threads == 0 else event.total_bytes // takers)
