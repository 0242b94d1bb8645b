"""One step: dispatch by the type of the event, one function an operation.

Beside: RangeEntryCacheManagerImpl.getEntryCache (managed-ledger 4.2.4)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from entrycache_reference.pulsar_pip430 import (
    count,
    cursors,
    lookup,
    manage,
    ops,
    passes,
    remove,
    storage_reads,
    trigger,
    views,
)
from entrycache_reference.pulsar_pip430.change import EMPTY, cache_of
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.outcomes import Refused
from entrycache_reference.pulsar_pip430.rows import open_row
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT, CacheName

FUNCTIONS: Final[dict[type[ops.Op], Callable[[State, Any, Config], Step]]] = {
    ops.Insert: trigger.offer,
    ops.Get: lookup.get,
    ops.GetRange: lookup.get_range,
    ops.Exists: lookup.exists,
    ops.RemoveRange: remove.remove_range,
    ops.Clear: remove.clear,
    ops.Usage: views.usage,
    ops.Observe: views.observe,
    ops.Advance: views.advance,
    ops.Expire: passes.expire,
    ops.Evict: passes.evict,
    ops.MarkRead: count.mark_read,
    ops.ExpectRead: count.expect_read,
    ops.Cycle: trigger.cycle,
    ops.RunScheduled: trigger.run_scheduled,
    ops.Configure: manage.configure,
    ops.InvalidateBefore: manage.invalidate_before,
    ops.InvalidateLedger: manage.invalidate_ledger,
    ops.RemoveCache: manage.remove_cache,
    ops.Metrics: manage.metrics,
    ops.Read: storage_reads.read,
    ops.ReadOne: storage_reads.read_one,
    ops.Release: storage_reads.release,
    ops.CursorAdd: cursors.cursor_add,
    ops.CursorMove: cursors.cursor_move,
    ops.CursorRemove: cursors.cursor_remove,
    ops.CursorRank: cursors.cursor_rank,
    ops.Slowest: cursors.slowest,
    ops.Cursors: cursors.cursors,
    ops.ShouldCache: cursors.should_cache,
}
"""The function of each operation."""


@rule(Rule.STATE_9, Rule.CURSOR_6)
def opened(state: State, name: CacheName) -> State:
    """The state with the cache of that name there; where it is new its grace period starts now."""
    if name in state.caches:
        cache = cache_of(state, name)._replace(is_open=True)
    else:
        cache = EMPTY._replace(grace_start_nanos=state.now_nanos)
    return state._replace(caches={**state.caches, name: cache})


def is_open(state: State, name: CacheName) -> bool:
    """Whether the manager knows a cache of that name."""
    return name in state.caches and state.caches[name].is_open


@rule(Rule.STATE_9, Rule.STATE_5, Rule.LIVENESS_2)
def step(state: State, event: ops.Op, config: Config) -> Step:
    """What one event makes of a state. Pure and total: the state that came in is never changed.

    The first event, not refused, that names a cache opens it.
    """
    function = FUNCTIONS[type(event)]
    name = getattr(event, "cache", ABSENT)
    if name is ABSENT or is_open(state, name):
        return function(state, event, config)
    done = function(opened(state, name), event, config)
    if isinstance(done.outcome, Refused):
        return Step(state, done.outcome, ())
    return done._replace(rows=(open_row(state, name), *done.rows))
