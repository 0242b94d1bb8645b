"""One step: dispatch by the type of the event, and the operations that only observe or let time pass.

`FUNCTIONS` maps each operation to its function. `step` opens the cache that an event names, calls that function and
returns its `Step`; a refused event changes nothing. `usage` and `observe` read the state, `advance` moves the clock.

Beside: RangeEntryCacheManagerImpl.getEntryCache, .getSize (managed-ledger 4.2.4)
Beside: RangeCache.getSize, .getNumberOfEntries (managed-ledger 4.2.4)
"""

from collections.abc import Callable
from typing import Any, Final

from entrycache_reference.pulsar_pip430 import (
    cursors,
    entries,
    ledger,
    ledger_cursors,
    manager,
    ops,
    passes,
    pending_reads,
    reads_in_flight,
    storage_reads,
)
from entrycache_reference.pulsar_pip430.change import EMPTY_CACHE, cache_of, open_row
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.ops import Advance, Observe, Usage
from entrycache_reference.pulsar_pip430.outcomes import CacheView, ErrorKind, Observed, Refused, SlotView, Used
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT, CacheName


@rule(Rule.METRICS_1, Rule.METRICS_2, Rule.STATE_7)
def usage(state: State, event: Usage, config: Config) -> Step:
    """Return the entries and bytes of one cache, or of all."""
    # GUARD: none.  DECISION: one cache, or all.  EFFECT: none.
    # OUTCOME
    if event.cache is ABSENT:
        entries = sum(len(cache.entries) for cache in state.caches.values())
        return Step(state, Used(entries, state.size_bytes), ())
    cache = cache_of(state, event.cache)
    return Step(state, Used(len(cache.entries), cache.size_bytes), ())


@rule(Rule.STATE_7)
def observe(state: State, event: Observe, config: Config) -> Step:
    """Return the whole state; caches without entries are left out."""
    # GUARD: none.  DECISION: none.  EFFECT: none.
    # OUTCOME
    caches = {
        name: CacheView(state.caches[name].size_bytes, tuple(sorted(state.caches[name].entries)))
        for name in sorted(state.caches)
        if state.caches[name].entries
    }
    live: list[SlotView] = []
    for slot in state.queue:
        if slot is not None:
            entry = state.caches[slot.cache].entries[slot.pos]
            age_nanos = state.now_nanos - entry.stamp_nanos
            live.append(
                SlotView(
                    slot.cache,
                    slot.pos,
                    entry.size_bytes,
                    age_nanos,
                    entry.requeues,
                    entry.accessed,
                    entry.expected_reads,
                )
            )
    tombstones = len(state.queue) - len(live)
    return Step(state, Observed(state.now_nanos, state.size_bytes, caches, tuple(live), tombstones), ())


@rule(Rule.STATE_4, Rule.STATE_6, Rule.LIMIT_6)
def advance(state: State, event: Advance, config: Config) -> Step:
    """Let virtual time pass."""
    # GUARD: time does not go back.
    if event.nanos < 0:
        return Step(state, Refused(ErrorKind.ILLEGAL_ARGUMENT), ())

    # DECISION: none.
    # EFFECT: the clock moves, and who has waited too long for permits fails.
    after = state._replace(now_nanos=state.now_nanos + event.nanos)

    # OUTCOME
    return reads_in_flight.time_out(after, config)


# The dispatch.

FUNCTIONS: Final[dict[type[ops.Op], Callable[[State, Any, Config], Step]]] = {
    ops.Insert: manager.offer,
    ops.Get: entries.get,
    ops.GetRange: entries.get_range,
    ops.Exists: entries.exists,
    ops.RemoveRange: manager.remove_range,
    ops.Clear: manager.clear,
    ops.Usage: usage,
    ops.Observe: observe,
    ops.Advance: advance,
    ops.Expire: passes.expire,
    ops.Evict: passes.evict,
    ops.MarkRead: entries.mark_read,
    ops.ExpectRead: entries.expect_read,
    ops.Cycle: manager.cycle,
    ops.RunScheduled: manager.run_scheduled,
    ops.Configure: manager.configure,
    ops.InvalidateBefore: manager.invalidate_before,
    ops.InvalidateLedger: manager.invalidate_ledger,
    ops.RemoveCache: manager.remove_cache,
    ops.Metrics: manager.metrics,
    ops.Read: storage_reads.read,
    ops.ReadOne: storage_reads.read_one,
    ops.Release: reads_in_flight.release,
    ops.CursorAdd: cursors.cursor_add,
    ops.CursorMove: cursors.cursor_move,
    ops.CursorRemove: cursors.cursor_remove,
    ops.CursorRank: cursors.cursor_rank,
    ops.Slowest: cursors.slowest,
    ops.Cursors: cursors.cursors,
    ops.ShouldCache: cursors.should_cache,
    ops.Append: ledger.append,
    ops.CursorOpen: ledger_cursors.cursor_open,
    ops.CursorRead: ledger_cursors.cursor_read,
    ops.CursorSeek: ledger_cursors.cursor_seek,
    ops.CursorReset: ledger_cursors.cursor_reset,
    ops.MarkDelete: ledger_cursors.mark_delete,
    ops.Ack: ledger_cursors.ack,
    ops.Activate: ledger_cursors.activate,
    ops.Deactivate: ledger_cursors.deactivate,
    ops.CursorClose: ledger_cursors.cursor_close,
    ops.ReplayAdd: reads_in_flight.replay_add,
    ops.ReplayRead: ledger_cursors.replay_read,
    ops.DeleteLedger: ledger.delete_ledger,
    ops.CheckBacklogs: ledger.check_backlogs,
    ops.RunInvalidations: ledger.run_invalidations,
    ops.CursorState: ledger_cursors.cursor_state,
    ops.Acquire: storage_reads.acquire,
    ops.GiveBack: storage_reads.give_back,
    ops.LimiterState: storage_reads.limiter_state,
    ops.Fetch: pending_reads.fetch,
    ops.ReadBegin: reads_in_flight.read_begin,
    ops.ReplayBegin: reads_in_flight.replay_begin,
    ops.StorageAnswer: reads_in_flight.storage_answer,
}
"""The function of each operation."""


@rule(Rule.STATE_9, Rule.CURSOR_6)
def open_cache(state: State, name: CacheName) -> State:
    """Return the state in which the cache of that name exists; a new cache starts its grace period now."""
    if name in state.caches:
        cache = cache_of(state, name)._replace(is_open=True)
    else:
        cache = EMPTY_CACHE._replace(grace_start_nanos=state.now_nanos)
    return state._replace(caches={**state.caches, name: cache})


def is_open(state: State, name: CacheName) -> bool:
    """Return whether the manager knows a cache of that name."""
    return name in state.caches and state.caches[name].is_open


UNMANAGED: Final = (
    ops.Insert,
    ops.RemoveRange,
    ops.Clear,
    ops.MarkRead,
    ops.ExpectRead,
    ops.InvalidateBefore,
    ops.InvalidateLedger,
    ops.RemoveCache,
    ops.Read,
    ops.ReadOne,
    ops.CursorAdd,
    ops.CursorMove,
    ops.CursorRemove,
)
"""The operations that would change a cache past its managed ledger; a managed cache refuses them."""

MANAGED: Final = (*(op for op in ops.LEDGER_OPS if op is not ops.Append), ops.ReadBegin, ops.ReplayBegin)
"""The operations that only a managed cache takes; `append` opens one."""


@rule(Rule.LEDGER_20)
def is_misplaced(state: State, event: ops.Op) -> bool:
    """Return whether the cache of the event does not take it, because it is managed or is not."""
    name = getattr(event, "cache", ABSENT)
    if name is ABSENT:
        return False
    if name in state.managed:
        return isinstance(event, UNMANAGED)
    return isinstance(event, MANAGED) or (isinstance(event, ops.Append) and name in state.caches)


@rule(Rule.STATE_9, Rule.STATE_5, Rule.LIVENESS_2)
def step(state: State, event: ops.Op, config: Config) -> Step:
    """Return the result of one event. The function is pure and total: it never changes the state that it is given.

    The first event that names a cache, and is not refused, opens it.
    """
    if is_misplaced(state, event):
        return Step(state, Refused(ErrorKind.ILLEGAL_ARGUMENT), ())
    function = FUNCTIONS[type(event)]
    name = getattr(event, "cache", ABSENT)
    if name is ABSENT or is_open(state, name):
        return function(state, event, config)
    done = function(open_cache(state, name), event, config)
    if isinstance(done.outcome, Refused):
        return Step(state, done.outcome, ())
    return done._replace(rows=(open_row(state, name), *done.rows))
