"""The seeded faults of this reference that are subjects, by the public names that `entrycache conform` takes.

Most of them are faults of the registry that explain failures too. The others are served only: they stand in
`SERVED_ONLY`, so that no failure is explained by them. Their answers are those of an implementation with that error.
The tables at the end give each fault its public name, grouped as the page of seeded faults shows them.
"""

from typing import Any, Final

from entrycache_faults.model import Fault, FaultRegistry
from entrycache_faults.reference.kafka_streams import entries as entry_faults
from entrycache_faults.reference.kafka_streams import flush as flush_faults
from entrycache_faults.reference.kafka_streams import stores as store_faults
from entrycache_faults.reference.kafka_streams import views as view_faults
from entrycache_faults.reference.kafka_streams.entries import SEEDED_FAULTS, OperationResult
from entrycache_reference.kafka_streams import change, entries, flush, ops, outcomes, stores
from entrycache_reference.kafka_streams.change import sort_by_bytes
from entrycache_reference.kafka_streams.config import BackwardTombstone, Config, Delivery, FlushedTombstone, RangeQuery
from entrycache_reference.kafka_streams.state import Change, Node, State, space_of, with_space
from entrycache_reference.rules import Rule

SERVED_ONLY: Final = FaultRegistry(SEEDED_FAULTS.package)

served_fault = SERVED_ONLY.register


@served_fault(Rule.K_PUT_7, ops.PutIfAbsent)
def put_if_absent_over_tombstone(state: State, event: ops.PutIfAbsent, config: Config, *calls: Any) -> OperationResult:
    """A put_if_absent writes over a tombstone."""
    own = space_of(state, event.ns)
    node = own.nodes.get(event.key)
    if node is not None and node.value is None:
        state = with_space(state, event.ns, change.remove_key(own, event.key))
    return entries.put_if_absent(state, event, config, *calls)


@served_fault(Rule.K_PUT_6, ops.PutAll)
def put_all_or_nothing(state: State, event: ops.PutAll, config: Config, *calls: Any) -> OperationResult:
    """A put_all that would meet an error writes nothing."""
    dirty = set(space_of(state, event.ns).dirty)
    for write in event.entries:
        if write.key in dirty and not write.dirty:
            return state._replace(puts=state.puts + 1), outcomes.Failed(outcomes.ErrorKind.ILLEGAL_STATE)
        dirty |= {write.key} if write.dirty else set()
    return entries.put_all(state, event, config, *calls)


@served_fault(Rule.K_PUT_4, "entries.put_node")
def put_node_uncounted(state: State, ns: str, key: str, node: Node, *rest: Any) -> Change:
    """A clean write over a dirty entry does not count as a put."""
    done = entries.put_node(state, ns, key, node, *rest)
    refused = not node.is_dirty and key in space_of(state, ns).dirty
    return done._replace(state=done.state._replace(puts=state.puts)) if refused else done


@served_fault(Rule.K_GET_4, ops.Get)
def get_missing_nothing(state: State, event: ops.Get, config: Config, *calls: Any) -> OperationResult:
    """A get of the key null counts as a miss of the namespace."""
    after, answer = entries.get(state, event, config, *calls)
    if event.key is not None or event.ns not in after.spaces:
        return after, answer
    own = space_of(after, event.ns)
    return with_space(after, event.ns, own._replace(misses=own.misses + 1)), answer


@served_fault(Rule.K_GET_1, ops.Get)
def get_missing_tombstones(state: State, event: ops.Get, config: Config, *calls: Any) -> OperationResult:
    """A get of a tombstone answers a miss."""
    after, answer = entries.get(state, event, config, *calls)
    return after, outcomes.Lookup(False, None) if isinstance(
        answer, outcomes.Lookup
    ) and answer.value is None else answer


@served_fault(Rule.K_RANGE_2, "entries.list_entries")
def list_without_use(state: State, ns: str, keys: tuple[str, ...]) -> OperationResult:
    """An iteration does not make its keys the most recent."""
    after, answer = entries.list_entries(state, ns, keys)
    return with_space(
        after, ns, space_of(after, ns)._replace(recent=space_of(state, ns).recent)
    ) if keys else after, answer


@served_fault(Rule.K_RANGE_3, ops.ReverseRange, ops.ReverseAll)
def reverse_ascending(
    state: State, event: ops.ReverseRange | ops.ReverseAll, config: Config, *calls: Any
) -> OperationResult:
    """A reverse range is answered ascending."""
    if isinstance(event, ops.ReverseRange):
        after, answer = entries.reverse_range(state, event, config, *calls)
    else:
        after, answer = entries.reverse_all(state, event, config, *calls)
    assert isinstance(answer, outcomes.Listing)
    return after, outcomes.Listing(answer.entries[::-1])


@served_fault(Rule.K_DELETE_1, ops.Delete)
def delete_leaving_a_tombstone(state: State, event: ops.Delete, config: Config, *calls: Any) -> OperationResult:
    """A delete of a dirty key is handed over as a tombstone later."""
    node = space_of(state, event.ns).nodes.get(event.key)
    after, answer = entries.delete(state, event, config, *calls)
    if node is None or not node.is_dirty:
        return after, answer
    size = node.size_bytes - len((node.value or "").encode("utf-8", "surrogatepass"))
    deleted = Node(None, True, size, node.context, after.writes)
    return entries.write_node(after, event.ns, event.key, deleted), answer


@served_fault(Rule.K_EVICT_6, "entries.maybe_evict")
def evict_counted_on_failure(state: State, ns: str, *rest: Any) -> Change:
    """An eviction of an overflow that cannot be delivered still counts."""
    done = entries.maybe_evict(state, ns, *rest)
    return done if done.error is None else done._replace(state=done.state._replace(evicts=done.state.evicts + 1))


@served_fault(Rule.K_FLUSH_3, "flush.flush_dirty")
def flush_nothing_without_listener(state: State, ns: str, evicted: str | None, *rest: Any) -> Change:
    """A flush with nothing dirty does not need a listener."""
    own = space_of(state, ns)
    if own.dirty:
        return flush.flush_dirty(state, ns, evicted, *rest)
    return Change(with_space(state, ns, own._replace(flushes=own.flushes + 1)))


@served_fault(Rule.K_FLUSH_3, "flush.flush_dirty")
def flush_and_forget(state: State, ns: str, evicted: str | None, *rest: Any) -> Change:
    """The entries that a listener threw at count as handed over."""
    done = flush.flush_dirty(state, ns, evicted, *rest)
    if done.error is not outcomes.ErrorKind.LISTENER_FAILED:
        return done
    return done._replace(state=with_space(done.state, ns, change.mark_all_clean(space_of(done.state, ns))))


@served_fault(Rule.K_FLUSH_1, "flush.call_listener")
def call_listener_one_by_one(state: State, ns: str, listener: Any, handed: Any, *rest: Any) -> State:
    """A flush calls the listener once for each entry."""
    after = state
    for entry in handed:
        after = flush.call_listener(after, ns, listener, (entry,), *rest)
    return after


@served_fault(Rule.K_SHARE_1, ops.Share)
def share_to_the_nearest(state: State, event: ops.Share, config: Config, *calls: Any) -> OperationResult:
    """A share is rounded to the nearest number instead of down."""
    takers = event.threads + event.global_thread
    rounded = (2 * event.total_bytes + takers) // (2 * takers) if event.threads else event.total_bytes
    return state, outcomes.Shared(rounded)


def _list_view(state: State, name: str, *rest: Any) -> tuple[State, dict[str, str | None]]:
    after, answer = stores.list_merged_view(state, name, *rest)
    assert isinstance(answer, outcomes.Listing)
    return after, dict(answer.entries)


@served_fault(Rule.K_STORE_8, "stores.list_merged_view")
def merge_from_below(state: State, name: str, *rest: Any) -> OperationResult:
    """The merged view shows the value of the underlying store although the cache holds the key."""
    after, view = _list_view(state, name, *rest)
    below = stores.store_of(after, name).inner
    return after, outcomes.Listing(tuple((key, below.get(key, value)) for key, value in view.items()))


@served_fault(Rule.K_STORE_8, "stores.list_merged_view")
def merge_without_its_end(state: State, name: str, first: str | None, last: str | None, *rest: Any) -> OperationResult:
    """The end never belongs to a range of a store."""
    after, view = _list_view(state, name, first, last, *rest)
    return after, outcomes.Listing(tuple((key, value) for key, value in view.items() if key != last))


@served_fault(Rule.K_STORE_8, "stores.list_merged_view")
def merge_with_tombstones(state: State, name: str, first: str | None, last: str | None, *rest: Any) -> OperationResult:
    """The merged view shows a deleted key with the value null."""
    after, view = _list_view(state, name, first, last, *rest)
    own = space_of(after, name)
    hidden = {key: None for key in entries.keys_between(after, name, first, last, True) if own.nodes[key].value is None}
    merged = {**view, **hidden}
    return after, outcomes.Listing(tuple((key, merged[key]) for key in sort_by_bytes(tuple(merged))))


@served_fault(Rule.K_STORE_1, "stores.receive")
def receive_keeping_deleted(state: State, name: str, handed: Any, *rest: Any) -> State:
    """A tombstone is forwarded, but the key stays in the underlying store."""
    before = stores.store_of(state, name).inner
    after = stores.receive(state, name, handed, *rest)
    store = stores.store_of(after, name)
    deleted = {key: before[key] for key, node in handed if node.value is None and key in before}
    return stores.with_store(after, name, store._replace(inner={**deleted, **store.inner}))


# The public names.

CACHE: Final[dict[str, Fault]] = {
    "streams-absent-put-counts": SEEDED_FAULTS.find(entry_faults.put_if_absent_counting),
    "streams-absent-put-does-not-evict": SEEDED_FAULTS.find(entry_faults.put_if_absent_not_paying),
    "streams-absent-put-over-tombstone": SERVED_ONLY.find(put_if_absent_over_tombstone),
    "streams-batch-all-or-nothing": SERVED_ONLY.find(put_all_or_nothing),
    "streams-clean-over-dirty": SEEDED_FAULTS.find(entry_faults.put_clean_over_dirty),
    "streams-clear-forgets-listener": SEEDED_FAULTS.find(flush_faults.clear_with_listener),
    "streams-close-keeps-counters": SEEDED_FAULTS.find(flush_faults.close_emptying),
    "streams-delete-stays-dirty": SERVED_ONLY.find(delete_leaving_a_tombstone),
    "streams-dirty-by-first-write": SEEDED_FAULTS.find(entry_faults.written_keeping_its_turn),
    "streams-dirty-by-use": SEEDED_FAULTS.find(entry_faults.metrics_dirty_by_use),
    "streams-evict-alone": SEEDED_FAULTS.find(flush_faults.hand_over_evicted_only),
    "streams-evict-at-the-limit": SEEDED_FAULTS.find(flush_faults.relieve_at_the_limit),
    "streams-evict-call-counts": SEEDED_FAULTS.find(flush_faults.evict_counted),
    "streams-evict-counted-on-failure": SERVED_ONLY.find(evict_counted_on_failure),
    "streams-evict-elsewhere": SEEDED_FAULTS.find(flush_faults.relieve_the_fullest),
    "streams-evict-newest": SEEDED_FAULTS.find(flush_faults.evict_newest),
    "streams-evict-once": SEEDED_FAULTS.find(flush_faults.relieve_once),
    "streams-evict-spares-the-last": SEEDED_FAULTS.find(flush_faults.holds_more_than_one),
    "streams-evicted-comes-last": SEEDED_FAULTS.find(flush_faults.hand_over_evicted_last),
    "streams-evicted-still-counts": SEEDED_FAULTS.find(flush_faults.call_listener_before_it_left),
    "streams-eviction-loses": SEEDED_FAULTS.find(flush_faults.unheard_and_forgotten),
    "streams-flush-by-key": SEEDED_FAULTS.find(flush_faults.flush_by_key),
    "streams-flush-cleans-afterwards": SEEDED_FAULTS.find(flush_faults.hand_over_cleaning_afterwards),
    "streams-flush-forgets": SERVED_ONLY.find(flush_and_forget),
    "streams-flush-keeps-tombstones": SEEDED_FAULTS.find(flush_faults.tombstones_kept),
    "streams-flush-loses-a-write": SEEDED_FAULTS.find_variant(
        Rule.K_FLUSH_4, flushed_tombstone=FlushedTombstone.ANY_WRITE
    ),
    "streams-flush-of-nothing-needs-nobody": SERVED_ONLY.find(flush_nothing_without_listener),
    "streams-flush-one-by-one": SERVED_ONLY.find(call_listener_one_by_one),
    "streams-flush-puts-back-as-newest": SEEDED_FAULTS.find(flush_faults.hand_over_back_as_newest),
    "streams-flush-uses": SEEDED_FAULTS.find(flush_faults.hand_over_using),
    "streams-get-leaves-use": SEEDED_FAULTS.find(entry_faults.get_not_using),
    "streams-get-null-counts": SERVED_ONLY.find(get_missing_nothing),
    "streams-get-tombstone-missed": SERVED_ONLY.find(get_missing_tombstones),
    "streams-headers-in-bytes": SEEDED_FAULTS.find(entry_faults.utf8_bytes_of_names),
    "streams-overwrite-keeps-bytes": SEEDED_FAULTS.find(entry_faults.written_adding),
    "streams-overwrite-keeps-place": SEEDED_FAULTS.find(entry_faults.written_in_place),
    "streams-range-end-excluded": SEEDED_FAULTS.find(entry_faults.range_excluding_its_end),
    "streams-range-leaves-use": SERVED_ONLY.find(list_without_use),
    "streams-range-without-tombstones": SEEDED_FAULTS.find(entry_faults.listed_without_tombstones),
    "streams-refused-put-uncounted": SERVED_ONLY.find(put_node_uncounted),
    "streams-resize-keeps-limit-on-failure": SEEDED_FAULTS.find(flush_faults.resize_undone),
    "streams-resize-lazily": SEEDED_FAULTS.find(flush_faults.resize_lazily),
    "streams-reverse-range-ascends": SERVED_ONLY.find(reverse_ascending),
    "streams-tombstone-counts-nothing": SEEDED_FAULTS.find(entry_faults.size_of_key_only),
}
"""The faults of level `cache` by public name."""

STORE: Final[dict[str, Fault]] = {
    "streams-delete-of-unknown-writes-nothing": SEEDED_FAULTS.find(store_faults.store_delete_of_known),
    "streams-delete-writes-through": SEEDED_FAULTS.find(store_faults.store_delete_through),
    "streams-deleted-stays-below": SERVED_ONLY.find(receive_keeping_deleted),
    "streams-overtaken-passed-on": SEEDED_FAULTS.find(store_faults.receive_late),
    "streams-passed-on-before-below": SEEDED_FAULTS.find(store_faults.receive_below_last),
    "streams-passed-on-one-by-one": SEEDED_FAULTS.find_variant(Rule.K_STORE_1, delivery=Delivery.ONE_BY_ONE),
    "streams-read-cached-dirty": SEEDED_FAULTS.find(store_faults.node_dirty),
    "streams-read-not-cached": SEEDED_FAULTS.find(store_faults.value_only_looked_for),
    "streams-share-rounded": SERVED_ONLY.find(share_to_the_nearest),
    "streams-share-without-global": SEEDED_FAULTS.find(store_faults.share_for_threads_only),
    "streams-tombstone-falls-through": SEEDED_FAULTS.find(store_faults.store_get_below),
    "streams-unknown-tombstone-passed-on": SEEDED_FAULTS.find(store_faults.receive_passing_on_unknown),
    "streams-view-below-wins": SERVED_ONLY.find(merge_from_below),
    "streams-view-end-excluded": SERVED_ONLY.find(merge_without_its_end),
    "streams-view-shows-tombstones": SERVED_ONLY.find(merge_with_tombstones),
}
"""The faults of level `store` by public name."""

VIEWS: Final[dict[str, Fault]] = {
    "streams-absent-value-overwritten": SEEDED_FAULTS.find(view_faults.put_if_absent_over_a_value),
    "streams-backward-shows-deleted": SEEDED_FAULTS.find_variant(
        Rule.K_VIEW_1, backward_tombstone=BackwardTombstone.SHOWS
    ),
    "streams-clear-writes": SEEDED_FAULTS.find(view_faults.clear_that_writes),
    "streams-close-without-flush": SEEDED_FAULTS.find(view_faults.close_without_flush),
    "streams-committed-view-merges": SEEDED_FAULTS.find(view_faults.view_of_uncommitted),
    "streams-count-with-cached": SEEDED_FAULTS.find(view_faults.count_of_all),
    "streams-empty-prefix-of-nothing": SEEDED_FAULTS.find(view_faults.view_of_no_prefix),
    "streams-query-caches": SEEDED_FAULTS.find(view_faults.query_that_caches),
    "streams-query-skips-nothing": SEEDED_FAULTS.find(view_faults.query_through_the_cache),
    "streams-range-query-below": SEEDED_FAULTS.find_variant(Rule.K_VIEW_8, range_query=RangeQuery.BELOW),
    "streams-store-opened-twice": SEEDED_FAULTS.find(view_faults.open_again),
    "streams-view-leaves-use": SEEDED_FAULTS.find(view_faults.view_without_use),
}
"""The faults of level `views` by public name."""

SUBJECTS: Final[dict[str, Fault]] = {**CACHE, **STORE, **VIEWS}
"""All of them by public name."""
