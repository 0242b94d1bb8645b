"""The two passes over the removal queue: the decision table applied from the head on.

`run_pass` takes slots from the head of a copy of the queue, asks `decide` about each, and carries the line out until
the pass halts or no slot is left. It records each slot as a `PassEvent`; from these events `rows_of_pass` builds the
trace rows. `expire` runs a time pass and `evict` a size pass; `manager` runs passes of its own.

Beside: RangeCacheRemovalQueue.evictEntries, .evictLeastAccessedEntries (managed-ledger 4.2.4)
"""

from collections import deque
from enum import Enum
from typing import Any, NamedTuple

from entrycache_reference.pulsar_pip430.change import drop_claims
from entrycache_reference.pulsar_pip430.config import Config, RequeueBudget, SizePassRounds
from entrycache_reference.pulsar_pip430.decision import LOOKUP, Action, Facts, Line, decide, target_bytes, trigger_bytes
from entrycache_reference.pulsar_pip430.ops import Evict, Expire
from entrycache_reference.pulsar_pip430.outcomes import ErrorKind, Refused, Removed
from entrycache_reference.pulsar_pip430.state import Cache, Entry, Row, Slot, State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT, CacheName


class Origin(Enum):
    """The origin of a pass: an insert above the trigger, the periodic task, or a call."""

    TRIGGER = "TRIGGER"
    CYCLE = "CYCLE"
    CALL = "CALL"


class PassKind(Enum):
    """The reason for a pass: age or size."""

    TIME = "TIME"
    SIZE = "SIZE"


class PassEvent(NamedTuple):
    """The result of a pass for one slot at the head, and the line of the table that decided.

    `slot` and `entry` stood there; None: the slot was dead. `requeued` is the entry after its move to the tail. `bound`
    was effective at the decision; `freed_bytes` counts what the pass has freed since it began.
    """

    line: Line
    bound: int
    freed_bytes: int
    slot: Slot | None
    entry: Entry | None
    requeued: Entry | None

    @property
    def halted(self) -> bool:
        """Return whether the pass ended here."""
        return self.line.action is Action.STOP

    @property
    def removed(self) -> bool:
        """Return whether an entry was removed here."""
        return self.line.action is Action.REMOVE and self.entry is not None


class Pass(NamedTuple):
    """A whole pass: the state in which it began, its bound, its events, and the bound that is left at its end."""

    state: State
    kind: PassKind
    origin: Origin
    bound: int
    bound_left: int
    events: tuple[PassEvent, ...]


def rows_of_pass(done: Pass) -> tuple[Row, ...]:
    """Build the rows of a whole pass: its beginning, one row for each slot that it took, and its end."""
    taken = [_taken_row(done, event) for event in done.events if not event.halted]
    return (_begin_row(done), *taken, _end_row(done))


def _begin_row(done: Pass) -> Row:
    rule = Rule.EXPIRE_1 if done.kind is PassKind.TIME else Rule.EVICT_4
    return _row_of_pass(done, rule, "PASS_BEGIN", done.bound, done.state.size_bytes, None)


def _end_row(done: Pass) -> Row:
    """Build the row of the end: at a head that may stay, whose stamp it shows, or with no slot left."""
    last = done.events[-1] if done.events else None
    size_bytes = done.state.size_bytes - (0 if last is None else last.freed_bytes)
    if last is not None and last.halted:
        stamp = None if last.entry is None else last.entry.stamp_nanos
        return _row_of_pass(done, Rule.EVICT_2, "PASS_END", done.bound_left, size_bytes, stamp)
    rule = Rule.EXPIRE_2 if done.kind is PassKind.TIME else Rule.EVICT_4
    return _row_of_pass(done, rule, "PASS_END", done.bound_left, size_bytes, None)


def _row_of_pass(done: Pass, rule: Rule, op: str, bound: int, size_bytes: int, head_stamp: int | None) -> Row:
    """Build a row about the pass as a whole; a size pass shows its thresholds."""
    is_size_pass = done.kind is PassKind.SIZE
    return Row(
        rule,
        op,
        done.kind.value,
        done.state.now_nanos,
        size_bytes,
        origin=done.origin.value,
        stamp_ns=head_stamp,
        bound=bound,
        max_requeues=done.state.settings.max_requeues,
        extend_accessed=done.state.settings.extend_recently_accessed,
        trigger_bytes=trigger_bytes(done.state) if is_size_pass else None,
        target_bytes=target_bytes(done.state) if is_size_pass else None,
        manager_bytes=size_bytes,
    )


def _taken_row(done: Pass, event: PassEvent) -> Row:
    """Build a row about one slot; it shows the entry before the event, and after a requeue what that gave it."""
    slot, entry, again = event.slot, event.entry, event.requeued
    if slot is None or entry is None:
        return _row_of_slot(done, event, "TOMBSTONE", done.kind.value)
    of_entry = {
        "cache": slot.cache,
        "ledger_id": slot.pos.ledger,
        "entry_id": slot.pos.entry,
        "size_bytes": entry.size_bytes,
        "expected_reads": entry.expected_reads,
        "accessed": entry.accessed,
        "stamp_ns": entry.stamp_nanos,
    }
    if again is None:
        return _row_of_slot(done, event, "EVICT", done.kind.value, requeues=entry.requeues, **of_entry)
    cause = "ACCESSED" if event.line.action is Action.REQUEUE_ACCESSED else "EXPECTED_READS"
    anew = {"requeues": again.requeues, "new_stamp_ns": again.stamp_nanos}
    return _row_of_slot(done, event, "REQUEUE", cause, **anew, **of_entry)


def _row_of_slot(done: Pass, event: PassEvent, op: str, cause: str, **columns: Any) -> Row:
    size_bytes = done.state.size_bytes - event.freed_bytes
    return Row(
        event.line.rule,
        op,
        cause,
        done.state.now_nanos,
        size_bytes,
        bound=event.bound,
        max_requeues=done.state.settings.max_requeues,
        extend_accessed=done.state.settings.extend_recently_accessed,
        manager_bytes=size_bytes,
        **columns,
    )


# The passes.


@rule(Rule.EXPIRE_1, Rule.EVICT_5)
def has_to_halt(kind: PassKind, bound: int, entry: Entry | None) -> bool:
    """Return whether the pass ends at this head; if `entry` is None, the slot is dead and has no stamp.

    `bound` is the cutoff of a time pass: an entry is expired only if its stamp is strictly below it. For a size pass it
    is the number of bytes still to free: at 0 the pass ends.
    """
    if kind is PassKind.TIME:
        return entry is not None and not entry.stamp_nanos < bound
    return bound <= 0


@rule(Rule.REQUEUE_4, Rule.REQUEUE_5)
def requeue_entry(entry: Entry, now_nanos: int, action: Action, config: Config) -> Entry:
    """Return the entry as it stands at the tail again: a new stamp, no mark, one requeue more."""
    split = config.variants.requeue_budget is RequeueBudget.SPLIT
    used = 0 if split and action is Action.REQUEUE_ACCESSED else 1
    return entry._replace(stamp_nanos=now_nanos, accessed=False, requeues=entry.requeues + used)


@rule(Rule.EVICT_8)
def put_back(queue: deque[Slot | None], slot: Slot) -> None:
    """Put a requeued entry at the tail of the pass's own copy of the queue."""
    queue.append(slot)


@rule(Rule.REQUEUE_9)
def is_late(kind: PassKind, looked_at: int, slots: int, config: Config) -> bool:
    """Return whether the pass spares no entry any more.

    With variant `size_pass_rounds` "one", a size pass puts nothing back once it has looked at as many slots as there
    were at its beginning, dead slots included.
    """
    one_round = config.variants.size_pass_rounds is SizePassRounds.ONE
    return one_round and kind is PassKind.SIZE and looked_at > slots


@rule(Rule.REQUEUE_9)
def deny_requeue(line: Line) -> Line:
    """Return the line that decides if neither access nor expected reads spare an entry."""
    if line.action in {Action.REQUEUE_ACCESSED, Action.REQUEUE_EXPECTED}:
        return LOOKUP[Facts(False, False, False, False, False)]
    return line


def remaining_bound(kind: PassKind, bound: int, freed_bytes: int) -> int:
    """Return the bound that is effective after `freed_bytes`: a cutoff stays, a need shrinks."""
    return bound if kind is PassKind.TIME else bound - freed_bytes


class Copies(NamedTuple):
    """The caches and the queue that a pass may change: copies of those of the state."""

    caches: dict[CacheName, Cache]
    queue: deque[Slot | None]


def remove_from_cache(caches: dict[CacheName, Cache], slot: Slot) -> None:
    """Remove an entry from its cache, in the pass's own copy of the caches."""
    cache = caches[slot.cache]
    entries = {pos: entry for pos, entry in cache.entries.items() if pos != slot.pos}
    caches[slot.cache] = cache._replace(
        entries=entries, size_bytes=cache.size_bytes - cache.entries[slot.pos].size_bytes
    )


def replace_in_cache(caches: dict[CacheName, Cache], slot: Slot, entry: Entry) -> None:
    """Put a changed entry into its cache, in the pass's own copy of the caches."""
    cache = caches[slot.cache]
    caches[slot.cache] = cache._replace(entries={**cache.entries, slot.pos: entry})


@rule(Rule.EVICT_3, Rule.REQUEUE_1, Rule.REQUEUE_2, Rule.REQUEUE_3)
def carry_out(line: Line, state: State, config: Config, own: Copies, slot: Slot) -> Entry | None:
    """Remove an entry, or put it at the tail again and return it as it stands there."""
    entry = own.caches[slot.cache].entries[slot.pos]
    if line.action is Action.REMOVE:
        remove_from_cache(own.caches, slot)
        return None
    after = requeue_entry(entry, state.now_nanos, line.action, config)
    replace_in_cache(own.caches, slot, after)
    put_back(own.queue, slot)
    return after


@rule(Rule.EVICT_1, Rule.EVICT_2, Rule.EVICT_4, Rule.EVICT_7, Rule.EVICT_8, Rule.EXPIRE_2, Rule.LIVENESS_1)
def run_pass(state: State, kind: PassKind, bound: int, config: Config, origin: Origin = Origin.CALL) -> Step:
    """Take slots from the head and decide about each, until the pass halts or no slot is left."""
    own = Copies(dict(state.caches), deque(state.queue))
    events: list[PassEvent] = []
    freed_bytes = 0
    while own.queue and not (events and events[-1].halted):
        slot = own.queue[0]
        entry = None if slot is None else own.caches[slot.cache].entries[slot.pos]
        bound_now = remaining_bound(kind, bound, freed_bytes)
        line = decide(entry, has_to_halt(kind, bound_now, entry), state.settings)
        if is_late(kind, len(events) + 1, len(state.queue), config):
            line = deny_requeue(line)
        again = None
        if line.action is not Action.STOP:
            own.queue.popleft()
            if slot is not None and entry is not None:
                again = carry_out(line, state, config, own, slot)
                freed_bytes += entry.size_bytes if again is None else 0
        events.append(PassEvent(line, bound_now, freed_bytes, slot, entry, again))

    done = Pass(state, kind, origin, bound, remaining_bound(kind, bound, freed_bytes), tuple(events))
    return end_pass(done, own, freed_bytes)


@rule(Rule.EVICT_4, Rule.EVICT_7)
def end_pass(done: Pass, own: Copies, freed_bytes: int) -> Step:
    """Return the state that a pass leaves, with the number of its removed entries, their bytes and its rows."""
    state = done.state
    removed = [event.slot for event in done.events if event.removed and event.slot is not None]
    left = state._replace(
        caches=own.caches,
        queue=tuple(own.queue),
        size_bytes=state.size_bytes - freed_bytes,
        holds=drop_claims(state.holds, frozenset(removed)),
        counts=state.counts._replace(evicted_entries=state.counts.evicted_entries + len(removed)),
    )
    return Step(left, Removed(len(removed), freed_bytes), rows_of_pass(done))


@rule(Rule.EXPIRE_3, Rule.EXPIRE_5)
def cutoff_of(state: State, event: Expire) -> int:
    """Return the cutoff of a time pass; if it is negative, no entry is older."""
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
    return run_pass(state, PassKind.TIME, cutoff_of(state, event), config)


@rule(Rule.EVICT_4, Rule.EVICT_6)
def evict(state: State, event: Evict, config: Config) -> Step:
    """Run a size pass."""
    # GUARD: nothing or less than nothing to free is refused.
    if event.bytes <= 0:
        return Step(state, Refused(ErrorKind.ILLEGAL_ARGUMENT), ())

    # DECISION, EFFECT and OUTCOME: the fold of the table.
    return run_pass(state, PassKind.SIZE, event.bytes, config)
