"""What each operation of the level `cache` makes of the picture, and what it answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from entrycache_evidence.kafka_streams.expected_state import (
    ExpectedSpace,
    ExpectedState,
    book_bytes,
    build_node,
    bytes_left,
    evict_eldest,
    evict_overflow,
    hand_over,
    look_up,
    node_size,
    put_entry,
    would_hide_dirty,
    write_entry,
)
from entrycache_evidence.kafka_streams.frame import BESIDE, MAY_CHANGE, changes_outside
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.config import Config, DeleteRead, Total
from entrycache_reference.kafka_streams.flush import ENDLESS, NOTHING_TO_CHOOSE
from entrycache_reference.kafka_streams.laws.law import space
from entrycache_reference.kafka_streams.outcomes import (
    Answer,
    Context,
    Deleted,
    Done,
    ErrorKind,
    Failed,
    Got,
    Listed,
    NamespaceCounters,
    Offered,
    Shared,
    ThreadCounters,
    Unanswered,
    Used,
    Value,
)
from entrycache_reference.kafka_streams.state import Listener, Node, Part, Row, State, Step, Store
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

Does = Callable[[ExpectedState, Any], Answer]


def do_put(picture: ExpectedState, event: ops.Put) -> Answer:
    """One write."""
    put_entry(picture, event.ns, event.key, build_node(event, picture.writes))
    return Done()


def do_put_all(picture: ExpectedState, event: ops.PutAll) -> Answer:
    """Writes one by one, up to the first error."""
    for one in event.entries:
        if picture.error is None:
            put_entry(picture, event.ns, one.key, build_node(one, picture.writes))
    return Done()


def do_put_if_absent(picture: ExpectedState, event: ops.PutIfAbsent) -> Answer:
    """Return a lookup, a write if nothing was found, and the overflow either way; the write counts at the end."""
    found = look_up(picture, event.ns, event.key)
    if found is None and would_hide_dirty(picture, event.ns, event.key, event.dirty):
        picture.error = ErrorKind.ILLEGAL_STATE
        return Done()
    if found is None:
        write_entry(picture, event.ns, event.key, build_node(event, picture.writes))
    evict_overflow(picture, event.ns)
    picture.puts += found is None and picture.error is None
    return Offered(found is not None, None if found is None else found.value)


def do_get(picture: ExpectedState, event: ops.Get) -> Answer:
    """Return a lookup that the thread counts, also where there is nothing to look into."""
    picture.gets += 1
    found = None if event.key is None or event.ns not in picture else look_up(picture, event.ns, event.key)
    return Got(found is not None, None if found is None else found.value)


def do_delete(picture: ExpectedState, event: ops.Delete) -> Answer:
    """Return the key leaves, and nobody is told."""
    node = picture.open(event.ns).nodes.get(event.key) if event.ns in picture else None
    if node is None:
        return Deleted(False, None)
    picture.drop(event.ns, event.key)
    book_bytes(picture, -node.size_bytes)
    picture.tell(Rule.K_DELETE_1, "DELETE", event.ns, event.key, node, "CALL")
    return Deleted(True, node.value)


def encode_key(text: str) -> bytes:
    """Return the bytes by which keys are ordered."""
    return text.encode("utf-8", "surrogatepass")


def list_between(keys: Any, first: str | None, last: str | None, last_inclusive: bool = True) -> list[str]:
    """Return the keys within two bounds, in the order of their bytes; None: no bound."""
    low, high = (None if one is None else encode_key(one) for one in (first, last))
    found = sorted((encode_key(key), key) for key in keys)
    if low is not None:
        found = [one for one in found if not one[0] < low]
    if high is not None:
        found = [one for one in found if one[0] < high or (last_inclusive and one[0] == high)]
    return [key for _, key in found]


def do_list(picture: ExpectedState, event: Any) -> Answer:
    """Return a lookup of each key in the order asked for: each is used, and so the last one is the most recent."""
    if event.ns not in picture:
        return Listed(())
    own = picture.open(event.ns)
    first, last = getattr(event, "from_", None), getattr(event, "to", None)
    keys = list_between(own.nodes, first, last, getattr(event, "to_inclusive", True))
    if isinstance(event, ops.ReverseRange | ops.ReverseAll):
        keys.reverse()
    for key in keys:
        look_up(picture, event.ns, key)
    return Listed(tuple([(key, own.nodes[key].value) for key in keys]))


def do_listen(picture: ExpectedState, event: ops.Listen) -> Answer:
    """Another listener, whatever there was."""
    steps = () if event.on_flush is ABSENT else event.on_flush
    picture.open(event.ns).listener = Listener(steps, 0 if event.fails is ABSENT else event.fails)
    return Done()


def do_flush(picture: ExpectedState, event: ops.Flush) -> Answer:
    """Return every dirty entry is handed over; what the namespace has lost then is reported."""
    picture.flushes += 1
    flush(picture, event.ns)
    return Done()


def flush(picture: ExpectedState, ns: str) -> None:
    """The handing over of a flush."""
    if ns in picture:
        before, closings = picture.open(ns).size_bytes, picture.closings(ns)
        hand_over(picture, ns, None)
        if picture.error is None:
            book_bytes(picture, bytes_left(picture, ns, closings) - before)


def do_evict(picture: ExpectedState, event: ops.Evict) -> Answer:
    """Return the eldest entry leaves; the thread does not count it."""
    evict_eldest(picture, event.ns)
    return Done()


def do_clear(picture: ExpectedState, event: ops.Clear) -> Answer:
    """Return every entry leaves; listener and counters stay."""
    if event.ns in picture:
        own = picture.open(event.ns)
        gone = take_all(picture, own)
        own.nodes, own.recent, own.dirty = {}, [], []
        report_removed(picture, event.ns, gone, Rule.K_CLOSE_1, "CLEAR")
    return Done()


def do_close(picture: ExpectedState, event: ops.Close) -> Answer:
    """Return the namespace is gone with all that it holds."""
    if event.ns in picture:
        gone = take_all(picture, picture.open(event.ns))
        picture.close(event.ns)
        report_removed(picture, event.ns, gone, Rule.K_CLOSE_2, "CLOSE")
        picture.tell(Rule.K_CLOSE_2, "CACHE_CLOSE", event.ns, None, None)
    return Done()


def take_all(picture: ExpectedState, own: ExpectedSpace) -> list[tuple[str, Node]]:
    """Return all entries of a namespace, most recent first; their bytes leave at once."""
    picture.total -= own.size_bytes
    book_bytes(picture, -own.size_bytes)
    return [(key, own.nodes[key]) for key in own.recent]


def report_removed(picture: ExpectedState, ns: str, gone: list[tuple[str, Node]], rule: Rule, cause: str) -> None:
    """The rows of what has left, most recent first, each by the bytes that are left after all of it."""
    for key, node in gone:
        picture.tell(rule, "REMOVE", ns, key, node, cause)


def do_resize(picture: ExpectedState, event: ops.Resize) -> Answer:
    """Return the limit is set; a smaller one is paid for by turns."""
    is_smaller = event.max_size_bytes < picture.limit
    picture.limit = event.max_size_bytes
    value = json.dumps({"max_size_bytes": event.max_size_bytes})
    picture.rows.append(Row(Rule.K_RESIZE_1, "CONFIG", None, picture.total, value=value))
    if is_smaller:
        (evict_by_turns_ahead if picture.config.variants.total is Total.RUNNING else evict_by_turns)(picture)
    return Done()


def evict_by_turns(picture: ExpectedState) -> None:
    """Round after round over the namespaces by name, one eviction each; a turn that takes nothing counts too."""
    waiting: list[str] = []
    while picture.is_right and picture.total > picture.limit:
        waiting = waiting or picture.names()
        evict_eldest(picture, waiting.pop(0))
        if picture.error is not None:
            return
        picture.evicts += 1


def evict_by_turns_ahead(picture: ExpectedState) -> None:
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
            evict_eldest(picture, now)
        if picture.error is not None:
            return
        picture.evicts += 1


def do_usage(picture: ExpectedState, event: ops.Usage) -> Answer:
    """Return exact sums."""
    if event.ns is ABSENT:
        entries = sum([len(space.nodes) for space in picture.state.spaces.values()])
        return Used(entries, picture.total, picture.limited())
    nodes = space(picture.state, event.ns).nodes
    return Used(len(nodes), sum([node.size_bytes for node in nodes.values()]))


def do_metrics(picture: ExpectedState, event: ops.Metrics) -> Answer:
    """Return the counters of the thread, or of one namespace."""
    if event.ns is ABSENT:
        return ThreadCounters(picture.puts, picture.gets, picture.evicts, picture.flushes)
    own = ExpectedSpace(space(picture.state, event.ns))
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


# Operations of level `store`.

OF_STORE: Final = Listener((), 0, True)


def ensure_store(picture: ExpectedState, name: str) -> None:
    """From its first use on a store is there, and listens to its namespace."""
    if name not in picture.stores:
        picture.stores[name] = Store()
        picture.open(name).listener = OF_STORE


def put_value(picture: ExpectedState, name: str, key: str, value: str | None, is_dirty: bool) -> None:
    """A write of a store: it carries nothing but key and value."""
    put_entry(picture, name, key, Node(value, is_dirty, node_size(key, value, "", ()), Context(), picture.writes))


def find_value(picture: ExpectedState, name: str, key: str) -> tuple[bool, str | None]:
    """Return a lookup: whether the cache knows the key, and the last write of it, there or below."""
    ensure_store(picture, name)
    picture.gets += 1
    node = look_up(picture, name, key) if name in picture else None
    return node is not None, picture.stores[name].inner.get(key) if node is None else node.value


def read_value(picture: ExpectedState, name: str, key: str) -> str | None:
    """Return a lookup that caches, clean, what it found below."""
    is_known, value = find_value(picture, name, key)
    if not is_known and value is not None:
        put_value(picture, name, key, value, is_dirty=False)
    return value


def do_store_put(picture: ExpectedState, event: ops.StorePut) -> Answer:
    """Return a dirty write."""
    ensure_store(picture, event.store)
    put_value(picture, event.store, event.key, event.value, is_dirty=True)
    return Done()


def do_store_get(picture: ExpectedState, event: ops.StoreGet) -> Answer:
    """Return the last write."""
    return Value(read_value(picture, event.store, event.key))


def do_store_delete(picture: ExpectedState, event: ops.StoreDelete) -> Answer:
    """Return the last write, and then a tombstone over it; by a variant what lies below is cached first."""
    if picture.config.variants.delete_read is DeleteRead.CACHED:
        value = read_value(picture, event.store, event.key)
    else:
        value = find_value(picture, event.store, event.key)[1]
    if picture.error is None and picture.is_right:
        put_value(picture, event.store, event.key, None, is_dirty=True)
    return Value(value)


def do_store_list(picture: ExpectedState, event: Any) -> Answer:
    """Cache and store below as one plain map; every cached key in it is looked up."""
    ensure_store(picture, event.store)
    name, first, last = event.store, getattr(event, "from_", None), getattr(event, "to", None)
    view: dict[str, str | None] = dict(picture.stores[name].inner)
    nodes = picture.open(name).nodes if name in picture else {}
    for key in list_between(nodes, first, last):
        look_up(picture, name, key)
    view.update({key: node.value for key, node in nodes.items()})
    return Listed(tuple([(key, view[key]) for key in list_between(view, first, last) if view[key] is not None]))


def do_store_flush(picture: ExpectedState, event: ops.StoreFlush) -> Answer:
    """What is dirty goes below and downstream."""
    ensure_store(picture, event.store)
    picture.flushes += 1
    flush(picture, event.store)
    return Done()


def do_store_inner(picture: ExpectedState, event: ops.StoreInner) -> Answer:
    """What lies below, by key."""
    ensure_store(picture, event.store)
    inner = picture.stores[event.store].inner
    return Listed(tuple([(key, inner[key]) for key in list_between(inner, None, None)]))


def do_on_forward(picture: ExpectedState, event: ops.OnForward) -> Answer:
    """What is done downstream for one key from now on."""
    ensure_store(picture, event.store)
    store = picture.stores[event.store]
    picture.stores[event.store] = store._replace(downstream={**store.downstream, event.key: event.steps})
    return Done()


def do_share(picture: ExpectedState, event: ops.Share) -> Answer:
    """What each of the threads gets; the global one takes one share, nobody else's is larger."""
    if event.threads == 0:
        return Shared(event.total_bytes)
    takers = event.threads + event.global_thread
    return Shared((event.total_bytes - event.total_bytes % takers) // takers)


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
"""By operation."""


# The whole definition.

DOES: Final[Mapping[type[ops.Op], Does]] = {**CACHES, **STORES}


def check_definition(config: Config, pre: State, event: ops.Op, step: Step) -> tuple[Rule, ...]:
    """Return the rule of the operation, where the step is not what is defined or leaves its frame."""
    return () if is_defined(config, pre, event, step) else (event.rule,)


def is_defined(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether a step is the one that its operation is defined as, and keeps to its frame.

    One that gives no answer is held to all the rest: up to where it ends, or what it throws, it is defined.
    """
    picture = ExpectedState(config, pre, step.parts, step.rows)
    answer = step.outcome.answer
    if changes_outside(pre, event, step.state, step.parts) or not matches_definition(picture, event, answer):
        return False
    return (
        (picture.stuck or None) == (answer.reason if isinstance(answer, Unanswered) else None)
        and picture.lasting() == step.state
        and tuple(picture.rows) == step.rows
        and tuple(picture.calls) == step.outcome.flushed
        and tuple(picture.forwards) == step.outcome.forwarded
        and all(is_part_defined(config, part, step.rows) for part in step.parts)
    )


def is_part_defined(config: Config, part: Part, rows: tuple[Row, ...]) -> bool:
    """Whether a step inside a call is the one that its operation is defined as; `rows` are those of the whole step."""
    picture = ExpectedState(config, part.pre, part.parts, rows)
    return (
        matches_definition(picture, part.event, part.answer)
        and picture.stuck == part.after.in_progress.stuck
        and picture.is_shown(part.after)
        and all(is_part_defined(config, inner, rows) for inner in part.parts)
    )


def matches_definition(picture: ExpectedState, event: ops.Op, answer: object) -> bool:
    """Draw what the operation does; whether it answers that, or nothing, and every step inside it was met."""
    wanted = DOES[type(event)](picture, event)
    answered = wanted if picture.error is None else Failed(picture.error)
    answers = isinstance(answer, Unanswered) or answered == answer
    return picture.is_right and answers and next(picture.parts, None) is None


__all__ = ["BESIDE", "MAY_CHANGE", "check_definition", "is_defined"]
