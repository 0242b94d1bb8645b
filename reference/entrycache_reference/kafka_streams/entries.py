"""Writes and lookups: the operations `put`, `put_all`, `put_if_absent`, `delete`, `get`, the ranges, and the counters.

A write makes its entry the most recent one and then pays for the overflow: `maybe_evict` evicts from the written
namespace while the total is above the limit. A lookup counts as a hit or a miss, and a hit makes its key the most
recent one. `usage` and `metrics` report sums and counters.

Beside: ThreadCache.put, .putAll, .putIfAbsent, .maybeEvict, .getOrCreateCache, .delete (kafka-streams 4.3.1)
Beside: ThreadCache.get, .range, .MemoryLRUCacheBytesIterator, NamedCache.keyRange (kafka-streams 4.3.1)
"""

from entrycache_reference.kafka_streams import ops, outcomes
from entrycache_reference.kafka_streams.change import (
    book_bytes,
    can_evict,
    handle_of,
    limited_bytes,
    look_up_key,
    remove_key,
    size_bytes,
    sort_by_bytes,
    write_key,
)
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.flush import Environment, evict_eldest
from entrycache_reference.kafka_streams.state import (
    Change,
    Node,
    State,
    space_of,
    total_bytes,
    with_entry_event,
    with_space,
)
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT


def ensure_namespace(state: State, ns: str) -> State:
    """Return the state with that namespace, opened if necessary."""
    return state if ns in state.spaces else with_space(state, ns, space_of(state, ns))


def build_node(write: ops.Put | ops.PutIfAbsent | ops.Write, number: int) -> Node:
    """Return the entry that a write makes."""
    context = outcomes.Context(
        None if write.timestamp is ABSENT else write.timestamp,
        None if write.offset is ABSENT else write.offset,
        None if write.partition is ABSENT else write.partition,
    )
    size = size_bytes(write.key, write.value, write.topic, write.headers)
    return Node(write.value, write.dirty, size, context, number)


@rule(Rule.K_PUT_1, Rule.K_PUT_2, Rule.K_PUT_3)
def write_node(state: State, ns: str, key: str, node: Node) -> State:
    """Return the state with one entry written."""
    after = with_space(state, ns, write_key(space_of(state, ns), key, node))
    return with_entry_event(after._replace(writes=state.writes + 1), Rule.K_PUT_1, "PUT", ns, key, node)


@rule(Rule.K_EVICT_4, Rule.K_EVICT_5, Rule.K_EVICT_6)
def maybe_evict(state: State, ns: str, config: Config, env: Environment) -> Change:
    """Evict from the written namespace while the total is above the limit and it holds entries."""
    after, handle = state, handle_of(state, ns)
    while limited_bytes(after, config) > after.max_size_bytes and can_evict(after, handle, config):
        change = evict_eldest(after, ns, config, env)
        if change.error is not None:
            return change
        settled = book_bytes(after, change.state, handle, config)
        after = settled._replace(evicts=settled.evicts + 1)
    return Change(after)


@rule(Rule.K_PUT_1, Rule.K_PUT_4, Rule.K_PUT_5)
def put_node(state: State, ns: str, key: str, node: Node, config: Config, env: Environment) -> Change:
    """Write one entry and let the namespace pay for the overflow."""
    # GUARD: a clean write must not hide a dirty one; the attempt counts.
    counted = ensure_namespace(state, ns)._replace(puts=state.puts + 1)
    if not node.is_dirty and key in space_of(counted, ns).dirty:
        return Change(counted, outcomes.ErrorKind.ILLEGAL_STATE)

    # DECISION: none.
    # EFFECT: the write, then the overflow, which may evict it again.
    # OUTCOME
    written = book_bytes(counted, write_node(counted, ns, key, node), handle_of(counted, ns), config)
    return maybe_evict(written, ns, config, env)


def with_answer(change: Change, answer: outcomes.Answer) -> tuple[State, outcomes.Answer]:
    """Return the state with the answer, or with the error."""
    return change.state, answer if change.error is None else outcomes.Failed(change.error)


@rule(Rule.K_PUT_1, Rule.K_PUT_4)
def put(state: State, event: ops.Put, config: Config, env: Environment) -> tuple[State, outcomes.Answer]:
    """Write one entry."""
    node = build_node(event, state.writes)
    return with_answer(put_node(state, event.ns, event.key, node, config, env), outcomes.Done())


@rule(Rule.K_PUT_6)
def put_all(state: State, event: ops.PutAll, config: Config, env: Environment) -> tuple[State, outcomes.Answer]:
    """Write entries one by one; what was written before an error stays."""
    after = state
    for write in event.entries:
        change = put_node(after, event.ns, write.key, build_node(write, after.writes), config, env)
        if change.error is not None:
            return change.state, outcomes.Failed(change.error)
        after = change.state
    return after, outcomes.Done()


@rule(Rule.K_PUT_7, Rule.K_PUT_8)
def put_if_absent(
    state: State, event: ops.PutIfAbsent, config: Config, env: Environment
) -> tuple[State, outcomes.Answer]:
    """Write one entry unless its key is cached. The lookup counts, and the overflow is paid either way."""
    # GUARD: none.
    # DECISION: the lookup.
    there = ensure_namespace(state, event.ns)
    cached = space_of(there, event.ns).nodes.get(event.key)
    after = look_up(there, event.ns, event.key)

    # EFFECT: the write counts when its evictions are done.
    if cached is None and not event.dirty and event.key in space_of(after, event.ns).dirty:
        return after, outcomes.Failed(outcomes.ErrorKind.ILLEGAL_STATE)
    if cached is None:
        written = write_node(after, event.ns, event.key, build_node(event, after.writes))
        after = book_bytes(after, written, handle_of(after, event.ns), config)
    change = maybe_evict(after, event.ns, config, env)
    if change.error is None and cached is None:
        change = Change(change.state._replace(puts=change.state.puts + 1))

    # OUTCOME
    return with_answer(change, outcomes.Offered(cached is not None, None if cached is None else cached.value))


@rule(Rule.K_GET_1, Rule.K_GET_2)
def look_up(state: State, ns: str, key: str) -> State:
    """Return the state after one lookup in an existing namespace."""
    node = space_of(state, ns).nodes.get(key)
    after = with_space(state, ns, look_up_key(space_of(state, ns), key))
    return with_entry_event(after, Rule.K_GET_1, "MISS" if node is None else "HIT", ns, key, node, "GET")


@rule(Rule.K_DELETE_1, Rule.K_DELETE_2)
def delete(state: State, event: ops.Delete, config: Config, env: Environment) -> tuple[State, outcomes.Answer]:
    """Remove one key, without a call and without counting."""
    # GUARD: an uncached key cannot be removed.
    node = space_of(state, event.ns).nodes.get(event.key)
    if node is None:
        return state, outcomes.Deleted(False, None)

    # DECISION: none.
    # EFFECT
    after = with_space(state, event.ns, remove_key(space_of(state, event.ns), event.key))

    # OUTCOME
    after = book_bytes(state, after, handle_of(state, event.ns), config)
    return with_entry_event(after, Rule.K_DELETE_1, "DELETE", event.ns, event.key, node, "CALL"), outcomes.Deleted(
        True, node.value
    )


# Lookups and counters.


@rule(Rule.K_GET_1, Rule.K_GET_2, Rule.K_GET_3, Rule.K_GET_4)
def get(state: State, event: ops.Get, config: Config, env: Environment) -> tuple[State, outcomes.Answer]:
    """Look one key up."""
    # GUARD: no key, or no such namespace: a miss that only the thread counts.
    counted = state._replace(gets=state.gets + 1)
    if event.key is None or event.ns not in state.spaces:
        return counted, outcomes.Lookup(False, None)

    # DECISION: a hit exactly when the key is cached, also as a tombstone.
    node = space_of(state, event.ns).nodes.get(event.key)

    # EFFECT and OUTCOME
    return look_up(counted, event.ns, event.key), outcomes.Lookup(
        node is not None, None if node is None else node.value
    )


@rule(Rule.K_RANGE_1)
def is_between(key: str, first: str | None, last: str | None, last_inclusive: bool) -> bool:
    """Return whether a key lies between two bounds, compared by bytes; None: unbounded."""
    at = key.encode("utf-8", "surrogatepass")
    if first is not None and at < first.encode("utf-8", "surrogatepass"):
        return False
    if last is None:
        return True
    end = last.encode("utf-8", "surrogatepass")
    return at < end or (last_inclusive and at == end)


@rule(Rule.K_RANGE_1, Rule.K_RANGE_2)
def list_entries(state: State, ns: str, keys: tuple[str, ...]) -> tuple[State, outcomes.Answer]:
    """Iterate these keys to the end: each lookup makes its key the most recent one."""
    after = state
    entries: tuple[tuple[str, str | None], ...] = ()
    for key in keys:
        entries += ((key, space_of(after, ns).nodes[key].value),)
        after = look_up(after, ns, key)
    return after, outcomes.Listing(entries)


def keys_between(state: State, ns: str, first: str | None, last: str | None, last_inclusive: bool) -> tuple[str, ...]:
    """Return the cached keys between two bounds, ascending."""
    keys = sort_by_bytes(tuple(space_of(state, ns).nodes))
    return tuple(key for key in keys if is_between(key, first, last, last_inclusive))


@rule(Rule.K_RANGE_1, Rule.K_RANGE_2)
def range_(state: State, event: ops.Range, config: Config, env: Environment) -> tuple[State, outcomes.Answer]:
    """Look up a range, ascending."""
    return list_entries(state, event.ns, keys_between(state, event.ns, event.from_, event.to, event.to_inclusive))


@rule(Rule.K_RANGE_3)
def reverse_range(
    state: State, event: ops.ReverseRange, config: Config, env: Environment
) -> tuple[State, outcomes.Answer]:
    """Look up a range, descending, both ends included."""
    return list_entries(state, event.ns, keys_between(state, event.ns, event.from_, event.to, True)[::-1])


@rule(Rule.K_RANGE_1, Rule.K_RANGE_2)
def all_(state: State, event: ops.All, config: Config, env: Environment) -> tuple[State, outcomes.Answer]:
    """Look up every key, ascending."""
    return list_entries(state, event.ns, keys_between(state, event.ns, None, None, True))


@rule(Rule.K_RANGE_3)
def reverse_all(state: State, event: ops.ReverseAll, config: Config, env: Environment) -> tuple[State, outcomes.Answer]:
    """Look up every key, descending."""
    return list_entries(state, event.ns, keys_between(state, event.ns, None, None, True)[::-1])


@rule(Rule.K_METRICS_1)
def usage(state: State, event: ops.Usage, config: Config, env: Environment) -> tuple[State, outcomes.Answer]:
    """Return entries and bytes of one namespace or of all: exact sums, and for all the total the limit applies to."""
    if event.ns is ABSENT:
        entries = sum(len(space.nodes) for space in state.spaces.values())
        return state, outcomes.Used(entries, total_bytes(state), limited_bytes(state, config))
    nodes = space_of(state, event.ns).nodes
    return state, outcomes.Used(len(nodes), sum(node.size_bytes for node in nodes.values()))


@rule(Rule.K_METRICS_2, Rule.K_METRICS_3, Rule.K_VIEW_7)
def metrics(state: State, event: ops.Metrics, config: Config, env: Environment) -> tuple[State, outcomes.Answer]:
    """Return the counters of the thread, or of one namespace, whose order of use is certain from then on."""
    if event.ns is ABSENT:
        return state, outcomes.ThreadCounters(state.puts, state.gets, state.evicts, state.flushes)
    space = space_of(state, event.ns)
    counters = (space.hits, space.misses, space.overwrites, space.flushes)
    after = with_space(state, event.ns, space._replace(is_loose=False)) if space.is_loose else state
    return after, outcomes.NamespaceCounters(*counters, space.dirty, space.recent)
