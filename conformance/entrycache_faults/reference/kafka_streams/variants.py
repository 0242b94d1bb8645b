"""Faults about variants."""

from __future__ import annotations

from typing import Any

from entrycache_faults.reference.kafka_streams.planted import planted
from entrycache_reference.kafka_streams import stores, undelivered
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.named_cache import without_key
from entrycache_reference.kafka_streams.running import Held
from entrycache_reference.kafka_streams.state import Change, Node, State, space_of, with_space
from entrycache_reference.rules import Rule


@planted(Rule.K_FLUSH_7, "undelivered.unheard")
def unheard_with_its_key(state: State, ns: str, evicted: str | None, config: Config) -> State:
    """Where an undelivered entry is lost, its key is no longer dirty."""
    after = undelivered.unheard(state, ns, evicted, config)
    space = space_of(after, ns)
    if evicted is None or evicted in space.nodes:
        return after
    return with_space(after, ns, space._replace(dirty=without_key(space.dirty, evicted)))


@planted(Rule.K_FLUSH_8, "undelivered.refused")
def refused_still_listed(state: State, ns: str, evicted: str | None, config: Config) -> State:
    """Where a failed flush leaves entries clean, their keys stay among the dirty ones."""
    after = undelivered.refused(state, ns, evicted, config)
    before, space = space_of(state, ns), space_of(after, ns)
    return with_space(after, ns, space._replace(dirty=tuple(key for key in before.dirty if key in space.nodes)))


@planted(Rule.K_FLUSH_9, "undelivered.without_keys")
def without_deleted_keys(state: State, own: Held, keys: tuple[str, ...]) -> State:
    """Where the key of a tombstone is dropped, a value that was written to it meanwhile stays."""
    nodes = space_of(state, own.ns).nodes
    return undelivered.without_keys(state, own, tuple(key for key in keys if key in nodes and nodes[key].value is None))


@planted(Rule.K_METRICS_4, "namespaces.booked")
def booked_nothing(before: State, after: State, *rest: Any) -> State:
    """Where the total is a running one, what is cleared stays in it."""
    return after


@planted(Rule.K_STORE_9, "stores.receive_one_by_one")
def received_unless_overtaken(
    state: State, name: str, entries: tuple[tuple[str, Node], ...], config: Config, env: Any
) -> State:
    """Where entries are passed on one by one, an overtaken one is left out."""
    after = state
    for key, node in entries:
        if stores.store_of(after, name).passed_on.get(key, -1) < node.write:
            after = stores.receive_one_by_one(after, name, ((key, node),), config, env)
    return after


@planted(Rule.K_STORE_10, "stores.read_to_delete")
def read_without_caching(state: State, name: str, key: str, *rest: Any) -> tuple[Change, str | None]:
    """Where a deletion caches what it reads, it does not."""
    after, value = stores.sought(state, name, key)
    return Change(after), value
