"""Wrong versions of the reference of `kafka-streams`: writes, reads, ranges, deletions, numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from entrycache_reference.kafka_streams import flush, lookups, ops, writes
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.named_cache import without_key, written
from entrycache_reference.kafka_streams.outcomes import Answer, Deleted, Done, Failed, Listed
from entrycache_reference.kafka_streams.state import Node, Space, State, space_of, with_space
from entrycache_reference.vocabulary import ABSENT

Taken = tuple[State, Answer]
Function = Callable[..., Taken]
_written: Final = written
_evict_eldest: Final = flush.evict_eldest


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
