"""Faults of listeners and of what is done inside their calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from entrycache_faults.model import Place
from entrycache_faults.reference.kafka_streams.planted import Taken, planted
from entrycache_reference.kafka_streams import listeners, namespaces, ops
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.outcomes import Answer, Context, Done, Failed
from entrycache_reference.kafka_streams.state import (
    State,
    space_of,
    with_space,
)
from entrycache_reference.rules import Rule

IN_STORES: Final[Mapping[Place, object]] = {"stores.performed": listeners.performed}
"""What is done downstream of a store is as it should be."""


@planted(Rule.K_LISTEN_1, ops.Flush)
def flush_without_context(state: State, event: ops.Flush, config: Config, *calls: Any) -> Taken:
    """The context of a write is lost."""
    after, answer = namespaces.flush(state, event, config, *calls)
    if not after.under_way.calls:
        return after, answer
    first = after.under_way.calls[0]
    bare = replace(first, entries=tuple(replace(entry, context=Context()) for entry in first.entries))
    return listeners.with_calls(after, (bare, *after.under_way.calls[1:])), answer


@planted(Rule.K_LISTEN_2, "listeners.performed", beside=IN_STORES)
def performed_until_an_error(
    state: State, steps: tuple[ops.Op, ...], config: Config, env: Any
) -> tuple[State, tuple[Answer, ...]]:
    """The first error ends a listener."""
    after = listeners.counted_call(state)
    answers: tuple[Answer, ...] = ()
    if after.under_way.called <= config.reentry_budget:
        for op in steps:
            after, answer = env.perform(after, op, config)
            answers += (answer,)
            if isinstance(answer, Failed):
                break
    return after, answers


@planted(Rule.K_LISTEN_3, "listeners.performed", beside=IN_STORES)
def performed_once_more(
    state: State, steps: tuple[ops.Op, ...], config: Config, env: Any
) -> tuple[State, tuple[Answer, ...]]:
    """One call too many performs its steps."""
    after = listeners.counted_call(state)
    answers: tuple[Answer, ...] = ()
    if after.under_way.called <= config.reentry_budget + 1:
        for op in steps:
            after, answer = env.perform(after, op, config)
            answers += (answer,)
    return after, answers


@planted(Rule.K_LISTEN_4, ops.Flush)
def flush_failing_for_ever(state: State, event: ops.Flush, config: Config, *calls: Any) -> Taken:
    """A call that throws is not used up."""
    after, answer = namespaces.flush(state, event, config, *calls)
    before = space_of(state, event.ns).listener
    if before is None or before.fails == 0 or event.ns not in after.spaces:
        return after, answer
    return with_space(after, event.ns, space_of(after, event.ns)._replace(listener=before)), answer


@planted(Rule.K_LISTEN_5, ops.Listen)
def listen_once(state: State, event: ops.Listen, config: Config, *calls: Any) -> Taken:
    """The first listener stays."""
    if space_of(state, event.ns).listener is not None:
        return state, Done()
    return namespaces.listen(state, event, config, *calls)


@planted(Rule.K_LIVENESS_1, ops.Evict)
def evict_told_twice(state: State, event: ops.Evict, config: Config, *calls: Any) -> Taken:
    """An eviction is done again and again."""
    after, answer = namespaces.evict(state, event, config, *calls)
    done = after.under_way
    return after._replace(under_way=done._replace(events=done.events * 3)), answer
