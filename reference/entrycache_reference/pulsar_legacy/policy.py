"""The size pass over all caches: which of them give, and how much each.

Beside: EntryCacheDefaultEvictionPolicy.doEviction (managed-ledger 4.0.8)
"""

from __future__ import annotations

from math import trunc
from typing import Final

from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.ops import Evict, EvictCache
from entrycache_reference.pulsar_legacy.outcomes import Removed
from entrycache_reference.pulsar_legacy.passes import REFUSED, evict_cache
from entrycache_reference.pulsar_legacy.rows import pass_row
from entrycache_reference.pulsar_legacy.state import Part, Row, State, Step
from entrycache_reference.pulsar_legacy.thresholds import with_thresholds
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import CacheName

PASS_SHARE: Final = 0.5
"""The share of all bytes that the caches hold which give."""


@rule(Rule.L_EVICT_3, Rule.L_EVICT_4)
def by_size(state: State) -> tuple[CacheName, ...]:
    """The caches from the largest to the smallest; those of one size by their names."""
    return tuple(sorted(state.caches, key=lambda name: (-state.caches[name].size_bytes, name)))


@rule(Rule.L_EVICT_3)
def givers(state: State) -> tuple[CacheName, ...]:
    """The caches that give: the largest, until they hold half of all bytes, truncated."""
    quota_bytes = trunc(state.size_bytes * PASS_SHARE)
    taken: list[CacheName] = []
    sum_bytes = 0
    for name in by_size(state):
        if sum_bytes >= quota_bytes:
            break
        taken.append(name)
        sum_bytes += state.caches[name].size_bytes
    return tuple(taken)


@rule(Rule.L_EVICT_5)
def share(amount_bytes: int, cache_bytes: int, sum_bytes: int) -> int:
    """What one cache is to give of an amount: its part of the sum, then of the amount, in doubles, truncated."""
    return int(float(amount_bytes) * (float(cache_bytes) / float(sum_bytes)))


@rule(Rule.L_EVICT_3, Rule.L_EVICT_4, Rule.L_EVICT_5, Rule.L_STATE_3, Rule.L_STATE_5)
def evict(state: State, event: Evict, config: Config, origin: str = "CALL") -> Step:
    """Run a size pass over all caches; `origin` is that of its rows."""
    # GUARD: an amount of 0 or less is refused.
    if event.bytes <= 0:
        return Step(state, REFUSED, ())

    # DECISION: who gives, and how much.
    names = givers(state)
    sum_bytes = sum(state.caches[name].size_bytes for name in names)
    shares = {name: share(event.bytes, state.caches[name].size_bytes, sum_bytes) for name in names}

    # EFFECT: each gives its share, in that order; a share of 0 is left out.
    after = state
    parts: tuple[Part, ...] = ()
    for name, share_bytes in shares.items():
        if share_bytes > 0:
            part = EvictCache(name, share_bytes)
            done = evict_cache(after, part, config)
            parts += (Part(after, part, done),)
            after = done.state

    # OUTCOME: what all of them gave.
    rows = pass_rows(state, after, event.bytes, config, origin, parts)
    return Step(after, all_of(parts), rows, parts, names)


@rule(Rule.L_STATE_5)
def all_of(parts: tuple[Part, ...]) -> Removed:
    """The sum of what the caches gave."""
    entries = freed_bytes = 0
    for part in parts:
        assert isinstance(part.step.outcome, Removed)
        entries += part.step.outcome.entries
        freed_bytes += part.step.outcome.bytes
    return Removed(entries, freed_bytes)


def pass_rows(
    before: State, after: State, need_bytes: int, config: Config, origin: str, parts: tuple[Part, ...]
) -> tuple[Row, ...]:
    """The rows of the pass: one of its own around what left; what it asked of each cache is not shown."""
    begin = with_thresholds(pass_row(Rule.L_EVICT_3, "PASS_BEGIN", "SIZE", origin, before, need_bytes), config)
    end = with_thresholds(pass_row(Rule.L_EVICT_5, "PASS_END", "SIZE", origin, after, need_bytes), config)
    return (begin, *(row for part in parts for row in part.step.rows if row.op == "EVICT"), end)
