"""Faults about namespaces as a whole, and their limit."""

from __future__ import annotations

from typing import Any

from entrycache_faults.reference.kafka_streams.flush import evicted
from entrycache_faults.reference.kafka_streams.planted import Taken, planted
from entrycache_reference.kafka_streams import namespaces, ops
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.outcomes import Done, Failed
from entrycache_reference.kafka_streams.running import limited_bytes
from entrycache_reference.kafka_streams.state import Space, State, space_of, with_space
from entrycache_reference.rules import Rule


@planted(Rule.K_CLOSE_1, ops.Clear)
def clear_resetting(state: State, event: ops.Clear, config: Config, *calls: Any) -> Taken:
    """clear resets the counters."""
    after, answer = namespaces.clear(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    return with_space(after, event.ns, Space(listener=space_of(after, event.ns).listener)), answer


@planted(Rule.K_CLOSE_1, ops.Clear, other=True)
def clear_with_listener(state: State, event: ops.Clear, config: Config, *calls: Any) -> Taken:
    """clear drops the listener."""
    after, answer = namespaces.clear(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    return with_space(after, event.ns, space_of(after, event.ns)._replace(listener=None)), answer


@planted(Rule.K_CLOSE_2, ops.Close)
def close_emptying(state: State, event: ops.Close, config: Config, *calls: Any) -> Taken:
    """A closed namespace is an empty one."""
    return namespaces.clear(state, ops.Clear(event.ns), config, *calls)


@planted(Rule.K_RESIZE_1, ops.Resize)
def resize_shrinking_only(state: State, event: ops.Resize, config: Config, *calls: Any) -> Taken:
    """A larger limit does not come into force."""
    if event.max_size_bytes >= state.max_size_bytes:
        return state, Done()
    return namespaces.resize(state, event, config, *calls)


@planted(Rule.K_RESIZE_1, ops.Resize, other=True)
def resize_undone(state: State, event: ops.Resize, config: Config, *calls: Any) -> Taken:
    """A resize that fails is undone."""
    after, answer = namespaces.resize(state, event, config, *calls)
    failed = isinstance(answer, Failed)
    return after._replace(max_size_bytes=state.max_size_bytes) if failed else after, answer


@planted(Rule.K_RESIZE_2, ops.Resize)
def resize_one_by_one(state: State, event: ops.Resize, config: Config, *calls: Any) -> Taken:
    """One namespace is emptied before the next one pays."""
    after = state._replace(max_size_bytes=event.max_size_bytes)
    for ns in sorted(state.spaces):
        while limited_bytes(after, config) > event.max_size_bytes < state.max_size_bytes and space_of(after, ns).recent:
            done = evicted(after, ns, config, *calls)
            if done.error is not None:
                return done.state, Failed(done.error)
            after = done.state._replace(evicts=done.state.evicts + 1)
    return after, Done()


@planted(Rule.K_RESIZE_2, ops.Resize, other=True)
def resize_lazily(state: State, event: ops.Resize, config: Config, *calls: Any) -> Taken:
    """A smaller limit evicts nothing until the next write."""
    return state._replace(max_size_bytes=event.max_size_bytes), Done()


@planted(Rule.K_RESIZE_3, ops.Resize)
def resize_uncounted(state: State, event: ops.Resize, config: Config, *calls: Any) -> Taken:
    """The evictions of a resize are not counted."""
    after, answer = namespaces.resize(state, event, config, *calls)
    return after._replace(evicts=state.evicts), answer
