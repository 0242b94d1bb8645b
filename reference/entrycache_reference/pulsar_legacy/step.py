"""The dispatch: `FUNCTIONS` maps each operation to its function, and `step` calls it."""

from collections.abc import Callable
from typing import Any, Final

from entrycache_reference.pulsar_legacy import entries, ops, passes, remove
from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.state import State, Step
from entrycache_reference.rules import Rule, rule

FUNCTIONS: Final[dict[type[ops.Op], Callable[[State, Any, Config], Step]]] = {
    ops.Insert: entries.insert,
    ops.Get: entries.get,
    ops.GetRange: entries.get_range,
    ops.Exists: entries.exists,
    ops.RemoveRange: remove.remove_range,
    ops.Clear: remove.clear,
    ops.InvalidateBefore: remove.invalidate_before,
    ops.InvalidateLedger: remove.invalidate_ledger,
    ops.RemoveCache: remove.remove_cache,
    ops.Usage: entries.usage,
    ops.Observe: entries.observe,
    ops.Advance: entries.advance,
    ops.Expire: passes.expire,
    ops.Evict: passes.evict,
    ops.EvictCache: passes.evict_cache,
    ops.RunScheduled: passes.run_scheduled,
    ops.Read: entries.read,
    ops.ReadOne: entries.read_one,
}
"""The function of each operation."""


@rule(Rule.L_STATE_3, Rule.L_LIVENESS_2)
def step(state: State, event: ops.Op, config: Config) -> Step:
    """Return the result of one event. Pure and total: the given state is never changed."""
    return FUNCTIONS[type(event)](state, event, config)
