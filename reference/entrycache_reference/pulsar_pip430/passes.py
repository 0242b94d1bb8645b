"""The two passes over the removal queue: a fold of the decision table from the head on."""

from __future__ import annotations

from collections import deque
from enum import Enum

from entrycache_reference.pulsar_pip430.change import without_claims
from entrycache_reference.pulsar_pip430.config import Config, RequeueBudget, SizePassRounds
from entrycache_reference.pulsar_pip430.decision import LOOKUP, Action, Facts, Line, decide
from entrycache_reference.pulsar_pip430.limits import target_bytes, trigger_bytes
from entrycache_reference.pulsar_pip430.ops import Evict, Expire
from entrycache_reference.pulsar_pip430.outcomes import ErrorKind, Refused, Removed
from entrycache_reference.pulsar_pip430.state import Cache, Entry, Row, Slot, State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT, CacheName


class Origin(Enum):
    """Who asked for a pass: an insert that crossed the trigger, the periodic task, or a call of its own."""

    TRIGGER = "TRIGGER"
    CYCLE = "CYCLE"
    CALL = "CALL"


class PassKind(Enum):
    """Why a pass runs."""

    TIME = "TIME"
    SIZE = "SIZE"


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


@rule(Rule.EVICT_1, Rule.EVICT_2, Rule.EVICT_4, Rule.EVICT_7, Rule.EVICT_8, Rule.EXPIRE_2, Rule.LIVENESS_1)
def run_pass(state: State, kind: PassKind, bound: int, config: Config, origin: Origin = Origin.CALL) -> Step:
    """Take slots from the head and decide about each, until the pass halts or no slot is left."""
    caches = dict(state.caches)
    queue = deque(state.queue)
    size_bytes = state.size_bytes
    entries_removed = 0
    freed_bytes = 0
    stopped = False
    looked_at = 0
    head_stamp: int | None = None
    removed: set[Slot] = set()
    rows = [pass_row(state, "PASS_BEGIN", kind, bound, state.size_bytes, None, None, origin)]

    while queue and not stopped:
        slot = queue[0]
        entry = None if slot is None else caches[slot.cache].entries[slot.pos]
        bound_now = remaining(kind, bound, freed_bytes)
        looked_at += 1
        line = decide(entry, halts(kind, bound_now, entry), state.settings)
        if is_late(kind, looked_at, len(state.queue), config):
            line = unspared(line)

        if line.action is Action.STOP:
            stopped = True
            head_stamp = None if entry is None else entry.stamp_nanos
        elif slot is None or entry is None:
            queue.popleft()
            rows.append(pass_row(state, "TOMBSTONE", kind, bound_now, size_bytes, None, line.rule, None))
        elif line.action is Action.REMOVE:
            queue.popleft()
            without(caches, slot)
            size_bytes -= entry.size_bytes
            freed_bytes += entry.size_bytes
            entries_removed += 1
            removed.add(slot)
            rows.append(slot_row(state, "EVICT", kind.value, bound_now, size_bytes, slot, entry, line.rule))
        else:
            queue.popleft()
            after = requeued(entry, state.now_nanos, line.action, config)
            replaced(caches, slot, after)
            put_back(queue, slot)
            cause = "ACCESSED" if line.action is Action.REQUEUE_ACCESSED else "EXPECTED_READS"
            row = slot_row(state, "REQUEUE", cause, bound_now, size_bytes, slot, entry, line.rule)
            rows.append(row._replace(requeues=after.requeues, new_stamp_ns=after.stamp_nanos))

    bound_now = remaining(kind, bound, freed_bytes)
    end = end_rule(kind, stopped)
    rows.append(pass_row(state, "PASS_END", kind, bound_now, size_bytes, head_stamp, end, origin))
    left = state._replace(
        caches=caches,
        queue=tuple(queue),
        size_bytes=size_bytes,
        holds=without_claims(state.holds, frozenset(removed)),
        counts=state.counts._replace(evicted_entries=state.counts.evicted_entries + entries_removed),
    )
    return Step(left, Removed(entries_removed, freed_bytes), tuple(rows))


def end_rule(kind: PassKind, stopped: bool) -> Rule:
    """Why the pass ended: at a live head, or because no slot was left."""
    if stopped:
        return Rule.EVICT_2
    return Rule.EXPIRE_2 if kind is PassKind.TIME else Rule.EVICT_4


def pass_row(
    state: State,
    op: str,
    kind: PassKind,
    bound: int,
    size_bytes: int,
    head_stamp: int | None,
    rule_: Rule | None,
    origin: Origin | None,
) -> Row:
    """A row of a pass that is about no live entry."""
    begin = Rule.EXPIRE_1 if kind is PassKind.TIME else Rule.EVICT_4
    size_pass = kind is PassKind.SIZE and op != "TOMBSTONE"
    return Row(
        begin if rule_ is None else rule_,
        op,
        kind.value,
        state.now_nanos,
        size_bytes,
        origin=None if origin is None else origin.value,
        stamp_ns=head_stamp,
        bound=bound,
        max_requeues=state.settings.max_requeues,
        extend_accessed=state.settings.extend_recently_accessed,
        trigger_bytes=trigger_bytes(state) if size_pass else None,
        target_bytes=target_bytes(state) if size_pass else None,
        manager_bytes=size_bytes,
    )


def slot_row(
    state: State, op: str, cause: str, bound: int, size_bytes: int, slot: Slot, entry: Entry, rule_: Rule
) -> Row:
    """A row of a pass about a live entry, as it was before the event."""
    return Row(
        rule_,
        op,
        cause,
        state.now_nanos,
        size_bytes,
        cache=slot.cache,
        ledger_id=slot.pos.ledger,
        entry_id=slot.pos.entry,
        size_bytes=entry.size_bytes,
        expected_reads=entry.expected_reads,
        requeues=entry.requeues,
        accessed=entry.accessed,
        stamp_ns=entry.stamp_nanos,
        bound=bound,
        max_requeues=state.settings.max_requeues,
        extend_accessed=state.settings.extend_recently_accessed,
        manager_bytes=size_bytes,
    )


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
