"""The operations on a namespace as a whole: `listen`, `flush`, `evict`, `clear`, `close`, and `resize`.

`flush` and `evict` delegate to `flush.py`. `clear` and `close` drop entries without calling the listener. `resize` sets
the limit and evicts by turns until the total is within it.

Beside: ThreadCache.addDirtyEntryFlushListener, .flush, .clear, .close, .resize (kafka-streams 4.3.1)
"""

from entrycache_reference.kafka_streams.change import book_bytes, book_change, handle_of
from entrycache_reference.kafka_streams.config import Config, Total
from entrycache_reference.kafka_streams.entries import with_answer
from entrycache_reference.kafka_streams.flush import Environment, evict_eldest, flush_dirty, shrink_running
from entrycache_reference.kafka_streams.ops import Clear, Close, Evict, Flush, Listen, Resize
from entrycache_reference.kafka_streams.outcomes import Answer, Done, Failed
from entrycache_reference.kafka_streams.state import (
    Listener,
    Space,
    State,
    space_of,
    total_bytes,
    with_cache_event,
    with_entry_event,
    with_space,
)
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT


@rule(Rule.K_LISTEN_5)
def listen(state: State, event: Listen, config: Config, env: Environment) -> tuple[State, Answer]:
    """Register the listener of a namespace; a call in progress keeps its steps."""
    steps = () if event.on_flush is ABSENT else event.on_flush
    fails = 0 if event.fails is ABSENT else event.fails
    listener = Listener(steps, fails)
    return with_space(state, event.ns, space_of(state, event.ns)._replace(listener=listener)), Done()


@rule(Rule.K_FLUSH_1, Rule.K_FLUSH_6)
def flush(state: State, event: Flush, config: Config, env: Environment) -> tuple[State, Answer]:
    """Flush every dirty entry of a namespace to its listener."""
    counted = state._replace(flushes=state.flushes + 1)
    if event.ns not in state.spaces:
        return counted, Done()
    change = flush_dirty(counted, event.ns, None, config, env)
    return with_answer(book_change(counted, change, event.ns, config), Done())


@rule(Rule.K_EVICT_1, Rule.K_EVICT_7)
def evict(state: State, event: Evict, config: Config, env: Environment) -> tuple[State, Answer]:
    """Evict the eldest entry of a namespace; the thread does not count it."""
    change = evict_eldest(state, event.ns, config, env)
    return with_answer(book_change(state, change, event.ns, config), Done())


def report_removed_entries(state: State, ns: str, space: Space, rule: Rule, cause: str) -> State:
    """Return the state with an event for each entry that a call removes, most recent first."""
    after = state
    for key in space.recent:
        after = with_entry_event(after, rule, "REMOVE", ns, key, space.nodes[key], cause)
    return after


def count_emptying(state: State, ns: str) -> State:
    """Return the state with one more emptying of this namespace in the step in progress."""
    now = state.in_progress
    return state._replace(in_progress=now._replace(emptied=(*now.emptied, ns)))


@rule(Rule.K_CLOSE_1)
def clear(state: State, event: Clear, config: Config, env: Environment) -> tuple[State, Answer]:
    """Drop the entries of a namespace; listener and counters stay."""
    if event.ns not in state.spaces:
        return state, Done()
    space = space_of(state, event.ns)
    after = with_space(state, event.ns, space._replace(nodes={}, recent=(), dirty=()))
    after = count_emptying(book_bytes(state, after, handle_of(state, event.ns), config), event.ns)
    return report_removed_entries(after, event.ns, space, Rule.K_CLOSE_1, "CLEAR"), Done()


@rule(Rule.K_CLOSE_2)
def close(state: State, event: Close, config: Config, env: Environment) -> tuple[State, Answer]:
    """Drop a namespace with its listener and its counters."""
    if event.ns not in state.spaces:
        return state, Done()
    space = space_of(state, event.ns)
    after = state._replace(spaces={ns: other for ns, other in state.spaces.items() if ns != event.ns})
    after = book_bytes(state, after, handle_of(state, event.ns), config)
    after = after._replace(in_progress=after.in_progress._replace(closed=(*after.in_progress.closed, event.ns)))
    after = count_emptying(after, event.ns)
    after = report_removed_entries(after, event.ns, space, Rule.K_CLOSE_2, "CLOSE")
    return with_cache_event(after, Rule.K_CLOSE_2, "CACHE_CLOSE", event.ns), Done()


@rule(Rule.K_RESIZE_1, Rule.K_RESIZE_2, Rule.K_RESIZE_3)
def resize(state: State, event: Resize, config: Config, env: Environment) -> tuple[State, Answer]:
    """Set the limit; a smaller one evicts one eldest entry of each namespace in turn and counts each turn."""
    # GUARD: a limit that does not shrink evicts nothing.
    after = state._replace(max_size_bytes=event.max_size_bytes)
    after = with_cache_event(after, Rule.K_RESIZE_1, "CONFIG", value=f'{{"max_size_bytes": {event.max_size_bytes}}}')
    if event.max_size_bytes >= state.max_size_bytes:
        return after, Done()

    if config.variants.total is Total.RUNNING:
        return shrink_running(after, config, env)

    # DECISION and EFFECT: by name, until the total is within the limit.
    while total_bytes(after) > after.max_size_bytes:
        for ns in sorted(after.spaces):
            if total_bytes(after) > after.max_size_bytes:
                change = evict_eldest(after, ns, config, env)
                if change.error is not None:
                    return change.state, Failed(change.error)
                after = change.state._replace(evicts=change.state.evicts + 1)

    # OUTCOME
    return after, Done()
