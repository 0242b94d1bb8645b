"""Wrong versions of the reference's functions of the variants of `kafka-streams`, each with one error."""

from __future__ import annotations

from typing import Any, Final

from entrycache_reference.kafka_streams import stores, undelivered
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.named_cache import without_key
from entrycache_reference.kafka_streams.running import Held
from entrycache_reference.kafka_streams.state import Change, Node, State, space_of, with_space

_unheard: Final = undelivered.unheard
_refused: Final = undelivered.refused
_receive_one_by_one: Final = stores.receive_one_by_one
_without_keys: Final = undelivered.without_keys


def unheard_with_its_key(state: State, ns: str, evicted: str | None, config: Config) -> State:
    """K-FLUSH-7: a lost entry takes its key along."""
    after = _unheard(state, ns, evicted, config)
    space = space_of(after, ns)
    if evicted is None or evicted in space.nodes:
        return after
    return with_space(after, ns, space._replace(dirty=without_key(space.dirty, evicted)))


def refused_still_listed(state: State, ns: str, evicted: str | None, config: Config) -> State:
    """K-FLUSH-8: the keys of the entries stay among the dirty ones."""
    after = _refused(state, ns, evicted, config)
    before, space = space_of(state, ns), space_of(after, ns)
    return with_space(after, ns, space._replace(dirty=tuple(key for key in before.dirty if key in space.nodes)))


def without_deleted_keys(state: State, own: Held, keys: tuple[str, ...]) -> State:
    """K-FLUSH-9: a key with a value stays."""
    nodes = space_of(state, own.ns).nodes
    return _without_keys(state, own, tuple(key for key in keys if key in nodes and nodes[key].value is None))


def booked_nothing(before: State, after: State, *rest: Any) -> State:
    """K-METRICS-4: the running total stays as it is."""
    return after


def received_unless_overtaken(
    state: State, name: str, entries: tuple[tuple[str, Node], ...], config: Config, env: Any
) -> State:
    """K-STORE-9: what a later write has overtaken is left out."""
    after = state
    for key, node in entries:
        if stores.store_of(after, name).passed_on.get(key, -1) < node.write:
            after = _receive_one_by_one(after, name, ((key, node),), config, env)
    return after


def read_without_caching(state: State, name: str, key: str, *rest: Any) -> tuple[Change, str | None]:
    """K-STORE-10: what a deletion reads is not cached."""
    after, value = stores.sought(state, name, key)
    return Change(after), value
