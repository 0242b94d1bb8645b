"""What each operation of the level `cache` makes of the picture, and what it answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.config import Total
from entrycache_reference.kafka_streams.laws.defined.handing import hand_over
from entrycache_reference.kafka_streams.laws.defined.picture import OwnSpace, Picture
from entrycache_reference.kafka_streams.laws.defined.writes import (
    book,
    bytes_left,
    evict,
    hides,
    look,
    node_of,
    overflow,
    put,
    write,
)
from entrycache_reference.kafka_streams.laws.law import space
from entrycache_reference.kafka_streams.outcomes import (
    Answer,
    Deleted,
    Done,
    ErrorKind,
    Got,
    Listed,
    NamespaceCounters,
    Offered,
    ThreadCounters,
    Used,
)
from entrycache_reference.kafka_streams.resize_running import ENDLESS, NOTHING_TO_CHOOSE
from entrycache_reference.kafka_streams.state import Listener, Node, Row
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

Does = Callable[[Picture, Any], Answer]


def do_put(picture: Picture, event: ops.Put) -> Answer:
    """One write."""
    put(picture, event.ns, event.key, node_of(event, picture.writes))
    return Done()


def do_put_all(picture: Picture, event: ops.PutAll) -> Answer:
    """Writes one by one, up to the first error."""
    for one in event.entries:
        if picture.error is None:
            put(picture, event.ns, one.key, node_of(one, picture.writes))
    return Done()


def do_put_if_absent(picture: Picture, event: ops.PutIfAbsent) -> Answer:
    """A lookup, a write if nothing was found, and the overflow either way; the write counts at the end."""
    found = look(picture, event.ns, event.key)
    if found is None and hides(picture, event.ns, event.key, event.dirty):
        picture.error = ErrorKind.ILLEGAL_STATE
        return Done()
    if found is None:
        write(picture, event.ns, event.key, node_of(event, picture.writes))
    overflow(picture, event.ns)
    picture.puts += found is None and picture.error is None
    return Offered(found is not None, None if found is None else found.value)


def do_get(picture: Picture, event: ops.Get) -> Answer:
    """A lookup that the thread counts, also where there is nothing to look into."""
    picture.gets += 1
    found = None if event.key is None or event.ns not in picture else look(picture, event.ns, event.key)
    return Got(found is not None, None if found is None else found.value)


def do_delete(picture: Picture, event: ops.Delete) -> Answer:
    """The key leaves, and nobody is told."""
    node = picture.open(event.ns).nodes.get(event.key) if event.ns in picture else None
    if node is None:
        return Deleted(False, None)
    picture.drop(event.ns, event.key)
    book(picture, -node.size_bytes)
    picture.tell(Rule.K_DELETE_1, "DELETE", event.ns, event.key, node, "CALL")
    return Deleted(True, node.value)


def coded(text: str) -> bytes:
    """The bytes by which keys are ordered."""
    return text.encode("utf-8", "surrogatepass")


def between(keys: Any, first: str | None, last: str | None, last_inclusive: bool = True) -> list[str]:
    """The keys within two bounds, in the order of their bytes; None: no bound."""
    low, high = (None if one is None else coded(one) for one in (first, last))
    found = sorted((coded(key), key) for key in keys)
    if low is not None:
        found = [one for one in found if not one[0] < low]
    if high is not None:
        found = [one for one in found if one[0] < high or (last_inclusive and one[0] == high)]
    return [key for _, key in found]


def do_list(picture: Picture, event: Any) -> Answer:
    """A lookup of each key in the order asked for: each is used, and so the last one is the most recent."""
    if event.ns not in picture:
        return Listed(())
    own = picture.open(event.ns)
    first, last = getattr(event, "from_", None), getattr(event, "to", None)
    keys = between(own.nodes, first, last, getattr(event, "to_inclusive", True))
    if isinstance(event, ops.ReverseRange | ops.ReverseAll):
        keys.reverse()
    for key in keys:
        look(picture, event.ns, key)
    return Listed(tuple([(key, own.nodes[key].value) for key in keys]))


def do_listen(picture: Picture, event: ops.Listen) -> Answer:
    """Another listener, whatever there was."""
    steps = () if event.on_flush is ABSENT else event.on_flush
    picture.open(event.ns).listener = Listener(steps, 0 if event.fails is ABSENT else event.fails)
    return Done()


def do_flush(picture: Picture, event: ops.Flush) -> Answer:
    """Every dirty entry is handed over; what the namespace has lost then is reported."""
    picture.flushes += 1
    flush(picture, event.ns)
    return Done()


def flush(picture: Picture, ns: str) -> None:
    """The handing over of a flush."""
    if ns in picture:
        before, closings = picture.open(ns).size_bytes, picture.closings(ns)
        hand_over(picture, ns, None)
        if picture.error is None:
            book(picture, bytes_left(picture, ns, closings) - before)


def do_evict(picture: Picture, event: ops.Evict) -> Answer:
    """The eldest entry leaves; the thread does not count it."""
    evict(picture, event.ns)
    return Done()


def do_clear(picture: Picture, event: ops.Clear) -> Answer:
    """Every entry leaves; listener and counters stay."""
    if event.ns in picture:
        own = picture.open(event.ns)
        gone = all_taken(picture, own)
        own.nodes, own.recent, own.dirty = {}, [], []
        tell_removed(picture, event.ns, gone, Rule.K_CLOSE_1, "CLEAR")
    return Done()


def do_close(picture: Picture, event: ops.Close) -> Answer:
    """The namespace is gone with all that it holds."""
    if event.ns in picture:
        gone = all_taken(picture, picture.open(event.ns))
        picture.close(event.ns)
        tell_removed(picture, event.ns, gone, Rule.K_CLOSE_2, "CLOSE")
        picture.tell(Rule.K_CLOSE_2, "CACHE_CLOSE", event.ns, None, None)
    return Done()


def all_taken(picture: Picture, own: OwnSpace) -> list[tuple[str, Node]]:
    """All entries of a namespace, most recent first; their bytes leave at once."""
    picture.total -= own.size_bytes
    book(picture, -own.size_bytes)
    return [(key, own.nodes[key]) for key in own.recent]


def tell_removed(picture: Picture, ns: str, gone: list[tuple[str, Node]], rule: Rule, cause: str) -> None:
    """The rows of what has left, most recent first, each by the bytes that are left after all of it."""
    for key, node in gone:
        picture.tell(rule, "REMOVE", ns, key, node, cause)


def do_resize(picture: Picture, event: ops.Resize) -> Answer:
    """The limit is set; a smaller one is paid for by turns."""
    is_smaller = event.max_size_bytes < picture.limit
    picture.limit = event.max_size_bytes
    value = json.dumps({"max_size_bytes": event.max_size_bytes})
    picture.rows.append(Row(Rule.K_RESIZE_1, "CONFIG", None, picture.total, value=value))
    if is_smaller:
        (turns_ahead if picture.config.variants.total is Total.RUNNING else turns)(picture)
    return Done()


def turns(picture: Picture) -> None:
    """Round after round over the namespaces by name, one eviction each; a turn that takes nothing counts too."""
    waiting: list[str] = []
    while picture.is_right and picture.total > picture.limit:
        waiting = waiting or picture.names()
        evict(picture, waiting.pop(0))
        if picture.error is not None:
            return
        picture.evicts += 1


def turns_ahead(picture: Picture) -> None:
    """By the running total, whoever is next chosen one turn ahead; a step that would never end is drawn up to there."""
    waiting = picture.names()
    if not waiting:
        return
    coming = waiting.pop(0)
    closings = picture.closings(coming)
    while picture.is_right and picture.running > picture.limit:
        now, closings_now = coming, closings
        waiting = waiting or picture.names()
        if not waiting or not any(picture.open(ns).recent for ns in picture.names()):
            picture.stuck = ENDLESS if waiting else NOTHING_TO_CHOOSE
            return
        coming = waiting.pop(0)
        closings = picture.closings(coming)
        if now in picture and picture.closings(now) == closings_now:
            evict(picture, now)
        if picture.error is not None:
            return
        picture.evicts += 1


def do_usage(picture: Picture, event: ops.Usage) -> Answer:
    """Exact sums."""
    if event.ns is ABSENT:
        entries = sum([len(space.nodes) for space in picture.state.spaces.values()])
        return Used(entries, picture.total, picture.limited())
    nodes = space(picture.state, event.ns).nodes
    return Used(len(nodes), sum([node.size_bytes for node in nodes.values()]))


def do_metrics(picture: Picture, event: ops.Metrics) -> Answer:
    """The counters of the thread, or of one namespace."""
    if event.ns is ABSENT:
        return ThreadCounters(picture.puts, picture.gets, picture.evicts, picture.flushes)
    own = OwnSpace(space(picture.state, event.ns))
    counters = (own.hits, own.misses, own.overwrites, own.flushes)
    return NamespaceCounters(*counters, tuple(own.dirty), tuple(own.recent))


CACHES: Final[dict[type[ops.Op], Does]] = {
    ops.Put: do_put,
    ops.PutAll: do_put_all,
    ops.PutIfAbsent: do_put_if_absent,
    ops.Get: do_get,
    ops.Delete: do_delete,
    ops.Range: do_list,
    ops.ReverseRange: do_list,
    ops.All: do_list,
    ops.ReverseAll: do_list,
    ops.Listen: do_listen,
    ops.Flush: do_flush,
    ops.Evict: do_evict,
    ops.Clear: do_clear,
    ops.Close: do_close,
    ops.Resize: do_resize,
    ops.Usage: do_usage,
    ops.Metrics: do_metrics,
}
"""By operation."""
