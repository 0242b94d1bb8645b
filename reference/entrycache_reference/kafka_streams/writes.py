"""The operations `put`, `put_all`, `put_if_absent`, `delete`: what changes entries, and the overflow that follows.

Beside: ThreadCache.put, .putAll, .putIfAbsent, .maybeEvict, .getOrCreateCache, .delete (kafka-streams 4.3.1)
"""

from __future__ import annotations

from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.environment import Environment
from entrycache_reference.kafka_streams.flush import evict_eldest
from entrycache_reference.kafka_streams.named_cache import looked_up, removed, written
from entrycache_reference.kafka_streams.ops import Delete, Put, PutAll, PutIfAbsent, Write
from entrycache_reference.kafka_streams.outcomes import Answer, Context, Deleted, Done, ErrorKind, Failed, Offered
from entrycache_reference.kafka_streams.running import booked, held, holds_entries, limited_bytes
from entrycache_reference.kafka_streams.size import size_bytes
from entrycache_reference.kafka_streams.state import Change, Node, State, space_of, told, with_space
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT


def opened(state: State, ns: str) -> State:
    """The state with that namespace there."""
    return state if ns in state.spaces else with_space(state, ns, space_of(state, ns))


def node_of(write: Put | PutIfAbsent | Write, number: int) -> Node:
    """The entry that a write makes."""
    context = Context(
        None if write.timestamp is ABSENT else write.timestamp,
        None if write.offset is ABSENT else write.offset,
        None if write.partition is ABSENT else write.partition,
    )
    size = size_bytes(write.key, write.value, write.topic, write.headers)
    return Node(write.value, write.dirty, size, context, number)


@rule(Rule.K_PUT_1, Rule.K_PUT_2, Rule.K_PUT_3)
def write_node(state: State, ns: str, key: str, node: Node) -> State:
    """The state with one entry written."""
    after = with_space(state, ns, written(space_of(state, ns), key, node))
    return told(after._replace(writes=state.writes + 1), Rule.K_PUT_1, "PUT", ns, key, node)


@rule(Rule.K_EVICT_4, Rule.K_EVICT_5, Rule.K_EVICT_6)
def maybe_evict(state: State, ns: str, config: Config, env: Environment) -> Change:
    """Evict from the namespace that was written while the total is above the limit and it holds entries."""
    after, own = state, held(state, ns)
    while limited_bytes(after, config) > after.max_size_bytes and holds_entries(after, own, config):
        done = evict_eldest(after, ns, config, env)
        if done.error is not None:
            return done
        settled = booked(after, done.state, own, config)
        after = settled._replace(evicts=settled.evicts + 1)
    return Change(after)


@rule(Rule.K_PUT_1, Rule.K_PUT_4, Rule.K_PUT_5)
def put_node(state: State, ns: str, key: str, node: Node, config: Config, env: Environment) -> Change:
    """Write one entry and let the namespace pay for the overflow."""
    # GUARD: a clean write must not hide a dirty one; the attempt counts.
    counted = opened(state, ns)._replace(puts=state.puts + 1)
    if not node.is_dirty and key in space_of(counted, ns).dirty:
        return Change(counted, ErrorKind.ILLEGAL_STATE)

    # DECISION: none.
    # EFFECT: the write, then the overflow, which may take it again.
    # OUTCOME
    wrote = booked(counted, write_node(counted, ns, key, node), held(counted, ns), config)
    return maybe_evict(wrote, ns, config, env)


def answered(change: Change, answer: Answer) -> tuple[State, Answer]:
    """The state with the answer, or with the error."""
    return change.state, answer if change.error is None else Failed(change.error)


@rule(Rule.K_PUT_1, Rule.K_PUT_4)
def put(state: State, event: Put, config: Config, env: Environment) -> tuple[State, Answer]:
    """Write one entry."""
    node = node_of(event, state.writes)
    return answered(put_node(state, event.ns, event.key, node, config, env), Done())


@rule(Rule.K_PUT_6)
def put_all(state: State, event: PutAll, config: Config, env: Environment) -> tuple[State, Answer]:
    """Write entries one by one; what was written before an error stays."""
    after = state
    for write in event.entries:
        done = put_node(after, event.ns, write.key, node_of(write, after.writes), config, env)
        if done.error is not None:
            return done.state, Failed(done.error)
        after = done.state
    return after, Done()


@rule(Rule.K_PUT_7, Rule.K_PUT_8)
def put_if_absent(state: State, event: PutIfAbsent, config: Config, env: Environment) -> tuple[State, Answer]:
    """Write one entry unless the key is there. The lookup counts, and the overflow is paid either way."""
    # GUARD: none.
    # DECISION: the lookup.
    there = opened(state, event.ns)
    found = space_of(there, event.ns).nodes.get(event.key)
    after = looked(there, event.ns, event.key)

    # EFFECT: the write counts when its evictions are done.
    if found is None and not event.dirty and event.key in space_of(after, event.ns).dirty:
        return after, Failed(ErrorKind.ILLEGAL_STATE)
    if found is None:
        wrote = write_node(after, event.ns, event.key, node_of(event, after.writes))
        after = booked(after, wrote, held(after, event.ns), config)
    done = maybe_evict(after, event.ns, config, env)
    if done.error is None and found is None:
        done = Change(done.state._replace(puts=done.state.puts + 1))

    # OUTCOME
    return answered(done, Offered(found is not None, None if found is None else found.value))


@rule(Rule.K_GET_1, Rule.K_GET_2)
def looked(state: State, ns: str, key: str) -> State:
    """The state after one lookup in a namespace that is there."""
    node = space_of(state, ns).nodes.get(key)
    after = with_space(state, ns, looked_up(space_of(state, ns), key))
    return told(after, Rule.K_GET_1, "MISS" if node is None else "HIT", ns, key, node, "GET")


@rule(Rule.K_DELETE_1, Rule.K_DELETE_2)
def delete(state: State, event: Delete, config: Config, env: Environment) -> tuple[State, Answer]:
    """Remove one key; nobody is told, nothing is counted."""
    # GUARD: what is not there cannot be removed.
    node = space_of(state, event.ns).nodes.get(event.key)
    if node is None:
        return state, Deleted(False, None)

    # DECISION: none.
    # EFFECT
    after = with_space(state, event.ns, removed(space_of(state, event.ns), event.key))

    # OUTCOME
    after = booked(state, after, held(state, event.ns), config)
    return told(after, Rule.K_DELETE_1, "DELETE", event.ns, event.key, node, "CALL"), Deleted(True, node.value)
