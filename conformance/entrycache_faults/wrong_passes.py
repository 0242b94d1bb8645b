"""Wrong versions of the functions that passes are made of, each with one error."""

from __future__ import annotations

from collections import deque
from typing import Final

from entrycache_reference.pulsar_pip430 import decision, ops, outcomes, passes
from entrycache_reference.pulsar_pip430.config import Config, Settings
from entrycache_reference.pulsar_pip430.decision import Action, Facts, Line
from entrycache_reference.pulsar_pip430.passes import Origin, PassKind
from entrycache_reference.pulsar_pip430.state import Entry, Slot, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

_halts: Final = passes.halts
_cutoff: Final = passes.cutoff
_run_pass: Final = passes.run_pass
_requeued: Final = passes.requeued
_decide: Final = decision.decide
_touched: Final = decision.touched
_expected: Final = decision.expected
_LINE: Final = {line.rule: line for line in decision.DECISION}


class EndlessPass(AssertionError):
    """A mutant requeued one entry for ever."""


def halts_after_the_cutoff(kind: PassKind, bound: int, entry: Entry | None) -> bool:
    """R-EXPIRE-1."""
    return _halts(kind, bound + 1 if kind is PassKind.TIME else bound, entry)


def halts_at_an_accessed_entry(kind: PassKind, bound: int, entry: Entry | None) -> bool:
    """R-EXPIRE-2."""
    if kind is PassKind.TIME and entry is not None and entry.accessed:
        return True
    return _halts(kind, bound, entry)


def cutoff_off_by_one(state: State, event: ops.Expire) -> int:
    """R-EXPIRE-3."""
    return _cutoff(state, event) + (1 if event.older_than_nanos is ABSENT else 0)


def expire_not_refusing(state: State, event: ops.Expire, config: Config) -> Step:
    """R-EXPIRE-4."""
    if event.older_than_nanos is not ABSENT and event.older_than_nanos < 0:
        return passes.run_pass(state, PassKind.TIME, state.now_nanos, config)
    return passes.expire(state, event, config)


def cutoff_at_least_ttl(state: State, event: ops.Expire) -> int:
    """R-EXPIRE-5."""
    return min(_cutoff(state, event), state.now_nanos - state.settings.ttl_nanos)


STOP_AT_DEAD: Final[dict[Facts, Line]] = {
    **decision.LOOKUP,
    Facts(True, True, False, False, False): _LINE[Rule.EVICT_2],
}
"""R-EVICT-1."""


def pass_unmarking_the_head(
    state: State, kind: PassKind, bound: int, config: Config, origin: Origin = Origin.CALL
) -> Step:
    """R-EVICT-2."""
    done = _run_pass(state, kind, bound, config, origin)
    after = done.state
    slot = after.queue[0] if after.queue else None
    if slot is None:
        return done
    cache = after.caches[slot.cache]
    unmarked = {**cache.entries, slot.pos: cache.entries[slot.pos]._replace(accessed=False)}
    return done._replace(state=after._replace(caches={**after.caches, slot.cache: cache._replace(entries=unmarked)}))


def touched_on_budget(entry: Entry, settings: Settings) -> bool:
    """R-EVICT-3."""
    free = settings.extend_recently_accessed and not _expected(entry) and entry.requeues < settings.max_requeues
    return free or _touched(entry, settings)


def halts_one_byte_early(kind: PassKind, bound: int, entry: Entry | None) -> bool:
    """R-EVICT-4."""
    return _halts(kind, bound - 1 if kind is PassKind.SIZE else bound, entry)


def halts_one_late(kind: PassKind, bound: int, entry: Entry | None) -> bool:
    """R-EVICT-5."""
    return _halts(kind, bound + 1 if kind is PassKind.SIZE else bound, entry)


def evict_dropping_when_refused(state: State, event: ops.Evict, config: Config) -> Step:
    """R-STATE-5."""
    done = passes.evict(state, event, config)
    if event.bytes > 0 or not state.queue or state.queue[0] is not None:
        return done
    return done._replace(state=state._replace(queue=state.queue[1:]))


def evict_not_refusing(state: State, event: ops.Evict, config: Config) -> Step:
    """R-EVICT-6."""
    if event.bytes <= 0:
        return Step(state, outcomes.Removed(0, 0), ())
    return passes.evict(state, event, config)


def pass_counting_dead_slots(
    state: State, kind: PassKind, bound: int, config: Config, origin: Origin = Origin.CALL
) -> Step:
    """R-EVICT-7."""
    done = _run_pass(state, kind, bound, config, origin)
    assert isinstance(done.outcome, outcomes.Removed)
    dead = sum(row.op == "TOMBSTONE" for row in done.rows)
    return done._replace(outcome=outcomes.Removed(done.outcome.entries + dead, done.outcome.bytes))


def pass_stacking_requeues(
    state: State, kind: PassKind, bound: int, config: Config, origin: Origin = Origin.CALL
) -> Step:
    """R-EVICT-8."""
    done = _run_pass(state, kind, bound, config, origin)
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


def touched_within_budget(entry: Entry, settings: Settings) -> bool:
    """R-REQUEUE-1."""
    return _touched(entry, settings) and entry.requeues < settings.max_requeues


def spare_one_less(entry: Entry, settings: Settings) -> bool:
    """R-REQUEUE-2."""
    return entry.requeues < settings.max_requeues - 1


_asked: list[PassKind] = []


def halts_remembering_the_kind(kind: PassKind, bound: int, entry: Entry | None) -> bool:
    """Right, but `decide_...` below can tell which kind of pass asks."""
    _asked[:] = [kind]
    return _halts(kind, bound, entry)


def decide_keeping_exhausted(entry: Entry | None, halt: bool, settings: Settings) -> Line:
    """R-REQUEUE-3."""
    line = _decide(entry, halt, settings)
    if line.rule is Rule.REQUEUE_3 and settings.extend_recently_accessed and _asked == [PassKind.TIME]:
        return _LINE[Rule.REQUEUE_1]
    return line


def requeued_still_marked(entry: Entry, now_nanos: int, action: Action, config: Config) -> Entry:
    """R-REQUEUE-4."""
    mark = entry.accessed and action is Action.REQUEUE_EXPECTED
    return _requeued(entry, now_nanos, action, config)._replace(accessed=mark)


def requeued_keeping_the_stamp(entry: Entry, now_nanos: int, action: Action, config: Config) -> Entry:
    """R-REQUEUE-4."""
    return _requeued(entry, now_nanos, action, config)._replace(stamp_nanos=entry.stamp_nanos)


def put_back_first(queue: deque[Slot | None], slot: Slot) -> None:
    """R-EVICT-8."""
    queue.appendleft(slot)


def cutoff_twice(state: State, event: ops.Expire) -> int:
    """R-EXPIRE-3."""
    return _cutoff(state, event) - (state.settings.ttl_nanos if event.older_than_nanos is ABSENT else 0)


def requeued_free_by_access(entry: Entry, now_nanos: int, action: Action, config: Config) -> Entry:
    """R-REQUEUE-5."""
    after = _requeued(entry, now_nanos, action, config)
    return after._replace(requeues=entry.requeues) if action is Action.REQUEUE_ACCESSED else after


def decide_one_above_the_budget(entry: Entry | None, halt: bool, settings: Settings) -> Line:
    """R-REQUEUE-6."""
    line = _decide(entry, halt, settings)
    if entry is not None and line.rule is Rule.REQUEUE_3 and _asked == [PassKind.TIME]:
        return _LINE[Rule.REQUEUE_2] if entry.requeues == settings.max_requeues else line
    return line


def touched_always(entry: Entry, settings: Settings) -> bool:
    """R-REQUEUE-7."""
    return entry.accessed


def expected_at_zero(entry: Entry) -> bool:
    """R-REQUEUE-8."""
    return entry.expected_reads is not None and entry.expected_reads >= 0


def requeued_mark_stays_once(entry: Entry, now_nanos: int, action: Action, config: Config) -> Entry:
    """R-LIVENESS-1."""
    after = _requeued(entry, now_nanos, action, config)
    return after._replace(accessed=entry.accessed and entry.requeues % 2 == 0 and after.requeues > entry.requeues)


def requeued_at_most_64_times(entry: Entry, now_nanos: int, action: Action, config: Config) -> Entry:
    """Right, but ends what would never end.

    Raises:
        EndlessPass: the entry was requeued 64 times.
    """
    if entry.requeues >= 64:
        raise EndlessPass("an entry was requeued 64 times")
    return _requeued(entry, now_nanos, action, config)
