"""Wrong versions of the reference of `kafka-streams`: evictions, flushes, listeners, limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from entrycache_reference.kafka_streams import flush, listeners, namespaces, ops
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.named_cache import cleaned, written
from entrycache_reference.kafka_streams.outcomes import Answer, Context, Done, Failed
from entrycache_reference.kafka_streams.running import accounted, limited_bytes
from entrycache_reference.kafka_streams.state import Change, Node, Space, State, space_of, with_space

Taken = tuple[State, Answer]
Function = Callable[..., Taken]
_written: Final = written
_evict_eldest: Final = flush.evict_eldest


def evict_of_nothing_flushing(state: State, event: ops.Evict, config: Config, *calls: Any) -> Taken:
    """K-EVICT-1: an eviction from an empty namespace counts as a flush of it."""
    own = space_of(state, event.ns)
    if event.ns in state.spaces and not own.recent:
        return with_space(state, event.ns, own._replace(flushes=own.flushes + 1)), Done()
    return namespaces.evict(state, event, config, *calls)


def evict_counting_a_miss(state: State, event: ops.Evict, config: Config, *calls: Any) -> Taken:
    """K-EVICT-2: dropping a clean entry counts as a miss."""
    own = space_of(state, event.ns)
    after, answer = namespaces.evict(state, event, config, *calls)
    if own.recent and own.recent[-1] not in own.dirty:
        now = space_of(after, event.ns)
        return with_space(after, event.ns, now._replace(misses=now.misses + 1)), answer
    return after, answer


def evict_handing_over_last(state: State, event: ops.Evict, config: Config, *calls: Any) -> Taken:
    """K-EVICT-3: the evicted entry comes last."""
    after, answer = namespaces.evict(state, event, config, *calls)
    if not after.under_way.calls:
        return after, answer
    first = after.under_way.calls[0]
    turned = replace(first, entries=(*first.entries[1:], first.entries[0]))
    return listeners.with_calls(after, (turned, *after.under_way.calls[1:])), answer


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
    after, answer = namespaces.evict(state, event, config, *calls)
    return after._replace(evicts=after.evicts + 1), answer


def flush_by_key(state: State, event: ops.Flush, config: Config, *calls: Any) -> Taken:
    """K-FLUSH-1: the entries come in the order of their keys."""
    after, answer = namespaces.flush(state, event, config, *calls)
    if not after.under_way.calls:
        return after, answer
    first = after.under_way.calls[0]
    ordered = replace(first, entries=tuple(sorted(first.entries, key=lambda entry: entry.key)))
    return listeners.with_calls(after, (ordered, *after.under_way.calls[1:])), answer


def cleaned_half(space: Space) -> Space:
    """K-FLUSH-2: the entries keep their flag."""
    return space._replace(dirty=())


def flush_losing(state: State, event: ops.Flush, config: Config, *calls: Any) -> Taken:
    """K-FLUSH-3: what a listener refused counts as handed over."""
    after, answer = namespaces.flush(state, event, config, *calls)
    if isinstance(answer, Failed) and event.ns in after.spaces:
        return with_space(after, event.ns, cleaned(space_of(after, event.ns))), answer
    return after, answer


def tombstones_kept(state: State, ns: str, entries: tuple[tuple[str, Node], ...]) -> State:
    """K-FLUSH-4: tombstones stay."""
    return state


def flush_uncounted(state: State, event: ops.Flush, config: Config, *calls: Any) -> Taken:
    """K-FLUSH-5: what a flush looks up is not counted."""
    after, answer = namespaces.flush(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    hits = space_of(state, event.ns).hits
    return with_space(after, event.ns, space_of(after, event.ns)._replace(hits=hits)), answer


def flush_of_nothing_uncounted(state: State, event: ops.Flush, config: Config, *calls: Any) -> Taken:
    """K-FLUSH-6: a flush of a namespace that is not there is not counted."""
    if event.ns not in state.spaces:
        return state, Done()
    return namespaces.flush(state, event, config, *calls)


def flush_without_context(state: State, event: ops.Flush, config: Config, *calls: Any) -> Taken:
    """K-LISTEN-1: the context of a write is lost."""
    after, answer = namespaces.flush(state, event, config, *calls)
    if not after.under_way.calls:
        return after, answer
    first = after.under_way.calls[0]
    bare = replace(first, entries=tuple(replace(entry, context=Context()) for entry in first.entries))
    return listeners.with_calls(after, (bare, *after.under_way.calls[1:])), answer


def performed_until_an_error(
    state: State, steps: tuple[ops.Op, ...], config: Config, env: Any
) -> tuple[State, tuple[Answer, ...]]:
    """K-LISTEN-2: the first error ends the listener."""
    after = listeners.counted_call(state)
    answers: tuple[Answer, ...] = ()
    if after.under_way.called <= config.reentry_budget:
        for op in steps:
            after, answer = env.perform(after, op, config)
            answers += (answer,)
            if isinstance(answer, Failed):
                break
    return after, answers


def performed_once_more(
    state: State, steps: tuple[ops.Op, ...], config: Config, env: Any
) -> tuple[State, tuple[Answer, ...]]:
    """K-LISTEN-3: one call more than the budget performs its steps."""
    after = listeners.counted_call(state)
    answers: tuple[Answer, ...] = ()
    if after.under_way.called <= config.reentry_budget + 1:
        for op in steps:
            after, answer = env.perform(after, op, config)
            answers += (answer,)
    return after, answers


def flush_failing_for_ever(state: State, event: ops.Flush, config: Config, *calls: Any) -> Taken:
    """K-LISTEN-4: a call that throws is not used up."""
    after, answer = namespaces.flush(state, event, config, *calls)
    before = space_of(state, event.ns).listener
    if before is None or before.fails == 0 or event.ns not in after.spaces:
        return after, answer
    return with_space(after, event.ns, space_of(after, event.ns)._replace(listener=before)), answer


def listen_once(state: State, event: ops.Listen, config: Config, *calls: Any) -> Taken:
    """K-LISTEN-5: the first listener stays."""
    if space_of(state, event.ns).listener is not None:
        return state, Done()
    return namespaces.listen(state, event, config, *calls)


def clear_resetting(state: State, event: ops.Clear, config: Config, *calls: Any) -> Taken:
    """K-CLOSE-1: the counters are cleared too."""
    after, answer = namespaces.clear(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    return with_space(after, event.ns, Space(listener=space_of(after, event.ns).listener)), answer


def close_emptying(state: State, event: ops.Close, config: Config, *calls: Any) -> Taken:
    """K-CLOSE-2: a closed namespace is an empty one."""
    return namespaces.clear(state, ops.Clear(event.ns), config, *calls)


def resize_shrinking_only(state: State, event: ops.Resize, config: Config, *calls: Any) -> Taken:
    """K-RESIZE-1: a larger limit does not come into force."""
    if event.max_size_bytes >= state.max_size_bytes:
        return state, Done()
    return namespaces.resize(state, event, config, *calls)


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
    after, answer = namespaces.resize(state, event, config, *calls)
    return after._replace(evicts=state.evicts), answer


def evict_told_twice(state: State, event: ops.Evict, config: Config, *calls: Any) -> Taken:
    """K-LIVENESS-1: an eviction is done again and again."""
    after, answer = namespaces.evict(state, event, config, *calls)
    done = after.under_way
    return after._replace(under_way=done._replace(events=done.events * 3)), answer
