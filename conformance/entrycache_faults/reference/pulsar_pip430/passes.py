"""Seeded faults of the two passes: cutoffs, halts, requeues and the decision about a head.

Faults about one kind of pass replace `run_pass`; `_deciding` gives them a pass with another decision.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from entrycache_faults.model import Model
from entrycache_faults.reference.pulsar_pip430.registry import SEEDED_FAULTS, requeue_with_end, seeded_fault
from entrycache_reference.pulsar_pip430 import decision, ops, outcomes, passes
from entrycache_reference.pulsar_pip430.config import Config, RequeueBudget, Settings, SizePassRounds
from entrycache_reference.pulsar_pip430.decision import Action, Line
from entrycache_reference.pulsar_pip430.passes import Origin, PassKind
from entrycache_reference.pulsar_pip430.state import Entry, Slot, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

Pass = Callable[[State, PassKind, int, Config, Origin], Step]
"""A pass over the queue."""


def _line_of(rule: Rule) -> Line:
    """Return the line of a rule in the decision table."""
    return next(line for line in decision.DECISION if line.rule is rule)


@cache
def _deciding(decide: Callable[..., Line]) -> Pass:
    """Return the pass with this decision; the table itself does not know which kind of pass asks."""
    run: Pass = Model(SEEDED_FAULTS.package, {"decision.decide": decide})["passes.run_pass"]
    return run


@seeded_fault(Rule.EXPIRE_1, "passes.has_to_halt")
def halts_after_the_cutoff(kind: PassKind, bound: int, entry: Entry | None) -> bool:
    """A time pass takes entries as old as the cutoff."""
    return passes.has_to_halt(kind, bound + 1 if kind is PassKind.TIME else bound, entry)


@seeded_fault(Rule.EXPIRE_2, "passes.has_to_halt")
def halts_at_an_accessed_entry(kind: PassKind, bound: int, entry: Entry | None) -> bool:
    """A time pass ends at an accessed entry."""
    if kind is PassKind.TIME and entry is not None and entry.accessed:
        return True
    return passes.has_to_halt(kind, bound, entry)


@seeded_fault(Rule.EXPIRE_3, "passes.cutoff_of")
def cutoff_off_by_one(state: State, event: ops.Expire) -> int:
    """Without an age, entries as old as the time to live are expired."""
    return passes.cutoff_of(state, event) + (1 if event.older_than_nanos is ABSENT else 0)


@seeded_fault(Rule.EXPIRE_3, "passes.cutoff_of", other=True)
def cutoff_twice(state: State, event: ops.Expire) -> int:
    """The default age is twice the TTL."""
    return passes.cutoff_of(state, event) - (state.settings.ttl_nanos if event.older_than_nanos is ABSENT else 0)


@seeded_fault(Rule.EXPIRE_3, ops.Expire, other=True)
def expire_by_the_first_ttl(state: State, event: ops.Expire, config: Config) -> Step:
    """The default age is the TTL with which the run began, whatever `configure` has changed."""
    age = config.ttl_nanos if event.older_than_nanos is ABSENT else event.older_than_nanos
    return passes.expire(state, replace(event, older_than_nanos=age), config)


@seeded_fault(Rule.EXPIRE_4, ops.Expire)
def expire_not_refusing(state: State, event: ops.Expire, config: Config) -> Step:
    """A negative age is taken for 0."""
    if event.older_than_nanos is not ABSENT and event.older_than_nanos < 0:
        return passes.run_pass(state, PassKind.TIME, state.now_nanos, config)
    return passes.expire(state, event, config)


@seeded_fault(Rule.EXPIRE_5, "passes.cutoff_of")
def cutoff_at_least_ttl(state: State, event: ops.Expire) -> int:
    """An age below the time to live is raised to it."""
    return min(passes.cutoff_of(state, event), state.now_nanos - state.settings.ttl_nanos)


@seeded_fault(Rule.EVICT_1, "decision.decide")
def decide_stopping_at_dead(entry: Entry | None, halt: bool, settings: Settings) -> Line:
    """A size pass that has enough halts at a dead slot."""
    return _line_of(Rule.EVICT_2) if entry is None and halt else decision.decide(entry, halt, settings)


@seeded_fault(Rule.EVICT_2, "passes.run_pass")
def pass_unmarking_the_head(
    state: State, kind: PassKind, bound: int, config: Config, origin: Origin = Origin.CALL
) -> Step:
    """A pass takes the mark of the entry at which it halts."""
    done = passes.run_pass(state, kind, bound, config, origin)
    after = done.state
    slot = after.queue[0] if after.queue else None
    if slot is None:
        return done
    cache = after.caches[slot.cache]
    unmarked = {**cache.entries, slot.pos: cache.entries[slot.pos]._replace(accessed=False)}
    return done._replace(state=after._replace(caches={**after.caches, slot.cache: cache._replace(entries=unmarked)}))


@seeded_fault(Rule.EVICT_3, "decision.is_touched")
def touched_on_budget(entry: Entry, settings: Settings) -> bool:
    """An entry that expects nobody is kept as long as its budget lasts."""
    free = (
        settings.extend_recently_accessed and not decision.is_expected(entry) and entry.requeues < settings.max_requeues
    )
    return free or decision.is_touched(entry, settings)


@seeded_fault(Rule.EVICT_4, "passes.has_to_halt")
def halts_one_byte_early(kind: PassKind, bound: int, entry: Entry | None) -> bool:
    """A size pass is content with one byte too few."""
    return passes.has_to_halt(kind, bound - 1 if kind is PassKind.SIZE else bound, entry)


@seeded_fault(Rule.EVICT_5, "passes.has_to_halt")
def halts_one_late(kind: PassKind, bound: int, entry: Entry | None) -> bool:
    """A size pass that has freed exactly what it needs takes one more."""
    return passes.has_to_halt(kind, bound + 1 if kind is PassKind.SIZE else bound, entry)


@seeded_fault(Rule.EVICT_6, ops.Evict)
def evict_not_refusing(state: State, event: ops.Evict, config: Config) -> Step:
    """evict of 0 or fewer bytes answers 0, 0."""
    if event.bytes <= 0:
        return Step(state, outcomes.Removed(0, 0), ())
    return passes.evict(state, event, config)


@seeded_fault(Rule.EVICT_7, "passes.run_pass")
def pass_counting_dead_slots(
    state: State, kind: PassKind, bound: int, config: Config, origin: Origin = Origin.CALL
) -> Step:
    """A pass counts dead slots as evicted entries."""
    done = passes.run_pass(state, kind, bound, config, origin)
    assert isinstance(done.outcome, outcomes.Removed)
    dead = sum(row.op == "TOMBSTONE" for row in done.rows)
    return done._replace(outcome=outcomes.Removed(done.outcome.entries + dead, done.outcome.bytes))


@seeded_fault(Rule.EVICT_8, "passes.run_pass")
def pass_stacking_requeues(
    state: State, kind: PassKind, bound: int, config: Config, origin: Origin = Origin.CALL
) -> Step:
    """A pass collects what it requeues on a stack and puts it back at its end."""
    done = passes.run_pass(state, kind, bound, config, origin)
    again = {
        Slot(row.cache, pos)
        for row in done.rows
        if row.op == "REQUEUE" and row.cache is not None
        for pos in done.state.caches[row.cache].entries
        if pos == (row.ledger_id, row.entry_id)
    }
    rest = len(done.state.queue) - len(again)
    queue = (*done.state.queue[:rest], *reversed(done.state.queue[rest:]))
    return done._replace(state=done.state._replace(queue=queue))


@seeded_fault(Rule.EVICT_8, "passes.put_back", other=True)
def put_back_first(queue: deque[Slot | None], slot: Slot) -> None:
    """A requeued entry stays at the head."""
    queue.appendleft(slot)


@seeded_fault(Rule.REQUEUE_1, "decision.is_touched")
def touched_within_budget(entry: Entry, settings: Settings) -> bool:
    """The budget bounds extensions by access."""
    return decision.is_touched(entry, settings) and entry.requeues < settings.max_requeues


@seeded_fault(Rule.REQUEUE_1, "passes.run_pass", other=True)
def pass_ignoring_access(
    state: State, kind: PassKind, bound: int, config: Config, origin: Origin = Origin.CALL
) -> Step:
    """A size pass removes an entry although it was accessed."""
    run = passes.run_pass if kind is PassKind.TIME else _deciding(_as_if_untouched)
    return run(state, kind, bound, config, origin)


def _as_if_untouched(entry: Entry | None, halt: bool, settings: Settings) -> Line:
    return decision.decide(entry, halt, settings._replace(extend_recently_accessed=False))


@seeded_fault(Rule.REQUEUE_2, "decision.has_spare_requeue")
def spare_one_less(entry: Entry, settings: Settings) -> bool:
    """The last extension of the budget is not given."""
    return entry.requeues < settings.max_requeues - 1


@seeded_fault(Rule.REQUEUE_2, "decision.has_spare_requeue", other=True)
def spare_never(entry: Entry, settings: Settings) -> bool:
    """An entry that expects reads is not requeued."""
    return False


@seeded_fault(Rule.REQUEUE_3, "passes.run_pass")
def pass_keeping_exhausted(
    state: State, kind: PassKind, bound: int, config: Config, origin: Origin = Origin.CALL
) -> Step:
    """A time pass takes an exhausted entry for an accessed one."""
    run = passes.run_pass if kind is PassKind.SIZE else _deciding(_exhausted_as_accessed)
    return run(state, kind, bound, config, origin)


def _exhausted_as_accessed(entry: Entry | None, halt: bool, settings: Settings) -> Line:
    line = decision.decide(entry, halt, settings)
    return _line_of(Rule.REQUEUE_1) if line.rule is Rule.REQUEUE_3 and settings.extend_recently_accessed else line


@seeded_fault(Rule.REQUEUE_4, "passes.requeue_entry")
def requeued_still_marked(entry: Entry, now_nanos: int, action: Action, config: Config) -> Entry:
    """An extension because of expected reads leaves the mark."""
    mark = entry.accessed and action is Action.REQUEUE_EXPECTED
    return passes.requeue_entry(entry, now_nanos, action, config)._replace(accessed=mark)


@seeded_fault(Rule.REQUEUE_4, "passes.requeue_entry", other=True)
def requeued_keeping_the_stamp(entry: Entry, now_nanos: int, action: Action, config: Config) -> Entry:
    """A requeued entry keeps its stamp."""
    return passes.requeue_entry(entry, now_nanos, action, config)._replace(stamp_nanos=entry.stamp_nanos)


@seeded_fault(Rule.REQUEUE_4, "passes.requeue_entry", other=True)
def requeued_marked_for_ever(entry: Entry, now_nanos: int, action: Action, config: Config) -> Entry:
    """A requeue does not take the mark."""
    after = requeue_with_end(entry, now_nanos, action, config)
    return after._replace(accessed=entry.accessed and after.requeues > entry.requeues)


@seeded_fault(Rule.REQUEUE_5, "passes.requeue_entry")
def requeued_free_by_access(entry: Entry, now_nanos: int, action: Action, config: Config) -> Entry:
    """An extension by access is not counted."""
    after = passes.requeue_entry(entry, now_nanos, action, config)
    return after._replace(requeues=entry.requeues) if action is Action.REQUEUE_ACCESSED else after


@seeded_fault(Rule.REQUEUE_6, "passes.run_pass")
def pass_above_the_budget(
    state: State, kind: PassKind, bound: int, config: Config, origin: Origin = Origin.CALL
) -> Step:
    """A time pass grants one extension above the budget."""
    run = passes.run_pass if kind is PassKind.SIZE else _deciding(_once_more_if_exhausted)
    return run(state, kind, bound, config, origin)


def _once_more_if_exhausted(entry: Entry | None, halt: bool, settings: Settings) -> Line:
    line = decision.decide(entry, halt, settings)
    spared = entry is not None and entry.requeues == settings.max_requeues
    return _line_of(Rule.REQUEUE_2) if line.rule is Rule.REQUEUE_3 and spared else line


@seeded_fault(Rule.REQUEUE_6, "decision.has_spare_requeue", other=True)
def spare_one_more(entry: Entry, settings: Settings) -> bool:
    """An entry that expects reads is requeued once more than its budget allows."""
    return entry.requeues <= settings.max_requeues


@seeded_fault(Rule.REQUEUE_7, "decision.is_touched")
def touched_always(entry: Entry, settings: Settings) -> bool:
    """Access extends the stay whatever the setting."""
    return entry.accessed


@seeded_fault(Rule.REQUEUE_8, "decision.is_expected")
def expected_at_zero(entry: Entry) -> bool:
    """A count of 0 still expects a read."""
    return entry.expected_reads is not None and entry.expected_reads >= 0


@seeded_fault(Rule.LIVENESS_1, "passes.requeue_entry")
def requeued_mark_stays_once(entry: Entry, now_nanos: int, action: Action, config: Config) -> Entry:
    """The access mark outlives every other requeue."""
    after = passes.requeue_entry(entry, now_nanos, action, config)
    return after._replace(accessed=entry.accessed and entry.requeues % 2 == 0 and after.requeues > entry.requeues)


# Variants of other releases: each is a fault if the specification is the default behaviour.

SEEDED_FAULTS.register_variant(
    "A requeue because of an access uses no budget.", Rule.REQUEUE_5, requeue_budget=RequeueBudget.SPLIT
)
SEEDED_FAULTS.register_variant(
    "A size pass spares entries in one round only.", Rule.REQUEUE_1, Rule.REQUEUE_2, size_pass_rounds=SizePassRounds.ONE
)


@seeded_fault(Rule.REQUEUE_9, "passes.is_late")
def is_late_by_one(kind: passes.PassKind, looked_at: int, slots: int, config: Config) -> bool:
    """In a release with one round for a size pass, the pass spares one entry more."""
    return passes.is_late(kind, looked_at, slots + 1, config)
