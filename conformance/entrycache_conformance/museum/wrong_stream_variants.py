"""Wrong versions of the reference's functions of the variants of `kafka-streams`, each with one error."""

from __future__ import annotations

from typing import Any, Final

from entrycache_reference.kafka_streams import undelivered
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.running import Held
from entrycache_reference.kafka_streams.space import without_key
from entrycache_reference.kafka_streams.state import State, space_of, with_space

_unheard: Final = undelivered.unheard
_refused: Final = undelivered.refused
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
