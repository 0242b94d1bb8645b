"""The laws about lookups and counters."""

from __future__ import annotations

from typing import Any, Final

from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.laws.law import Law, always, bytes_in, content, limited_bytes, node_at, space
from entrycache_reference.kafka_streams.ops import All, Get, Metrics, Range, ReverseAll, ReverseRange, Share, Usage
from entrycache_reference.kafka_streams.outcomes import Got, Listed, NamespaceCounters, Shared, ThreadCounters, Used
from entrycache_reference.kafka_streams.state import State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT


def _found(config: Config, pre: State, event: Get, step: Step) -> bool:
    return event.key is not None and node_at(pre, event.ns, event.key) is not None


def hits(config: Config, pre: State, event: Get, step: Step) -> bool:
    """K-GET-1."""
    before, after = space(pre, event.ns), space(step.state, event.ns)
    assert event.key is not None
    return (
        step.outcome.answer == Got(True, before.nodes[event.key].value)
        and after.recent == (event.key, *(key for key in before.recent if key != event.key))
        and after.hits == before.hits + 1
        and (after.nodes, after.dirty, after.misses) == (before.nodes, before.dirty, before.misses)
    )


def _missed(config: Config, pre: State, event: Get, step: Step) -> bool:
    return event.key is not None and event.ns in pre.spaces and event.key not in pre.spaces[event.ns].nodes


def misses(config: Config, pre: State, event: Get, step: Step) -> bool:
    """K-GET-2."""
    before, after = space(pre, event.ns), space(step.state, event.ns)
    return (
        step.outcome.answer == Got(False, None)
        and after.misses == before.misses + 1
        and after.hits == before.hits
        and content(after) == content(before)
    )


def counts_the_request(config: Config, pre: State, event: Get, step: Step) -> bool:
    """K-GET-3."""
    return step.state.gets == pre.gets + 1


def _nowhere(config: Config, pre: State, event: Get, step: Step) -> bool:
    return event.key is None or event.ns not in pre.spaces


def misses_uncounted(config: Config, pre: State, event: Get, step: Step) -> bool:
    """K-GET-4."""
    return step.outcome.answer == Got(False, None) and step.state.spaces == pre.spaces


def _wanted(pre: State, event: Any) -> list[str]:
    first = getattr(event, "from_", None)
    last = getattr(event, "to", None)
    inclusive = getattr(event, "to_inclusive", True)
    low = b"" if first is None else first.encode("utf-8", "surrogatepass")
    high = None if last is None else last.encode("utf-8", "surrogatepass")
    coded = sorted((key.encode("utf-8", "surrogatepass"), key) for key in space(pre, event.ns).nodes)
    return [key for code, key in coded if code >= low and (high is None or code < high or (inclusive and code == high))]


def lists_the_range(config: Config, pre: State, event: Any, step: Step) -> bool:
    """K-RANGE-1."""
    nodes = space(pre, event.ns).nodes
    return step.outcome.answer == Listed(tuple((key, nodes[key].value) for key in _wanted(pre, event)))


def _some(config: Config, pre: State, event: Any, step: Step) -> bool:
    return bool(_wanted(pre, event))


def uses_each(config: Config, pre: State, event: Any, step: Step) -> bool:
    """K-RANGE-2."""
    wanted = _wanted(pre, event)
    if isinstance(event, ReverseRange | ReverseAll):
        wanted = wanted[::-1]
    before, after = space(pre, event.ns), space(step.state, event.ns)
    recent = (*wanted[::-1], *(key for key in before.recent if key not in wanted))
    return (after.recent, after.hits, after.nodes) == (recent, before.hits + len(wanted), before.nodes)


def lists_it_backwards(config: Config, pre: State, event: Any, step: Step) -> bool:
    """K-RANGE-3."""
    nodes = space(pre, event.ns).nodes
    return step.outcome.answer == Listed(tuple((key, nodes[key].value) for key in _wanted(pre, event)[::-1]))


def adds_up(config: Config, pre: State, event: Usage, step: Step) -> bool:
    """K-METRICS-1."""
    answer = step.outcome.answer
    if not isinstance(answer, Used) or step.state != pre:
        return False
    if event.ns is ABSENT:
        entries = sum([len(cached.nodes) for cached in pre.spaces.values()])
        tracked = limited_bytes(config, pre)
        return (answer.entries, answer.bytes) == (entries, bytes_in(pre)) and answer.tracked in {None, tracked}
    nodes = space(pre, event.ns).nodes
    return (answer.entries, answer.bytes) == (len(nodes), sum([node.size_bytes for node in nodes.values()]))


def _of_thread(config: Config, pre: State, event: Metrics, step: Step) -> bool:
    return event.ns is ABSENT


def _of_namespace(config: Config, pre: State, event: Metrics, step: Step) -> bool:
    return event.ns is not ABSENT


def tells_the_thread(config: Config, pre: State, event: Metrics, step: Step) -> bool:
    """K-METRICS-2."""
    return step.state == pre and step.outcome.answer == ThreadCounters(pre.puts, pre.gets, pre.evicts, pre.flushes)


def tells_the_namespace(config: Config, pre: State, event: Metrics, step: Step) -> bool:
    """K-METRICS-3."""
    assert event.ns is not ABSENT
    own = space(pre, event.ns)
    wanted = NamespaceCounters(own.hits, own.misses, own.overwrites, own.flushes, own.dirty, own.recent)
    return step.state == pre and step.outcome.answer == wanted


def is_an_equal_share(config: Config, pre: State, event: Share, step: Step) -> bool:
    """K-SHARE-1."""
    answer = step.outcome.answer
    if not isinstance(answer, Shared) or event.threads == 0:
        return answer == Shared(event.total_bytes)
    takers = event.threads + event.global_thread
    return answer.bytes * takers <= event.total_bytes < (answer.bytes + 1) * takers


FORWARDS: Final = (Range, All)
BACKWARDS: Final = (ReverseRange, ReverseAll)

LAWS: Final = (
    Law(Rule.K_GET_1, (Get,), _found, hits),
    Law(Rule.K_GET_2, (Get,), _missed, misses),
    Law(Rule.K_GET_3, (Get,), always, counts_the_request),
    Law(Rule.K_GET_4, (Get,), _nowhere, misses_uncounted),
    Law(Rule.K_RANGE_1, FORWARDS, always, lists_the_range),
    Law(Rule.K_RANGE_2, (*FORWARDS, *BACKWARDS), _some, uses_each),
    Law(Rule.K_RANGE_3, BACKWARDS, always, lists_it_backwards),
    Law(Rule.K_METRICS_1, (Usage,), always, adds_up),
    Law(Rule.K_METRICS_2, (Metrics,), _of_thread, tells_the_thread),
    Law(Rule.K_METRICS_3, (Metrics,), _of_namespace, tells_the_namespace),
    Law(Rule.K_SHARE_1, (Share,), always, is_an_equal_share),
)
