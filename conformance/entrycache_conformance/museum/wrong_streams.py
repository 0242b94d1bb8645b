"""Wrong versions of single functions of the reference of `kafka-streams`, each named after the rule that it breaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from entrycache_reference.kafka_streams import deliver, lookups, ops, spaces, stores, writes
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.outcomes import Answer, Context, Deleted, Done, Failed, Forward, Listed, Value
from entrycache_reference.kafka_streams.running import accounted, booked, held, limited_bytes
from entrycache_reference.kafka_streams.size import in_order
from entrycache_reference.kafka_streams.space import cleaned, removed, without_key, written
from entrycache_reference.kafka_streams.state import Change, Node, Space, State, space_of, with_space
from entrycache_reference.vocabulary import ABSENT

Taken = tuple[State, Answer]
Function = Callable[..., Taken]
_written: Final = written
_evict_eldest: Final = deliver.evict_eldest


def written_in_place(space: Space, key: str, node: Node) -> Space:
    """K-PUT-1: an overwritten key keeps its place in the order of use."""
    done = _written(space, key, node)
    return done._replace(recent=space.recent) if key in space.nodes else done


def written_uncounted(space: Space, key: str, node: Node) -> Space:
    """K-PUT-2: an overwrite is not counted."""
    return _written(space, key, node)._replace(overwrites=space.overwrites)


def written_keeping_its_turn(space: Space, key: str, node: Node) -> Space:
    """K-PUT-3: a dirty key that is written again keeps its place among the dirty ones."""
    done = _written(space, key, node)
    return done._replace(dirty=space.dirty) if key in space.dirty and node.is_dirty else done


def put_clean_over_dirty(state: State, event: ops.Put, config: Config, *calls: Any) -> Taken:
    """K-PUT-4: the dirty entry is replaced by the clean one."""
    own = space_of(state, event.ns)
    if event.dirty or event.key not in own.dirty:
        return writes.put(state, event, config, *calls)
    cleaned = own._replace(dirty=without_key(own.dirty, event.key))
    return writes.put(with_space(state, event.ns, cleaned), event, config, *calls)


def put_opening_nothing(state: State, event: ops.Put, config: Config, *calls: Any) -> Taken:
    """K-PUT-5: a tombstone opens no namespace."""
    if event.value is None and event.ns not in state.spaces:
        return state._replace(puts=state.puts + 1), Done()
    return writes.put(state, event, config, *calls)


def put_all_going_on(state: State, event: ops.PutAll, config: Config, *calls: Any) -> Taken:
    """K-PUT-6: an error does not end the batch."""
    after, error = state, None
    for write in event.entries:
        done = writes.put_node(after, event.ns, write.key, writes.node_of(write, after.writes), config, *calls)
        after, error = done.state, error or done.error
    return after, Done() if error is None else Failed(error)


def put_if_absent_not_looking(state: State, event: ops.PutIfAbsent, config: Config, *calls: Any) -> Taken:
    """K-PUT-7: the lookup is not counted."""
    own = space_of(state, event.ns)
    after, answer = writes.put_if_absent(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    now = space_of(after, event.ns)._replace(hits=own.hits, misses=own.misses)
    return with_space(after, event.ns, now), answer


def put_if_absent_counting(state: State, event: ops.PutIfAbsent, config: Config, *calls: Any) -> Taken:
    """K-PUT-8: every call counts as a put."""
    after, answer = writes.put_if_absent(state, event, config, *calls)
    return after._replace(puts=state.puts + 1), answer


def get_not_using(state: State, event: ops.Get, config: Config, *calls: Any) -> Taken:
    """K-GET-1: a hit leaves the order of use alone."""
    after, answer = lookups.get(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    return with_space(
        after, event.ns, space_of(after, event.ns)._replace(recent=space_of(state, event.ns).recent)
    ), answer


def get_not_missing(state: State, event: ops.Get, config: Config, *calls: Any) -> Taken:
    """K-GET-2: a miss is not counted."""
    after, answer = lookups.get(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    return with_space(
        after, event.ns, space_of(after, event.ns)._replace(misses=space_of(state, event.ns).misses)
    ), answer


def get_counting_keys_only(state: State, event: ops.Get, config: Config, *calls: Any) -> Taken:
    """K-GET-3: a get without a key is not counted."""
    after, answer = lookups.get(state, event, config, *calls)
    return (after if event.key is not None else state), answer


def get_opening(state: State, event: ops.Get, config: Config, *calls: Any) -> Taken:
    """K-GET-4: a get opens the namespace."""
    return lookups.get(writes.opened(state, event.ns), event, config, *calls)


def range_including_its_end(state: State, event: ops.Range, config: Config, *calls: Any) -> Taken:
    """K-RANGE-1: the end belongs to every range."""
    first, answer = lookups.range_(state, event, config, *calls)
    if event.to_inclusive:
        return first, answer
    _, wider = lookups.range_(state, replace(event, to_inclusive=True), config, *calls)
    return first, wider


def all_not_using(state: State, event: ops.All, config: Config, *calls: Any) -> Taken:
    """K-RANGE-2: iterating leaves the order of use alone."""
    _, answer = lookups.all_(state, event, config, *calls)
    return state, answer


def reverse_all_ascending(state: State, event: ops.ReverseAll, config: Config, *calls: Any) -> Taken:
    """K-RANGE-3: the answer is ascending."""
    after, answer = lookups.reverse_all(state, event, config, *calls)
    assert isinstance(answer, Listed)
    return after, Listed(answer.entries[::-1])


def delete_answering_nothing(state: State, event: ops.Delete, config: Config, *calls: Any) -> Taken:
    """K-DELETE-1: what was deleted is not answered."""
    after, answer = writes.delete(state, event, config, *calls)
    assert isinstance(answer, Deleted)
    return after, Deleted(answer.present, None)


def delete_counting(state: State, event: ops.Delete, config: Config, *calls: Any) -> Taken:
    """K-DELETE-2: a delete counts as a hit."""
    after, answer = writes.delete(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    own = space_of(after, event.ns)
    return with_space(after, event.ns, own._replace(hits=own.hits + 1)), answer


def evict_of_nothing_flushing(state: State, event: ops.Evict, config: Config, *calls: Any) -> Taken:
    """K-EVICT-1: an eviction from an empty namespace counts as a flush of it."""
    own = space_of(state, event.ns)
    if event.ns in state.spaces and not own.recent:
        return with_space(state, event.ns, own._replace(flushes=own.flushes + 1)), Done()
    return spaces.evict(state, event, config, *calls)


def evict_counting_a_miss(state: State, event: ops.Evict, config: Config, *calls: Any) -> Taken:
    """K-EVICT-2: dropping a clean entry counts as a miss."""
    own = space_of(state, event.ns)
    after, answer = spaces.evict(state, event, config, *calls)
    if own.recent and own.recent[-1] not in own.dirty:
        now = space_of(after, event.ns)
        return with_space(after, event.ns, now._replace(misses=now.misses + 1)), answer
    return after, answer


def evict_handing_over_last(state: State, event: ops.Evict, config: Config, *calls: Any) -> Taken:
    """K-EVICT-3: the evicted entry comes last."""
    after, answer = spaces.evict(state, event, config, *calls)
    if not after.calls:
        return after, answer
    first = after.calls[0]
    turned = replace(first, entries=(*first.entries[1:], first.entries[0]))
    return after._replace(calls=(turned, *after.calls[1:])), answer


def relieve_once(state: State, ns: str, config: Config, *calls: Any) -> Change:
    """K-EVICT-4: one eviction has to do."""
    if limited_bytes(state, config) <= state.max_size_bytes or not space_of(state, ns).recent:
        return Change(state)
    done = _evicted(state, ns, config, *calls)
    return done if done.error is not None else Change(done.state._replace(evicts=done.state.evicts + 1))


def _evicted(state: State, ns: str, config: Config, *calls: Any) -> Change:
    """One eviction of an overflow, in the running total too."""
    return accounted(state, _evict_eldest(state, ns, config, *calls), ns, config)


def relieve_at_the_limit(state: State, ns: str, config: Config, *calls: Any) -> Change:
    """K-EVICT-5: the limit itself is too much."""
    after = state
    while limited_bytes(after, config) >= after.max_size_bytes and space_of(after, ns).recent:
        done = _evicted(after, ns, config, *calls)
        if done.error is not None:
            return done
        after = done.state._replace(evicts=done.state.evicts + 1)
    return Change(after)


def relieve_uncounted(state: State, ns: str, config: Config, *calls: Any) -> Change:
    """K-EVICT-6: evictions are not counted."""
    after = state
    while limited_bytes(after, config) > after.max_size_bytes and space_of(after, ns).recent:
        done = _evicted(after, ns, config, *calls)
        if done.error is not None:
            return done
        after = done.state
    return Change(after)


def evict_counted(state: State, event: ops.Evict, config: Config, *calls: Any) -> Taken:
    """K-EVICT-7: the thread counts it."""
    after, answer = spaces.evict(state, event, config, *calls)
    return after._replace(evicts=after.evicts + 1), answer


def flush_by_key(state: State, event: ops.Flush, config: Config, *calls: Any) -> Taken:
    """K-FLUSH-1: the entries come in the order of their keys."""
    after, answer = spaces.flush(state, event, config, *calls)
    if not after.calls:
        return after, answer
    first = after.calls[0]
    ordered = replace(first, entries=tuple(sorted(first.entries, key=lambda entry: entry.key)))
    return after._replace(calls=(ordered, *after.calls[1:])), answer


def cleaned_half(space: Space) -> Space:
    """K-FLUSH-2: the entries keep their flag."""
    return space._replace(dirty=())


def flush_losing(state: State, event: ops.Flush, config: Config, *calls: Any) -> Taken:
    """K-FLUSH-3: what a listener refused counts as handed over."""
    after, answer = spaces.flush(state, event, config, *calls)
    if isinstance(answer, Failed) and event.ns in after.spaces:
        return with_space(after, event.ns, cleaned(space_of(after, event.ns))), answer
    return after, answer


def tombstones_kept(state: State, ns: str, entries: tuple[tuple[str, Node], ...]) -> State:
    """K-FLUSH-4: tombstones stay."""
    return state


def flush_uncounted(state: State, event: ops.Flush, config: Config, *calls: Any) -> Taken:
    """K-FLUSH-5: what a flush looks up is not counted."""
    after, answer = spaces.flush(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    hits = space_of(state, event.ns).hits
    return with_space(after, event.ns, space_of(after, event.ns)._replace(hits=hits)), answer


def flush_of_nothing_uncounted(state: State, event: ops.Flush, config: Config, *calls: Any) -> Taken:
    """K-FLUSH-6: a flush of a namespace that is not there is not counted."""
    if event.ns not in state.spaces:
        return state, Done()
    return spaces.flush(state, event, config, *calls)


def flush_without_context(state: State, event: ops.Flush, config: Config, *calls: Any) -> Taken:
    """K-LISTEN-1: the context of a write is lost."""
    after, answer = spaces.flush(state, event, config, *calls)
    if not after.calls:
        return after, answer
    first = after.calls[0]
    bare = replace(first, entries=tuple(replace(entry, context=Context()) for entry in first.entries))
    return after._replace(calls=(bare, *after.calls[1:])), answer


def performed_until_an_error(
    state: State, steps: tuple[ops.Op, ...], config: Config, perform: Any
) -> tuple[State, tuple[Answer, ...]]:
    """K-LISTEN-2: the first error ends the listener."""
    after = state._replace(called=state.called + 1)
    answers: tuple[Answer, ...] = ()
    if after.called <= config.reentry_budget:
        for op in steps:
            after, answer = perform(after, op, config)
            answers += (answer,)
            if isinstance(answer, Failed):
                break
    return after, answers


def performed_once_more(
    state: State, steps: tuple[ops.Op, ...], config: Config, perform: Any
) -> tuple[State, tuple[Answer, ...]]:
    """K-LISTEN-3: one call more than the budget performs its steps."""
    after = state._replace(called=state.called + 1)
    answers: tuple[Answer, ...] = ()
    if after.called <= config.reentry_budget + 1:
        for op in steps:
            after, answer = perform(after, op, config)
            answers += (answer,)
    return after, answers


def flush_failing_for_ever(state: State, event: ops.Flush, config: Config, *calls: Any) -> Taken:
    """K-LISTEN-4: a call that throws is not used up."""
    after, answer = spaces.flush(state, event, config, *calls)
    before = space_of(state, event.ns).listener
    if before is None or before.fails == 0 or event.ns not in after.spaces:
        return after, answer
    return with_space(after, event.ns, space_of(after, event.ns)._replace(listener=before)), answer


def listen_once(state: State, event: ops.Listen, config: Config, *calls: Any) -> Taken:
    """K-LISTEN-5: the first listener stays."""
    if space_of(state, event.ns).listener is not None:
        return state, Done()
    return spaces.listen(state, event, config, *calls)


def clear_resetting(state: State, event: ops.Clear, config: Config, *calls: Any) -> Taken:
    """K-CLOSE-1: the counters are cleared too."""
    after, answer = spaces.clear(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    return with_space(after, event.ns, Space(listener=space_of(after, event.ns).listener)), answer


def close_emptying(state: State, event: ops.Close, config: Config, *calls: Any) -> Taken:
    """K-CLOSE-2: a closed namespace is an empty one."""
    return spaces.clear(state, ops.Clear(event.ns), config, *calls)


def resize_shrinking_only(state: State, event: ops.Resize, config: Config, *calls: Any) -> Taken:
    """K-RESIZE-1: a larger limit does not come into force."""
    if event.max_size_bytes >= state.max_size_bytes:
        return state, Done()
    return spaces.resize(state, event, config, *calls)


def resize_one_by_one(state: State, event: ops.Resize, config: Config, *calls: Any) -> Taken:
    """K-RESIZE-2: a namespace is emptied before the next one pays."""
    after = state._replace(max_size_bytes=event.max_size_bytes)
    for ns in sorted(state.spaces):
        while limited_bytes(after, config) > event.max_size_bytes < state.max_size_bytes and space_of(after, ns).recent:
            done = _evicted(after, ns, config, *calls)
            if done.error is not None:
                return done.state, Failed(done.error)
            after = done.state._replace(evicts=done.state.evicts + 1)
    return after, Done()


def resize_uncounted(state: State, event: ops.Resize, config: Config, *calls: Any) -> Taken:
    """K-RESIZE-3: its evictions are not counted."""
    after, answer = spaces.resize(state, event, config, *calls)
    return after._replace(evicts=state.evicts), answer


def usage_without_tombstones(state: State, event: ops.Usage, config: Config, *calls: Any) -> Taken:
    """K-METRICS-1: tombstones are no entries."""
    if event.ns is not ABSENT:
        return lookups.usage(state, event, config, *calls)
    kept = {
        ns: own._replace(nodes={key: node for key, node in own.nodes.items() if node.value is not None})
        for ns, own in state.spaces.items()
    }
    return state, lookups.usage(state._replace(spaces=kept), event, config, *calls)[1]


def metrics_of_thread_swapped(state: State, event: ops.Metrics, config: Config, *calls: Any) -> Taken:
    """K-METRICS-2: gets are shown as puts."""
    swapped = state._replace(puts=state.gets, gets=state.puts) if event.ns is ABSENT else state
    return state, lookups.metrics(swapped, event, config, *calls)[1]


def metrics_eldest_first(state: State, event: ops.Metrics, config: Config, *calls: Any) -> Taken:
    """K-METRICS-3: the order of use begins with the eldest."""
    if event.ns is ABSENT:
        return lookups.metrics(state, event, config, *calls)
    own = space_of(state, event.ns)
    turned = with_space(state, event.ns, own._replace(recent=own.recent[::-1]))
    return state, lookups.metrics(turned, event, config, *calls)[1]


def store_get_below(state: State, event: ops.StoreGet, config: Config, *calls: Any) -> Taken:
    """K-STORE-1: a deleted key is looked for below."""
    after, answer = stores.store_get(state, event, config, *calls)
    node = space_of(state, event.store).nodes.get(event.key)
    if node is not None and node.value is None:
        return after, Value(stores.store_of(state, event.store).inner.get(event.key))
    return after, answer


def store_flush_keeping_deleted(state: State, event: ops.StoreFlush, config: Config, *calls: Any) -> Taken:
    """K-STORE-2: what was deleted stays below."""
    before = stores.store_of(state, event.store).inner
    after, answer = stores.store_flush(state, event, config, *calls)
    if stores.store_of(state, event.store).downstream:
        return after, answer
    store = stores.store_of(after, event.store)
    return stores.with_store(after, event.store, store._replace(inner={**before, **store.inner})), answer


def store_flush_forwarding_unknown(state: State, event: ops.StoreFlush, config: Config, *calls: Any) -> Taken:
    """K-STORE-3: every tombstone is forwarded."""
    own, inner = space_of(state, event.store), stores.store_of(state, event.store).inner
    heeded = stores.store_of(state, event.store).downstream
    unknown = [key for key in own.dirty if not heeded and own.nodes[key].value is None and key not in inner]
    after, answer = stores.store_flush(state, event, config, *calls)
    extra = tuple(Forward(event.store, key, None) for key in unknown)
    return after._replace(forwards=(*after.forwards, *extra)), answer


def receive_late(state: State, name: str, entries: Any, config: Config, perform: Any) -> State:
    """K-STORE-4: an entry is passed on although a later write was."""
    after = state
    known = []
    for key, node in entries:
        store = stores.store_of(after, name)
        if node.value is not None or key in store.inner:
            known.append((key, node))
            below = stores.lies_below(store.inner, key, node.value)
            after = stores.with_store(after, name, store._replace(inner=below))
    for key, node in known:
        after = stores.pass_on(after, name, key, node, config, perform)
    return after


def performed_nothing(
    state: State, steps: tuple[ops.Op, ...], config: Config, perform: Any
) -> tuple[State, tuple[Answer, ...]]:
    """K-STORE-5: nothing is done downstream."""
    return state._replace(called=state.called + 1), ()


def store_get_not_caching(state: State, event: ops.StoreGet, config: Config, *calls: Any) -> Taken:
    """K-STORE-6: what was read from below is not cached."""
    there = space_of(state, event.store).nodes
    after, answer = stores.store_get(state, event, config, *calls)
    if event.key in there or event.key not in space_of(after, event.store).nodes:
        return after, answer
    uncached = with_space(after, event.store, removed(space_of(after, event.store), event.key))
    return booked(after, uncached, held(after, event.store), config), answer


def store_delete_of_known(state: State, event: ops.StoreDelete, config: Config, *calls: Any) -> Taken:
    """K-STORE-7: deleting what is not there writes no tombstone."""
    done, value = stores.read_value(state, event.store, event.key, config, *calls)
    if value is None:
        return done.state, Value(None)
    return stores.store_delete(state, event, config, *calls)


def store_all_with_deleted(state: State, event: ops.StoreAll, config: Config, *calls: Any) -> Taken:
    """K-STORE-8: a deleted key shows through as long as it lies below."""
    after, answer = stores.store_all(state, event, config, *calls)
    assert isinstance(answer, Listed)
    shown = dict(answer.entries)
    shown.update({k: v for k, v in stores.store_of(after, event.store).inner.items() if k not in shown})
    return after, Listed(tuple((key, shown[key]) for key in in_order(tuple(shown))))


def share_for_threads_only(state: State, event: ops.Share, config: Config, *calls: Any) -> Taken:
    """K-SHARE-1: the global thread gets nothing."""
    return stores.share(state, replace(event, global_thread=False), config, *calls)


def evict_told_twice(state: State, event: ops.Evict, config: Config, *calls: Any) -> Taken:
    """K-LIVENESS-1: an eviction is done again and again."""
    after, answer = spaces.evict(state, event, config, *calls)
    return after._replace(rows=after.rows * 3), answer


def store_inner_of_one(state: State, event: ops.StoreInner, config: Config, *calls: Any) -> Taken:
    """K-LIVENESS-2: a listing is answered by one value."""
    after, answer = stores.store_inner(state, event, config, *calls)
    assert isinstance(answer, Listed)
    return after, Value(answer.entries[0][1] if answer.entries else None)
