"""Seeded faults of level `manager`: trigger, settings, removal and counters.

Each fault calls the function of the reference and changes its result, or replaces it. A fault that needs the whole
reference with another constant builds a model of its own and keeps it.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Final

from entrycache_faults.model import Model
from entrycache_faults.reference.pulsar_pip430.registry import SEEDED_FAULTS, seeded_fault
from entrycache_reference.pulsar_pip430 import change, decision, manager, ops, outcomes, passes
from entrycache_reference.pulsar_pip430.config import Config, Eviction
from entrycache_reference.pulsar_pip430.state import Counts, Part, State, Step, initial
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

LIMITS_MOST: Final = 64
"""The number of models with a trigger of their own that are kept."""


@seeded_fault(Rule.TRIGGER_1, "decision.target_bytes")
def target_from_the_trigger(state: State) -> int:
    """The target is the watermark's share of the trigger, not of the limit."""
    return int(decision.trigger_bytes(state) * state.settings.watermark)


@seeded_fault(Rule.TRIGGER_1, "decision.target_bytes", other=True)
def target_rounded(state: State) -> int:
    """The target is rounded to the nearest byte."""
    return round(state.settings.max_size_bytes * state.settings.watermark)


@seeded_fault(Rule.TRIGGER_1, "decision.trigger_bytes", other=True)
def trigger_rounded(state: State) -> int:
    """The trigger is rounded to the nearest byte."""
    return round(state.settings.max_size_bytes * 0.98)


def _passed(state: State, need: int, config: Config) -> Step:
    """Run one size pass for that need, counted and named as a part."""
    done = passes.run_pass(state, passes.PassKind.SIZE, need, config, passes.Origin.TRIGGER)
    return Step(manager.count_cycle(done.state), done.outcome, done.rows, (Part(state, ops.Evict(need), done),))


@seeded_fault(Rule.TRIGGER_1, "step.step", other=True)
def step_with_the_first_trigger(state: State, event: ops.Op, config: Config) -> Step:
    """A configure that changes the limit leaves the trigger as it was."""
    return _triggered_at(decision.trigger_bytes(initial(config)))(state, event, config)


@lru_cache(LIMITS_MOST)
def _triggered_at(trigger_bytes: int) -> Callable[[State, ops.Op, Config], Step]:
    """Return the step of the reference with that trigger, whatever the limit."""
    return Model(SEEDED_FAULTS.package, {"decision.trigger_bytes": lambda state: trigger_bytes}).step


@seeded_fault(Rule.TRIGGER_2, "manager.trigger_when_needed")
def after_insert_at_the_trigger(state: State, config: Config) -> Step:
    """An insert that reaches the trigger exactly runs a size pass."""
    need = state.size_bytes - decision.target_bytes(state)
    if config.eviction is Eviction.MANUAL or state.size_bytes != decision.trigger_bytes(state) or need <= 0:
        return manager.trigger_when_needed(state, config)
    return _passed(state, need, config)


@seeded_fault(Rule.TRIGGER_2, "manager.trigger_when_needed", other=True)
def after_insert_for_its_size(state: State, config: Config) -> Step:
    """A triggered pass frees as many bytes as the insert brought."""
    slot = state.queue[-1]
    need = 0 if slot is None else state.caches[slot.cache].entries[slot.pos].size_bytes
    if config.eviction is Eviction.MANUAL or decision.bytes_over(state) == 0 or need == 0:
        return manager.trigger_when_needed(state, config)
    return _passed(state, need, config)


@seeded_fault(Rule.TRIGGER_2, "manager.trigger_when_needed", other=True)
def after_insert_for_the_target(state: State, config: Config) -> Step:
    """A triggered pass frees as many bytes as may stay."""
    need = decision.target_bytes(state)
    if config.eviction is Eviction.MANUAL or decision.bytes_over(state) == 0 or need == 0:
        return manager.trigger_when_needed(state, config)
    return _passed(state, need, config)


@seeded_fault(Rule.TRIGGER_3, ops.Insert)
def insert_triggering_when_refused(state: State, event: ops.Insert, config: Config) -> Step:
    """A duplicate that finds the caches over the trigger triggers a pass."""
    done = manager.offer(state, event, config)
    if done.outcome != outcomes.Inserted(False) or config.max_size_bytes == 0:
        return done
    relieved = manager.trigger_when_needed(done.state, config)
    parts = (Part(state, event, done), *relieved.parts)
    return Step(relieved.state, done.outcome, done.rows + relieved.rows, parts)


@seeded_fault(Rule.TRIGGER_4, ops.Cycle)
def cycle_clearing_the_flag(state: State, event: ops.Cycle, config: Config) -> Step:
    """cycle clears the flag."""
    done = manager.cycle(state, event, config)
    return done._replace(state=done.state._replace(is_scheduled=False))


@seeded_fault(Rule.TRIGGER_5, ops.RunScheduled)
def run_scheduled_unasked(state: State, event: ops.RunScheduled, config: Config) -> Step:
    """run_scheduled runs its pass though no insert has asked for one."""
    return manager.run_scheduled(state._replace(is_scheduled=True), event, config)


@seeded_fault(Rule.TRIGGER_5, ops.RunScheduled, other=True)
def run_scheduled_keeping_the_flag(state: State, event: ops.RunScheduled, config: Config) -> Step:
    """run_scheduled keeps the flag where there is nothing to free any more."""
    if decision.bytes_over(state) > 0:
        return manager.run_scheduled(state, event, config)
    return Step(state, outcomes.Removed(0, 0), ())


@seeded_fault(Rule.TRIGGER_6, ops.Cycle)
def cycle_without_size_pass(state: State, event: ops.Cycle, config: Config) -> Step:
    """With manual eviction cycle leaves the size pass to run_scheduled."""
    done = manager.cycle(state, event, config)
    if config.eviction is Eviction.INLINE:
        return done
    first = done.parts[0].step
    return Step(first.state, first.outcome, first.rows, done.parts[:1])


@seeded_fault(Rule.TRIGGER_6, ops.Cycle, other=True)
def cycle_size_pass_first(state: State, event: ops.Cycle, config: Config) -> Step:
    """cycle runs its size pass before its time pass."""
    relieved = manager.evict_to_watermark(state, config, passes.Origin.CYCLE)
    cutoff = state.now_nanos - state.settings.ttl_nanos
    expired = passes.run_pass(relieved.state, passes.PassKind.TIME, cutoff, config, passes.Origin.CYCLE)
    parts = (*relieved.parts, Part(relieved.state, ops.Expire(), expired))
    return Step(expired.state, manager.sum_removed(relieved, expired), relieved.rows + expired.rows, parts)


@seeded_fault(Rule.TRIGGER_6, ops.Cycle, other=True)
def cycle_by_the_first_ttl(state: State, event: ops.Cycle, config: Config) -> Step:
    """cycle expires by the time to live of the start, whatever was configured since."""
    first = state._replace(settings=state.settings._replace(ttl_nanos=config.ttl_nanos))
    done = manager.cycle(first, event, config)
    return done._replace(state=done.state._replace(settings=state.settings))


@seeded_fault(Rule.TRIGGER_7, "manager.sum_removed")
def only_the_second(first: Step, second: Step) -> outcomes.Outcome:
    """cycle answers what its size pass removed."""
    return second.outcome


@seeded_fault(Rule.TRIGGER_8, "decision.bytes_over")
def bytes_over_at_least_one(state: State) -> int:
    """Above the trigger a size pass frees at least one byte."""
    if state.size_bytes <= decision.trigger_bytes(state):
        return 0
    return max(1, decision.bytes_over(state))


@seeded_fault(Rule.TRIGGER_8, "manager.trigger_when_needed", other=True)
def after_insert_between(state: State, config: Config) -> Step:
    """Above the trigger but not above the target a pass frees one byte, and is not counted."""
    between = decision.trigger_bytes(state) < state.size_bytes <= decision.target_bytes(state)
    if not between or config.eviction is Eviction.MANUAL:
        return manager.trigger_when_needed(state, config)
    return passes.run_pass(state, passes.PassKind.SIZE, 1, config, passes.Origin.TRIGGER)


@seeded_fault(Rule.TRIGGER_9, ops.Insert)
def insert_telling_what_stayed(state: State, event: ops.Insert, config: Config) -> Step:
    """An insert whose entry is removed at once answers false."""
    done = manager.offer(state, event, config)
    if done.outcome != outcomes.Inserted(True):
        return done
    return done._replace(outcome=outcomes.Inserted(change.entry_at(done.state, event.cache, event.pos) is not None))


@seeded_fault(Rule.CONFIG_1, ops.Configure)
def configure_from_the_start(state: State, event: ops.Configure, config: Config) -> Step:
    """A setting that `configure` does not name returns to its value at the start of the run."""
    done = manager.configure(state, event, config)
    if isinstance(done.outcome, outcomes.Refused):
        return done
    return done._replace(state=done.state._replace(settings=manager.merge_settings(config.settings, event)))


@seeded_fault(Rule.CONFIG_2, ops.Configure)
def configure_what_is_right(state: State, event: ops.Configure, config: Config) -> Step:
    """configure leaves out the settings that are wrong and takes the others."""
    names = ("max_size_bytes", "watermark", "ttl_nanos", "max_requeues", "extend_recently_accessed")
    single = {name: ops.Configure(**{name: getattr(event, name)}) for name in names}
    wrong = {name: ABSENT for name in names if manager.are_settings_refused(single[name], config)}
    return manager.configure(state, replace(event, **wrong), config)


@seeded_fault(Rule.CONFIG_2, ops.Configure, other=True)
def configure_up_to_the_watermark(state: State, event: ops.Configure, config: Config) -> Step:
    """A `configure` that is refused for its watermark has changed the other settings."""
    done = manager.configure(state, event, config)
    others = replace(event, watermark=ABSENT)
    if not isinstance(done.outcome, outcomes.Refused) or manager.are_settings_refused(others, config):
        return done
    return done._replace(state=state._replace(settings=manager.merge_settings(state.settings, others)))


@seeded_fault(Rule.CONFIG_3, ops.Configure)
def configure_evicting(state: State, event: ops.Configure, config: Config) -> Step:
    """configure runs or schedules the size pass that the new limit asks for."""
    done = manager.configure(state, event, config)
    if isinstance(done.outcome, outcomes.Refused):
        return done
    relieved = manager.trigger_when_needed(done.state, config)
    return Step(relieved.state, done.outcome, done.rows + relieved.rows, relieved.parts)


@seeded_fault(Rule.INVALIDATE_7, ops.InvalidateBefore)
def invalidate_before_included(state: State, event: ops.InvalidateBefore, config: Config) -> Step:
    """invalidate_before takes the entry at the position too."""
    entries = change.cache_of(state, event.cache).entries
    positions = tuple(sorted(pos for pos in entries if pos <= event.pos))
    return manager.remove_entries(state, event.cache, positions, Rule.INVALIDATE_7, "CURSOR")


@seeded_fault(Rule.INVALIDATE_8, ops.InvalidateLedger)
def invalidate_ledgers_up_to(state: State, event: ops.InvalidateLedger, config: Config) -> Step:
    """invalidate_ledger takes the ledgers before it too."""
    entries = change.cache_of(state, event.cache).entries
    positions = tuple(sorted(pos for pos in entries if pos.ledger <= event.ledger))
    return manager.remove_entries(state, event.cache, positions, Rule.INVALIDATE_8, "LEDGER")


@seeded_fault(Rule.INVALIDATE_9, ops.RemoveCache)
def remove_cache_with_cursors(state: State, event: ops.RemoveCache, config: Config) -> Step:
    """remove_cache forgets the cursors."""
    done = manager.remove_cache(state, event, config)
    left = change.cache_of(done.state, event.cache)._replace(members={})
    return done._replace(state=done.state._replace(caches={**done.state.caches, event.cache: left}))


@seeded_fault(Rule.METRICS_4, "manager.drop_entries")
def drop_entries_uncounted(state: State, name: CacheName, positions: tuple[Position, ...]) -> State:
    """Removals by a call are not counted."""
    return change.drop_entries(state, name, positions)._replace(counts=state.counts)


@seeded_fault(Rule.METRICS_5, ops.Evict)
def evict_counted(state: State, event: ops.Evict, config: Config) -> Step:
    """evict counts as an eviction cycle."""
    done = passes.evict(state, event, config)
    return done if done.state is state else done._replace(state=manager.count_cycle(done.state))


@seeded_fault(Rule.METRICS_7, ops.Metrics)
def metrics_starting_again(state: State, event: ops.Metrics, config: Config) -> Step:
    """Asking for the counters starts them again."""
    return manager.metrics(state, event, config)._replace(state=state._replace(counts=Counts()))


@seeded_fault(Rule.METRICS_3, ops.Insert, other=True)
def insert_counted_when_refused(state: State, event: ops.Insert, config: Config) -> Step:
    """A duplicate counts as inserted."""
    done = manager.offer(state, event, config)
    if done.outcome != outcomes.Inserted(False) or config.max_size_bytes == 0:
        return done
    counts = done.state.counts._replace(inserted_entries=done.state.counts.inserted_entries + 1)
    return done._replace(state=done.state._replace(counts=counts))
