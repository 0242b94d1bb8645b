"""What becomes of dirty entries that their listener has not taken: the promise, and two variants of the releases.

The promise is that everything stays as it was. Under `undelivered_eviction` `lost` the entry to be evicted has left
before anybody was asked; where there is no listener its key stays among the dirty ones, and a later handing over ends
at it. Under `failed_flush` `clean` the other entries are clean from before the call on.

Beside: NamedCache.flush, .evict (kafka-streams 4.3.1)
"""

from __future__ import annotations

from entrycache_reference.kafka_streams.config import Config, FailedFlush, UndeliveredEviction
from entrycache_reference.kafka_streams.named_cache import removed
from entrycache_reference.kafka_streams.running import Held, is_open
from entrycache_reference.kafka_streams.state import Space, State, space_of, told, with_space
from entrycache_reference.rules import Rule, rule


@rule(Rule.K_FLUSH_7)
def unheard(state: State, ns: str, evicted: str | None, config: Config) -> State:
    """Nobody listens; an entry that is lost leaves its key among the dirty ones."""
    if evicted is None or config.variants.undelivered_eviction is UndeliveredEviction.KEPT:
        return state
    space = space_of(state, ns)
    left = removed(space, evicted)._replace(dirty=space.dirty)
    lost = with_space(state, ns, left)
    return told(lost, Rule.K_FLUSH_7, "EVICT", ns, evicted, space.nodes[evicted])


@rule(Rule.K_FLUSH_7, Rule.K_FLUSH_8)
def refused(state: State, ns: str, evicted: str | None, config: Config) -> State:
    """The listener has thrown."""
    after = state if evicted is None else without_evicted(state, ns, evicted, config)
    if config.variants.failed_flush is FailedFlush.DIRTY:
        return after
    space = space_of(after, ns)
    kept = tuple(key for key in space.dirty if key == evicted)
    return with_space(after, ns, marked_clean(space, space.dirty, evicted)._replace(dirty=kept))


@rule(Rule.K_FLUSH_7, Rule.K_FLUSH_8)
def interrupted(state: State, ns: str, evicted: str | None, config: Config) -> State:
    """A dirty key without an entry ends the handing over; what was looked up before it is clean, but still listed."""
    after = state if evicted is None else without_evicted(state, ns, evicted, config)
    space = space_of(after, ns)
    keys = tuple(key for key in space.dirty if key != evicted)
    gone = next(at for at, key in enumerate(keys) if key not in space.nodes)
    space = space._replace(hits=space.hits + gone, misses=space.misses + 1)
    if config.variants.failed_flush is FailedFlush.CLEAN:
        space = marked_clean(space, keys[:gone], evicted)
    return with_space(after, ns, space)


def without_evicted(state: State, ns: str, evicted: str, config: Config) -> State:
    """The entry to be evicted has left, if it is to be lost."""
    if config.variants.undelivered_eviction is UndeliveredEviction.KEPT:
        return state
    space = space_of(state, ns)
    lost = with_space(state, ns, removed(space, evicted))
    return told(lost, Rule.K_FLUSH_7, "EVICT", ns, evicted, space.nodes[evicted])


def marked_clean(space: Space, keys: tuple[str, ...], but: str | None) -> Space:
    """The namespace with these entries clean, all but one."""
    clean = {key: space.nodes[key]._replace(is_dirty=False) for key in keys if key in space.nodes and key != but}
    return space._replace(nodes={**space.nodes, **clean})


@rule(Rule.K_FLUSH_9)
def without_keys(state: State, own: Held, keys: tuple[str, ...]) -> State:
    """Under `flushed_tombstone` `any-write`: the state without these keys, whatever was written to them meanwhile."""
    after = state
    for key in keys:
        node = space_of(after, own.ns).nodes.get(key)
        if node is not None and is_open(after, own):
            after = with_space(after, own.ns, removed(space_of(after, own.ns), key))
            after = told(after, Rule.K_FLUSH_9, "DELETE", own.ns, key, node, "FLUSH")
    return after
