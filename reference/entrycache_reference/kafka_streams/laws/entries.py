"""The laws about sizes, writes, overflow, deletion, lookups and counters.

Sizes are computed letter by letter, ranges by sorting encoded keys: each law restates its rule in other terms than the
reference.
"""

from typing import Any, Final

from entrycache_reference.kafka_streams import outcomes
from entrycache_reference.kafka_streams.config import Config, Total
from entrycache_reference.kafka_streams.laws import law
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
    """Return whether the write succeeded, its entry is still cached, and nothing was handed over but evicted entries.

    A store that nobody listens to takes all dirty entries without a call that an outcome names.
    """
    is_alone = law.is_uncalled(step) and all(row.cause != "CALL" for row in step.rows)
    return not law.has_failed(step) and is_alone and law.node_at(step.state, event.ns, event.key) is not None


def counts_its_bytes(config: Config, pre: State, event: Put, step: Step) -> bool:
    """Check K-SIZE-1."""
    node = law.node_at(step.state, event.ns, event.key)
    return node is not None and node.size_bytes == _size(event)


def is_written(config: Config, pre: State, event: Put, step: Step) -> bool:
    """Check K-PUT-1."""
    node = law.node_at(step.state, event.ns, event.key)
    return (
        node is not None
        and (node.value, node.is_dirty) == (event.value, event.dirty)
        and law.space(step.state, event.ns).recent[:1] == (event.key,)
        and step.state.puts == pre.puts + 1
        and law.are_others_unchanged(pre, step, event.ns)
    )


def _overwrites(config: Config, pre: State, event: Put, step: Step) -> bool:
    return _stays(config, pre, event, step) and law.node_at(pre, event.ns, event.key) is not None


def replaces(config: Config, pre: State, event: Put, step: Step) -> bool:
    """Check K-PUT-2."""
    before, after = law.space(pre, event.ns), law.space(step.state, event.ns)
    evicted_sizes = [before.nodes[key].size_bytes for key in law.evicted_keys(step)]
    former, now = before.nodes[event.key].size_bytes, after.nodes[event.key].size_bytes
    return after.overwrites == before.overwrites + 1 and law.bytes_in(step.state) == law.bytes_in(
        pre
    ) - former + now - sum(evicted_sizes)


def _takes_its_turn(config: Config, pre: State, event: Put, step: Step) -> bool:
    if not law.is_consistent(config, law.space(pre, event.ns)):
        return False
    return _stays(config, pre, event, step) and not _hides_a_dirty_one(config, pre, event, step)


def orders_dirty_keys(config: Config, pre: State, event: Put, step: Step) -> bool:
    """Check K-PUT-3."""
    before = law.space(pre, event.ns).dirty
    expected = (*(key for key in before if key != event.key), event.key) if event.dirty else before
    evicted = set(law.evicted_keys(step))
    return law.space(step.state, event.ns).dirty == tuple(key for key in expected if key not in evicted)


def _hides_a_dirty_one(config: Config, pre: State, event: Put, step: Step) -> bool:
    return not event.dirty and event.key in law.space(pre, event.ns).dirty


def is_not_taken(config: Config, pre: State, event: Put, step: Step) -> bool:
    """Check K-PUT-4."""
    refused = outcomes.Failed(outcomes.ErrorKind.ILLEGAL_STATE)
    return step.outcome.answer == refused and step.state == pre._replace(puts=pre.puts + 1)


def _is_new(config: Config, pre: State, event: Any, step: Step) -> bool:
    return event.ns not in pre.spaces and law.is_undisturbed(step)


def creates_the_namespace(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-PUT-5."""
    return event.ns in step.state.spaces


def _calls_nobody(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return whether the step called nobody.

    A store that takes tombstones of keys unknown to it calls nobody, but it takes them.
    """
    took = any(row.op == "FLUSH" and row.cause != "FAILED" for row in step.rows)
    return not took and law.is_uncalled(step) and law.is_consistent(config, law.space(pre, event.ns))


def writes_one_by_one(config: Config, pre: State, event: PutAll, step: Step) -> bool:
    """Check K-PUT-6: it ends at the first clean write over a dirty key, or at an overflow without delivery."""
    written_keys = [row.key for row in step.rows if row.op == "PUT"]
    if written_keys != [write.key for write in event.entries[: len(written_keys)]]:
        return False
    hidden = _first_hidden(pre, event)
    if step.outcome.answer == outcomes.Failed(outcomes.ErrorKind.ILLEGAL_STATE):
        return len(written_keys) == hidden and step.state.puts == pre.puts + len(written_keys) + 1
    if law.has_failed(step):
        return len(written_keys) > 0 and step.state.puts == pre.puts + len(written_keys)
    last = {write.key: write.value for write in event.entries}
    evicted = set(law.evicted_keys(step))
    nodes_after = law.space(step.state, event.ns).nodes
    return (
        hidden is None
        and step.state.puts == pre.puts + len(event.entries)
        and all(
            key in evicted or (key in nodes_after and nodes_after[key].value == value) for key, value in last.items()
        )
    )


def _first_hidden(pre: State, event: PutAll) -> int | None:
    """Return the index of the first entry that writes a clean value over a key that is dirty by then."""
    dirty = set(law.space(pre, event.ns).dirty)
    for at, write in enumerate(event.entries):
        if not write.dirty and write.key in dirty:
            return at
        if write.dirty:
            dirty.add(write.key)
    return None


def answers_what_was_there(config: Config, pre: State, event: PutIfAbsent, step: Step) -> bool:
    """Check K-PUT-7."""
    before, after = law.space(pre, event.ns), law.space(step.state, event.ns)
    there = before.nodes.get(event.key)
    if (after.hits, after.misses) != (before.hits + (there is not None), before.misses + (there is None)):
        return False
    if law.has_failed(step):
        return True
    if there is not None and event.key not in law.evicted_keys(step) and after.nodes.get(event.key) != there:
        return False
    return step.outcome.answer == outcomes.Offered(there is not None, None if there is None else there.value)


def counts_at_its_end(config: Config, pre: State, event: PutIfAbsent, step: Step) -> bool:
    """Check K-PUT-8."""
    written = not law.has_failed(step) and law.node_at(pre, event.ns, event.key) is None
    return step.state.puts == pre.puts + (1 if written else 0)


def _succeeded(config: Config, pre: State, event: Any, step: Step) -> bool:
    return not law.has_failed(step) and (not isinstance(event, PutAll) or bool(event.entries))


def pays_its_overflow(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-EVICT-4."""
    after = step.state
    if config.variants.total is Total.RUNNING and not law.is_undisturbed(step):
        return True
    if law.limited_bytes(config, after) > after.max_size_bytes and law.space(after, event.ns).nodes:
        return False
    return not law.is_undisturbed(step) or law.are_others_unchanged(pre, step, event.ns)


def _fits(config: Config, pre: State, event: Put, step: Step) -> bool:
    if law.has_failed(step) or _hides_a_dirty_one(config, pre, event, step):
        return False
    there = law.node_at(pre, event.ns, event.key)
    written = [row.size_bytes or 0 for row in step.rows if row.op == "PUT"]
    former = 0 if there is None else there.size_bytes
    return bool(written) and law.limited_bytes(config, pre) + written[0] - former <= pre.max_size_bytes


def evicts_nothing(config: Config, pre: State, event: Put, step: Step) -> bool:
    """Check K-EVICT-5."""
    return not law.evicted_keys(step) and law.is_uncalled(step) and step.state.evicts == pre.evicts


def _wrote(config: Config, pre: State, event: Put, step: Step) -> bool:
    return law.is_undisturbed(step) and not _hides_a_dirty_one(config, pre, event, step)


def counts_evictions(config: Config, pre: State, event: Put, step: Step) -> bool:
    """Check K-EVICT-6."""
    is_undone = law.loses_undelivered(config) or bool(step.outcome.forwarded)  # a forward throws after the eviction
    undelivered = 1 if law.has_failed(step) and is_undone else 0
    if step.state.evicts != pre.evicts + len(law.evicted_keys(step)) - undelivered:
        return False
    is_evicted = event.key in law.evicted_keys(step)
    return not law.has_failed(step) or is_evicted or law.node_at(step.state, event.ns, event.key) is not None


def removes_the_key(config: Config, pre: State, event: Delete, step: Step) -> bool:
    """Check K-DELETE-1."""
    there = law.node_at(pre, event.ns, event.key)
    if there is None:
        return True
    before, after = law.space(pre, event.ns), law.space(step.state, event.ns)
    return (
        step.outcome.answer == outcomes.Deleted(True, there.value)
        and event.key not in after.nodes
        and after.recent == tuple(key for key in before.recent if key != event.key)
        and after.dirty == tuple(key for key in before.dirty if key != event.key)
        and law.bytes_in(step.state) == law.bytes_in(pre) - there.size_bytes
    )


def calls_nobody(config: Config, pre: State, event: Delete, step: Step) -> bool:
    """Check K-DELETE-2."""
    before, after = law.space(pre, event.ns), law.space(step.state, event.ns)
    if not law.is_uncalled(step) or (before.hits, before.misses) != (after.hits, after.misses):
        return False
    if event.key in before.nodes:
        return True
    return step.outcome.answer == outcomes.Deleted(False, None) and law.content(before) == law.content(after)


WRITE_LAWS: Final = (
    law.Law(Rule.K_SIZE_1, (Put,), _stays, counts_its_bytes),
    law.Law(Rule.K_PUT_1, (Put,), _stays, is_written),
    law.Law(Rule.K_PUT_2, (Put,), _overwrites, replaces),
    law.Law(Rule.K_PUT_3, (Put,), _takes_its_turn, orders_dirty_keys),
    law.Law(Rule.K_PUT_4, (Put,), _hides_a_dirty_one, is_not_taken),
    law.Law(Rule.K_PUT_5, (Put, PutIfAbsent), _is_new, creates_the_namespace),
    law.Law(Rule.K_PUT_6, (PutAll,), _calls_nobody, writes_one_by_one),
    law.Law(Rule.K_PUT_7, (PutIfAbsent,), _calls_nobody, answers_what_was_there),
    law.Law(Rule.K_PUT_8, (PutIfAbsent,), _calls_nobody, counts_at_its_end),
    law.Law(Rule.K_EVICT_4, (Put, PutAll, PutIfAbsent), _succeeded, pays_its_overflow),
    law.Law(Rule.K_EVICT_5, (Put,), _fits, evicts_nothing),
    law.Law(Rule.K_EVICT_6, (Put,), _wrote, counts_evictions),
    law.Law(Rule.K_DELETE_1, (Delete,), law.always, removes_the_key),
    law.Law(Rule.K_DELETE_2, (Delete,), law.always, calls_nobody),
)


# Laws about lookups and counters.


def _is_cached(config: Config, pre: State, event: Get, step: Step) -> bool:
    return event.key is not None and law.node_at(pre, event.ns, event.key) is not None


def hits(config: Config, pre: State, event: Get, step: Step) -> bool:
    """Check K-GET-1."""
    before, after = law.space(pre, event.ns), law.space(step.state, event.ns)
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
    before, after = law.space(pre, event.ns), law.space(step.state, event.ns)
    return (
        step.outcome.answer == outcomes.Lookup(False, None)
        and after.misses == before.misses + 1
        and after.hits == before.hits
        and law.content(after) == law.content(before)
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
    coded = sorted((key.encode("utf-8", "surrogatepass"), key) for key in law.space(pre, event.ns).nodes)
    return [key for code, key in coded if code >= low and (high is None or code < high or (inclusive and code == high))]


def lists_the_range(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-RANGE-1."""
    nodes = law.space(pre, event.ns).nodes
    return step.outcome.answer == outcomes.Listing(tuple((key, nodes[key].value) for key in _wanted(pre, event)))


def _some(config: Config, pre: State, event: Any, step: Step) -> bool:
    return bool(_wanted(pre, event))


def uses_each(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-RANGE-2."""
    expected = _wanted(pre, event)
    if isinstance(event, ReverseRange | ReverseAll):
        expected = expected[::-1]
    before, after = law.space(pre, event.ns), law.space(step.state, event.ns)
    recent = (*expected[::-1], *(key for key in before.recent if key not in expected))
    return (after.recent, after.hits, after.nodes) == (recent, before.hits + len(expected), before.nodes)


def lists_it_backwards(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-RANGE-3."""
    nodes = law.space(pre, event.ns).nodes
    return step.outcome.answer == outcomes.Listing(tuple((key, nodes[key].value) for key in _wanted(pre, event)[::-1]))


def adds_up(config: Config, pre: State, event: Usage, step: Step) -> bool:
    """Check K-METRICS-1."""
    answer = step.outcome.answer
    if not isinstance(answer, outcomes.Used) or step.state != pre:
        return False
    if event.ns is ABSENT:
        entries = sum([len(cached.nodes) for cached in pre.spaces.values()])
        tracked = law.limited_bytes(config, pre)
        return (answer.entries, answer.bytes) == (entries, law.bytes_in(pre)) and answer.tracked in {None, tracked}
    nodes = law.space(pre, event.ns).nodes
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
    namespace = law.space(pre, event.ns)
    expected = outcomes.NamespaceCounters(
        namespace.hits, namespace.misses, namespace.overwrites, namespace.flushes, namespace.dirty, namespace.recent
    )
    known = step.state.spaces.get(event.ns) if namespace.is_loose else None
    after = pre if known is None else pre._replace(spaces={**pre.spaces, event.ns: namespace._replace(is_loose=False)})
    return step.state == after and step.outcome.answer == expected


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
    law.Law(Rule.K_GET_1, (Get,), _is_cached, hits),
    law.Law(Rule.K_GET_2, (Get,), _missed, misses),
    law.Law(Rule.K_GET_3, (Get,), law.always, counts_the_request),
    law.Law(Rule.K_GET_4, (Get,), _nowhere, misses_uncounted),
    law.Law(Rule.K_RANGE_1, FORWARDS, law.always, lists_the_range),
    law.Law(Rule.K_RANGE_2, (*FORWARDS, *BACKWARDS), _some, uses_each),
    law.Law(Rule.K_RANGE_3, BACKWARDS, law.always, lists_it_backwards),
    law.Law(Rule.K_METRICS_1, (Usage,), law.always, adds_up),
    law.Law(Rule.K_METRICS_2, (Metrics,), _of_thread, reports_the_thread),
    law.Law(Rule.K_METRICS_3, (Metrics,), _of_namespace, reports_the_namespace),
    law.Law(Rule.K_SHARE_1, (Share,), law.always, is_an_equal_share),
)
