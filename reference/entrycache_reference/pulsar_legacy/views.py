"""The operations that only look at sums, `usage` and `observe`, and the one that lets time pass, `advance`.

Beside: EntryCache.getSize, RangeEntryCacheManagerImpl.getSize (managed-ledger 4.0.8)
"""

from __future__ import annotations

from entrycache_reference.pulsar_legacy.change import cache_of, positions_of
from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.ops import Advance, Observe, Usage
from entrycache_reference.pulsar_legacy.outcomes import CacheView, Done, Observed, Used
from entrycache_reference.pulsar_legacy.passes import REFUSED
from entrycache_reference.pulsar_legacy.state import State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT


@rule(Rule.L_METRICS_1, Rule.L_STATE_4)
def usage(state: State, event: Usage, config: Config) -> Step:
    """Entries and bytes of one cache, or of all."""
    # GUARD: none.  DECISION: one cache, or all.  EFFECT: none.
    # OUTCOME
    if event.cache is ABSENT:
        entries = sum(len(cache.entries) for cache in state.caches.values())
        return Step(state, Used(entries, state.size_bytes), ())
    cache = cache_of(state, event.cache)
    return Step(state, Used(len(cache.entries), cache.size_bytes), ())


@rule(Rule.L_METRICS_2, Rule.L_STATE_4)
def observe(state: State, event: Observe, config: Config) -> Step:
    """The whole state; caches without entries are left out."""
    # GUARD: none.  DECISION: none.  EFFECT: none.
    # OUTCOME
    caches = {
        name: CacheView(state.caches[name].size_bytes, positions_of(state, name)) for name in sorted(state.caches)
    }
    return Step(state, Observed(state.now_nanos, state.size_bytes, caches), ())


@rule(Rule.L_STATE_2, Rule.L_STATE_3)
def advance(state: State, event: Advance, config: Config) -> Step:
    """Let virtual time pass."""
    # GUARD: time does not go back.
    if event.nanos < 0:
        return Step(state, REFUSED, ())

    # DECISION: none.
    # EFFECT: only the clock moves.
    # OUTCOME
    return Step(state._replace(now_nanos=state.now_nanos + event.nanos), Done(), ())
