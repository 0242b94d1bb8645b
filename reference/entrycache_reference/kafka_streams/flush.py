"""Dirty entries go to the listener of their namespace: by a flush, or because the eldest is evicted.

Beside: NamedCache.flush, .evict (kafka-streams 4.3.1)
"""

from __future__ import annotations

from typing import Final

from entrycache_reference.kafka_streams.config import Config, FlushedTombstone
from entrycache_reference.kafka_streams.environment import Environment
from entrycache_reference.kafka_streams.listeners import call_listener, call_of, counted_call, with_calls
from entrycache_reference.kafka_streams.named_cache import cleaned, removed
from entrycache_reference.kafka_streams.outcomes import ErrorKind
from entrycache_reference.kafka_streams.running import held
from entrycache_reference.kafka_streams.state import Change, Node, Space, State, space_of, told, with_space
from entrycache_reference.kafka_streams.undelivered import interrupted, refused, unheard, without_keys
from entrycache_reference.rules import Rule, rule

NO_LISTENER: Final = ErrorKind.ILLEGAL_ARGUMENT

Entries = tuple[tuple[str, Node], ...]
"""Keys with their entries, in the order in which a listener gets them."""


@rule(Rule.K_FLUSH_1, Rule.K_FLUSH_2, Rule.K_FLUSH_3, Rule.K_FLUSH_4, Rule.K_FLUSH_5, Rule.K_LISTEN_4)
def flush_dirty(state: State, ns: str, evicted: str | None, config: Config, env: Environment) -> Change:
    """Hand every dirty entry of a namespace to its listener; `evicted`: that one leaves the cache and comes first."""
    # GUARD: without a listener nothing is looked up and nothing is lost.
    space = space_of(state, ns)
    counted = with_space(state, ns, space._replace(flushes=space.flushes + 1))
    if space.listener is None:
        return Change(unheard(missed(counted, ns, evicted), ns, evicted, config), NO_LISTENER)

    # DECISION: the evicted entry first, then every other dirty one in the order of their writes.
    keys = flushed_keys(space, evicted)
    if not keys:
        return Change(counted)
    if any(key not in space.nodes for key in keys):
        return Change(interrupted(counted, ns, evicted, config), ErrorKind.ILLEGAL_STATE)
    entries = tuple((key, space.nodes[key]) for key in keys)
    looked_up = len(keys) if evicted is None else len(keys) - 1
    space = space._replace(flushes=space.flushes + 1, hits=space.hits + looked_up)

    # EFFECT: a listener that throws leaves everything as it was.
    if space.listener is not None and space.listener.fails > 0:
        tried = thrown(state, ns, space, entries)
        return Change(refused(missed(tried, ns, evicted), ns, evicted, config), ErrorKind.LISTENER_FAILED)

    # EFFECT: during the call the evicted entry is out of the cache, and the others are clean.
    left = space if evicted is None else removed(space, evicted)
    after = with_space(state, ns, cleaned(left))
    after = taken(after, ns, evicted, entries, config, env)

    # OUTCOME: tombstones have served their purpose, unless the key was written again meanwhile.
    if config.variants.flushed_tombstone is FlushedTombstone.ANY_WRITE:
        deleted = tuple(key for key, node in entries if node.value is None and key != evicted)
        return Change(without_keys(after, held(state, ns), deleted))
    return Change(without_tombstones(after, ns, entries))


@rule(Rule.K_FLUSH_1, Rule.K_EVICT_3)
def flushed_keys(space: Space, evicted: str | None) -> tuple[str, ...]:
    """The keys that a flush hands over: the evicted one first, the dirty ones in the order of their writes."""
    others = tuple(key for key in space.dirty if key != evicted)
    return others if evicted is None else (evicted, *others)


@rule(Rule.K_LISTEN_4)
def thrown(state: State, ns: str, space: Space, entries: Entries) -> State:
    """The state after a call that throws: the call is recorded, and there is one fewer to throw."""
    assert space.listener is not None
    heard = space._replace(listener=space.listener._replace(fails=space.listener.fails - 1))
    tried = counted_call(with_space(state, ns, heard))
    return with_calls(tried, (*tried.under_way.calls, call_of(ns, entries)))


def taken(state: State, ns: str, evicted: str | None, entries: Entries, config: Config, env: Environment) -> State:
    """The state after the listener took these entries: that of a caching store, or one that was registered."""
    listener = space_of(state, ns).listener
    assert listener is not None
    after = state
    if evicted is not None:
        after = told(after, Rule.K_EVICT_3, "EVICT", ns, evicted, entries[0][1])
    for key, node in entries:
        after = told(after, Rule.K_FLUSH_1, "FLUSH", ns, key, node, "EVICT" if key == evicted else "CALL")
    if listener.of_store:
        return env.receive(after, ns, entries, config, env)
    return call_listener(after, ns, listener, entries, config, env)


def missed(state: State, ns: str, evicted: str | None) -> State:
    """The events of entries that are not handed over."""
    space = space_of(state, ns)
    after = state
    for key in flushed_keys(space, evicted):
        if key in space.nodes:
            after = told(after, Rule.K_FLUSH_3, "FLUSH", ns, key, space.nodes[key], "FAILED")
    return after


@rule(Rule.K_FLUSH_4)
def without_tombstones(state: State, ns: str, entries: Entries) -> State:
    """The state without those tombstones that are still the very writes that were handed over."""
    after = state
    for key, node in entries:
        now = space_of(after, ns).nodes.get(key)
        if node.value is None and now is not None and now.write == node.write:
            after = with_space(after, ns, removed(space_of(after, ns), key))
            after = told(after, Rule.K_FLUSH_4, "DELETE", ns, key, now, "FLUSH")
    return after


@rule(Rule.K_EVICT_1, Rule.K_EVICT_2, Rule.K_EVICT_3)
def evict_eldest(state: State, ns: str, config: Config, env: Environment) -> Change:
    """Evict the eldest entry of a namespace; a clean one is dropped, a dirty one is handed over."""
    # GUARD: where nothing is cached nothing is evicted.
    space = space_of(state, ns)
    if not space.recent:
        return Change(state)

    # DECISION: the least recently used key.
    key = space.recent[-1]
    node = space.nodes[key]
    if node.is_dirty:
        return flush_dirty(state, ns, key, config, env)

    # EFFECT and OUTCOME: among the dirty keys it is not, but under a variant that lost the entry of another one.
    after = with_space(state, ns, removed(space, key)._replace(dirty=space.dirty))
    return Change(told(after, Rule.K_EVICT_2, "EVICT", ns, key, node))
