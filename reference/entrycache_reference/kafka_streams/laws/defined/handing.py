"""Handing over: what goes to a listener, in which order, and what becomes of it; under variants, of what does not."""

from __future__ import annotations

from entrycache_reference.kafka_streams.config import Delivery, FailedFlush, FlushedTombstone, UndeliveredEviction
from entrycache_reference.kafka_streams.laws.defined.picture import OwnSpace, Picture
from entrycache_reference.kafka_streams.outcomes import Call, ErrorKind, Forward, Handed
from entrycache_reference.kafka_streams.state import Node, Store
from entrycache_reference.rules import Rule

Entries = list[tuple[str, Node]]


def in_turn(own: OwnSpace, evicted: str | None) -> list[str]:
    """The evicted key, then the dirty ones in the order of their writes."""
    return sorted({*own.dirty, *([] if evicted is None else [evicted])}, key=lambda key: _rank(own, key, evicted))


def _rank(own: OwnSpace, key: str, evicted: str | None) -> int:
    return -1 if key == evicted else own.dirty.index(key)


def hand_over(picture: Picture, ns: str, evicted: str | None) -> None:
    """Every dirty entry of a namespace goes to its listener; `evicted`: that one leaves, and comes first."""
    own = picture.open(ns)
    own.flushes += 1
    keys = in_turn(own, evicted)
    lost = [key for key in keys if key not in own.nodes]
    if own.listener is None:
        tell_missed(picture, ns, keys)
        without_listener(picture, ns, evicted)
        picture.error = ErrorKind.ILLEGAL_ARGUMENT
    elif lost:
        ends_at(picture, ns, evicted, keys, lost[0])
        picture.error = ErrorKind.ILLEGAL_STATE
    elif keys:
        own.hits += len(keys) - (evicted is not None)
        if own.listener.fails:
            throws(picture, ns, evicted, keys)
            picture.error = ErrorKind.LISTENER_FAILED
        else:
            is_taken(picture, ns, evicted, [(key, own.nodes[key]) for key in keys])


def tell_missed(picture: Picture, ns: str, keys: list[str]) -> None:
    """The rows of what is not handed over."""
    own = picture.open(ns)
    for key in keys:
        if key in own.nodes:
            picture.tell(Rule.K_FLUSH_3, "FLUSH", ns, key, own.nodes[key], "FAILED")


def is_lost(picture: Picture) -> bool:
    """Whether an evicted entry that nobody takes is lost."""
    return picture.config.variants.undelivered_eviction is UndeliveredEviction.LOST


def lose(picture: Picture, ns: str, evicted: str, stays_dirty: bool) -> None:
    """Under `undelivered_eviction` `lost`: the entry has left before anybody was asked."""
    own = picture.open(ns)
    node, dirty = own.nodes[evicted], list(own.dirty)
    picture.drop(ns, evicted)
    if stays_dirty:
        own.dirty = dirty
    picture.tell(Rule.K_FLUSH_7, "EVICT", ns, evicted, node)


def without_listener(picture: Picture, ns: str, evicted: str | None) -> None:
    """Nobody listens: all stays; an entry that is lost leaves its key among the dirty ones."""
    if evicted is not None and is_lost(picture):
        lose(picture, ns, evicted, stays_dirty=True)


def clean(own: OwnSpace, keys: list[str]) -> None:
    """These entries are clean."""
    for key in keys:
        if key in own.nodes:
            own.nodes[key] = own.nodes[key]._replace(is_dirty=False)


def ends_at(picture: Picture, ns: str, evicted: str | None, keys: list[str], lost: str) -> None:
    """A dirty key without an entry ends it: a miss; what was looked up before is clean under a variant, but listed."""
    own = picture.open(ns)
    looked_up = [key for key in keys[: keys.index(lost)] if key != evicted]
    own.hits += len(looked_up)
    own.misses += 1
    if evicted is not None and is_lost(picture):
        lose(picture, ns, evicted, stays_dirty=False)
    if picture.config.variants.failed_flush is FailedFlush.CLEAN:
        clean(own, looked_up)


def throws(picture: Picture, ns: str, evicted: str | None, keys: list[str]) -> None:
    """The listener is called, and throws: one call fewer that will; all else stays, but under two variants."""
    own = picture.open(ns)
    assert own.listener is not None
    own.listener = own.listener._replace(fails=own.listener.fails - 1)
    picture.called += 1
    picture.calls.append(call_of(ns, [(key, own.nodes[key]) for key in keys]))
    tell_missed(picture, ns, keys)
    if evicted is not None and is_lost(picture):
        lose(picture, ns, evicted, stays_dirty=False)
    if picture.config.variants.failed_flush is FailedFlush.CLEAN:
        clean(own, [key for key in keys if key != evicted])
        own.dirty = [key for key in own.dirty if key == evicted]


def call_of(ns: str, entries: Entries) -> Call:
    """What a listener gets."""
    return Call(ns, tuple([Handed(key, node.value, node.context) for key, node in entries]))


def is_taken(picture: Picture, ns: str, evicted: str | None, entries: Entries) -> None:
    """The listener takes the entries: they are clean, and the evicted one has left, before it is called."""
    own, closings = picture.open(ns), picture.closings(ns)
    if evicted is not None:
        picture.drop(ns, evicted)
        picture.tell(Rule.K_EVICT_3, "EVICT", ns, evicted, entries[0][1])
    clean(own, list(own.nodes))
    own.dirty = []
    for key, node in entries:
        picture.tell(Rule.K_FLUSH_1, "FLUSH", ns, key, node, "EVICT" if key == evicted else "CALL")
    assert own.listener is not None
    if own.listener.of_store:
        receive(picture, ns, entries)
    else:
        call = call_of(ns, entries)
        at = len(picture.calls)
        picture.calls.append(call)
        answers = picture.perform(own.listener.steps)
        picture.calls[at : at + 1] = [Call(ns, call.entries, answers)]
    if picture.is_right:
        drop_tombstones(picture, ns, evicted, entries, closings)


def drop_tombstones(picture: Picture, ns: str, evicted: str | None, entries: Entries, closings: int) -> None:
    """Tombstones that were handed over have served; not, by the norm, what was written to their keys meanwhile."""
    any_write = picture.config.variants.flushed_tombstone is FlushedTombstone.ANY_WRITE
    if any_write and picture.closings(ns) != closings:
        return
    for key, node in entries:
        now = picture.open(ns).nodes.get(key) if ns in picture else None
        if now is None or node.value is not None:
            continue
        if any_write and key != evicted:
            picture.drop(ns, key)
            picture.tell(Rule.K_FLUSH_9, "DELETE", ns, key, now, "FLUSH")
        elif not any_write and now.write == node.write:
            picture.drop(ns, key)
            picture.tell(Rule.K_FLUSH_4, "DELETE", ns, key, now, "FLUSH")


def receive(picture: Picture, name: str, entries: Entries) -> None:
    """A caching store takes them: below first, then downstream; by a variant one after the other."""
    if picture.config.variants.delivery is Delivery.ONE_BY_ONE:
        for key, node in entries:
            if picture.is_right and goes_below(picture, name, key, node):
                pass_on(picture, name, key, node)
        return
    known = [(key, node) for key, node in entries if goes_below(picture, name, key, node)]
    for key, node in known:
        passed = picture.stores.get(name, Store()).passed_on.get(key)
        if picture.is_right and (passed is None or passed < node.write):
            pass_on(picture, name, key, node)


def goes_below(picture: Picture, name: str, key: str, node: Node) -> bool:
    """A value lies below from now on, a tombstone takes away what lies there; one that finds nothing goes nowhere."""
    store = picture.stores.get(name, Store())
    if node.value is None and key not in store.inner:
        return False
    inner = {**store.inner, key: node.value}
    kept = {one: value for one, value in inner.items() if value is not None}
    picture.stores[name] = store._replace(inner=kept)
    return True


def pass_on(picture: Picture, name: str, key: str, node: Node) -> None:
    """One entry goes downstream, where what is to be done for its key is done."""
    store = picture.stores.get(name, Store())
    picture.stores[name] = store._replace(passed_on={**store.passed_on, key: node.write})
    at = len(picture.forwards)
    picture.forwards.append(Forward(name, key, node.value))
    answers = picture.perform(store.downstream.get(key, ()))
    picture.forwards[at : at + 1] = [Forward(name, key, node.value, answers)]
