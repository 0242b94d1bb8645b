"""The laws about sizes, writes, overflow, deletion, lookups and counters.

Sizes are computed letter by letter, ranges by sorting encoded keys: each law restates its rule in other terms than the
reference.
"""

from typing import Any, Final

from entrycache_reference.kafka_streams import outcomes
from entrycache_reference.kafka_streams.config import Config, Total
from entrycache_reference.kafka_streams.laws.law import (
    Law,
    always,
    are_others_unchanged,
    bytes_in,
    content,
    evicted_keys,
    has_failed,
    is_consistent,
    is_uncalled,
    is_undisturbed,
    limited_bytes,
    loses_undelivered,
    node_at,
    space,
)
from entrycache_reference.kafka_streams.ops import (
    All,
    Delete,
    Get,
    Metrics,
    Put,
    PutAll,
    PutIfAbsent,
    Range,
    ReverseAll,
    ReverseRange,
    Share,
    Usage,
)
from entrycache_reference.kafka_streams.state import State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT


def _size(event: Put | PutIfAbsent) -> int:
    total = 24 + 1 + 8 + 8 + 4 + len(event.key.encode("utf-8", "surrogatepass"))
    total += len((event.value or "").encode("utf-8", "surrogatepass"))
    for name, value in (*event.headers, (event.topic, "")):
        total += sum(2 if ord(letter) > 0xFFFF else 1 for letter in name) + len(value.encode("utf-8", "surrogatepass"))
    return total


def _stays(config: Config, pre: State, event: Put, step: Step) -> bool:
    """Return whether the write succeeded without a call, and its entry is still cached."""
    return not has_failed(step) and is_uncalled(step) and node_at(step.state, event.ns, event.key) is not None


def counts_its_bytes(config: Config, pre: State, event: Put, step: Step) -> bool:
    """Check K-SIZE-1."""
    node = node_at(step.state, event.ns, event.key)
    return node is not None and node.size_bytes == _size(event)


def is_written(config: Config, pre: State, event: Put, step: Step) -> bool:
    """Check K-PUT-1."""
    node = node_at(step.state, event.ns, event.key)
    return (
        node is not None
        and (node.value, node.is_dirty) == (event.value, event.dirty)
        and space(step.state, event.ns).recent[:1] == (event.key,)
        and step.state.puts == pre.puts + 1
        and are_others_unchanged(pre, step, event.ns)
    )


def _overwrites(config: Config, pre: State, event: Put, step: Step) -> bool:
    return _stays(config, pre, event, step) and node_at(pre, event.ns, event.key) is not None


def replaces(config: Config, pre: State, event: Put, step: Step) -> bool:
    """Check K-PUT-2."""
    before, after = space(pre, event.ns), space(step.state, event.ns)
    evicted_sizes = [before.nodes[key].size_bytes for key in evicted_keys(step)]
    former, now = before.nodes[event.key].size_bytes, after.nodes[event.key].size_bytes
    return after.overwrites == before.overwrites + 1 and bytes_in(step.state) == bytes_in(pre) - former + now - sum(
        evicted_sizes
    )


def _takes_its_turn(config: Config, pre: State, event: Put, step: Step) -> bool:
    if not is_consistent(config, space(pre, event.ns)):
        return False
    return _stays(config, pre, event, step) and not _hides_a_dirty_one(config, pre, event, step)


def orders_dirty_keys(config: Config, pre: State, event: Put, step: Step) -> bool:
    """Check K-PUT-3."""
    before = space(pre, event.ns).dirty
    expected = (*(key for key in before if key != event.key), event.key) if event.dirty else before
    evicted = set(evicted_keys(step))
    return space(step.state, event.ns).dirty == tuple(key for key in expected if key not in evicted)


def _hides_a_dirty_one(config: Config, pre: State, event: Put, step: Step) -> bool:
    return not event.dirty and event.key in space(pre, event.ns).dirty


def is_not_taken(config: Config, pre: State, event: Put, step: Step) -> bool:
    """Check K-PUT-4."""
    refused = outcomes.Failed(outcomes.ErrorKind.ILLEGAL_STATE)
    return step.outcome.answer == refused and step.state == pre._replace(puts=pre.puts + 1)


def _is_new(config: Config, pre: State, event: Any, step: Step) -> bool:
    return event.ns not in pre.spaces and is_undisturbed(step)


def creates_the_namespace(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-PUT-5."""
    return event.ns in step.state.spaces


def _calls_nobody(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return whether the step called nobody.

    A store that takes tombstones of keys unknown to it calls nobody, but it takes them.
    """
    took = any(row.op == "FLUSH" and row.cause != "FAILED" for row in step.rows)
    return not took and is_uncalled(step) and is_consistent(config, space(pre, event.ns))


def writes_one_by_one(config: Config, pre: State, event: PutAll, step: Step) -> bool:
    """Check K-PUT-6: it ends at the first clean write over a dirty key, or at an overflow without delivery."""
    written_keys = [row.key for row in step.rows if row.op == "PUT"]
    if written_keys != [write.key for write in event.entries[: len(written_keys)]]:
        return False
    hidden = _first_hidden(pre, event)
    if step.outcome.answer == outcomes.Failed(outcomes.ErrorKind.ILLEGAL_STATE):
        return len(written_keys) == hidden and step.state.puts == pre.puts + len(written_keys) + 1
    if has_failed(step):
        return len(written_keys) > 0 and step.state.puts == pre.puts + len(written_keys)
    last = {write.key: write.value for write in event.entries}
    evicted = set(evicted_keys(step))
    nodes_after = space(step.state, event.ns).nodes
    return (
        hidden is None
        and step.state.puts == pre.puts + len(event.entries)
        and all(
            key in evicted or (key in nodes_after and nodes_after[key].value == value) for key, value in last.items()
        )
    )


def _first_hidden(pre: State, event: PutAll) -> int | None:
    """Return the index of the first entry that writes a clean value over a key that is dirty by then."""
    dirty = set(space(pre, event.ns).dirty)
    for at, write in enumerate(event.entries):
        if not write.dirty and write.key in dirty:
            return at
        if write.dirty:
            dirty.add(write.key)
    return None


def answers_what_was_there(config: Config, pre: State, event: PutIfAbsent, step: Step) -> bool:
    """Check K-PUT-7."""
    before, after = space(pre, event.ns), space(step.state, event.ns)
    there = before.nodes.get(event.key)
    if (after.hits, after.misses) != (before.hits + (there is not None), before.misses + (there is None)):
        return False
    if has_failed(step):
        return True
    if there is not None and event.key not in evicted_keys(step) and after.nodes.get(event.key) != there:
        return False
    return step.outcome.answer == outcomes.Offered(there is not None, None if there is None else there.value)


def counts_at_its_end(config: Config, pre: State, event: PutIfAbsent, step: Step) -> bool:
    """Check K-PUT-8."""
    written = not has_failed(step) and node_at(pre, event.ns, event.key) is None
    return step.state.puts == pre.puts + (1 if written else 0)


def _succeeded(config: Config, pre: State, event: Any, step: Step) -> bool:
    return not has_failed(step) and (not isinstance(event, PutAll) or bool(event.entries))


def pays_its_overflow(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-EVICT-4."""
    after = step.state
    if config.variants.total is Total.RUNNING and not is_undisturbed(step):
        return True
    if limited_bytes(config, after) > after.max_size_bytes and space(after, event.ns).nodes:
        return False
    return not is_undisturbed(step) or are_others_unchanged(pre, step, event.ns)


def _fits(config: Config, pre: State, event: Put, step: Step) -> bool:
    if has_failed(step) or _hides_a_dirty_one(config, pre, event, step):
        return False
    there = node_at(pre, event.ns, event.key)
    written = [row.size_bytes or 0 for row in step.rows if row.op == "PUT"]
    former = 0 if there is None else there.size_bytes
    return bool(written) and limited_bytes(config, pre) + written[0] - former <= pre.max_size_bytes


def evicts_nothing(config: Config, pre: State, event: Put, step: Step) -> bool:
    """Check K-EVICT-5."""
    return not evicted_keys(step) and is_uncalled(step) and step.state.evicts == pre.evicts


def _wrote(config: Config, pre: State, event: Put, step: Step) -> bool:
    return is_undisturbed(step) and not _hides_a_dirty_one(config, pre, event, step)


def counts_evictions(config: Config, pre: State, event: Put, step: Step) -> bool:
    """Check K-EVICT-6."""
    undelivered = 1 if has_failed(step) and loses_undelivered(config) else 0
    if step.state.evicts != pre.evicts + len(evicted_keys(step)) - undelivered:
        return False
    is_evicted = event.key in evicted_keys(step)
    return not has_failed(step) or is_evicted or node_at(step.state, event.ns, event.key) is not None


def removes_the_key(config: Config, pre: State, event: Delete, step: Step) -> bool:
    """Check K-DELETE-1."""
    there = node_at(pre, event.ns, event.key)
    if there is None:
        return True
    before, after = space(pre, event.ns), space(step.state, event.ns)
    return (
        step.outcome.answer == outcomes.Deleted(True, there.value)
        and event.key not in after.nodes
        and after.recent == tuple(key for key in before.recent if key != event.key)
        and after.dirty == tuple(key for key in before.dirty if key != event.key)
        and bytes_in(step.state) == bytes_in(pre) - there.size_bytes
    )


def calls_nobody(config: Config, pre: State, event: Delete, step: Step) -> bool:
    """Check K-DELETE-2."""
    before, after = space(pre, event.ns), space(step.state, event.ns)
    if not is_uncalled(step) or (before.hits, before.misses) != (after.hits, after.misses):
        return False
    if event.key in before.nodes:
        return True
    return step.outcome.answer == outcomes.Deleted(False, None) and content(before) == content(after)


WRITE_LAWS: Final = (
    Law(Rule.K_SIZE_1, (Put,), _stays, counts_its_bytes),
    Law(Rule.K_PUT_1, (Put,), _stays, is_written),
    Law(Rule.K_PUT_2, (Put,), _overwrites, replaces),
    Law(Rule.K_PUT_3, (Put,), _takes_its_turn, orders_dirty_keys),
    Law(Rule.K_PUT_4, (Put,), _hides_a_dirty_one, is_not_taken),
    Law(Rule.K_PUT_5, (Put, PutIfAbsent), _is_new, creates_the_namespace),
    Law(Rule.K_PUT_6, (PutAll,), _calls_nobody, writes_one_by_one),
    Law(Rule.K_PUT_7, (PutIfAbsent,), _calls_nobody, answers_what_was_there),
    Law(Rule.K_PUT_8, (PutIfAbsent,), _calls_nobody, counts_at_its_end),
    Law(Rule.K_EVICT_4, (Put, PutAll, PutIfAbsent), _succeeded, pays_its_overflow),
    Law(Rule.K_EVICT_5, (Put,), _fits, evicts_nothing),
    Law(Rule.K_EVICT_6, (Put,), _wrote, counts_evictions),
    Law(Rule.K_DELETE_1, (Delete,), always, removes_the_key),
    Law(Rule.K_DELETE_2, (Delete,), always, calls_nobody),
)


# Laws about lookups and counters.


def _is_cached(config: Config, pre: State, event: Get, step: Step) -> bool:
    return event.key is not None and node_at(pre, event.ns, event.key) is not None


def hits(config: Config, pre: State, event: Get, step: Step) -> bool:
    """Check K-GET-1."""
    before, after = space(pre, event.ns), space(step.state, event.ns)
    assert event.key is not None
    return (
        step.outcome.answer == outcomes.Lookup(True, before.nodes[event.key].value)
        and after.recent == (event.key, *(key for key in before.recent if key != event.key))
        and after.hits == before.hits + 1
        and (after.nodes, after.dirty, after.misses) == (before.nodes, before.dirty, before.misses)
    )


def _missed(config: Config, pre: State, event: Get, step: Step) -> bool:
    return event.key is not None and event.ns in pre.spaces and event.key not in pre.spaces[event.ns].nodes


def misses(config: Config, pre: State, event: Get, step: Step) -> bool:
    """Check K-GET-2."""
    before, after = space(pre, event.ns), space(step.state, event.ns)
    return (
        step.outcome.answer == outcomes.Lookup(False, None)
        and after.misses == before.misses + 1
        and after.hits == before.hits
        and content(after) == content(before)
    )


def counts_the_request(config: Config, pre: State, event: Get, step: Step) -> bool:
    """Check K-GET-3."""
    return step.state.gets == pre.gets + 1


def _nowhere(config: Config, pre: State, event: Get, step: Step) -> bool:
    return event.key is None or event.ns not in pre.spaces


def misses_uncounted(config: Config, pre: State, event: Get, step: Step) -> bool:
    """Check K-GET-4."""
    return step.outcome.answer == outcomes.Lookup(False, None) and step.state.spaces == pre.spaces


def _wanted(pre: State, event: Any) -> list[str]:
    first = getattr(event, "from_", None)
    last = getattr(event, "to", None)
    inclusive = getattr(event, "to_inclusive", True)
    low = b"" if first is None else first.encode("utf-8", "surrogatepass")
    high = None if last is None else last.encode("utf-8", "surrogatepass")
    coded = sorted((key.encode("utf-8", "surrogatepass"), key) for key in space(pre, event.ns).nodes)
    return [key for code, key in coded if code >= low and (high is None or code < high or (inclusive and code == high))]


def lists_the_range(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-RANGE-1."""
    nodes = space(pre, event.ns).nodes
    return step.outcome.answer == outcomes.Listing(tuple((key, nodes[key].value) for key in _wanted(pre, event)))


def _some(config: Config, pre: State, event: Any, step: Step) -> bool:
    return bool(_wanted(pre, event))


def uses_each(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-RANGE-2."""
    expected = _wanted(pre, event)
    if isinstance(event, ReverseRange | ReverseAll):
        expected = expected[::-1]
    before, after = space(pre, event.ns), space(step.state, event.ns)
    recent = (*expected[::-1], *(key for key in before.recent if key not in expected))
    return (after.recent, after.hits, after.nodes) == (recent, before.hits + len(expected), before.nodes)


def lists_it_backwards(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-RANGE-3."""
    nodes = space(pre, event.ns).nodes
    return step.outcome.answer == outcomes.Listing(tuple((key, nodes[key].value) for key in _wanted(pre, event)[::-1]))


def adds_up(config: Config, pre: State, event: Usage, step: Step) -> bool:
    """Check K-METRICS-1."""
    answer = step.outcome.answer
    if not isinstance(answer, outcomes.Used) or step.state != pre:
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


def reports_the_thread(config: Config, pre: State, event: Metrics, step: Step) -> bool:
    """Check K-METRICS-2."""
    return step.state == pre and step.outcome.answer == outcomes.ThreadCounters(
        pre.puts, pre.gets, pre.evicts, pre.flushes
    )


def reports_the_namespace(config: Config, pre: State, event: Metrics, step: Step) -> bool:
    """Check K-METRICS-3."""
    assert event.ns is not ABSENT
    namespace = space(pre, event.ns)
    expected = outcomes.NamespaceCounters(
        namespace.hits, namespace.misses, namespace.overwrites, namespace.flushes, namespace.dirty, namespace.recent
    )
    return step.state == pre and step.outcome.answer == expected


def is_an_equal_share(config: Config, pre: State, event: Share, step: Step) -> bool:
    """Check K-SHARE-1."""
    answer = step.outcome.answer
    if not isinstance(answer, outcomes.Shared) or event.threads == 0:
        return answer == outcomes.Shared(event.total_bytes)
    takers = event.threads + event.global_thread
    return answer.bytes * takers <= event.total_bytes < (answer.bytes + 1) * takers


FORWARDS: Final = (Range, All)
BACKWARDS: Final = (ReverseRange, ReverseAll)

LOOKUP_LAWS: Final = (
    Law(Rule.K_GET_1, (Get,), _is_cached, hits),
    Law(Rule.K_GET_2, (Get,), _missed, misses),
    Law(Rule.K_GET_3, (Get,), always, counts_the_request),
    Law(Rule.K_GET_4, (Get,), _nowhere, misses_uncounted),
    Law(Rule.K_RANGE_1, FORWARDS, always, lists_the_range),
    Law(Rule.K_RANGE_2, (*FORWARDS, *BACKWARDS), _some, uses_each),
    Law(Rule.K_RANGE_3, BACKWARDS, always, lists_it_backwards),
    Law(Rule.K_METRICS_1, (Usage,), always, adds_up),
    Law(Rule.K_METRICS_2, (Metrics,), _of_thread, reports_the_thread),
    Law(Rule.K_METRICS_3, (Metrics,), _of_namespace, reports_the_namespace),
    Law(Rule.K_SHARE_1, (Share,), always, is_an_equal_share),
)
