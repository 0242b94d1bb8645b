"""One call of a listener, or of what stands downstream of a store, and the steps that are performed inside it.

Beside: ThreadCache.DirtyEntry (kafka-streams 4.3.1)
"""

from __future__ import annotations

from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.environment import Environment
from entrycache_reference.kafka_streams.ops import Op
from entrycache_reference.kafka_streams.outcomes import Answer, Call, Handed
from entrycache_reference.kafka_streams.state import Listener, Node, Part, State
from entrycache_reference.rules import Rule, rule


@rule(Rule.K_LISTEN_3)
def performed(
    state: State, steps: tuple[Op, ...], config: Config, env: Environment
) -> tuple[State, tuple[Answer, ...]]:
    """One call's steps, in order, if the budget of the step under way allows; errors among them end nothing."""
    after = counted_call(state)
    if after.under_way.called > config.reentry_budget:
        return after, ()
    answers: tuple[Answer, ...] = ()
    for op in steps:
        before = after
        after, answer = env.perform(with_parts(before, ()), op, config)
        part = Part(before, op, after, answer, after.under_way.parts)
        after = with_parts(after, (*before.under_way.parts, part))
        answers += (answer,)
    return after, answers


def with_parts(state: State, parts: tuple[Part, ...]) -> State:
    """The state with these steps performed inside calls of the step under way."""
    return state._replace(under_way=state.under_way._replace(parts=parts))


def counted_call(state: State) -> State:
    """The state with one call more in the step under way."""
    return state._replace(under_way=state.under_way._replace(called=state.under_way.called + 1))


def with_calls(state: State, calls: tuple[Call, ...]) -> State:
    """The state with these calls of listeners in the step under way."""
    return state._replace(under_way=state.under_way._replace(calls=calls))


@rule(Rule.K_LISTEN_1)
def call_of(ns: str, entries: tuple[tuple[str, Node], ...]) -> Call:
    """A call as its listener gets it."""
    return Call(ns, tuple(Handed(key, node.value, node.context) for key, node in entries))


@rule(Rule.K_LISTEN_1, Rule.K_LISTEN_2)
def call_listener(
    state: State, ns: str, listener: Listener, entries: tuple[tuple[str, Node], ...], config: Config, env: Environment
) -> State:
    """One call of a listener. It is recorded where it begins; its answers are added when it has ended."""
    at = len(state.under_way.calls)
    call = call_of(ns, entries)
    begun = with_calls(state, (*state.under_way.calls, call))
    after, answers = performed(begun, listener.steps, config, env)
    calls = after.under_way.calls
    return with_calls(after, (*calls[:at], Call(ns, call.entries, answers), *calls[at + 1 :]))
