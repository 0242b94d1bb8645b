"""The definitions of the levels `cache` and `store`: the result of each operation, as a change of the expected state.

`CACHES` and `STORES` map each operation to a function that changes an `ExpectedState` and returns the answer.
"""

import json
from collections.abc import Callable
from typing import Any, Final

from entrycache_evidence.kafka_streams import expected_state
from entrycache_reference.kafka_streams import ops, outcomes
from entrycache_reference.kafka_streams.config import DeleteRead, Total, ViewTombstone
from entrycache_reference.kafka_streams.flush import ENDLESS, NOTHING_TO_CHOOSE
from entrycache_reference.kafka_streams.laws.law import space
from entrycache_reference.kafka_streams.laws.stores import shown_by_dropping
from entrycache_reference.kafka_streams.state import Listener, Node, Row, Store
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

Does = Callable[[expected_state.ExpectedState, Any], outcomes.Answer]


def would_hide_dirty(expected: expected_state.ExpectedState, ns: str, key: str, is_dirty: bool) -> bool:
    """Return whether a write would hide a dirty one behind a clean one."""
    return not is_dirty and key in expected.open(ns).dirty


def put_entry(expected: expected_state.ExpectedState, ns: str, key: str, node: Node) -> None:
    """Write one entry, counted first, and evict the overflow."""
    expected.puts += 1
    if would_hide_dirty(expected, ns, key, node.is_dirty):
        expected.error = outcomes.ErrorKind.ILLEGAL_STATE
        return
    expected_state.write_entry(expected, ns, key, node)
    expected_state.evict_overflow(expected, ns)


def text_bytes(text: str) -> int:
    """Return the bytes of a text in UTF-8, letter by letter: 1, 2, 3, and 4 beyond the first plane."""
    return sum([1 + (ord(one) > 0x7F) + (ord(one) > 0x7FF) + (ord(one) > 0xFFFF) for one in text])


def code_units(text: str) -> int:
    """Return the code units of a text in UTF-16: two for a letter beyond the first plane."""
    return sum([1 + (ord(one) > 0xFFFF) for one in text])


def node_size(key: str, value: str | None, topic: str, headers: Any) -> int:
    """Return the size of an entry: 45 bytes, and what it carries."""
    of_headers = sum([code_units(name) + text_bytes(content) for name, content in headers])
    return 45 + text_bytes(key) + text_bytes(value or "") + code_units(topic) + of_headers


def build_node(write: Any, number: int) -> Node:
    """Return the entry that a write of a namespace makes."""
    context = [None if one is ABSENT else one for one in (write.timestamp, write.offset, write.partition)]
    size = node_size(write.key, write.value, write.topic, write.headers)
    return Node(write.value, write.dirty, size, outcomes.Context(*context), number)


def do_put(expected: expected_state.ExpectedState, event: ops.Put) -> outcomes.Answer:
    """Write one entry."""
    put_entry(expected, event.ns, event.key, build_node(event, expected.writes))
    return outcomes.Done()


def do_put_all(expected: expected_state.ExpectedState, event: ops.PutAll) -> outcomes.Answer:
    """Write entries one by one, up to the first error."""
    for one in event.entries:
        if expected.error is None:
            put_entry(expected, event.ns, one.key, build_node(one, expected.writes))
    return outcomes.Done()


def do_put_if_absent(expected: expected_state.ExpectedState, event: ops.PutIfAbsent) -> outcomes.Answer:
    """Look a key up, write it if it was not cached, and evict the overflow either way; count the write last."""
    result = expected_state.look_up(expected, event.ns, event.key)
    if result is None and would_hide_dirty(expected, event.ns, event.key, event.dirty):
        expected.error = outcomes.ErrorKind.ILLEGAL_STATE
        return outcomes.Done()
    if result is None:
        expected_state.write_entry(expected, event.ns, event.key, build_node(event, expected.writes))
    expected_state.evict_overflow(expected, event.ns)
    expected.puts += result is None and expected.error is None
    return outcomes.Offered(result is not None, None if result is None else result.value)


def do_get(expected: expected_state.ExpectedState, event: ops.Get) -> outcomes.Answer:
    """Look a key up; the thread counts it even if there is no namespace."""
    expected.gets += 1
    result = (
        None if event.key is None or event.ns not in expected else expected_state.look_up(expected, event.ns, event.key)
    )
    return outcomes.Lookup(result is not None, None if result is None else result.value)


def do_delete(expected: expected_state.ExpectedState, event: ops.Delete) -> outcomes.Answer:
    """Remove a key without a call."""
    node = expected.open(event.ns).nodes.get(event.key) if event.ns in expected else None
    if node is None:
        return outcomes.Deleted(False, None)
    expected.drop(event.ns, event.key)
    expected_state.book_bytes(expected, -node.size_bytes)
    expected.add_row(Rule.K_DELETE_1, "DELETE", event.ns, event.key, node, "CALL")
    return outcomes.Deleted(True, node.value)


def encode_key(text: str) -> bytes:
    """Return the bytes by which keys are ordered."""
    return text.encode("utf-8", "surrogatepass")


def list_between(keys: Any, first: str | None, last: str | None, last_inclusive: bool = True) -> list[str]:
    """Return the keys within two bounds, in the order of their bytes; None: no bound."""
    low, high = (None if one is None else encode_key(one) for one in (first, last))
    result = sorted((encode_key(key), key) for key in keys)
    if low is not None:
        result = [one for one in result if not one[0] < low]
    if high is not None:
        result = [one for one in result if one[0] < high or (last_inclusive and one[0] == high)]
    return [key for _, key in result]


def do_list(expected: expected_state.ExpectedState, event: Any) -> outcomes.Answer:
    """Look up each key in the requested order: the last one becomes the most recent."""
    if event.ns not in expected:
        return outcomes.Listing(())
    namespace = expected.open(event.ns)
    first, last = getattr(event, "from_", None), getattr(event, "to", None)
    keys = list_between(namespace.nodes, first, last, getattr(event, "to_inclusive", True))
    if isinstance(event, ops.ReverseRange | ops.ReverseAll):
        keys.reverse()
    for key in keys:
        expected_state.look_up(expected, event.ns, key)
    return outcomes.Listing(tuple([(key, namespace.nodes[key].value) for key in keys]))


def do_listen(expected: expected_state.ExpectedState, event: ops.Listen) -> outcomes.Answer:
    """Replace the listener."""
    steps = () if event.on_flush is ABSENT else event.on_flush
    expected.open(event.ns).listener = Listener(steps, 0 if event.fails is ABSENT else event.fails)
    return outcomes.Done()


def do_flush(expected: expected_state.ExpectedState, event: ops.Flush) -> outcomes.Answer:
    """Flush every dirty entry, and book what the namespace has lost."""
    expected.flushes += 1
    flush(expected, event.ns)
    return outcomes.Done()


def flush(expected: expected_state.ExpectedState, ns: str) -> None:
    """Flush a namespace, if it exists."""
    if ns in expected:
        before, closings = expected.open(ns).size_bytes, expected.closings(ns)
        expected_state.hand_over(expected, ns, None)
        if expected.error is None:
            expected_state.book_bytes(expected, expected_state.bytes_left(expected, ns, closings) - before)


def do_evict(expected: expected_state.ExpectedState, event: ops.Evict) -> outcomes.Answer:
    """Evict the eldest entry; the thread does not count it."""
    expected_state.evict_eldest(expected, event.ns)
    return outcomes.Done()


def do_clear(expected: expected_state.ExpectedState, event: ops.Clear) -> outcomes.Answer:
    """Remove every entry; listener and counters stay."""
    if event.ns in expected:
        namespace = expected.open(event.ns)
        removed = take_all(expected, namespace)
        namespace.nodes, namespace.recent, namespace.dirty = {}, [], []
        expected.emptied.append(event.ns)
        report_removed(expected, event.ns, removed, Rule.K_CLOSE_1, "CLEAR")
    return outcomes.Done()


def do_close(expected: expected_state.ExpectedState, event: ops.Close) -> outcomes.Answer:
    """Remove the namespace with everything in it."""
    if event.ns in expected:
        removed = take_all(expected, expected.open(event.ns))
        expected.close(event.ns)
        report_removed(expected, event.ns, removed, Rule.K_CLOSE_2, "CLOSE")
        expected.add_row(Rule.K_CLOSE_2, "CACHE_CLOSE", event.ns, None, None)
    return outcomes.Done()


def take_all(expected: expected_state.ExpectedState, namespace: expected_state.ExpectedSpace) -> list[tuple[str, Node]]:
    """Return all entries of a namespace, most recent first, after their bytes have left."""
    expected.total -= namespace.size_bytes
    expected_state.book_bytes(expected, -namespace.size_bytes)
    return [(key, namespace.nodes[key]) for key in namespace.recent]


def report_removed(
    expected: expected_state.ExpectedState, ns: str, removed: list[tuple[str, Node]], rule: Rule, cause: str
) -> None:
    """Add the rows of the removed entries, most recent first, each with the bytes left after all of them."""
    for key, node in removed:
        expected.add_row(rule, "REMOVE", ns, key, node, cause)


def do_resize(expected: expected_state.ExpectedState, event: ops.Resize) -> outcomes.Answer:
    """Set the limit; a smaller one evicts by turns."""
    is_smaller = event.max_size_bytes < expected.limit
    expected.limit = event.max_size_bytes
    value = json.dumps({"max_size_bytes": event.max_size_bytes})
    expected.rows.append(Row(Rule.K_RESIZE_1, "CONFIG", None, expected.total, value=value))
    if is_smaller:
        (evict_by_turns_ahead if expected.config.variants.total is Total.RUNNING else evict_by_turns)(expected)
    return outcomes.Done()


def evict_by_turns(expected: expected_state.ExpectedState) -> None:
    """Evict once from each namespace in turn, by name, round after round; an empty turn counts too."""
    waiting: list[str] = []
    while expected.is_right and expected.total > expected.limit:
        waiting = waiting or expected.names()
        expected_state.evict_eldest(expected, waiting.pop(0))
        if expected.error is not None:
            return
        expected.evicts += 1


def evict_by_turns_ahead(expected: expected_state.ExpectedState) -> None:
    """Evict by turns under a running total, each turn chosen one ahead; stop where it would never end."""
    waiting = expected.names()
    if not waiting:
        return
    coming = waiting.pop(0)
    closings = expected.closings(coming)
    while expected.is_right and expected.running > expected.limit:
        now, closings_now = coming, closings
        waiting = waiting or expected.names()
        if not waiting or not any(expected.open(ns).recent for ns in expected.names()):
            expected.no_answer_reason = ENDLESS if waiting else NOTHING_TO_CHOOSE
            return
        coming = waiting.pop(0)
        closings = expected.closings(coming)
        if now in expected and expected.closings(now) == closings_now:
            expected_state.evict_eldest(expected, now)
        if expected.error is not None:
            return
        expected.evicts += 1


def do_usage(expected: expected_state.ExpectedState, event: ops.Usage) -> outcomes.Answer:
    """Return exact sums."""
    if event.ns is ABSENT:
        entries = sum([len(space.nodes) for space in expected.state.spaces.values()])
        return outcomes.Used(entries, expected.total, expected.limited_bytes())
    nodes = space(expected.state, event.ns).nodes
    return outcomes.Used(len(nodes), sum([node.size_bytes for node in nodes.values()]))


def do_metrics(expected: expected_state.ExpectedState, event: ops.Metrics) -> outcomes.Answer:
    """Return the counters of the thread, or of one namespace."""
    if event.ns is ABSENT:
        return outcomes.ThreadCounters(expected.puts, expected.gets, expected.evicts, expected.flushes)
    if event.ns in expected:
        expected.open(event.ns).is_loose = False
    namespace = expected_state.ExpectedSpace(space(expected.state, event.ns))
    counters = (namespace.hits, namespace.misses, namespace.overwrites, namespace.flushes)
    return outcomes.NamespaceCounters(*counters, tuple(namespace.dirty), tuple(namespace.recent))


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
"""The definitions of level `cache`, by operation."""


# Operations of level `store`.

OF_STORE: Final = Listener((), 0, True)


def ensure_store(expected: expected_state.ExpectedState, name: str) -> None:
    """Create a store at its first use, and make it the listener of its namespace."""
    if name not in expected.stores:
        expected.stores[name] = Store()
        expected.open(name).listener = OF_STORE


def put_value(expected: expected_state.ExpectedState, name: str, key: str, value: str | None, is_dirty: bool) -> None:
    """Write an entry of a store, which carries nothing but key and value."""
    put_entry(
        expected,
        name,
        key,
        Node(value, is_dirty, node_size(key, value, "", ()), outcomes.Context(), expected.writes),
    )


def find_value(expected: expected_state.ExpectedState, name: str, key: str) -> tuple[bool, str | None]:
    """Return whether the cache knows the key, and the last write of it."""
    ensure_store(expected, name)
    expected.gets += 1
    node = expected_state.look_up(expected, name, key) if name in expected else None
    return node is not None, expected.stores[name].inner.get(key) if node is None else node.value


def read_value(expected: expected_state.ExpectedState, name: str, key: str) -> str | None:
    """Return the last write of a key, and cache a value from the underlying store, clean."""
    is_known, value = find_value(expected, name, key)
    if not is_known and value is not None:
        put_value(expected, name, key, value, is_dirty=False)
    return value


def do_store_put(expected: expected_state.ExpectedState, event: ops.StorePut) -> outcomes.Answer:
    """Write a dirty entry."""
    ensure_store(expected, event.store)
    put_value(expected, event.store, event.key, event.value, is_dirty=True)
    return outcomes.Done()


def do_store_get(expected: expected_state.ExpectedState, event: ops.StoreGet) -> outcomes.Answer:
    """Return the last write."""
    return outcomes.Value(read_value(expected, event.store, event.key))


def do_store_delete(expected: expected_state.ExpectedState, event: ops.StoreDelete) -> outcomes.Answer:
    """Return the last write, and write a tombstone over it; by a variant the value is cached first."""
    if expected.config.variants.delete_read is DeleteRead.CACHED:
        value = read_value(expected, event.store, event.key)
    else:
        value = find_value(expected, event.store, event.key)[1]
    if expected.error is None and expected.is_right:
        put_value(expected, event.store, event.key, None, is_dirty=True)
    return outcomes.Value(value)


def do_store_list(expected: expected_state.ExpectedState, event: Any) -> outcomes.Answer:
    """Return cache and underlying store as one plain map; every cached key in it is looked up."""
    ensure_store(expected, event.store)
    name, first, last = event.store, getattr(event, "from_", None), getattr(event, "to", None)
    view: dict[str, str | None] = dict(expected.stores[name].inner)
    nodes = expected.open(name).nodes if name in expected else {}
    for key in list_between(nodes, first, last):
        expected_state.look_up(expected, name, key)
    view.update({key: node.value for key, node in nodes.items()})
    if expected.config.variants.view_tombstone is ViewTombstone.DROPPED:
        stored = expected.stores[name].inner
        return outcomes.Listing(shown_by_dropping(list_between(view, first, last), nodes, stored))
    return outcomes.Listing(
        tuple([(key, view[key]) for key in list_between(view, first, last) if view[key] is not None])
    )


def do_store_flush(expected: expected_state.ExpectedState, event: ops.StoreFlush) -> outcomes.Answer:
    """Flush everything dirty to the underlying store and downstream."""
    ensure_store(expected, event.store)
    expected.flushes += 1
    flush(expected, event.store)
    return outcomes.Done()


def do_store_inner(expected: expected_state.ExpectedState, event: ops.StoreInner) -> outcomes.Answer:
    """Return the content of the underlying store, by key."""
    ensure_store(expected, event.store)
    inner = expected.stores[event.store].inner
    return outcomes.Listing(tuple([(key, inner[key]) for key in list_between(inner, None, None)]))


def do_on_forward(expected: expected_state.ExpectedState, event: ops.OnForward) -> outcomes.Answer:
    """Set the steps to take downstream for one key."""
    ensure_store(expected, event.store)
    store = expected.stores[event.store]
    expected.stores[event.store] = store._replace(downstream={**store.downstream, event.key: event.steps})
    return outcomes.Done()


def do_share(expected: expected_state.ExpectedState, event: ops.Share) -> outcomes.Answer:
    """Return the share of each thread; the global thread takes one share too."""
    if event.threads == 0:
        return outcomes.Shared(event.total_bytes)
    takers = event.threads + event.global_thread
    return outcomes.Shared((event.total_bytes - event.total_bytes % takers) // takers)


STORES: Final[dict[type[ops.Op], Does]] = {
    ops.StorePut: do_store_put,
    ops.StoreGet: do_store_get,
    ops.StoreDelete: do_store_delete,
    ops.StoreRange: do_store_list,
    ops.StoreAll: do_store_list,
    ops.StoreFlush: do_store_flush,
    ops.StoreInner: do_store_inner,
    ops.OnForward: do_on_forward,
    ops.Share: do_share,
}
"""The definitions of level `store`, by operation."""
