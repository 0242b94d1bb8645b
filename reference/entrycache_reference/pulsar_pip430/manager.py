"""Operations of the manager: triggers, the periodic task, removal by a call, settings and counters.

`offer` inserts an entry and asks whether the bytes now need a size pass. With inline eviction the pass runs at once;
with manual eviction a flag is set, and `run_scheduled` runs it later. `cycle` is the periodic task. `remove_entries`
removes entries by a call; ranges, ledgers and whole caches use it. `configure` changes settings and nothing else.

Beside: RangeEntryCacheManagerImpl.triggerEvictionWhenNeeded, .doCacheEviction (managed-ledger 4.2.4)
Beside: RangeEntryCacheManagerImpl.updateCacheSizeAndThreshold, .removeEntryCache (managed-ledger 4.2.4)
Beside: RangeCache.removeRange, .clear (managed-ledger 4.2.4)
"""

import json

from entrycache_reference.pulsar_pip430 import entries, ops, passes
from entrycache_reference.pulsar_pip430.change import (
    cache_of,
    close_row,
    drop_entries,
    positions_between,
    removed_rows,
    value_row,
)
from entrycache_reference.pulsar_pip430.config import Config, Eviction, Settings
from entrycache_reference.pulsar_pip430.decision import bytes_over, trigger_bytes
from entrycache_reference.pulsar_pip430.outcomes import Counters, Done, ErrorKind, Inserted, Refused, Removed
from entrycache_reference.pulsar_pip430.passes import Origin, PassKind
from entrycache_reference.pulsar_pip430.state import Part, State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

NOTHING_REMOVED = Removed(0, 0)


@rule(Rule.METRICS_5)
def count_cycle(state: State) -> State:
    """Return the state with one more size pass counted."""
    return state._replace(counts=state.counts._replace(eviction_cycles=state.counts.eviction_cycles + 1))


@rule(Rule.TRIGGER_2, Rule.TRIGGER_5, Rule.TRIGGER_6, Rule.TRIGGER_8, Rule.METRICS_5)
def evict_to_watermark(state: State, config: Config, origin: Origin) -> Step:
    """Run one size pass down to the target if the bytes are above both the trigger and the target."""
    # GUARD: at or under the trigger, or with nothing above the target, no pass runs.
    need = bytes_over(state)
    if need == 0:
        return Step(state, NOTHING_REMOVED, ())

    # DECISION and EFFECT: the fold of the table; one cycle more.
    done = passes.run_pass(state, PassKind.SIZE, need, config, origin)

    # OUTCOME
    return Step(count_cycle(done.state), done.outcome, done.rows, (Part(state, ops.Evict(need), done),))


@rule(Rule.TRIGGER_2, Rule.TRIGGER_4)
def trigger_when_needed(state: State, config: Config) -> Step:
    """Run the size pass that an insert needs, or with manual eviction set the flag for a later one."""
    if state.size_bytes <= trigger_bytes(state):
        return Step(state, NOTHING_REMOVED, ())
    if config.eviction is Eviction.MANUAL:
        return Step(state._replace(is_scheduled=True), NOTHING_REMOVED, ())
    return evict_to_watermark(state, config, Origin.TRIGGER)


@rule(Rule.TRIGGER_2, Rule.TRIGGER_3, Rule.TRIGGER_4, Rule.TRIGGER_9)
def offer(state: State, event: ops.Insert, config: Config, cause: str = "ADD") -> Step:
    """Offer one entry to a cache, then run or schedule the size pass that it triggers; `cause` is that of its row."""
    # GUARD: what was not inserted triggers nothing.
    added = entries.insert(state, event, config, cause)
    if added.outcome != Inserted(True):
        return added

    # DECISION and EFFECT: the pass comes after the entry, and may take it.
    relieved = trigger_when_needed(added.state, config)
    if relieved.state is added.state:
        return added

    # OUTCOME: that of the insert.
    parts = (Part(state, event, added), *relieved.parts)
    return Step(relieved.state, added.outcome, added.rows + relieved.rows, parts)


@rule(Rule.TRIGGER_6, Rule.TRIGGER_7)
def cycle(state: State, event: ops.Cycle, config: Config) -> Step:
    """Run the periodic task: a time pass, then a size pass if the bytes are still above the trigger."""
    # GUARD: none.
    # DECISION and EFFECT: both passes at once, whatever `eviction` says; the flag stays.
    cutoff = state.now_nanos - state.settings.ttl_nanos
    expired = passes.run_pass(state, PassKind.TIME, cutoff, config, Origin.CYCLE)
    relieved = evict_to_watermark(expired.state, config, Origin.CYCLE)

    # OUTCOME: what both removed.
    parts = (Part(state, ops.Expire(), expired), *relieved.parts)
    return Step(relieved.state, sum_removed(expired, relieved), expired.rows + relieved.rows, parts)


@rule(Rule.TRIGGER_7)
def sum_removed(first: Step, second: Step) -> Removed:
    """Return the sum of what two passes removed."""
    entries = 0
    freed_bytes = 0
    for done in (first, second):
        assert isinstance(done.outcome, Removed)
        entries += done.outcome.entries
        freed_bytes += done.outcome.bytes
    return Removed(entries, freed_bytes)


@rule(Rule.TRIGGER_5, Rule.TRIGGER_7)
def run_scheduled(state: State, event: ops.RunScheduled, config: Config) -> Step:
    """Run the size pass that an insert has scheduled, using the present sizes."""
    # GUARD: nothing is scheduled.
    if not state.is_scheduled:
        return Step(state, NOTHING_REMOVED, ())

    # DECISION and EFFECT: the flag is cleared, whether there is still something to free or not.
    # OUTCOME: what the pass removed.
    return evict_to_watermark(state._replace(is_scheduled=False), config, Origin.TRIGGER)


# Removal by a call.


@rule(Rule.INVALIDATE_5, Rule.INVALIDATE_6, Rule.STATE_8)
def remove_entries(state: State, name: CacheName, positions: tuple[Position, ...], rule: Rule, cause: str) -> Step:
    """Remove these entries of one cache, with one row each, and answer their number and bytes."""
    after = drop_entries(state, name, positions)
    freed_bytes = sum(cache_of(state, name).entries[pos].size_bytes for pos in positions)
    return Step(after, Removed(len(positions), freed_bytes), removed_rows(rule, cause, state, name, positions))


@rule(Rule.INVALIDATE_1, Rule.INVALIDATE_2, Rule.INVALIDATE_3)
def remove_range(state: State, event: ops.RemoveRange, config: Config) -> Step:
    """Remove the entries of a range; its end belongs to it only if `last_inclusive`."""
    # GUARD: a reversed range holds nothing.
    # DECISION: the cached positions of the range.
    positions = positions_between(state, event.cache, event.first, event.last)
    if not event.last_inclusive:
        positions = tuple(pos for pos in positions if pos != event.last)

    # EFFECT and OUTCOME
    return remove_entries(state, event.cache, positions, Rule.INVALIDATE_1, "RANGE")


@rule(Rule.INVALIDATE_4)
def clear(state: State, event: ops.Clear, config: Config) -> Step:
    """Remove every entry of a cache."""
    # GUARD: none.
    # DECISION: all positions.
    positions = tuple(sorted(cache_of(state, event.cache).entries))

    # EFFECT and OUTCOME
    return remove_entries(state, event.cache, positions, Rule.INVALIDATE_4, "CLEAR")


# Settings, removal of positions, ledgers and caches, and counters.


@rule(Rule.CONFIG_2)
def are_settings_refused(event: ops.Configure, config: Config) -> bool:
    """Return whether these settings are refused, all of them together."""
    numbers = (event.max_size_bytes, event.ttl_nanos, event.max_requeues)
    if any(number is not ABSENT and number < 0 for number in numbers):
        return True
    if event.watermark is not ABSENT and not 0 <= event.watermark <= 1:
        return True
    return event.max_size_bytes is not ABSENT and (event.max_size_bytes == 0 or config.max_size_bytes == 0)


@rule(Rule.CONFIG_1)
def merge_settings(settings: Settings, event: ops.Configure) -> Settings:
    """Return the settings with the changes that the event names."""
    return Settings(
        settings.max_size_bytes if event.max_size_bytes is ABSENT else event.max_size_bytes,
        settings.watermark if event.watermark is ABSENT else event.watermark,
        settings.ttl_nanos if event.ttl_nanos is ABSENT else event.ttl_nanos,
        settings.max_requeues if event.max_requeues is ABSENT else event.max_requeues,
        settings.extend_recently_accessed
        if event.extend_recently_accessed is ABSENT
        else event.extend_recently_accessed,
    )


@rule(Rule.CONFIG_1, Rule.CONFIG_2, Rule.CONFIG_3, Rule.CONFIG_4)
def configure(state: State, event: ops.Configure, config: Config) -> Step:
    """Change settings while the run goes on."""
    # GUARD: one wrong setting, and none is changed.
    if are_settings_refused(event, config):
        return Step(state, Refused(ErrorKind.ILLEGAL_ARGUMENT), ())

    # DECISION: none.
    # EFFECT: the settings only; the grace period stays that of the configuration.
    after = state._replace(settings=merge_settings(state.settings, event))

    # OUTCOME
    return Step(after, Done(), (value_row(Rule.CONFIG_1, "CONFIG", after, config_value(config, after.settings)),))


def config_value(config: Config, settings: Settings) -> str:
    """Return the effective configuration as the column `value` of a trace shows it."""
    values = {
        **settings._asdict(),
        "evict_by_expected_reads": config.evict_by_expected_reads,
        "evict_by_mark_deleted": config.evict_by_mark_deleted,
        "grace_millis": config.effective_grace_millis,
        "storage_entry_size": config.storage_entry_size,
        "eviction": config.eviction.value,
    }
    return json.dumps(values, separators=(",", ":"))


@rule(Rule.INVALIDATE_7)
def invalidate_before(state: State, event: ops.InvalidateBefore, config: Config) -> Step:
    """Remove every entry of a cache below a position."""
    # GUARD: none.
    # DECISION: the entry at the position stays.
    positions = tuple(sorted(pos for pos in cache_of(state, event.cache).entries if pos < event.pos))

    # EFFECT and OUTCOME
    return remove_entries(state, event.cache, positions, Rule.INVALIDATE_7, "CURSOR")


@rule(Rule.INVALIDATE_8)
def invalidate_ledger(state: State, event: ops.InvalidateLedger, config: Config) -> Step:
    """Remove the entries of one ledger."""
    # GUARD: none.
    # DECISION: all entries of that ledger.
    entries = cache_of(state, event.cache).entries
    positions = tuple(sorted(pos for pos in entries if pos.ledger == event.ledger))

    # EFFECT and OUTCOME
    return remove_entries(state, event.cache, positions, Rule.INVALIDATE_8, "LEDGER")


@rule(Rule.INVALIDATE_9)
def remove_cache(state: State, event: ops.RemoveCache, config: Config) -> Step:
    """Remove a cache from the manager."""
    # GUARD: none.
    # DECISION: all its entries leave; cursors, grace period and holds stay.
    positions = tuple(sorted(cache_of(state, event.cache).entries))
    cleared = remove_entries(state, event.cache, positions, Rule.INVALIDATE_9, "CLOSE")

    # EFFECT: the next step that names it opens it again.
    closed = cache_of(cleared.state, event.cache)._replace(is_open=False)
    after = cleared.state._replace(caches={**cleared.state.caches, event.cache: closed})

    # OUTCOME
    rows = (*cleared.rows, close_row(after, event.cache))
    return Step(after, Done(), rows, (Part(state, ops.Clear(event.cache), cleared),))


@rule(Rule.METRICS_7)
def metrics(state: State, event: ops.Metrics, config: Config) -> Step:
    """Return the counters since the start of the run."""
    # GUARD: none.  DECISION: none.  EFFECT: none.
    # OUTCOME
    values = {**state.counts._asdict(), "bytes": state.size_bytes}
    row = value_row(Rule.METRICS_7, "METRICS", state, json.dumps(values, separators=(",", ":")))
    return Step(state, Counters(**values), (row,))
