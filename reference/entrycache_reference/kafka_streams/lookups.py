"""The operations `get`, the four lookups of ranges, `usage` and `metrics`.

Beside: ThreadCache.get, .range, .MemoryLRUCacheBytesIterator, NamedCache.keyRange (kafka-streams 4.3.1)
"""

from __future__ import annotations

from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.environment import Environment
from entrycache_reference.kafka_streams.ops import All, Get, Metrics, Range, ReverseAll, ReverseRange, Usage
from entrycache_reference.kafka_streams.outcomes import Answer, Got, Listed, NamespaceCounters, ThreadCounters, Used
from entrycache_reference.kafka_streams.running import limited_bytes
from entrycache_reference.kafka_streams.size import in_order
from entrycache_reference.kafka_streams.state import State, space_of, total_bytes
from entrycache_reference.kafka_streams.writes import looked
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT


@rule(Rule.K_GET_1, Rule.K_GET_2, Rule.K_GET_3, Rule.K_GET_4)
def get(state: State, event: Get, config: Config, env: Environment) -> tuple[State, Answer]:
    """Look one key up."""
    # GUARD: no key, or no such namespace: a miss that only the thread counts.
    counted = state._replace(gets=state.gets + 1)
    if event.key is None or event.ns not in state.spaces:
        return counted, Got(False, None)

    # DECISION: a hit exactly when the key is cached, also as a tombstone.
    node = space_of(state, event.ns).nodes.get(event.key)

    # EFFECT and OUTCOME
    return looked(counted, event.ns, event.key), Got(node is not None, None if node is None else node.value)


@rule(Rule.K_RANGE_1)
def is_between(key: str, first: str | None, last: str | None, last_inclusive: bool) -> bool:
    """Whether a key lies between two bounds, by bytes; None: unbounded."""
    at = key.encode("utf-8", "surrogatepass")
    if first is not None and at < first.encode("utf-8", "surrogatepass"):
        return False
    if last is None:
        return True
    end = last.encode("utf-8", "surrogatepass")
    return at < end or (last_inclusive and at == end)


@rule(Rule.K_RANGE_1, Rule.K_RANGE_2)
def listed(state: State, ns: str, keys: tuple[str, ...]) -> tuple[State, Answer]:
    """Iterate these keys to the end: each is looked up, and so becomes the most recent in turn."""
    after = state
    entries: tuple[tuple[str, str | None], ...] = ()
    for key in keys:
        entries += ((key, space_of(after, ns).nodes[key].value),)
        after = looked(after, ns, key)
    return after, Listed(entries)


def keys_between(state: State, ns: str, first: str | None, last: str | None, last_inclusive: bool) -> tuple[str, ...]:
    """The cached keys between two bounds, ascending."""
    keys = in_order(tuple(space_of(state, ns).nodes))
    return tuple(key for key in keys if is_between(key, first, last, last_inclusive))


@rule(Rule.K_RANGE_1, Rule.K_RANGE_2)
def range_(state: State, event: Range, config: Config, env: Environment) -> tuple[State, Answer]:
    """Look up a range, ascending."""
    return listed(state, event.ns, keys_between(state, event.ns, event.from_, event.to, event.to_inclusive))


@rule(Rule.K_RANGE_3)
def reverse_range(state: State, event: ReverseRange, config: Config, env: Environment) -> tuple[State, Answer]:
    """Look up a range, descending, both ends included."""
    return listed(state, event.ns, keys_between(state, event.ns, event.from_, event.to, True)[::-1])


@rule(Rule.K_RANGE_1, Rule.K_RANGE_2)
def all_(state: State, event: All, config: Config, env: Environment) -> tuple[State, Answer]:
    """Look up every key, ascending."""
    return listed(state, event.ns, keys_between(state, event.ns, None, None, True))


@rule(Rule.K_RANGE_3)
def reverse_all(state: State, event: ReverseAll, config: Config, env: Environment) -> tuple[State, Answer]:
    """Look up every key, descending."""
    return listed(state, event.ns, keys_between(state, event.ns, None, None, True)[::-1])


@rule(Rule.K_METRICS_1)
def usage(state: State, event: Usage, config: Config, env: Environment) -> tuple[State, Answer]:
    """Entries and bytes of one namespace, or of all: exact sums, beside the total that the limit is held against."""
    if event.ns is ABSENT:
        entries = sum(len(space.nodes) for space in state.spaces.values())
        return state, Used(entries, total_bytes(state), limited_bytes(state, config))
    nodes = space_of(state, event.ns).nodes
    return state, Used(len(nodes), sum(node.size_bytes for node in nodes.values()))


@rule(Rule.K_METRICS_2, Rule.K_METRICS_3)
def metrics(state: State, event: Metrics, config: Config, env: Environment) -> tuple[State, Answer]:
    """The counters of the thread, or of one namespace."""
    if event.ns is ABSENT:
        return state, ThreadCounters(state.puts, state.gets, state.evicts, state.flushes)
    space = space_of(state, event.ns)
    counters = (space.hits, space.misses, space.overwrites, space.flushes)
    return state, NamespaceCounters(*counters, space.dirty, space.recent)
