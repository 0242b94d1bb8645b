"""The size pass that keeps the bytes below their limit: `insert` asks for it, `run_scheduled` runs one that waits.

Beside: RangeEntryCacheManagerImpl.hasSpaceInCache (managed-ledger 4.0.8)
"""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_legacy.config import Config, Eviction
from entrycache_reference.pulsar_legacy.ops import Evict, RunScheduled
from entrycache_reference.pulsar_legacy.outcomes import Removed
from entrycache_reference.pulsar_legacy.policy import evict
from entrycache_reference.pulsar_legacy.state import Part, State, Step
from entrycache_reference.pulsar_legacy.thresholds import amount_bytes, trigger_bytes
from entrycache_reference.rules import Rule, rule

NOTHING: Final = Removed(0, 0)


@rule(Rule.L_TRIGGER_6)
def relieve(state: State, need_bytes: int, config: Config) -> Step:
    """Run the size pass that an insert has asked for, unless there is nothing to free."""
    if need_bytes <= 0:
        return Step(state, NOTHING, ())
    done = evict(state, Evict(need_bytes), config, "TRIGGER")
    return Step(done.state, done.outcome, done.rows, (Part(state, Evict(need_bytes), done),))


@rule(Rule.L_TRIGGER_1, Rule.L_TRIGGER_2, Rule.L_TRIGGER_3, Rule.L_TRIGGER_4)
def ask(state: State, config: Config) -> Step:
    """What every insert does first: above the trigger it asks for a size pass, if none is scheduled."""
    if state.size_bytes <= trigger_bytes(config) or state.scheduled_bytes is not None:
        return Step(state, NOTHING, ())
    need_bytes = amount_bytes(state.size_bytes, config)
    if config.eviction is Eviction.MANUAL:
        return Step(state._replace(scheduled_bytes=need_bytes), NOTHING, ())
    return relieve(state, need_bytes, config)


@rule(Rule.L_TRIGGER_5, Rule.L_TRIGGER_6, Rule.L_STATE_5)
def run_scheduled(state: State, event: RunScheduled, config: Config) -> Step:
    """Run the size pass that is scheduled, with the amount of the moment in which it was asked for."""
    # GUARD: none is scheduled.
    if state.scheduled_bytes is None:
        return Step(state, NOTHING, ())

    # DECISION: none.
    # EFFECT and OUTCOME: what the pass removed; another one may be scheduled from now on.
    return relieve(state._replace(scheduled_bytes=None), state.scheduled_bytes, config)
