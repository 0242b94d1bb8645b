"""The size pass that keeps the bytes below their limit: `insert`, `cycle` and `run_scheduled` ask for it.

Beside: RangeEntryCacheManagerImpl.triggerEvictionWhenNeeded, .doCacheEviction (managed-ledger 4.2.4)
"""

from __future__ import annotations

from entrycache_reference.pulsar_pip430 import insert, passes
from entrycache_reference.pulsar_pip430.config import Config, Eviction
from entrycache_reference.pulsar_pip430.limits import bytes_over, trigger_bytes
from entrycache_reference.pulsar_pip430.ops import Cycle, Evict, Expire, Insert, RunScheduled
from entrycache_reference.pulsar_pip430.outcomes import Inserted, Removed
from entrycache_reference.pulsar_pip430.passes import Origin, PassKind
from entrycache_reference.pulsar_pip430.state import Part, State, Step
from entrycache_reference.rules import Rule, rule

NOTHING = Removed(0, 0)


@rule(Rule.METRICS_5)
def counted_cycle(state: State) -> State:
    """The state with one more size pass counted."""
    return state._replace(counts=state.counts._replace(eviction_cycles=state.counts.eviction_cycles + 1))


@rule(Rule.TRIGGER_2, Rule.TRIGGER_5, Rule.TRIGGER_6, Rule.TRIGGER_8, Rule.METRICS_5)
def evict_to_watermark(state: State, config: Config, origin: Origin) -> Step:
    """Run one size pass down to the target, if the bytes are above the trigger and above the target."""
    # GUARD: at or under the trigger, or with nothing above the target, no pass runs.
    need = bytes_over(state)
    if need == 0:
        return Step(state, NOTHING, ())

    # DECISION and EFFECT: the fold of the table; one cycle more.
    done = passes.run_pass(state, PassKind.SIZE, need, config, origin)

    # OUTCOME
    return Step(counted_cycle(done.state), done.outcome, done.rows, (Part(state, Evict(need), done),))


@rule(Rule.TRIGGER_2, Rule.TRIGGER_4)
def trigger_when_needed(state: State, config: Config) -> Step:
    """What an insert asks for: a size pass at once, or, with `eviction` manual, the flag for a later one."""
    if state.size_bytes <= trigger_bytes(state):
        return Step(state, NOTHING, ())
    if config.eviction is Eviction.MANUAL:
        return Step(state._replace(is_scheduled=True), NOTHING, ())
    return evict_to_watermark(state, config, Origin.TRIGGER)


@rule(Rule.TRIGGER_2, Rule.TRIGGER_3, Rule.TRIGGER_4, Rule.TRIGGER_9)
def offer(state: State, event: Insert, config: Config, cause: str = "ADD") -> Step:
    """Offer one entry to a cache, and run or schedule the size pass that it triggers; `cause` is that of the row."""
    # GUARD: what was not inserted triggers nothing.
    added = insert.insert(state, event, config, cause)
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
def cycle(state: State, event: Cycle, config: Config) -> Step:
    """Run the periodic task: a time pass, then a size pass if the bytes are still above the trigger."""
    # GUARD: none.
    # DECISION and EFFECT: both passes at once, whatever `eviction` says; the flag stays.
    cutoff = state.now_nanos - state.settings.ttl_nanos
    expired = passes.run_pass(state, PassKind.TIME, cutoff, config, Origin.CYCLE)
    relieved = evict_to_watermark(expired.state, config, Origin.CYCLE)

    # OUTCOME: what both removed.
    parts = (Part(state, Expire(), expired), *relieved.parts)
    return Step(relieved.state, both(expired, relieved), expired.rows + relieved.rows, parts)


@rule(Rule.TRIGGER_7)
def both(first: Step, second: Step) -> Removed:
    """The sum of what two passes removed."""
    entries = 0
    freed_bytes = 0
    for done in (first, second):
        assert isinstance(done.outcome, Removed)
        entries += done.outcome.entries
        freed_bytes += done.outcome.bytes
    return Removed(entries, freed_bytes)


@rule(Rule.TRIGGER_5, Rule.TRIGGER_7)
def run_scheduled(state: State, event: RunScheduled, config: Config) -> Step:
    """Run the size pass that an insert has scheduled, by the sizes of this moment."""
    # GUARD: nothing is scheduled.
    if not state.is_scheduled:
        return Step(state, NOTHING, ())

    # DECISION and EFFECT: the flag is cleared, whether there is still something to free or not.
    # OUTCOME: what the pass removed.
    return evict_to_watermark(state._replace(is_scheduled=False), config, Origin.TRIGGER)
