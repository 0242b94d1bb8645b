"""Seeded faults of evictions, flushes, listeners and namespaces.

Each function replaces a function of the reference, or an operation, and mostly calls the original with a small error
around it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from entrycache_faults.model import Place
from entrycache_faults.reference.kafka_streams.entries import OperationResult, seeded_fault
from entrycache_reference.kafka_streams import change, flush, namespaces, ops
from entrycache_reference.kafka_streams import entries as entries_module
from entrycache_reference.kafka_streams.change import (
    NamespaceHandle,
    book_change,
    can_evict,
    limited_bytes,
    mark_all_clean,
)
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.outcomes import Answer, Context, Done, ErrorKind, Failed
from entrycache_reference.kafka_streams.state import (
    Change,
    Listener,
    Node,
    Part,
    Space,
    State,
    space_of,
    total_bytes,
    with_space,
)
from entrycache_reference.rules import Rule


@seeded_fault(Rule.K_EVICT_1, ops.Evict)
def evict_of_nothing_flushing(state: State, event: ops.Evict, config: Config, *calls: Any) -> OperationResult:
    """An eviction from nothing is a flush."""
    namespace = space_of(state, event.ns)
    if event.ns in state.spaces and not namespace.recent:
        return with_space(state, event.ns, namespace._replace(flushes=namespace.flushes + 1)), Done()
    return namespaces.evict(state, event, config, *calls)


@seeded_fault(Rule.K_EVICT_1, "flush.evict_eldest", other=True)
def evict_newest(state: State, ns: str, *rest: Any) -> Change:
    """The most recent entry is evicted."""
    namespace = space_of(state, ns)
    if not namespace.recent:
        return Change(state)
    return flush.evict_eldest(
        with_space(state, ns, namespace._replace(recent=(*namespace.recent[1:], namespace.recent[0]))), ns, *rest
    )


@seeded_fault(Rule.K_EVICT_2, ops.Evict)
def evict_counting_a_miss(state: State, event: ops.Evict, config: Config, *calls: Any) -> OperationResult:
    """Dropping a clean entry counts as a miss."""
    namespace = space_of(state, event.ns)
    after, answer = namespaces.evict(state, event, config, *calls)
    if namespace.recent and namespace.recent[-1] not in namespace.dirty:
        now = space_of(after, event.ns)
        return with_space(after, event.ns, now._replace(misses=now.misses + 1)), answer
    return after, answer


@seeded_fault(Rule.K_EVICT_3, ops.Evict)
def evict_handing_over_last(state: State, event: ops.Evict, config: Config, *calls: Any) -> OperationResult:
    """The evicted entry is handed over last."""
    after, answer = namespaces.evict(state, event, config, *calls)
    if not after.in_progress.calls:
        return after, answer
    first = after.in_progress.calls[0]
    reordered = replace(first, entries=(*first.entries[1:], first.entries[0]))
    return flush.with_calls(after, (reordered, *after.in_progress.calls[1:])), answer


@seeded_fault(Rule.K_EVICT_3, "flush.flush_dirty", other=True)
def hand_over_evicted_last(state: State, ns: str, evicted: str | None, *rest: Any) -> Change:
    """The evicted entry comes last."""
    at = len(state.in_progress.calls)
    result = flush.flush_dirty(state, ns, evicted, *rest)
    if evicted is None or len(result.state.in_progress.calls) == at:
        return result
    calls_made = result.state.in_progress.calls
    call = calls_made[at]
    reordered = replace(call, entries=(*call.entries[1:], call.entries[0]))
    return Change(flush.with_calls(result.state, (*calls_made[:at], reordered, *calls_made[at + 1 :])), result.error)


def _total_bytes(state: State) -> int:
    """Return the total with what has still to leave it, while something can be evicted: a resize must end."""
    now = total_bytes(state)
    return now + state.running if now else now


@seeded_fault(Rule.K_EVICT_3, "flush.call_listener", other=True, further={"state.total_bytes": _total_bytes})
def call_listener_before_it_left(
    state: State, ns: str, listener: Listener, entries: tuple[tuple[str, Node], ...], *rest: Any
) -> State:
    """During the call the evicted entry is in the total."""
    late = sum(node.size_bytes for key, node in entries if key not in space_of(state, ns).nodes)
    after = flush.call_listener(state._replace(running=state.running + late), ns, listener, entries, *rest)
    return after._replace(running=after.running - late)


def evicted(state: State, ns: str, config: Config, *calls: Any) -> Change:
    """Evict once for an overflow, and book it in the running total."""
    return book_change(state, flush.evict_eldest(state, ns, config, *calls), ns, config)


@seeded_fault(Rule.K_EVICT_3, "flush.flush_dirty", other=True)
def hand_over_evicted_only(state: State, ns: str, evicted: str | None, *rest: Any) -> Change:
    """The eviction of a dirty entry hands over that entry only."""
    namespace = space_of(state, ns)
    others = tuple(key for key in namespace.dirty if key != evicted)
    if evicted is None or namespace.listener is None:
        return flush.flush_dirty(state, ns, evicted, *rest)
    result = flush.flush_dirty(with_space(state, ns, namespace._replace(dirty=(evicted,))), ns, evicted, *rest)
    now = space_of(result.state, ns)
    still_dirty = tuple(key for key in others if key in now.nodes and key not in now.dirty)
    dirty = {key: now.nodes[key]._replace(is_dirty=True) for key in still_dirty}
    after_flush = now._replace(nodes={**now.nodes, **dirty}, dirty=(*still_dirty, *now.dirty))
    return Change(with_space(result.state, ns, after_flush), result.error)


@seeded_fault(Rule.K_EVICT_4, "entries.maybe_evict")
def relieve_once(state: State, ns: str, config: Config, *calls: Any) -> Change:
    """One eviction has to do."""
    if limited_bytes(state, config) <= state.max_size_bytes or not space_of(state, ns).recent:
        return Change(state)
    result = evicted(state, ns, config, *calls)
    return result if result.error is not None else Change(result.state._replace(evicts=result.state.evicts + 1))


@seeded_fault(Rule.K_EVICT_4, "entries.maybe_evict", other=True)
def relieve_the_fullest(state: State, ns: str, *rest: Any) -> Change:
    """The namespace that holds most entries pays."""
    return entries_module.maybe_evict(
        state, max(sorted(state.spaces), key=lambda name: len(state.spaces[name].nodes)), *rest
    )


@seeded_fault(Rule.K_EVICT_4, "entries.can_evict", other=True)
def holds_more_than_one(state: State, namespace: NamespaceHandle, config: Config) -> bool:
    """An overflow leaves the last entry of the namespace."""
    return can_evict(state, namespace, config) and len(space_of(state, namespace.ns).recent) > 1


@seeded_fault(Rule.K_EVICT_5, "entries.maybe_evict")
def relieve_at_the_limit(state: State, ns: str, config: Config, *calls: Any) -> Change:
    """The limit itself is too much."""
    after = state
    while limited_bytes(after, config) >= after.max_size_bytes and space_of(after, ns).recent:
        result = evicted(after, ns, config, *calls)
        if result.error is not None:
            return result
        after = result.state._replace(evicts=result.state.evicts + 1)
    return Change(after)


@seeded_fault(Rule.K_EVICT_6, "entries.maybe_evict")
def relieve_uncounted(state: State, ns: str, config: Config, *calls: Any) -> Change:
    """Evictions of an overflow are not counted."""
    after = state
    while limited_bytes(after, config) > after.max_size_bytes and space_of(after, ns).recent:
        result = evicted(after, ns, config, *calls)
        if result.error is not None:
            return result
        after = result.state
    return Change(after)


@seeded_fault(Rule.K_EVICT_7, ops.Evict)
def evict_counted(state: State, event: ops.Evict, config: Config, *calls: Any) -> OperationResult:
    """The thread counts an eviction by a call."""
    after, answer = namespaces.evict(state, event, config, *calls)
    return after._replace(evicts=after.evicts + 1), answer


@seeded_fault(Rule.K_FLUSH_1, ops.Flush)
def flush_by_key(state: State, event: ops.Flush, config: Config, *calls: Any) -> OperationResult:
    """A flush hands over in the order of keys."""
    after, answer = namespaces.flush(state, event, config, *calls)
    if not after.in_progress.calls:
        return after, answer
    first = after.in_progress.calls[0]
    ordered = replace(first, entries=tuple(sorted(first.entries, key=lambda entry: entry.key)))
    return flush.with_calls(after, (ordered, *after.in_progress.calls[1:])), answer


@seeded_fault(Rule.K_FLUSH_2, "change.mark_all_clean")
def cleaned_half(space: Space) -> Space:
    """Entries that were handed over keep their flag."""
    return space._replace(dirty=())


@seeded_fault(Rule.K_FLUSH_2, "flush.flush_dirty", other=True)
def hand_over_cleaning_afterwards(state: State, ns: str, evicted: str | None, *rest: Any) -> Change:
    """A write during a flush leaves a clean entry."""
    result = flush.flush_dirty(state, ns, evicted, *rest)
    now = space_of(result.state, ns)
    again = [key for key in space_of(state, ns).dirty if key in now.dirty]
    if result.error is not None or not again:
        return result
    clean = {key: now.nodes[key]._replace(is_dirty=False) for key in again}
    dirty = tuple(key for key in now.dirty if key not in clean)
    return Change(with_space(result.state, ns, now._replace(nodes={**now.nodes, **clean}, dirty=dirty)))


@seeded_fault(Rule.K_FLUSH_3, ops.Flush)
def flush_losing(state: State, event: ops.Flush, config: Config, *calls: Any) -> OperationResult:
    """An entry that a listener refused counts as handed over."""
    after, answer = namespaces.flush(state, event, config, *calls)
    if isinstance(answer, Failed) and event.ns in after.spaces:
        return with_space(after, event.ns, mark_all_clean(space_of(after, event.ns))), answer
    return after, answer


@seeded_fault(Rule.K_FLUSH_3, "flush.flush_dirty", other=True)
def hand_over_back_as_newest(state: State, ns: str, evicted: str | None, *rest: Any) -> Change:
    """An entry that could not be evicted becomes the most recent."""
    result = flush.flush_dirty(state, ns, evicted, *rest)
    if result.error is not ErrorKind.LISTENER_FAILED or evicted is None:
        return result
    namespace = space_of(result.state, ns)
    recent = (evicted, *change.without_key(namespace.recent, evicted))
    return Change(with_space(result.state, ns, namespace._replace(recent=recent)), result.error)


@seeded_fault(Rule.K_FLUSH_3, "flush.handle_no_listener", other=True)
def unheard_and_forgotten(state: State, ns: str, evicted: str | None, config: Config) -> State:
    """An eviction that cannot be delivered for want of a listener loses the entry."""
    return state if evicted is None else with_space(state, ns, change.remove_key(space_of(state, ns), evicted))


@seeded_fault(Rule.K_FLUSH_4, "flush.without_tombstones")
def tombstones_kept(state: State, ns: str, entries: tuple[tuple[str, Node], ...]) -> State:
    """Tombstones stay after a flush."""
    return state


@seeded_fault(Rule.K_FLUSH_5, ops.Flush)
def flush_uncounted(state: State, event: ops.Flush, config: Config, *calls: Any) -> OperationResult:
    """The lookups of a flush are not counted."""
    after, answer = namespaces.flush(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    hits = space_of(state, event.ns).hits
    return with_space(after, event.ns, space_of(after, event.ns)._replace(hits=hits)), answer


@seeded_fault(Rule.K_FLUSH_5, "flush.flush_dirty", other=True)
def hand_over_using(state: State, ns: str, evicted: str | None, *rest: Any) -> Change:
    """An entry that a flush hands over becomes the most recent."""
    namespace = space_of(state, ns)
    if evicted is not None or namespace.listener is None:
        return flush.flush_dirty(state, ns, evicted, *rest)
    rest_of_them = tuple(key for key in namespace.recent if key not in namespace.dirty)
    used = with_space(state, ns, namespace._replace(recent=(*namespace.dirty[::-1], *rest_of_them)))
    return flush.flush_dirty(used, ns, evicted, *rest)


@seeded_fault(Rule.K_FLUSH_6, ops.Flush)
def flush_of_nothing_uncounted(state: State, event: ops.Flush, config: Config, *calls: Any) -> OperationResult:
    """A flush of nothing is not counted."""
    if event.ns not in state.spaces:
        return state, Done()
    return namespaces.flush(state, event, config, *calls)


# Listeners and the steps inside their calls.

IN_STORES: Final[Mapping[Place, object]] = {"stores.perform_steps": flush.perform_steps}
"""The correct function for the steps downstream of a store."""


@seeded_fault(Rule.K_LISTEN_1, ops.Flush)
def flush_without_context(state: State, event: ops.Flush, config: Config, *calls: Any) -> OperationResult:
    """The context of a write is lost."""
    after, answer = namespaces.flush(state, event, config, *calls)
    if not after.in_progress.calls:
        return after, answer
    first = after.in_progress.calls[0]
    bare = replace(first, entries=tuple(replace(entry, context=Context()) for entry in first.entries))
    return flush.with_calls(after, (bare, *after.in_progress.calls[1:])), answer


def perform_part(before: State, op: ops.Op, config: Config, env: Any) -> tuple[State, Answer]:
    """Perform one step inside a call, and note it with those inside its own calls."""
    after, answer = env.perform(flush.with_parts(before, ()), op, config)
    part = Part(before, op, after, answer, after.in_progress.parts)
    return flush.with_parts(after, (*before.in_progress.parts, part)), answer


@seeded_fault(Rule.K_LISTEN_2, "flush.perform_steps", further=IN_STORES)
def performed_until_an_error(
    state: State, steps: tuple[ops.Op, ...], config: Config, env: Any
) -> tuple[State, tuple[Answer, ...]]:
    """The first error ends a listener."""
    after = flush.count_call(state)
    answers: tuple[Answer, ...] = ()
    if after.in_progress.called <= config.reentry_budget:
        for op in steps:
            after, answer = perform_part(after, op, config, env)
            answers += (answer,)
            if isinstance(answer, Failed):
                break
    return after, answers


@seeded_fault(Rule.K_LISTEN_3, "flush.perform_steps", further=IN_STORES)
def performed_once_more(
    state: State, steps: tuple[ops.Op, ...], config: Config, env: Any
) -> tuple[State, tuple[Answer, ...]]:
    """One call too many performs its steps."""
    after = flush.count_call(state)
    answers: tuple[Answer, ...] = ()
    if after.in_progress.called <= config.reentry_budget + 1:
        for op in steps:
            after, answer = perform_part(after, op, config, env)
            answers += (answer,)
    return after, answers


@seeded_fault(Rule.K_LISTEN_4, ops.Flush)
def flush_failing_for_ever(state: State, event: ops.Flush, config: Config, *calls: Any) -> OperationResult:
    """A call that throws is not used up."""
    after, answer = namespaces.flush(state, event, config, *calls)
    before = space_of(state, event.ns).listener
    if before is None or before.fails == 0 or event.ns not in after.spaces:
        return after, answer
    return with_space(after, event.ns, space_of(after, event.ns)._replace(listener=before)), answer


@seeded_fault(Rule.K_LISTEN_5, ops.Listen)
def listen_once(state: State, event: ops.Listen, config: Config, *calls: Any) -> OperationResult:
    """The first listener stays."""
    if space_of(state, event.ns).listener is not None:
        return state, Done()
    return namespaces.listen(state, event, config, *calls)


@seeded_fault(Rule.K_LIVENESS_1, ops.Evict)
def evict_reported_twice(state: State, event: ops.Evict, config: Config, *calls: Any) -> OperationResult:
    """An eviction is done again and again."""
    after, answer = namespaces.evict(state, event, config, *calls)
    result = after.in_progress
    return after._replace(in_progress=result._replace(events=result.events * 3)), answer


# Namespaces as a whole, and their limit.


@seeded_fault(Rule.K_CLOSE_1, ops.Clear)
def clear_resetting(state: State, event: ops.Clear, config: Config, *calls: Any) -> OperationResult:
    """clear resets the counters."""
    after, answer = namespaces.clear(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    return with_space(after, event.ns, Space(listener=space_of(after, event.ns).listener)), answer


@seeded_fault(Rule.K_CLOSE_1, ops.Clear, other=True)
def clear_with_listener(state: State, event: ops.Clear, config: Config, *calls: Any) -> OperationResult:
    """clear drops the listener."""
    after, answer = namespaces.clear(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    return with_space(after, event.ns, space_of(after, event.ns)._replace(listener=None)), answer


@seeded_fault(Rule.K_CLOSE_2, ops.Close)
def close_emptying(state: State, event: ops.Close, config: Config, *calls: Any) -> OperationResult:
    """A closed namespace is an empty one."""
    return namespaces.clear(state, ops.Clear(event.ns), config, *calls)


@seeded_fault(Rule.K_RESIZE_1, ops.Resize)
def resize_shrinking_only(state: State, event: ops.Resize, config: Config, *calls: Any) -> OperationResult:
    """A larger limit does not come into force."""
    if event.max_size_bytes >= state.max_size_bytes:
        return state, Done()
    return namespaces.resize(state, event, config, *calls)


@seeded_fault(Rule.K_RESIZE_1, ops.Resize, other=True)
def resize_undone(state: State, event: ops.Resize, config: Config, *calls: Any) -> OperationResult:
    """A resize that fails is undone."""
    after, answer = namespaces.resize(state, event, config, *calls)
    failed = isinstance(answer, Failed)
    return after._replace(max_size_bytes=state.max_size_bytes) if failed else after, answer


@seeded_fault(Rule.K_RESIZE_2, ops.Resize)
def resize_one_by_one(state: State, event: ops.Resize, config: Config, *calls: Any) -> OperationResult:
    """One namespace is emptied before the next one pays."""
    after = state._replace(max_size_bytes=event.max_size_bytes)
    for ns in sorted(state.spaces):
        while limited_bytes(after, config) > event.max_size_bytes < state.max_size_bytes and space_of(after, ns).recent:
            result = evicted(after, ns, config, *calls)
            if result.error is not None:
                return result.state, Failed(result.error)
            after = result.state._replace(evicts=result.state.evicts + 1)
    return after, Done()


@seeded_fault(Rule.K_RESIZE_2, ops.Resize, other=True)
def resize_lazily(state: State, event: ops.Resize, config: Config, *calls: Any) -> OperationResult:
    """A smaller limit evicts nothing until the next write."""
    return state._replace(max_size_bytes=event.max_size_bytes), Done()


@seeded_fault(Rule.K_RESIZE_3, ops.Resize)
def resize_uncounted(state: State, event: ops.Resize, config: Config, *calls: Any) -> OperationResult:
    """The evictions of a resize are not counted."""
    after, answer = namespaces.resize(state, event, config, *calls)
    return after._replace(evicts=state.evicts), answer
