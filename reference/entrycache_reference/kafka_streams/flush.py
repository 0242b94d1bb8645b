"""Handing dirty entries to their listener: by a flush, or because the eldest is evicted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from entrycache_reference.kafka_streams.config import Config, FlushedTombstone
from entrycache_reference.kafka_streams.named_cache import cleaned, removed
from entrycache_reference.kafka_streams.ops import Op
from entrycache_reference.kafka_streams.outcomes import Answer, Call, ErrorKind, Handed
from entrycache_reference.kafka_streams.running import held
from entrycache_reference.kafka_streams.state import Change, Listener, Node, State, space_of, told, with_space
from entrycache_reference.kafka_streams.undelivered import interrupted, refused, unheard, without_keys
from entrycache_reference.rules import Rule, rule

Perform = Callable[[State, Op, Config], tuple[State, Answer]]
"""One step inside a call: the state after it, and its answer."""

Receive = Callable[[State, str, tuple[tuple[str, Node], ...], Config, Perform], State]
"""How a caching store takes what it is handed."""

NO_LISTENER: Final = ErrorKind.ILLEGAL_ARGUMENT


@rule(Rule.K_LISTEN_3)
def performed(
    state: State, steps: tuple[Op, ...], config: Config, perform: Perform
) -> tuple[State, tuple[Answer, ...]]:
    """One call's steps, in order, if the budget of the step under way allows; errors among them end nothing."""
    after = state._replace(called=state.called + 1)
    if after.called > config.reentry_budget:
        return after, ()
    answers: tuple[Answer, ...] = ()
    for op in steps:
        after, answer = perform(after, op, config)
        answers += (answer,)
    return after, answers


@rule(Rule.K_LISTEN_1, Rule.K_LISTEN_2)
def call_listener(
    state: State, ns: str, listener: Listener, entries: tuple[tuple[str, Node], ...], config: Config, perform: Perform
) -> State:
    """One call of a listener. It is recorded where it begins; its answers are added when it has ended."""
    at = len(state.calls)
    call = Call(ns, tuple(Handed(key, node.value, node.context) for key, node in entries))
    begun = state._replace(calls=(*state.calls, call))
    after, answers = performed(begun, listener.steps, config, perform)
    ended = Call(ns, call.entries, answers)
    return after._replace(calls=(*after.calls[:at], ended, *after.calls[at + 1 :]))


@rule(Rule.K_FLUSH_1, Rule.K_FLUSH_2, Rule.K_FLUSH_3, Rule.K_FLUSH_4, Rule.K_FLUSH_5, Rule.K_LISTEN_4)
def flush_dirty(
    state: State, ns: str, evicted: str | None, config: Config, perform: Perform, receive: Receive
) -> Change:
    """Hand every dirty entry of a namespace to its listener; `evicted`: that one leaves the cache and comes first."""
    # GUARD: without a listener nothing is looked up and nothing is lost.
    space = space_of(state, ns)
    counted = with_space(state, ns, space._replace(flushes=space.flushes + 1))
    listener = space.listener
    if listener is None:
        return Change(unheard(missed(counted, ns, evicted), ns, evicted, config), NO_LISTENER)

    # DECISION: the evicted entry first, then every other dirty one in the order of their writes.
    others = tuple(key for key in space.dirty if key != evicted)
    keys = others if evicted is None else (evicted, *others)
    if not keys:
        return Change(counted)
    if any(key not in space.nodes for key in keys):
        return Change(interrupted(counted, ns, evicted, config), ErrorKind.ILLEGAL_STATE)
    entries = tuple((key, space.nodes[key]) for key in keys)
    space = space._replace(flushes=space.flushes + 1, hits=space.hits + len(others))

    # EFFECT: a listener that throws leaves everything as it was.
    if listener.fails > 0:
        tried = with_space(state, ns, space._replace(listener=listener._replace(fails=listener.fails - 1)))
        call = Call(ns, tuple(Handed(key, node.value, node.context) for key, node in entries))
        tried = missed(tried._replace(called=tried.called + 1, calls=(*tried.calls, call)), ns, evicted)
        return Change(refused(tried, ns, evicted, config), ErrorKind.LISTENER_FAILED)

    # EFFECT: during the call the evicted entry is out of the cache, and the others are clean.
    left = space if evicted is None else removed(space, evicted)
    after = with_space(state, ns, cleaned(left))
    if evicted is not None:
        after = told(after, Rule.K_EVICT_3, "EVICT", ns, evicted, space.nodes[evicted])
    for key, node in entries:
        after = told(after, Rule.K_FLUSH_1, "FLUSH", ns, key, node, "EVICT" if key == evicted else "CALL")
    if listener.of_store:
        after = receive(after, ns, entries, config, perform)
    else:
        after = call_listener(after, ns, listener, entries, config, perform)

    # OUTCOME: tombstones have served their purpose, unless the key was written again meanwhile.
    if config.variants.flushed_tombstone is FlushedTombstone.ANY_WRITE:
        deleted = tuple(key for key, node in entries if node.value is None and key != evicted)
        return Change(without_keys(after, held(state, ns), deleted))
    return Change(without_tombstones(after, ns, entries))


def missed(state: State, ns: str, evicted: str | None) -> State:
    """The events of entries that are not handed over."""
    space = space_of(state, ns)
    others = tuple(key for key in space.dirty if key != evicted)
    after = state
    for key in others if evicted is None else (evicted, *others):
        if key in space.nodes:
            after = told(after, Rule.K_FLUSH_3, "FLUSH", ns, key, space.nodes[key], "FAILED")
    return after


@rule(Rule.K_FLUSH_4)
def without_tombstones(state: State, ns: str, entries: tuple[tuple[str, Node], ...]) -> State:
    """The state without those tombstones that are still the very writes that were handed over."""
    after = state
    for key, node in entries:
        now = space_of(after, ns).nodes.get(key)
        if node.value is None and now is not None and now.write == node.write:
            after = with_space(after, ns, removed(space_of(after, ns), key))
            after = told(after, Rule.K_FLUSH_4, "DELETE", ns, key, now, "FLUSH")
    return after


@rule(Rule.K_EVICT_1, Rule.K_EVICT_2, Rule.K_EVICT_3)
def evict_eldest(state: State, ns: str, config: Config, perform: Perform, receive: Receive) -> Change:
    """Evict the eldest entry of a namespace; a clean one is dropped, a dirty one is handed over."""
    # GUARD: where nothing is cached nothing is evicted.
    space = space_of(state, ns)
    if not space.recent:
        return Change(state)

    # DECISION: the least recently used key.
    key = space.recent[-1]
    node = space.nodes[key]
    if node.is_dirty:
        return flush_dirty(state, ns, key, config, perform, receive)

    # EFFECT and OUTCOME: among the dirty keys it is not, but under a variant that lost the entry of another one.
    after = with_space(state, ns, removed(space, key)._replace(dirty=space.dirty))
    return Change(told(after, Rule.K_EVICT_2, "EVICT", ns, key, node))
