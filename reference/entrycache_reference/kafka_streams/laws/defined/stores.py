"""What each operation of the level `store` makes of the picture, and what it answers."""

from __future__ import annotations

from typing import Any, Final

from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.config import DeleteRead
from entrycache_reference.kafka_streams.laws.defined.caches import Does, between, flush
from entrycache_reference.kafka_streams.laws.defined.picture import Picture
from entrycache_reference.kafka_streams.laws.defined.writes import look, node_size, put
from entrycache_reference.kafka_streams.outcomes import Answer, Context, Done, Listed, Shared, Value
from entrycache_reference.kafka_streams.state import Listener, Node, Store

OF_STORE: Final = Listener((), 0, True)


def opened(picture: Picture, name: str) -> None:
    """From its first use on a store is there, and listens to its namespace."""
    if name not in picture.stores:
        picture.stores[name] = Store()
        picture.open(name).listener = OF_STORE


def put_value(picture: Picture, name: str, key: str, value: str | None, is_dirty: bool) -> None:
    """A write of a store: it carries nothing but key and value."""
    put(picture, name, key, Node(value, is_dirty, node_size(key, value, "", ()), Context(), picture.writes))


def sought(picture: Picture, name: str, key: str) -> tuple[bool, str | None]:
    """A lookup: whether the cache knows the key, and the last write of it, there or below."""
    opened(picture, name)
    picture.gets += 1
    node = look(picture, name, key) if name in picture else None
    return node is not None, picture.stores[name].inner.get(key) if node is None else node.value


def read(picture: Picture, name: str, key: str) -> str | None:
    """A lookup that caches, clean, what it found below."""
    is_known, value = sought(picture, name, key)
    if not is_known and value is not None:
        put_value(picture, name, key, value, is_dirty=False)
    return value


def do_put(picture: Picture, event: ops.StorePut) -> Answer:
    """A dirty write."""
    opened(picture, event.store)
    put_value(picture, event.store, event.key, event.value, is_dirty=True)
    return Done()


def do_get(picture: Picture, event: ops.StoreGet) -> Answer:
    """The last write."""
    return Value(read(picture, event.store, event.key))


def do_delete(picture: Picture, event: ops.StoreDelete) -> Answer:
    """The last write, and then a tombstone over it; by a variant what lies below is cached first."""
    if picture.config.variants.delete_read is DeleteRead.CACHED:
        value = read(picture, event.store, event.key)
    else:
        value = sought(picture, event.store, event.key)[1]
    if picture.error is None and picture.is_right:
        put_value(picture, event.store, event.key, None, is_dirty=True)
    return Value(value)


def do_list(picture: Picture, event: Any) -> Answer:
    """Cache and store below as one plain map; every cached key in it is looked up."""
    opened(picture, event.store)
    name, first, last = event.store, getattr(event, "from_", None), getattr(event, "to", None)
    view: dict[str, str | None] = dict(picture.stores[name].inner)
    nodes = picture.open(name).nodes if name in picture else {}
    for key in between(nodes, first, last):
        look(picture, name, key)
    view.update({key: node.value for key, node in nodes.items()})
    return Listed(tuple([(key, view[key]) for key in between(view, first, last) if view[key] is not None]))


def do_flush(picture: Picture, event: ops.StoreFlush) -> Answer:
    """What is dirty goes below and downstream."""
    opened(picture, event.store)
    picture.flushes += 1
    flush(picture, event.store)
    return Done()


def do_inner(picture: Picture, event: ops.StoreInner) -> Answer:
    """What lies below, by key."""
    opened(picture, event.store)
    inner = picture.stores[event.store].inner
    return Listed(tuple([(key, inner[key]) for key in between(inner, None, None)]))


def on_forward(picture: Picture, event: ops.OnForward) -> Answer:
    """What is done downstream for one key from now on."""
    opened(picture, event.store)
    store = picture.stores[event.store]
    picture.stores[event.store] = store._replace(downstream={**store.downstream, event.key: event.steps})
    return Done()


def share(picture: Picture, event: ops.Share) -> Answer:
    """What each of the threads gets; the global one takes one share, nobody else's is larger."""
    if event.threads == 0:
        return Shared(event.total_bytes)
    takers = event.threads + event.global_thread
    return Shared((event.total_bytes - event.total_bytes % takers) // takers)


STORES: Final[dict[type[ops.Op], Does]] = {
    ops.StorePut: do_put,
    ops.StoreGet: do_get,
    ops.StoreDelete: do_delete,
    ops.StoreRange: do_list,
    ops.StoreAll: do_list,
    ops.StoreFlush: do_flush,
    ops.StoreInner: do_inner,
    ops.OnForward: on_forward,
    ops.Share: share,
}
"""By operation."""
