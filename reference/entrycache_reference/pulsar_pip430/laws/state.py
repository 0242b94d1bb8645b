"""The laws about the whole state, about time and about refusals."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws.law import (
    REFUSABLE,
    REFUSED,
    Law,
    always,
    cached,
    nothing_touched,
    refusable,
)
from entrycache_reference.pulsar_pip430.laws.walk import left, slot_of
from entrycache_reference.pulsar_pip430.outcomes import Refused
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT


def content_changed(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """The step made another content: entries, queue or bytes."""
    after = step.state
    return after is not pre and (
        after.caches is not pre.caches or after.queue is not pre.queue or after.size_bytes != pre.size_bytes
    )


def bytes_are_sums(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """R-STATE-1."""
    before = pre.caches
    total = 0
    for name, cache in step.state.caches.items():
        total += cache.size_bytes
        same = before.get(name) is cache
        if not same and cache.size_bytes != sum([entry.size_bytes for entry in cache.entries.values()]):
            return False
    return total == step.state.size_bytes


def one_slot_an_entry(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """R-STATE-2."""
    live = [slot for slot in step.state.queue if slot is not None]
    entries = sum([len(cache.entries) for cache in step.state.caches.values()])
    if len(live) != entries or len(set(live)) != entries:
        return False
    caches = step.state.caches
    return all(name in caches and pos in caches[name].entries for name, pos in live)


def queue_sorted_by_age(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """R-STATE-3."""
    latest = 0
    for slot in step.state.queue:
        if slot is not None:
            entry = cached(step.state, slot.cache, slot.pos)
            if entry is not None:
                if entry.stamp_nanos < latest:
                    return False
                latest = entry.stamp_nanos
    return latest <= step.state.now_nanos


def allowed(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """The protocol does not refuse this event."""
    return not refusable(config, pre, event)


def time_moves(config: Config, pre: State, event: ops.Advance, step: Step) -> bool:
    """R-STATE-4."""
    return step.state == pre._replace(now_nanos=pre.now_nanos + event.nanos)


def was_refused(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """The protocol refuses this event, and the step was refused."""
    return type(step.outcome) is Refused and refusable(config, pre, event)


def unchanged(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """R-STATE-5: nothing at all differs, the set of caches neither."""
    return step.state is pre or step.state == pre


def to_refuse(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """The protocol refuses this event."""
    return refusable(config, pre, event)


def refuses(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """R-STATE-6, R-INSERT-5, R-EXPIRE-4, R-EVICT-6, R-READ-11, R-CURSOR-8."""
    return step.outcome == REFUSED


def only_looked(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """R-STATE-7."""
    return nothing_touched(pre, step)


def some_left(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Entries have left."""
    return bool(left(pre, step))


def left_once(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """R-STATE-8: one row, and so one cause, for each entry that has left, and none for any other."""
    told = [slot_of(row) for row in step.rows if row.op in {"EVICT", "REMOVE"}]
    gone = left(pre, step)
    return len(told) == len(gone) and set(told) == gone.keys()


def names_a_cache(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """The event, not to be refused, names a cache that does not exist yet."""
    name = getattr(event, "cache", ABSENT)
    return name is not ABSENT and name not in pre.caches and not refusable(config, pre, event)


def only_this_one_opened(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """R-STATE-9."""
    return step.state.caches.keys() == pre.caches.keys() | {getattr(event, "cache", ABSENT)}


REMOVING: Final = (ops.RemoveRange, ops.Clear, ops.Expire, ops.Evict, ops.InvalidateBefore, ops.InvalidateLedger)
"""The operations by which entries leave; others do it by way of one of these, as a part."""

LAWS: Final = (
    Law(Rule.STATE_1, (), content_changed, bytes_are_sums),
    Law(Rule.STATE_2, (), content_changed, one_slot_an_entry),
    Law(Rule.STATE_3, (), content_changed, queue_sorted_by_age),
    Law(Rule.STATE_4, (ops.Advance,), allowed, time_moves),
    Law(Rule.STATE_5, tuple(REFUSABLE), was_refused, unchanged, True),
    Law(Rule.STATE_6, (ops.Advance,), to_refuse, refuses),
    Law(Rule.STATE_7, (ops.Exists, ops.Usage, ops.Observe), always, only_looked),
    Law(Rule.STATE_8, REMOVING, some_left, left_once),
    Law(
        Rule.STATE_9,
        tuple(op for op in ops.OPS if "cache" in op.__dataclass_fields__),
        names_a_cache,
        only_this_one_opened,
        True,
    ),
)
