"""Seeded faults of entries: sizes, writes, lookups, deletions and counters.

Each function replaces a function of the reference, or an operation, and mostly calls the original with a small error
around it. The registries of all seeded faults of `kafka-streams`, and the decorators that enter a function or a class
in them, stand here, too. The docstring of a fault, up to a blank line, is its note.
"""

from dataclasses import replace
from typing import Any, Final

from entrycache_faults.model import FaultRegistry
from entrycache_reference.kafka_streams import change, entries, ops, outcomes, state
from entrycache_reference.kafka_streams.change import without_key, write_key
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.state import Node, Space, State, space_of, with_space
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

SEEDED_FAULTS: Final = FaultRegistry("entrycache_reference.kafka_streams")

seeded_fault = SEEDED_FAULTS.register

SEEDED_THREAD_FAULTS: Final = FaultRegistry(SEEDED_FAULTS.package)
"""The faults that only several threads show, one for each rule of histories."""

seeded_thread_fault = SEEDED_THREAD_FAULTS.register

OperationResult = tuple[state.State, outcomes.Answer]
"""The state after an operation, and its answer."""


@seeded_fault(Rule.K_SIZE_1, "change.utf16_units")
def utf8_bytes_of_names(text: str) -> int:
    """Topics and header keys count in UTF-8."""
    return change.utf8_bytes(text)


@seeded_fault(Rule.K_SIZE_1, "change.size_bytes", other=True)
def size_of_key_only(key: str, value: str | None, *rest: Any) -> int:
    """A tombstone counts its key."""
    return change.utf8_bytes(key) if value is None else change.size_bytes(key, value, *rest)


@seeded_fault(Rule.K_SIZE_1, "change.size_bytes", other=True)
def size_without_names(key: str, value: str | None, *rest: Any) -> int:
    """Topics and headers are not counted."""
    return change.size_bytes(key, value, "", ())


SEEDED_FAULTS.register_constants(Rule.K_SIZE_1, "The byte of the flag is not counted.", change__FLAG_BYTES=0)
SEEDED_FAULTS.register_constants(Rule.K_SIZE_1, "The timestamp is not counted.", change__TIMESTAMP_BYTES=0)
SEEDED_FAULTS.register_constants(Rule.K_SIZE_1, "The offset is not counted.", change__OFFSET_BYTES=0)
SEEDED_FAULTS.register_constants(Rule.K_SIZE_1, "The partition is not counted.", change__PARTITION_BYTES=0)
SEEDED_FAULTS.register_constants(
    Rule.K_SIZE_1, "The place in the list of use is not counted.", change__REFERENCES_BYTES=0
)


@seeded_fault(Rule.K_PUT_1, "change.write_key")
def written_in_place(space: Space, key: str, node: Node) -> Space:
    """An overwritten key keeps its place."""
    done = write_key(space, key, node)
    return done._replace(recent=space.recent) if key in space.nodes else done


@seeded_fault(Rule.K_PUT_2, "change.write_key")
def written_uncounted(space: Space, key: str, node: Node) -> Space:
    """An overwrite is not counted."""
    return write_key(space, key, node)._replace(overwrites=space.overwrites)


@seeded_fault(Rule.K_PUT_2, "change.write_key", other=True)
def written_adding(own: Space, key: str, node: Node) -> Space:
    """The former size is not subtracted."""
    before = own.nodes[key].size_bytes if key in own.nodes else 0
    return change.write_key(own, key, node._replace(size_bytes=node.size_bytes + before))


@seeded_fault(Rule.K_PUT_3, "change.write_key")
def written_keeping_its_turn(space: Space, key: str, node: Node) -> Space:
    """A dirty key written again keeps its turn."""
    done = write_key(space, key, node)
    return done._replace(dirty=space.dirty) if key in space.dirty and node.is_dirty else done


@seeded_fault(Rule.K_PUT_4, ops.Put)
def put_clean_over_dirty(state: State, event: ops.Put, config: Config, *calls: Any) -> OperationResult:
    """A clean write replaces a dirty entry."""
    own = space_of(state, event.ns)
    if event.dirty or event.key not in own.dirty:
        return entries.put(state, event, config, *calls)
    cleaned = own._replace(dirty=without_key(own.dirty, event.key))
    return entries.put(with_space(state, event.ns, cleaned), event, config, *calls)


@seeded_fault(Rule.K_PUT_5, ops.Put)
def put_opening_nothing(state: State, event: ops.Put, config: Config, *calls: Any) -> OperationResult:
    """A tombstone opens no namespace."""
    if event.value is None and event.ns not in state.spaces:
        return state._replace(puts=state.puts + 1), outcomes.Done()
    return entries.put(state, event, config, *calls)


@seeded_fault(Rule.K_PUT_6, ops.PutAll)
def put_all_going_on(state: State, event: ops.PutAll, config: Config, *calls: Any) -> OperationResult:
    """An error does not end a batch."""
    after, error = state, None
    for write in event.entries:
        done = entries.put_node(after, event.ns, write.key, entries.build_node(write, after.writes), config, *calls)
        after, error = done.state, error or done.error
    return after, outcomes.Done() if error is None else outcomes.Failed(error)


@seeded_fault(Rule.K_PUT_7, ops.PutIfAbsent)
def put_if_absent_not_looking(state: State, event: ops.PutIfAbsent, config: Config, *calls: Any) -> OperationResult:
    """put_if_absent counts no lookup."""
    own = space_of(state, event.ns)
    after, answer = entries.put_if_absent(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    now = space_of(after, event.ns)._replace(hits=own.hits, misses=own.misses)
    return with_space(after, event.ns, now), answer


@seeded_fault(Rule.K_PUT_8, ops.PutIfAbsent)
def put_if_absent_counting(state: State, event: ops.PutIfAbsent, config: Config, *calls: Any) -> OperationResult:
    """Every put_if_absent counts as a put."""
    after, answer = entries.put_if_absent(state, event, config, *calls)
    return after._replace(puts=state.puts + 1), answer


@seeded_fault(Rule.K_PUT_8, ops.PutIfAbsent, other=True)
def put_if_absent_not_paying(state: State, event: ops.PutIfAbsent, config: Config, *calls: Any) -> OperationResult:
    """put_if_absent of a key that is there evicts nothing."""
    if event.key not in space_of(state, event.ns).nodes:
        return entries.put_if_absent(state, event, config, *calls)
    generous = replace(config, max_size_bytes=10**15)
    after, answer = entries.put_if_absent(state._replace(max_size_bytes=10**15), event, generous, *calls)
    return after._replace(max_size_bytes=state.max_size_bytes), answer


@seeded_fault(Rule.K_GET_1, ops.Get)
def get_not_using(state: State, event: ops.Get, config: Config, *calls: Any) -> OperationResult:
    """A hit leaves the order of use alone."""
    after, answer = entries.get(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    return with_space(
        after, event.ns, space_of(after, event.ns)._replace(recent=space_of(state, event.ns).recent)
    ), answer


@seeded_fault(Rule.K_GET_2, ops.Get)
def get_not_missing(state: State, event: ops.Get, config: Config, *calls: Any) -> OperationResult:
    """A miss is not counted."""
    after, answer = entries.get(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    return with_space(
        after, event.ns, space_of(after, event.ns)._replace(misses=space_of(state, event.ns).misses)
    ), answer


@seeded_fault(Rule.K_GET_3, ops.Get)
def get_counting_keys_only(state: State, event: ops.Get, config: Config, *calls: Any) -> OperationResult:
    """A get without a key is not counted."""
    after, answer = entries.get(state, event, config, *calls)
    return (after if event.key is not None else state), answer


@seeded_fault(Rule.K_GET_4, ops.Get)
def get_opening(state: State, event: ops.Get, config: Config, *calls: Any) -> OperationResult:
    """A get opens its namespace."""
    return entries.get(entries.ensure_namespace(state, event.ns), event, config, *calls)


@seeded_fault(Rule.K_RANGE_1, ops.Range)
def range_including_its_end(state: State, event: ops.Range, config: Config, *calls: Any) -> OperationResult:
    """The end belongs to every range."""
    first, answer = entries.range_(state, event, config, *calls)
    if event.to_inclusive:
        return first, answer
    _, wider = entries.range_(state, replace(event, to_inclusive=True), config, *calls)
    return first, wider


@seeded_fault(Rule.K_RANGE_1, ops.Range, other=True)
def range_excluding_its_end(state: State, event: ops.Range, config: Config, *calls: Any) -> OperationResult:
    """The end belongs to no range."""
    return entries.range_(state, replace(event, to_inclusive=False), config, *calls)


@seeded_fault(Rule.K_RANGE_1, "entries.list_entries", other=True)
def listed_without_tombstones(state: State, ns: str, keys: tuple[str, ...]) -> OperationResult:
    """A range leaves tombstones out."""
    after, answer = entries.list_entries(state, ns, keys)
    assert isinstance(answer, outcomes.Listing)
    return after, outcomes.Listing(tuple(entry for entry in answer.entries if entry[1] is not None))


@seeded_fault(Rule.K_RANGE_2, ops.All)
def all_not_using(state: State, event: ops.All, config: Config, *calls: Any) -> OperationResult:
    """Iterating leaves the order of use alone."""
    _, answer = entries.all_(state, event, config, *calls)
    return state, answer


@seeded_fault(Rule.K_RANGE_3, ops.ReverseAll)
def reverse_all_ascending(state: State, event: ops.ReverseAll, config: Config, *calls: Any) -> OperationResult:
    """A reverse lookup answers ascending."""
    after, answer = entries.reverse_all(state, event, config, *calls)
    assert isinstance(answer, outcomes.Listing)
    return after, outcomes.Listing(answer.entries[::-1])


@seeded_fault(Rule.K_DELETE_1, ops.Delete)
def delete_answering_nothing(state: State, event: ops.Delete, config: Config, *calls: Any) -> OperationResult:
    """A delete does not answer what was there."""
    after, answer = entries.delete(state, event, config, *calls)
    assert isinstance(answer, outcomes.Deleted)
    return after, outcomes.Deleted(answer.present, None)


@seeded_fault(Rule.K_DELETE_2, ops.Delete)
def delete_counting(state: State, event: ops.Delete, config: Config, *calls: Any) -> OperationResult:
    """A delete counts as a hit."""
    after, answer = entries.delete(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    own = space_of(after, event.ns)
    return with_space(after, event.ns, own._replace(hits=own.hits + 1)), answer


@seeded_fault(Rule.K_METRICS_1, ops.Usage)
def usage_without_tombstones(state: State, event: ops.Usage, config: Config, *calls: Any) -> OperationResult:
    """Tombstones are no entries."""
    if event.ns is not ABSENT:
        return entries.usage(state, event, config, *calls)
    spaces = {
        ns: own._replace(nodes={key: node for key, node in own.nodes.items() if node.value is not None})
        for ns, own in state.spaces.items()
    }
    return state, entries.usage(state._replace(spaces=spaces), event, config, *calls)[1]


@seeded_fault(Rule.K_METRICS_2, ops.Metrics)
def metrics_of_thread_swapped(state: State, event: ops.Metrics, config: Config, *calls: Any) -> OperationResult:
    """The thread's puts and gets are swapped."""
    after, answer = entries.metrics(state, event, config, *calls)
    return after, answer if event.ns is not ABSENT else outcomes.ThreadCounters(
        state.gets, state.puts, state.evicts, state.flushes
    )


@seeded_fault(Rule.K_METRICS_3, ops.Metrics)
def metrics_eldest_first(state: State, event: ops.Metrics, config: Config, *calls: Any) -> OperationResult:
    """The order of use begins with the eldest."""
    if event.ns is ABSENT:
        return entries.metrics(state, event, config, *calls)
    own = space_of(state, event.ns)
    reordered = with_space(state, event.ns, own._replace(recent=own.recent[::-1]))
    return entries.metrics(state, event, config, *calls)[0], entries.metrics(reordered, event, config, *calls)[1]


@seeded_fault(Rule.K_METRICS_3, ops.Metrics, other=True)
def metrics_dirty_by_use(state: State, event: ops.Metrics, config: Config, *calls: Any) -> OperationResult:
    """The dirty keys come in the order of use."""
    after, answer = entries.metrics(state, event, config, *calls)
    if isinstance(answer, outcomes.NamespaceCounters):
        answer = replace(answer, dirty=tuple(key for key in answer.lru if key in answer.dirty))
    return after, answer
