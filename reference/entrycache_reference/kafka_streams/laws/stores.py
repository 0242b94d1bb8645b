"""The laws about stores: a reader may see nothing but a plain map of the writes.

`last_writes` is that map: the underlying store with the cached entries over it. The laws compare it before and after a
step, and look at the order in which entries are forwarded.
"""

from typing import Any, Final

from entrycache_reference.kafka_streams.config import Config, DeleteRead, Delivery, ViewTombstone
from entrycache_reference.kafka_streams.laws import law
from entrycache_reference.kafka_streams.ops import (
    Evict,
    Listen,
    OnForward,
    StoreAll,
    StoreDelete,
    StoreFlush,
    StoreGet,
    StorePut,
    StoreRange,
)
from entrycache_reference.kafka_streams.outcomes import ErrorKind, Failed, Forward, Listing, Value
from entrycache_reference.kafka_streams.state import Part, Space, State, Step, Store
from entrycache_reference.kafka_streams.view_ops import FailForward, StoreClose, StoreKind, StoreOpen, StorePutAll
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

EMPTY_STORE: Final = Store()


def last_writes(state: State, name: str) -> dict[str, str]:
    """Return the last write of every key of a store: the underlying store with the cached entries over it.

    An expired window has none.
    """
    view = dict(state.stores.get(name, EMPTY_STORE).inner)
    for key, node in law.space(state, name).nodes.items():
        if node.value is None or law.has_expired(state, name, key):
            view.pop(key, None)
        else:
            view[key] = node.value
    return view


def reads_the_last_write(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-STORE-1: a read returns the last write, and only a write changes the last write."""
    before, after = last_writes(pre, event.store), last_writes(step.state, event.store)
    if isinstance(event, StoreGet | StoreDelete) and step.outcome.answer != Value(before.get(event.key)):
        return False
    for key, value in _writes_of(event):
        before.pop(key, None)
        if value is not None:
            before[key] = value
    return before == after and all(
        last_writes(pre, other) == last_writes(step.state, other) for other in pre.stores if other != event.store
    )


def _writes_of(event: Any) -> tuple[tuple[str, str | None], ...]:
    if isinstance(event, StorePutAll):
        return event.entries
    return ((event.key, getattr(event, "value", None)),) if isinstance(event, StorePut | StoreDelete) else ()


def is_on_closed(state: State, event: Any) -> bool:
    """Return whether an operation is on a store that is closed."""
    return not state.stores.get(getattr(event, "store", ""), EMPTY_STORE).is_open


def agrees(state: State) -> bool:
    """Return whether every store is the listener of its namespace, and its clean entries equal its underlying store.

    By the default behavior this is false only if somebody has used the namespace of a store directly.
    """
    return all(
        not store.is_open
        or (
            _is_own_listener(law.space(state, name))
            and all(
                node.is_dirty or node.value == store.inner.get(key) or law.has_expired(state, name, key)
                for key, node in law.space(state, name).nodes.items()
            )
        )
        for name, store in state.stores.items()
    )


def _is_own_listener(own: Space) -> bool:
    return own.listener is not None and own.listener.of_store


def _in_agreement(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return whether no step was performed downstream, and none before has left a disagreement."""
    is_own = event.store in pre.stores or event.store not in pre.spaces
    return is_own and law.is_undisturbed(step) and not law.has_failed(step) and agrees(pre)


def _flushes_its_own(config: Config, pre: State, event: StoreFlush, step: Step) -> bool:
    return _in_agreement(config, pre, event, step) and not law.shows_expired(config, pre, event.store)


def underlying_store_has_all(config: Config, pre: State, event: StoreFlush, step: Step) -> bool:
    """Check K-STORE-2."""
    return dict(step.state.stores[event.store].inner) == last_writes(pre, event.store)


def _flushes_unknown_tombstones(config: Config, pre: State, event: StoreFlush, step: Step) -> bool:
    is_key_value = law.kind_of(pre, event.store) is StoreKind.KEY_VALUE
    return is_key_value and bool(_unknown_tombstones(pre, event.store)) and law.is_undisturbed(step)


def _unknown_tombstones(pre: State, name: str) -> set[str]:
    own, store = law.space(pre, name), pre.stores.get(name, EMPTY_STORE)
    deleted = {key for key in own.dirty if key in own.nodes and own.nodes[key].value is None}
    return deleted - {*store.inner, *store.owed}


def is_not_forwarded(config: Config, pre: State, event: StoreFlush, step: Step) -> bool:
    """Check K-STORE-3."""
    unknown = _unknown_tombstones(pre, event.store)
    return not any(law.place(call) in unknown for call in step.outcome.forwarded)


def forwards_the_last(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-STORE-4: no key is forwarded with an older write after a newer one, nor unlike the underlying store.

    A store that the step closes has no last value; if the step opens it again, that is another store.
    """
    closed = {row.ns for row in step.rows if row.op == "CACHE_CLOSE"}
    for name, store in step.state.stores.items():
        if not store.is_open or name in closed:
            continue
        former = pre.stores.get(name, EMPTY_STORE)
        if any(former.forwarded_writes.get(key, -1) > write for key, write in store.forwarded_writes.items()):
            return False
        last = {law.place(call): call.value for call in step.outcome.forwarded if call.store == name}
        left = {key: value for key, value in last.items() if not law.has_expired(step.state, name, key)}
        if any(store.inner.get(key) != value and not _is_dirty(step.state, name, key) for key, value in left.items()):
            return False
    return True


def _is_dirty(state: State, name: str, key: str) -> bool:
    node = law.node_at(state, name, key)
    return node is not None and node.is_dirty


def _disturbed(config: Config, pre: State, event: Any, step: Step) -> bool:
    by_norm = config.variants.delivery is Delivery.BELOW_FIRST
    return by_norm and bool(step.outcome.forwarded) and not law.is_undisturbed(step)


def _throws_at(pre: State, call: Forward) -> bool:
    """Return whether the next forward of this key throws."""
    return pre.stores.get(call.store, EMPTY_STORE).failing.get(call.key, 0) > 0


def _forwards(config: Config, pre: State, event: Any, step: Step) -> bool:
    return bool(step.outcome.forwarded)


def performs_steps_downstream(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-STORE-5: the first call performs the steps set for its key; later ones may meet other steps."""
    call = step.outcome.forwarded[0]
    if step.outcome.flushed or isinstance(event, OnForward) or _throws_at(pre, call):
        return True
    steps = pre.stores.get(call.store, EMPTY_STORE).downstream.get(call.key, ())
    return len(call.inner) == (len(steps) if config.reentry_budget > 0 else 0)


def _found_below(config: Config, pre: State, event: StoreGet, step: Step) -> bool:
    below = event.key in pre.stores.get(event.store, EMPTY_STORE).inner and not law.has_failed(step)
    return below and law.node_at(pre, event.store, event.key) is None and law.is_uncalled(step)


def is_cached(config: Config, pre: State, event: StoreGet, step: Step) -> bool:
    """Check K-STORE-6."""
    node = law.node_at(step.state, event.store, event.key)
    is_evicted = any(row.op == "EVICT" and row.key == event.key for row in step.rows)
    value = pre.stores[event.store].inner[event.key]
    return is_evicted or (node is not None and (node.value, node.is_dirty) == (value, False))


def _deletes(config: Config, pre: State, event: StoreDelete, step: Step) -> bool:
    at_once = config.variants.delete_read is DeleteRead.UNCACHED
    return not law.has_failed(step) and (at_once or law.is_undisturbed(step))


def leaves_a_tombstone(config: Config, pre: State, event: StoreDelete, step: Step) -> bool:
    """Check K-STORE-7: the tombstone is the first write of the step.

    It is the only write if no step is performed downstream.
    """
    own = [row for row in step.rows if row.op == "PUT"]
    if config.variants.delete_read is DeleteRead.CACHED:
        own = [row for row in own if row.dirty]
    if not own or (own[0].ns, own[0].key, own[0].dirty) != (event.store, event.key, True):
        return False
    if not _in_agreement(config, pre, event, step):
        return True
    return len(own) == 1 and event.key not in last_writes(step.state, event.store)


def _caches_for_deletion(config: Config, pre: State, event: StoreDelete, step: Step) -> bool:
    lies_below = event.key in pre.stores.get(event.store, EMPTY_STORE).inner
    cached = config.variants.delete_read is DeleteRead.CACHED
    return cached and lies_below and law.node_at(pre, event.store, event.key) is None and not law.has_failed(step)


def caches_before_it_deletes(config: Config, pre: State, event: StoreDelete, step: Step) -> bool:
    """Check K-STORE-10: the first write of the step is that of the value, clean."""
    first = next(row for row in step.rows if row.op == "PUT")
    return (first.ns, first.key, first.dirty) == (event.store, event.key, False)


def _forwards_one_by_one(config: Config, pre: State, event: StoreFlush, step: Step) -> bool:
    own = law.space(pre, event.store)
    one_by_one = config.variants.delivery is Delivery.ONE_BY_ONE
    return (
        one_by_one
        and bool(own.dirty)
        and _is_own_listener(own)
        and event.store in pre.stores
        and pre.stores[event.store].settings.listens
        and not law.has_failed(step)
    )


def forwards_each(config: Config, pre: State, event: StoreFlush, step: Step) -> bool:
    """Check K-STORE-9: every dirty value is forwarded, in the order of the writes.

    That holds even for a value that a later write has overtaken.
    """
    own = law.space(pre, event.store)
    forwarded = iter([(law.place(call), call.value) for call in step.outcome.forwarded if call.store == event.store])
    values = [(key, own.nodes[key].value) for key in own.dirty if not law.has_expired(step.state, event.store, key)]
    return all(entry in forwarded for entry in values if entry[1] is not None)


def hides(config: Config) -> bool:
    """Return whether a cached tombstone hides its key in every view."""
    return config.variants.view_tombstone is ViewTombstone.HIDES


def _answers(config: Config, pre: State, event: Any, step: Step) -> bool:
    return hides(config) and not law.has_failed(step)


def lists_the_view(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-STORE-8."""
    view = last_writes(pre, event.store)
    low, high = getattr(event, "from_", None), getattr(event, "to", None)
    coded = sorted((key.encode("utf-8", "surrogatepass"), key) for key in view)
    expected = tuple(
        (key, view[key])
        for code, key in coded
        if (low is None or code >= low.encode("utf-8", "surrogatepass"))
        and (high is None or code <= high.encode("utf-8", "surrogatepass"))
    )
    return step.outcome.answer == Listing(expected)


def shown_by_dropping(keys: list[str], nodes: Any, stored: Any) -> tuple[tuple[str, str | None], ...]:
    """Return what a view of these keys shows if a tombstone is dropped as soon as it is next in the cache."""
    expected: list[tuple[str, str | None]] = []
    for at, key in enumerate(keys):
        if key not in nodes or nodes[key].value is not None:
            expected.append((key, nodes[key].value if key in nodes else stored[key]))
        elif key in stored and is_dropped_early(keys[:at], nodes):
            expected.append((key, stored[key]))
    return tuple(expected)


def is_dropped_early(keys: list[str], nodes: Any) -> bool:
    """Return whether the tombstone after these keys meets an uncached key, tombstones left out, before a cached one."""
    values = (key for key in reversed(keys) if key not in nodes or nodes[key].value is not None)
    return next((key not in nodes for key in values), False)


def _forwards_old_values(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return whether a store forwards, and none is opened or closed inside the step."""
    return bool(step.outcome.forwarded) and not _has_opening(step.parts)


def _has_opening(parts: tuple[Part, ...]) -> bool:
    return _has_any(parts, (StoreOpen, StoreClose))


def _has_any(parts: tuple[Part, ...], operations: tuple[type[Any], ...]) -> bool:
    """Return whether one of these operations was performed inside a call."""
    return any(isinstance(part.event, operations) or _has_any(part.parts, operations) for part in parts)


def _may_have_expired(step: Step, store: str, key: str) -> bool:
    """Return whether a forwarded window may have expired in the step: the time of a store is lost when it is closed."""
    is_closed = not step.state.stores[store].is_open
    is_of_keys = law.kind_of(step.state, store) is StoreKind.KEY_VALUE
    return law.has_expired(step.state, store, key) or (is_closed and not is_of_keys)


def first_old_value_lay_below(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-OLD-1: the first forward of a key has what lay below, and a store without old values forwards none."""
    earlier: set[tuple[str, str]] = set()
    for call in step.outcome.forwarded:
        store = pre.stores.get(call.store, EMPTY_STORE)
        if store.old_values is (call.old is ABSENT):
            return False
        key = law.place(call)
        is_first = (call.store, key) not in earlier and dict(store.forwarded) == dict(store.inner)
        is_first = is_first and not _may_have_expired(step, call.store, key)
        if store.old_values and is_first and call.old != store.inner.get(key):
            return False
        earlier.add((call.store, key))
    return True


def _forwards_a_key_again(config: Config, pre: State, event: Any, step: Step) -> bool:
    keys = [(call.store, law.place(call)) for call in step.outcome.forwarded if call.old is not ABSENT]
    return len(keys) > len({*keys}) and not _has_opening(step.parts)


def later_old_values_form_a_chain(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-OLD-2: a later forward of a key has the value of the forward before it."""
    last: dict[tuple[str, str], str | None] = {}
    for call in step.outcome.forwarded:
        key = call.store, law.place(call)
        if call.old is not ABSENT and not _may_have_expired(step, *key):
            if last.get(key, call.old) != call.old:
                return False
            last[key] = call.value
    return True


def _throws_undisturbed(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return whether a forward throws in a call of the store itself, and no step was performed before it."""
    own = law.space(pre, _store_of(event))
    calls = step.outcome.forwarded
    return (
        step.outcome.answer == Failed(ErrorKind.LISTENER_FAILED)
        and _is_own_listener(own)
        and not step.outcome.flushed
        and bool(calls)
        and law.is_undisturbed(step)
        and law.is_consistent(config, own)
    )


def _store_of(event: Any) -> str:
    return event.ns if isinstance(event, Evict) else event.store


def _throws_and_keeps(config: Config, pre: State, event: Any, step: Step) -> bool:
    loses = law.loses_undelivered(config) or law.cleans_refused(config)
    return not loses and _throws_undisturbed(config, pre, event, step)


def stops_and_loses_nothing(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-FAIL-1: the first forward that throws is the last one, and the cache holds what it held."""
    name = _store_of(event)
    calls = [call for call in step.outcome.forwarded if law.place(call) not in _unknown_tombstones(pre, name)]
    if [_throws_at(pre, call) for call in calls] != [False] * (len(calls) - 1) + [True]:
        return False
    former, last = pre.stores[name].failing, calls[-1].key
    left = {key: count - (key == last) for key, count in former.items()}
    return (
        law.content(law.space(step.state, name)) == law.content(law.space(pre, name))
        and law.are_others_unchanged(pre, step, name)
        and dict(step.state.stores[name].failing) == {key: count for key, count in left.items() if count}
    )


def _owes(config: Config, pre: State, event: StoreFlush, step: Step) -> bool:
    """Return whether a flush that nothing disturbs comes after a forward that threw."""
    store = pre.stores.get(event.store, EMPTY_STORE)
    keeps = not law.loses_undelivered(config) and not law.cleans_refused(config)
    disturbed = not law.is_undisturbed(step) or law.has_failed(step)
    return keeps and bool(store.owed) and not disturbed and _is_own_listener(law.space(pre, event.store))


def forwards_again(config: Config, pre: State, event: StoreFlush, step: Step) -> bool:
    """Check K-FAIL-2: the next flush forwards each dirty deletion that is owed, and then owes it no more."""
    own, store = law.space(pre, event.store), pre.stores[event.store]
    deleted = {key for key in store.owed if key in own.dirty and own.nodes[key].value is None}
    calls = [call for call in step.outcome.forwarded if call.store == event.store and call.value is None]
    forwarded = {law.place(call) for call in calls}
    return deleted <= forwarded and forwarded.isdisjoint(step.state.stores[event.store].owed)


def owes_the_call(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-FAIL-2: nothing of the call counts as forwarded, and each deletion of what lay below is owed."""
    own, former = law.space(pre, _store_of(event)), pre.stores[_store_of(event)]
    store = step.state.stores[_store_of(event)]
    deleted = {key for key in own.dirty if own.nodes[key].value is None and key in former.inner}
    return deleted <= {*store.owed} and all(
        store.forwarded_writes.get(key, -1) < own.nodes[key].write for key in own.dirty
    )


def _throws_somewhere(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return whether forwards throw in a step that nothing else can fail with that error."""
    spaces = (*pre.spaces.values(), *step.state.spaces.values())
    fails = any(one.listener is not None and one.listener.fails > 0 for one in spaces)
    others = (StoreOpen, StoreClose, FailForward, Listen)
    return not (fails or isinstance(event, others) or _has_any(step.parts, others)) and _throws(pre, step) > 0


def _throws(pre: State, step: Step) -> int:
    """Return how many forwards have thrown in a step: so many fewer will throw after it."""
    before = sum([count for store in pre.stores.values() for count in store.failing.values()])
    return before - sum([count for store in step.state.stores.values() for count in store.failing.values()])


def fails_one_step_each(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-FAIL-3: no more steps fail than forwards throw, so each fails only the step whose call it ends."""
    failed = step.outcome.answer == Failed(ErrorKind.LISTENER_FAILED)
    return _failures(step.parts) + failed <= _throws(pre, step)


def _failures(parts: tuple[Part, ...]) -> int:
    failed = Failed(ErrorKind.LISTENER_FAILED)
    return sum([(part.answer == failed) + _failures(part.parts) for part in parts])


def _throws_below(config: Config, pre: State, event: StoreFlush, step: Step) -> bool:
    if not _throws_undisturbed(config, pre, event, step):
        return False
    names = (*law.space(pre, event.store).dirty, *pre.stores[event.store].inner)
    expires = any(law.has_expired(step.state, event.store, name) for name in names)
    return not (expires and law.shows_expired(config, pre, event.store))


def has_written_below(config: Config, pre: State, event: StoreFlush, step: Step) -> bool:
    """Check K-FAIL-4: everything of the call lies below; with the variant, all up to the one that failed.

    What has expired is dropped.
    """
    inner, own = dict(pre.stores.get(event.store, EMPTY_STORE).inner), law.space(pre, event.store)
    by_one = config.variants.delivery is Delivery.ONE_BY_ONE
    failed = law.place(step.outcome.forwarded[-1])
    keys = own.dirty[: own.dirty.index(failed) + 1] if by_one else own.dirty
    for key in [key for key in keys if not law.has_expired(pre, event.store, key)]:
        inner.pop(key, None)
        value = own.nodes[key].value
        if value is not None:
            inner[key] = value
    return dict(step.state.stores[event.store].inner) == inner


def _fails_to_close(config: Config, pre: State, event: StoreClose, step: Step) -> bool:
    calls = step.outcome.forwarded
    return _is_own_listener(law.space(pre, event.store)) and bool(calls) and _throws_at(pre, calls[0])


def closes_all_the_same(config: Config, pre: State, event: StoreClose, step: Step) -> bool:
    """Check K-CLOSE-4."""
    gone = event.store not in step.state.spaces and step.state.stores[event.store].inner == {}
    return gone and step.outcome.answer == Failed(ErrorKind.LISTENER_FAILED) and len(step.outcome.forwarded) == 1


OF_VALUES: Final = (StorePut, StoreGet, StoreDelete, StoreRange, StoreAll, StorePutAll)

STORE_LAWS: Final = (
    law.Law(Rule.K_STORE_1, OF_VALUES, _in_agreement, reads_the_last_write),
    law.Law(Rule.K_STORE_2, (StoreFlush,), _flushes_its_own, underlying_store_has_all),
    law.Law(Rule.K_STORE_3, (StoreFlush,), _flushes_unknown_tombstones, is_not_forwarded),
    law.Law(Rule.K_STORE_4, (), _disturbed, forwards_the_last),
    law.Law(Rule.K_STORE_5, (), _forwards, performs_steps_downstream),
    law.Law(Rule.K_STORE_6, (StoreGet,), _found_below, is_cached),
    law.Law(Rule.K_STORE_7, (StoreDelete,), _deletes, leaves_a_tombstone),
    law.Law(Rule.K_STORE_8, (StoreRange, StoreAll), _answers, lists_the_view),
    law.Law(Rule.K_STORE_9, (StoreFlush,), _forwards_one_by_one, forwards_each),
    law.Law(Rule.K_STORE_10, (StoreDelete,), _caches_for_deletion, caches_before_it_deletes),
    law.Law(Rule.K_FAIL_1, (StoreFlush, Evict), _throws_and_keeps, stops_and_loses_nothing),
    law.Law(Rule.K_FAIL_2, (StoreFlush,), _owes, forwards_again),
    law.Law(Rule.K_FAIL_2, (StoreFlush, Evict), _throws_and_keeps, owes_the_call),
    law.Law(Rule.K_FAIL_3, (), _throws_somewhere, fails_one_step_each),
    law.Law(Rule.K_FAIL_4, (StoreFlush,), _throws_below, has_written_below),
    law.Law(Rule.K_CLOSE_4, (StoreClose,), _fails_to_close, closes_all_the_same),
    law.Law(Rule.K_OLD_1, (), _forwards_old_values, first_old_value_lay_below),
    law.Law(Rule.K_OLD_2, (), _forwards_a_key_again, later_old_values_form_a_chain),
)
