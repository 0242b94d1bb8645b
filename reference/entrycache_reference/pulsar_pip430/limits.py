"""The two thresholds of the manager's bytes.

Beside: RangeEntryCacheManagerImpl.updateCacheSizeAndThreshold (managed-ledger 4.2.4)
"""

from __future__ import annotations

from entrycache_reference.pulsar_pip430.state import State
from entrycache_reference.rules import Rule, rule


@rule(Rule.TRIGGER_1)
def trigger_bytes(state: State) -> int:
    """The bytes above which an insert triggers a size pass: the IEEE product, truncated."""
    return int(state.settings.max_size_bytes * 0.98)


@rule(Rule.TRIGGER_1)
def target_bytes(state: State) -> int:
    """The bytes down to which a triggered size pass frees: the IEEE product, truncated."""
    return int(state.settings.max_size_bytes * state.settings.watermark)


@rule(Rule.TRIGGER_2, Rule.TRIGGER_5, Rule.TRIGGER_6, Rule.TRIGGER_8)
def bytes_over(state: State) -> int:
    """What a size pass has to free now: nothing at or under the trigger, else what lies above the target."""
    if state.size_bytes <= trigger_bytes(state):
        return 0
    return max(0, state.size_bytes - target_bytes(state))
