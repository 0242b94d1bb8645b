"""One step: dispatch by the type of the event, one function an operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from entrycache_reference.pulsar_legacy import (
    insert,
    lookup,
    ops,
    passes,
    policy,
    remove,
    storage_reads,
    trigger,
    views,
)
from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.state import State, Step
from entrycache_reference.rules import Rule, rule

FUNCTIONS: Final[dict[type[ops.Op], Callable[[State, Any, Config], Step]]] = {
    ops.Insert: insert.insert,
    ops.Get: lookup.get,
    ops.GetRange: lookup.get_range,
    ops.Exists: lookup.exists,
    ops.RemoveRange: remove.remove_range,
    ops.Clear: remove.clear,
    ops.InvalidateBefore: remove.invalidate_before,
    ops.InvalidateLedger: remove.invalidate_ledger,
    ops.RemoveCache: remove.remove_cache,
    ops.Usage: views.usage,
    ops.Observe: views.observe,
    ops.Advance: views.advance,
    ops.Expire: passes.expire,
    ops.Evict: policy.evict,
    ops.EvictCache: passes.evict_cache,
    ops.RunScheduled: trigger.run_scheduled,
    ops.Read: storage_reads.read,
    ops.ReadOne: storage_reads.read_one,
}
"""The function of each operation."""


@rule(Rule.L_STATE_3, Rule.L_LIVENESS_2)
def step(state: State, event: ops.Op, config: Config) -> Step:
    """What one event makes of a state. Pure and total: the state that came in is never changed."""
    return FUNCTIONS[type(event)](state, event, config)
