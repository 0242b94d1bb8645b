"""The laws about the whole state, time, refusals, answers of removals, and removal by a call.

A law is a pair of functions: the first says whether a step exercises the rule, the second whether the step keeps it.
`STATE_LAWS` and the tables beside it list the laws with the operations that they look at.
"""

from typing import Final

from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.laws import law
from entrycache_reference.pulsar_legacy.ops import (
    Clear,
    InvalidateBefore,
    InvalidateLedger,
    Refused,
    RemoveCache,
    Removed,
    RemoveRange,
)
from entrycache_reference.pulsar_legacy.state import State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, Position


def content_changed(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether the step made another content."""
    return step.state.caches is not pre.caches or step.state.size_bytes != pre.size_bytes


def bytes_are_sums(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check L-STATE-1."""
    caches = step.state.caches.values()
    each = [cache.size_bytes == sum(entry.size_bytes for entry in cache.entries.values()) for cache in caches]
    return all(each) and step.state.size_bytes == sum(cache.size_bytes for cache in caches)


def time_moves(config: Config, pre: State, event: ops.Advance, step: Step) -> bool:
    """Check L-STATE-2."""
    return step.state == pre._replace(now_nanos=pre.now_nanos + event.nanos)


def is_to_refuse(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether the protocol refuses this event."""
    return law.is_refusable(event)


def refuses(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check L-STATE-3."""
    return step.outcome == law.REFUSED and step.state == pre


def only_looks(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check L-STATE-4."""
    return step.state == pre


def answers_a_removal(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether the answer reports a removal."""
    return type(step.outcome) is Removed


def answers_what_left(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check L-STATE-5."""
    after = law.content(step.state)
    sizes = [entry.size_bytes for place, entry in law.content(pre).items() if place not in after]
    return step.outcome == Removed(len(sizes), sum(sizes))


def answers_its_own(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check L-LIVENESS-2."""
    if type(step.outcome) is Refused:
        return law.is_refusable(event)
    return type(step.outcome) in event.answers


def takes_something(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether a pass took entries."""
    return any(row.op == "EVICT" for row in step.rows)


def takes_each_once(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check L-LIVENESS-1."""
    evicted = [(row.cache, row.ledger_id, row.entry_id) for row in step.rows if row.op == "EVICT"]
    return len(evicted) == len(set(evicted))


REMOVING: Final = (
    ops.RemoveRange,
    ops.Clear,
    ops.InvalidateBefore,
    ops.InvalidateLedger,
    ops.Expire,
    ops.Evict,
    ops.EvictCache,
    ops.RunScheduled,
)
QUERIES: Final = (ops.Get, ops.GetRange, ops.Exists, ops.Usage, ops.Observe)

STATE_LAWS: Final = (
    law.Law(Rule.L_STATE_1, (), content_changed, bytes_are_sums),
    law.Law(Rule.L_STATE_2, (ops.Advance,), law.is_allowed, time_moves),
    law.Law(Rule.L_STATE_3, tuple(law.REFUSABLE), is_to_refuse, refuses),
    law.Law(Rule.L_STATE_4, QUERIES, law.always, only_looks),
    law.Law(Rule.L_STATE_5, REMOVING, answers_a_removal, answers_what_left),
    law.Law(Rule.L_LIVENESS_1, (ops.Expire, ops.EvictCache), takes_something, takes_each_once),
    law.Law(Rule.L_LIVENESS_2, (), law.always, answers_its_own),
)


# Laws about removal by a call.


def keeps_exactly(pre: State, step: Step, name: CacheName, remaining: list[Position]) -> bool:
    """Return whether one cache keeps exactly these entries, and every other cache all of its own."""
    before = law.entries_of(pre, name)
    return law.entries_of(step.state, name) == {pos: before[pos] for pos in remaining} and law.are_others_kept(
        pre, step, name
    )


def keeps_what_lies_outside(config: Config, pre: State, event: RemoveRange, step: Step) -> bool:
    """Check L-INVALIDATE-1."""
    below = [pos for pos in law.entries_of(pre, event.cache) if pos < event.first]
    above = [pos for pos in law.entries_of(pre, event.cache) if pos > event.last]
    end = [event.last] if event.last in law.entries_of(pre, event.cache) and not event.last_inclusive else []
    return keeps_exactly(pre, step, event.cache, list({*below, *above, *end}))


def keeps_nothing(config: Config, pre: State, event: Clear | RemoveCache, step: Step) -> bool:
    """Check L-INVALIDATE-2, L-INVALIDATE-5."""
    return event.cache not in step.state.caches and law.are_others_kept(pre, step, event.cache)


def keeps_from_the_position(config: Config, pre: State, event: InvalidateBefore, step: Step) -> bool:
    """Check L-INVALIDATE-3."""
    return keeps_exactly(
        pre, step, event.cache, [pos for pos in law.entries_of(pre, event.cache) if not pos < event.pos]
    )


def keeps_other_ledgers(config: Config, pre: State, event: InvalidateLedger, step: Step) -> bool:
    """Check L-INVALIDATE-4."""
    remaining = [pos for pos in law.entries_of(pre, event.cache) if pos.ledger != event.ledger]
    return keeps_exactly(pre, step, event.cache, remaining)


REMOVAL_LAWS: Final = (
    law.Law(Rule.L_INVALIDATE_1, (RemoveRange,), law.always, keeps_what_lies_outside),
    law.Law(Rule.L_INVALIDATE_2, (Clear,), law.always, keeps_nothing),
    law.Law(Rule.L_INVALIDATE_3, (InvalidateBefore,), law.always, keeps_from_the_position),
    law.Law(Rule.L_INVALIDATE_4, (InvalidateLedger,), law.always, keeps_other_ledgers),
    law.Law(Rule.L_INVALIDATE_5, (RemoveCache,), law.always, keeps_nothing),
)
