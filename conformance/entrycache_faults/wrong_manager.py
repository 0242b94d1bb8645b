"""Wrong versions of the reference's functions of level `manager`, each with one error."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from entrycache_reference.pulsar_pip430 import change, limits, manage, ops, outcomes, passes, remove, trigger
from entrycache_reference.pulsar_pip430.config import Config, Eviction
from entrycache_reference.pulsar_pip430.state import Counts, Part, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

_after_insert: Final = trigger.trigger_when_needed
_bytes_over: Final = limits.bytes_over
_drop_entries: Final = change.drop_entries
_trigger_bytes: Final = limits.trigger_bytes


def target_from_the_trigger(state: State) -> int:
    """R-TRIGGER-1."""
    return int(_trigger_bytes(state) * state.settings.watermark)


def after_insert_at_the_trigger(state: State, config: Config) -> Step:
    """R-TRIGGER-2."""
    need = state.size_bytes - limits.target_bytes(state)
    if config.eviction is Eviction.MANUAL or state.size_bytes != _trigger_bytes(state) or need <= 0:
        return _after_insert(state, config)
    return _passed(state, need, config)


def _passed(state: State, need: int, config: Config) -> Step:
    """What one size pass for that need makes of a state, counted and named as a part."""
    done = passes.run_pass(state, passes.PassKind.SIZE, need, config, passes.Origin.TRIGGER)
    return Step(trigger.counted_cycle(done.state), done.outcome, done.rows, (Part(state, ops.Evict(need), done),))


def after_insert_for_its_size(state: State, config: Config) -> Step:
    """R-TRIGGER-2: the pass frees as many bytes as the insert brought."""
    slot = state.queue[-1]
    need = 0 if slot is None else state.caches[slot.cache].entries[slot.pos].size_bytes
    if config.eviction is Eviction.MANUAL or _bytes_over(state) == 0 or need == 0:
        return _after_insert(state, config)
    return _passed(state, need, config)


def after_insert_for_the_target(state: State, config: Config) -> Step:
    """R-TRIGGER-2: the pass frees as many bytes as may stay."""
    need = limits.target_bytes(state)
    if config.eviction is Eviction.MANUAL or _bytes_over(state) == 0 or need == 0:
        return _after_insert(state, config)
    return _passed(state, need, config)


def insert_triggering_when_refused(state: State, event: ops.Insert, config: Config) -> Step:
    """R-TRIGGER-3."""
    done = trigger.offer(state, event, config)
    if done.outcome != outcomes.Inserted(False) or config.max_size_bytes == 0:
        return done
    relieved = _after_insert(done.state, config)
    parts = (Part(state, event, done), *relieved.parts)
    return Step(relieved.state, done.outcome, done.rows + relieved.rows, parts)


def cycle_clearing_the_flag(state: State, event: ops.Cycle, config: Config) -> Step:
    """R-TRIGGER-4."""
    done = trigger.cycle(state, event, config)
    return done._replace(state=done.state._replace(is_scheduled=False))


def run_scheduled_unasked(state: State, event: ops.RunScheduled, config: Config) -> Step:
    """R-TRIGGER-5."""
    return trigger.run_scheduled(state._replace(is_scheduled=True), event, config)


def run_scheduled_keeping_the_flag(state: State, event: ops.RunScheduled, config: Config) -> Step:
    """R-TRIGGER-5: where there is nothing to free any more, the flag stays."""
    if _bytes_over(state) > 0:
        return trigger.run_scheduled(state, event, config)
    return Step(state, outcomes.Removed(0, 0), ())


def cycle_without_size_pass(state: State, event: ops.Cycle, config: Config) -> Step:
    """R-TRIGGER-6."""
    done = trigger.cycle(state, event, config)
    if config.eviction is Eviction.INLINE:
        return done
    first = done.parts[0].step
    return Step(first.state, first.outcome, first.rows, done.parts[:1])


def cycle_size_pass_first(state: State, event: ops.Cycle, config: Config) -> Step:
    """R-TRIGGER-6: the size pass runs before the time pass."""
    relieved = trigger.evict_to_watermark(state, config, passes.Origin.CYCLE)
    cutoff = state.now_nanos - state.settings.ttl_nanos
    expired = passes.run_pass(relieved.state, passes.PassKind.TIME, cutoff, config, passes.Origin.CYCLE)
    parts = (*relieved.parts, Part(relieved.state, ops.Expire(), expired))
    return Step(expired.state, trigger.both(relieved, expired), relieved.rows + expired.rows, parts)


def only_the_second(first: Step, second: Step) -> outcomes.Outcome:
    """R-TRIGGER-7."""
    return second.outcome


def bytes_over_at_least_one(state: State) -> int:
    """R-TRIGGER-8."""
    if state.size_bytes <= _trigger_bytes(state):
        return 0
    return max(1, _bytes_over(state))


def insert_telling_what_stayed(state: State, event: ops.Insert, config: Config) -> Step:
    """R-TRIGGER-9."""
    done = trigger.offer(state, event, config)
    if done.outcome != outcomes.Inserted(True):
        return done
    return done._replace(outcome=outcomes.Inserted(change.entry_at(done.state, event.cache, event.pos) is not None))


def configure_from_the_start(state: State, event: ops.Configure, config: Config) -> Step:
    """R-CONFIG-1."""
    done = manage.configure(state, event, config)
    if isinstance(done.outcome, outcomes.Refused):
        return done
    return done._replace(state=done.state._replace(settings=manage.merged(config.settings, event)))


def configure_what_is_right(state: State, event: ops.Configure, config: Config) -> Step:
    """R-CONFIG-2."""
    names = ("max_size_bytes", "watermark", "ttl_nanos", "max_requeues", "extend_recently_accessed")
    single = {name: ops.Configure(**{name: getattr(event, name)}) for name in names}
    wrong = {name: ABSENT for name in names if manage.is_refused(single[name], config)}
    return manage.configure(state, replace(event, **wrong), config)


def configure_evicting(state: State, event: ops.Configure, config: Config) -> Step:
    """R-CONFIG-3."""
    done = manage.configure(state, event, config)
    if isinstance(done.outcome, outcomes.Refused):
        return done
    relieved = _after_insert(done.state, config)
    return Step(relieved.state, done.outcome, done.rows + relieved.rows, relieved.parts)


def invalidate_before_included(state: State, event: ops.InvalidateBefore, config: Config) -> Step:
    """R-INVALIDATE-7."""
    entries = change.cache_of(state, event.cache).entries
    positions = tuple(sorted(pos for pos in entries if pos <= event.pos))
    return remove.removal(state, event.cache, positions, Rule.INVALIDATE_7, "CURSOR")


def invalidate_ledgers_up_to(state: State, event: ops.InvalidateLedger, config: Config) -> Step:
    """R-INVALIDATE-8."""
    entries = change.cache_of(state, event.cache).entries
    positions = tuple(sorted(pos for pos in entries if pos.ledger <= event.ledger))
    return remove.removal(state, event.cache, positions, Rule.INVALIDATE_8, "LEDGER")


def remove_cache_with_cursors(state: State, event: ops.RemoveCache, config: Config) -> Step:
    """R-INVALIDATE-9."""
    done = manage.remove_cache(state, event, config)
    left = change.cache_of(done.state, event.cache)._replace(members={})
    return done._replace(state=done.state._replace(caches={**done.state.caches, event.cache: left}))


def drop_entries_uncounted(state: State, name: CacheName, positions: tuple[Position, ...]) -> State:
    """R-METRICS-4."""
    return _drop_entries(state, name, positions)._replace(counts=state.counts)


def evict_counted(state: State, event: ops.Evict, config: Config) -> Step:
    """R-METRICS-5."""
    done = passes.evict(state, event, config)
    return done if done.state is state else done._replace(state=trigger.counted_cycle(done.state))


def metrics_starting_again(state: State, event: ops.Metrics, config: Config) -> Step:
    """R-METRICS-7."""
    return manage.metrics(state, event, config)._replace(state=state._replace(counts=Counts()))


def insert_counted_when_refused(state: State, event: ops.Insert, config: Config) -> Step:
    """R-METRICS-3: a duplicate is counted."""
    done = trigger.offer(state, event, config)
    if done.outcome != outcomes.Inserted(False) or config.max_size_bytes == 0:
        return done
    counts = done.state.counts._replace(inserted_entries=done.state.counts.inserted_entries + 1)
    return done._replace(state=done.state._replace(counts=counts))


def configure_up_to_the_watermark(state: State, event: ops.Configure, config: Config) -> Step:
    """R-CONFIG-2: what is refused because of its watermark has changed the other settings."""
    done = manage.configure(state, event, config)
    others = replace(event, watermark=ABSENT)
    if not isinstance(done.outcome, outcomes.Refused) or manage.is_refused(others, config):
        return done
    return done._replace(state=state._replace(settings=manage.merged(state.settings, others)))
