"""The operations `configure`, `invalidate_before`, `invalidate_ledger`, `remove_cache` and `metrics`.

Beside: RangeEntryCacheManagerImpl.updateCacheSizeAndThreshold, .removeEntryCache (managed-ledger 4.2.4)
"""

from __future__ import annotations

import json

from entrycache_reference.pulsar_pip430.change import cache_of
from entrycache_reference.pulsar_pip430.config import Config, Settings
from entrycache_reference.pulsar_pip430.ops import (
    Clear,
    Configure,
    InvalidateBefore,
    InvalidateLedger,
    Metrics,
    RemoveCache,
)
from entrycache_reference.pulsar_pip430.outcomes import Counters, Done, ErrorKind, Refused
from entrycache_reference.pulsar_pip430.remove import removal
from entrycache_reference.pulsar_pip430.rows import close_row, value_row
from entrycache_reference.pulsar_pip430.state import Part, State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT


@rule(Rule.CONFIG_2)
def is_refused(event: Configure, config: Config) -> bool:
    """Whether these settings are refused, all of them."""
    numbers = (event.max_size_bytes, event.ttl_nanos, event.max_requeues)
    if any(number is not ABSENT and number < 0 for number in numbers):
        return True
    if event.watermark is not ABSENT and not 0 <= event.watermark <= 1:
        return True
    return event.max_size_bytes is not ABSENT and (event.max_size_bytes == 0 or config.max_size_bytes == 0)


@rule(Rule.CONFIG_1)
def merged(settings: Settings, event: Configure) -> Settings:
    """The settings with those that the event names."""
    return Settings(
        settings.max_size_bytes if event.max_size_bytes is ABSENT else event.max_size_bytes,
        settings.watermark if event.watermark is ABSENT else event.watermark,
        settings.ttl_nanos if event.ttl_nanos is ABSENT else event.ttl_nanos,
        settings.max_requeues if event.max_requeues is ABSENT else event.max_requeues,
        settings.extend_recently_accessed
        if event.extend_recently_accessed is ABSENT
        else event.extend_recently_accessed,
    )


@rule(Rule.CONFIG_1, Rule.CONFIG_2, Rule.CONFIG_3, Rule.CONFIG_4)
def configure(state: State, event: Configure, config: Config) -> Step:
    """Change settings while the run goes on."""
    # GUARD: one wrong setting, and none is changed.
    if is_refused(event, config):
        return Step(state, Refused(ErrorKind.ILLEGAL_ARGUMENT), ())

    # DECISION: none.
    # EFFECT: the settings only; the grace period stays that of the configuration.
    after = state._replace(settings=merged(state.settings, event))

    # OUTCOME
    return Step(after, Done(), (value_row(Rule.CONFIG_1, "CONFIG", after, config_value(config, after.settings)),))


def config_value(config: Config, settings: Settings) -> str:
    """The configuration in force, as the column `value` of a trace shows it."""
    shown = {
        **settings._asdict(),
        "evict_by_expected_reads": config.evict_by_expected_reads,
        "evict_by_mark_deleted": config.evict_by_mark_deleted,
        "grace_millis": config.effective_grace_millis,
        "storage_entry_size": config.storage_entry_size,
        "eviction": config.eviction.value,
    }
    return json.dumps(shown, separators=(",", ":"))


@rule(Rule.INVALIDATE_7)
def invalidate_before(state: State, event: InvalidateBefore, config: Config) -> Step:
    """Drop every entry of a cache below a position."""
    # GUARD: none.
    # DECISION: the entry at the position stays.
    positions = tuple(sorted(pos for pos in cache_of(state, event.cache).entries if pos < event.pos))

    # EFFECT and OUTCOME
    return removal(state, event.cache, positions, Rule.INVALIDATE_7, "CURSOR")


@rule(Rule.INVALIDATE_8)
def invalidate_ledger(state: State, event: InvalidateLedger, config: Config) -> Step:
    """Drop the entries of one ledger."""
    # GUARD: none.
    # DECISION: all entries of that ledger.
    entries = cache_of(state, event.cache).entries
    positions = tuple(sorted(pos for pos in entries if pos.ledger == event.ledger))

    # EFFECT and OUTCOME
    return removal(state, event.cache, positions, Rule.INVALIDATE_8, "LEDGER")


@rule(Rule.INVALIDATE_9)
def remove_cache(state: State, event: RemoveCache, config: Config) -> Step:
    """Take a cache out of the manager."""
    # GUARD: none.
    # DECISION: all its entries leave; cursors, grace period and holds stay.
    positions = tuple(sorted(cache_of(state, event.cache).entries))
    cleared = removal(state, event.cache, positions, Rule.INVALIDATE_9, "CLOSE")

    # EFFECT: the next step that names it opens it again.
    closed = cache_of(cleared.state, event.cache)._replace(is_open=False)
    after = cleared.state._replace(caches={**cleared.state.caches, event.cache: closed})

    # OUTCOME
    rows = (*cleared.rows, close_row(after, event.cache))
    return Step(after, Done(), rows, (Part(state, Clear(event.cache), cleared),))


@rule(Rule.METRICS_7)
def metrics(state: State, event: Metrics, config: Config) -> Step:
    """The counters since the start of the run."""
    # GUARD: none.  DECISION: none.  EFFECT: none.
    # OUTCOME
    shown = {**state.counts._asdict(), "bytes": state.size_bytes}
    row = value_row(Rule.METRICS_7, "METRICS", state, json.dumps(shown, separators=(",", ":")))
    return Step(state, Counters(**shown), (row,))
