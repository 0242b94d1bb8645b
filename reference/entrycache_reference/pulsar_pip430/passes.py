"""The two passes over the removal queue: a fold of the decision table from the head on.

Beside: RangeCacheRemovalQueue.evictEntries, .evictLeastAccessedEntries (managed-ledger 4.2.4)
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from entrycache_reference.pulsar_pip430.change import without_claims
from entrycache_reference.pulsar_pip430.config import Config, RequeueBudget, SizePassRounds
from entrycache_reference.pulsar_pip430.decision import LOOKUP, Action, Facts, Line, decide
from entrycache_reference.pulsar_pip430.ops import Evict, Expire
from entrycache_reference.pulsar_pip430.outcomes import ErrorKind, Refused, Removed
from entrycache_reference.pulsar_pip430.pass_events import Decided, Origin, Pass, PassKind, rows_of
from entrycache_reference.pulsar_pip430.state import Cache, Entry, Slot, State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT, CacheName

__all__ = [
    "Origin",
    "PassKind",
    "cutoff",
    "evict",
    "expire",
    "halts",
    "is_late",
    "put_back",
    "remaining",
    "requeued",
    "run_pass",
    "without",
]


@rule(Rule.EXPIRE_1, Rule.EVICT_5)
def halts(kind: PassKind, bound: int, entry: Entry | None) -> bool:
    """Whether the pass would end at this head; `entry` None: a dead slot, it has no stamp.

    `bound` is the cutoff of a time pass (an entry is expired only if its stamp is strictly below it), or
    what a size pass has still to free (nothing: it ends).
    """
    if kind is PassKind.TIME:
        return entry is not None and not entry.stamp_nanos < bound
    return bound <= 0


@rule(Rule.REQUEUE_4, Rule.REQUEUE_5)
def requeued(entry: Entry, now_nanos: int, action: Action, config: Config) -> Entry:
    """The entry as it stands at the tail again: a new stamp, no mark, one requeue more."""
    split = config.variants.requeue_budget is RequeueBudget.SPLIT
    used = 0 if split and action is Action.REQUEUE_ACCESSED else 1
    return entry._replace(stamp_nanos=now_nanos, accessed=False, requeues=entry.requeues + used)


@rule(Rule.EVICT_8)
def put_back(queue: deque[Slot | None], slot: Slot) -> None:
    """A requeued entry stands at the tail, in the pass's own copy of the queue."""
    queue.append(slot)


@rule(Rule.REQUEUE_9)
def is_late(kind: PassKind, looked_at: int, slots: int, config: Config) -> bool:
    """Whether the pass spares nothing any more.

    With variant `size_pass_rounds` "one" a size pass that has looked at as many slots as there were when it
    began, dead ones counted, puts nothing back.
    """
    one_round = config.variants.size_pass_rounds is SizePassRounds.ONE
    return one_round and kind is PassKind.SIZE and looked_at > slots


@rule(Rule.REQUEUE_9)
def unspared(line: Line) -> Line:
    """The line of the table that decides where neither access nor expected reads spare an entry."""
    if line.action in {Action.REQUEUE_ACCESSED, Action.REQUEUE_EXPECTED}:
        return LOOKUP[Facts(False, False, False, False, False)]
    return line


def remaining(kind: PassKind, bound: int, freed_bytes: int) -> int:
    """The bound in force after `freed_bytes`: a cutoff stays, a need shrinks."""
    return bound if kind is PassKind.TIME else bound - freed_bytes


class Copies(NamedTuple):
    """The caches and the queue of a pass, which it may change: copies of those of the state."""

    caches: dict[CacheName, Cache]
    queue: deque[Slot | None]


def without(caches: dict[CacheName, Cache], slot: Slot) -> None:
    """Take an entry out of its cache, in the pass's own copy of the caches."""
    cache = caches[slot.cache]
    entries = {pos: entry for pos, entry in cache.entries.items() if pos != slot.pos}
    caches[slot.cache] = cache._replace(
        entries=entries, size_bytes=cache.size_bytes - cache.entries[slot.pos].size_bytes
    )


def replaced(caches: dict[CacheName, Cache], slot: Slot, entry: Entry) -> None:
    """Put a changed entry into its cache, in the pass's own copy of the caches."""
    cache = caches[slot.cache]
    caches[slot.cache] = cache._replace(entries={**cache.entries, slot.pos: entry})


@rule(Rule.EVICT_3, Rule.REQUEUE_1, Rule.REQUEUE_2, Rule.REQUEUE_3)
def carried_out(line: Line, state: State, config: Config, own: Copies, slot: Slot) -> Entry | None:
    """Remove an entry, or put it at the tail again, and then answer it as it stands there."""
    entry = own.caches[slot.cache].entries[slot.pos]
    if line.action is Action.REMOVE:
        without(own.caches, slot)
        return None
    after = requeued(entry, state.now_nanos, line.action, config)
    replaced(own.caches, slot, after)
    put_back(own.queue, slot)
    return after


@rule(Rule.EVICT_1, Rule.EVICT_2, Rule.EVICT_4, Rule.EVICT_7, Rule.EVICT_8, Rule.EXPIRE_2, Rule.LIVENESS_1)
def run_pass(state: State, kind: PassKind, bound: int, config: Config, origin: Origin = Origin.CALL) -> Step:
    """Take slots from the head and decide about each, until the pass halts or no slot is left."""
    own = Copies(dict(state.caches), deque(state.queue))
    events: list[Decided] = []
    freed_bytes = 0
    while own.queue and not (events and events[-1].halted):
        slot = own.queue[0]
        entry = None if slot is None else own.caches[slot.cache].entries[slot.pos]
        bound_now = remaining(kind, bound, freed_bytes)
        line = decide(entry, halts(kind, bound_now, entry), state.settings)
        if is_late(kind, len(events) + 1, len(state.queue), config):
            line = unspared(line)
        again = None
        if line.action is not Action.STOP:
            own.queue.popleft()
            if slot is not None and entry is not None:
                again = carried_out(line, state, config, own, slot)
                freed_bytes += entry.size_bytes if again is None else 0
        events.append(Decided(line, bound_now, freed_bytes, slot, entry, again))

    removed = [event.slot for event in events if event.removed and event.slot is not None]
    left = state._replace(
        caches=own.caches,
        queue=tuple(own.queue),
        size_bytes=state.size_bytes - freed_bytes,
        holds=without_claims(state.holds, frozenset(removed)),
        counts=state.counts._replace(evicted_entries=state.counts.evicted_entries + len(removed)),
    )
    done = Pass(state, kind, origin, bound, remaining(kind, bound, freed_bytes), tuple(events))
    return Step(left, Removed(len(removed), freed_bytes), rows_of(done))


@rule(Rule.EXPIRE_3, Rule.EXPIRE_5)
def cutoff(state: State, event: Expire) -> int:
    """The cutoff of a time pass; it may be negative, then nothing is older."""
    if event.older_than_nanos is ABSENT:
        return state.now_nanos - state.settings.ttl_nanos
    return state.now_nanos - event.older_than_nanos


@rule(Rule.EXPIRE_1, Rule.EXPIRE_4)
def expire(state: State, event: Expire, config: Config) -> Step:
    """Run a time pass."""
    # GUARD: a negative age is refused.
    if event.older_than_nanos is not ABSENT and event.older_than_nanos < 0:
        return Step(state, Refused(ErrorKind.ILLEGAL_ARGUMENT), ())

    # DECISION, EFFECT and OUTCOME: the fold of the table.
    return run_pass(state, PassKind.TIME, cutoff(state, event), config)


@rule(Rule.EVICT_4, Rule.EVICT_6)
def evict(state: State, event: Evict, config: Config) -> Step:
    """Run a size pass."""
    # GUARD: nothing or less than nothing to free is refused.
    if event.bytes <= 0:
        return Step(state, Refused(ErrorKind.ILLEGAL_ARGUMENT), ())

    # DECISION, EFFECT and OUTCOME: the fold of the table.
    return run_pass(state, PassKind.SIZE, event.bytes, config)
