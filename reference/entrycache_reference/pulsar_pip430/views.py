"""The operations that only look, `usage` and `observe`, and the one that lets time pass, `advance`.

Beside: RangeCache.getSize, .getNumberOfEntries, RangeEntryCacheManagerImpl.getSize (managed-ledger 4.2.4)
"""

from __future__ import annotations

from entrycache_reference.pulsar_pip430.change import cache_of
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.ops import Advance, Observe, Usage
from entrycache_reference.pulsar_pip430.outcomes import CacheView, Done, ErrorKind, Observed, Refused, SlotView, Used
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT


@rule(Rule.METRICS_1, Rule.METRICS_2, Rule.STATE_7)
def usage(state: State, event: Usage, config: Config) -> Step:
    """Entries and bytes of one cache, or of all."""
    # GUARD: none.  DECISION: one cache, or all.  EFFECT: none.
    # OUTCOME
    if event.cache is ABSENT:
        entries = sum(len(cache.entries) for cache in state.caches.values())
        return Step(state, Used(entries, state.size_bytes), ())
    cache = cache_of(state, event.cache)
    return Step(state, Used(len(cache.entries), cache.size_bytes), ())


@rule(Rule.STATE_7)
def observe(state: State, event: Observe, config: Config) -> Step:
    """The whole state; caches without entries are left out."""
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


@rule(Rule.STATE_4, Rule.STATE_6)
def advance(state: State, event: Advance, config: Config) -> Step:
    """Let virtual time pass."""
    # GUARD: time does not go back.
    if event.nanos < 0:
        return Step(state, Refused(ErrorKind.ILLEGAL_ARGUMENT), ())

    # DECISION: none.
    # EFFECT: only the clock moves.
    after = state._replace(now_nanos=state.now_nanos + event.nanos)

    # OUTCOME
    return Step(after, Done(), ())
