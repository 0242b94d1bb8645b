"""The smallest changes of one namespace. Every rule function is made of these.

Beside: NamedCache.put, .get, .delete (kafka-streams 4.3.1)
"""

from __future__ import annotations

from entrycache_reference.kafka_streams.state import Node, Space
from entrycache_reference.rules import Rule, rule


def without_key(keys: tuple[str, ...], key: str) -> tuple[str, ...]:
    """The keys in their order, less one."""
    return tuple(other for other in keys if other != key)


@rule(Rule.K_PUT_1, Rule.K_PUT_2, Rule.K_PUT_3)
def written(space: Space, key: str, node: Node) -> Space:
    """The namespace with this write: the key is the most recent; a dirty one is the last of the dirty keys."""
    overwrites = space.overwrites + (1 if key in space.nodes else 0)
    dirty = (*without_key(space.dirty, key), key) if node.is_dirty else space.dirty
    return space._replace(
        nodes={**space.nodes, key: node},
        recent=(key, *without_key(space.recent, key)),
        dirty=dirty,
        overwrites=overwrites,
    )


@rule(Rule.K_DELETE_1)
def removed(space: Space, key: str) -> Space:
    """The namespace without this key."""
    return space._replace(
        nodes={other: node for other, node in space.nodes.items() if other != key},
        recent=without_key(space.recent, key),
        dirty=without_key(space.dirty, key),
    )


@rule(Rule.K_GET_1, Rule.K_GET_2)
def looked_up(space: Space, key: str) -> Space:
    """The namespace after a lookup: a hit makes the key the most recent."""
    if key not in space.nodes:
        return space._replace(misses=space.misses + 1)
    return space._replace(hits=space.hits + 1, recent=(key, *without_key(space.recent, key)))


@rule(Rule.K_FLUSH_2)
def cleaned(space: Space) -> Space:
    """The namespace with every entry clean."""
    nodes = {key: node._replace(is_dirty=False) for key, node in space.nodes.items()}
    return space._replace(nodes=nodes, dirty=())
