"""The laws about sizes, writes, overflow and deletion."""

from __future__ import annotations

from typing import Any, Final

from entrycache_reference.kafka_streams.config import Config, Total
from entrycache_reference.kafka_streams.laws.law import (
    Law,
    always,
    bytes_in,
    content,
    evicted,
    failed,
    limited_bytes,
    loses,
    node_at,
    others_same,
    space,
    uncalled,
    undisturbed,
    whole,
)
from entrycache_reference.kafka_streams.ops import Delete, Put, PutAll, PutIfAbsent
from entrycache_reference.kafka_streams.outcomes import Deleted, ErrorKind, Failed, Offered
from entrycache_reference.kafka_streams.state import State, Step
from entrycache_reference.rules import Rule


def _size(event: Put | PutIfAbsent) -> int:
    total = 24 + 1 + 8 + 8 + 4 + len(event.key.encode("utf-8", "surrogatepass"))
    total += len((event.value or "").encode("utf-8", "surrogatepass"))
    for name, value in (*event.headers, (event.topic, "")):
        total += sum(2 if ord(letter) > 0xFFFF else 1 for letter in name) + len(value.encode("utf-8", "surrogatepass"))
    return total


def _stays(config: Config, pre: State, event: Put, step: Step) -> bool:
    """The write succeeded, nobody was called, and its entry is still there."""
    return not failed(step) and uncalled(step) and node_at(step.state, event.ns, event.key) is not None


def counts_its_bytes(config: Config, pre: State, event: Put, step: Step) -> bool:
    """K-SIZE-1."""
    node = node_at(step.state, event.ns, event.key)
    return node is not None and node.size_bytes == _size(event)


def is_written(config: Config, pre: State, event: Put, step: Step) -> bool:
    """K-PUT-1."""
    node = node_at(step.state, event.ns, event.key)
    return (
        node is not None
        and (node.value, node.is_dirty) == (event.value, event.dirty)
        and space(step.state, event.ns).recent[:1] == (event.key,)
        and step.state.puts == pre.puts + 1
        and others_same(pre, step, event.ns)
    )


def _overwrites(config: Config, pre: State, event: Put, step: Step) -> bool:
    return _stays(config, pre, event, step) and node_at(pre, event.ns, event.key) is not None


def replaces(config: Config, pre: State, event: Put, step: Step) -> bool:
    """K-PUT-2."""
    before, after = space(pre, event.ns), space(step.state, event.ns)
    left = [before.nodes[key].size_bytes for key in evicted(step)]
    former, now = before.nodes[event.key].size_bytes, after.nodes[event.key].size_bytes
    return after.overwrites == before.overwrites + 1 and bytes_in(step.state) == bytes_in(pre) - former + now - sum(
        left
    )


def _takes_its_turn(config: Config, pre: State, event: Put, step: Step) -> bool:
    if not whole(config, space(pre, event.ns)):
        return False
    return _stays(config, pre, event, step) and not _hides_a_dirty_one(config, pre, event, step)


def orders_dirty_keys(config: Config, pre: State, event: Put, step: Step) -> bool:
    """K-PUT-3."""
    before = space(pre, event.ns).dirty
    wanted = (*(key for key in before if key != event.key), event.key) if event.dirty else before
    gone = set(evicted(step))
    return space(step.state, event.ns).dirty == tuple(key for key in wanted if key not in gone)


def _hides_a_dirty_one(config: Config, pre: State, event: Put, step: Step) -> bool:
    return not event.dirty and event.key in space(pre, event.ns).dirty


def is_not_taken(config: Config, pre: State, event: Put, step: Step) -> bool:
    """K-PUT-4."""
    refused = Failed(ErrorKind.ILLEGAL_STATE)
    return step.outcome.answer == refused and step.state == pre._replace(puts=pre.puts + 1)


def _is_new(config: Config, pre: State, event: Any, step: Step) -> bool:
    return event.ns not in pre.spaces and undisturbed(step)


def creates_the_namespace(config: Config, pre: State, event: Any, step: Step) -> bool:
    """K-PUT-5."""
    return event.ns in step.state.spaces


def _uncalled(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Nobody was called; nor did a store take tombstones of keys that it does not know, which calls nobody."""
    took = any(row.op == "FLUSH" and row.cause != "FAILED" for row in step.rows)
    return not took and uncalled(step) and whole(config, space(pre, event.ns))


def writes_one_by_one(config: Config, pre: State, event: PutAll, step: Step) -> bool:
    """K-PUT-6: it ends at the first clean write over a dirty key, or where an overflow cannot be handed over."""
    told = [row.key for row in step.rows if row.op == "PUT"]
    if told != [write.key for write in event.entries[: len(told)]]:
        return False
    hidden = _first_hidden(pre, event)
    if step.outcome.answer == Failed(ErrorKind.ILLEGAL_STATE):
        return len(told) == hidden and step.state.puts == pre.puts + len(told) + 1
    if failed(step):
        return len(told) > 0 and step.state.puts == pre.puts + len(told)
    last = {write.key: write.value for write in event.entries}
    gone = set(evicted(step))
    kept = space(step.state, event.ns).nodes
    return (
        hidden is None
        and step.state.puts == pre.puts + len(event.entries)
        and all(key in gone or (key in kept and kept[key].value == value) for key, value in last.items())
    )


def _first_hidden(pre: State, event: PutAll) -> int | None:
    """The first entry that is a clean write over a key that is dirty by then."""
    dirty = set(space(pre, event.ns).dirty)
    for at, write in enumerate(event.entries):
        if not write.dirty and write.key in dirty:
            return at
        if write.dirty:
            dirty.add(write.key)
    return None


def answers_what_was_there(config: Config, pre: State, event: PutIfAbsent, step: Step) -> bool:
    """K-PUT-7."""
    before, after = space(pre, event.ns), space(step.state, event.ns)
    there = before.nodes.get(event.key)
    if (after.hits, after.misses) != (before.hits + (there is not None), before.misses + (there is None)):
        return False
    if failed(step):
        return True
    if there is not None and event.key not in evicted(step) and after.nodes.get(event.key) != there:
        return False
    return step.outcome.answer == Offered(there is not None, None if there is None else there.value)


def counts_at_its_end(config: Config, pre: State, event: PutIfAbsent, step: Step) -> bool:
    """K-PUT-8."""
    wrote = not failed(step) and node_at(pre, event.ns, event.key) is None
    return step.state.puts == pre.puts + (1 if wrote else 0)


def _succeeded(config: Config, pre: State, event: Any, step: Step) -> bool:
    return not failed(step) and (not isinstance(event, PutAll) or bool(event.entries))


def pays_its_overflow(config: Config, pre: State, event: Any, step: Step) -> bool:
    """K-EVICT-4."""
    after = step.state
    if config.variants.total is Total.RUNNING and not undisturbed(step):
        return True
    if limited_bytes(config, after) > after.max_size_bytes and space(after, event.ns).nodes:
        return False
    return not undisturbed(step) or others_same(pre, step, event.ns)


def _fits(config: Config, pre: State, event: Put, step: Step) -> bool:
    if failed(step) or _hides_a_dirty_one(config, pre, event, step):
        return False
    there = node_at(pre, event.ns, event.key)
    wrote = [row.size_bytes or 0 for row in step.rows if row.op == "PUT"]
    former = 0 if there is None else there.size_bytes
    return bool(wrote) and limited_bytes(config, pre) + wrote[0] - former <= pre.max_size_bytes


def evicts_nothing(config: Config, pre: State, event: Put, step: Step) -> bool:
    """K-EVICT-5."""
    return not evicted(step) and uncalled(step) and step.state.evicts == pre.evicts


def _wrote(config: Config, pre: State, event: Put, step: Step) -> bool:
    return undisturbed(step) and not _hides_a_dirty_one(config, pre, event, step)


def counts_evictions(config: Config, pre: State, event: Put, step: Step) -> bool:
    """K-EVICT-6."""
    lost = 1 if failed(step) and loses(config) else 0
    if step.state.evicts != pre.evicts + len(evicted(step)) - lost:
        return False
    taken = event.key in evicted(step)
    return not failed(step) or taken or node_at(step.state, event.ns, event.key) is not None


def removes_the_key(config: Config, pre: State, event: Delete, step: Step) -> bool:
    """K-DELETE-1."""
    there = node_at(pre, event.ns, event.key)
    if there is None:
        return True
    before, after = space(pre, event.ns), space(step.state, event.ns)
    return (
        step.outcome.answer == Deleted(True, there.value)
        and event.key not in after.nodes
        and after.recent == tuple(key for key in before.recent if key != event.key)
        and after.dirty == tuple(key for key in before.dirty if key != event.key)
        and bytes_in(step.state) == bytes_in(pre) - there.size_bytes
    )


def tells_nobody(config: Config, pre: State, event: Delete, step: Step) -> bool:
    """K-DELETE-2."""
    before, after = space(pre, event.ns), space(step.state, event.ns)
    if not uncalled(step) or (before.hits, before.misses) != (after.hits, after.misses):
        return False
    if event.key in before.nodes:
        return True
    return step.outcome.answer == Deleted(False, None) and content(before) == content(after)


LAWS: Final = (
    Law(Rule.K_SIZE_1, (Put,), _stays, counts_its_bytes),
    Law(Rule.K_PUT_1, (Put,), _stays, is_written),
    Law(Rule.K_PUT_2, (Put,), _overwrites, replaces),
    Law(Rule.K_PUT_3, (Put,), _takes_its_turn, orders_dirty_keys),
    Law(Rule.K_PUT_4, (Put,), _hides_a_dirty_one, is_not_taken),
    Law(Rule.K_PUT_5, (Put, PutIfAbsent), _is_new, creates_the_namespace),
    Law(Rule.K_PUT_6, (PutAll,), _uncalled, writes_one_by_one),
    Law(Rule.K_PUT_7, (PutIfAbsent,), _uncalled, answers_what_was_there),
    Law(Rule.K_PUT_8, (PutIfAbsent,), _uncalled, counts_at_its_end),
    Law(Rule.K_EVICT_4, (Put, PutAll, PutIfAbsent), _succeeded, pays_its_overflow),
    Law(Rule.K_EVICT_5, (Put,), _fits, evicts_nothing),
    Law(Rule.K_EVICT_6, (Put,), _wrote, counts_evictions),
    Law(Rule.K_DELETE_1, (Delete,), always, removes_the_key),
    Law(Rule.K_DELETE_2, (Delete,), always, tells_nobody),
)
