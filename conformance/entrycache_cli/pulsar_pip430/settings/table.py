"""The cache's settings: names, units, defaults, and the releases that know them.

Names, types, defaults and whether a setting can be changed while the broker runs are those of the class
`org.apache.pulsar.broker.ServiceConfiguration` of 4.0.8, 4.2.4 and 5.0.0-M1. That class of 5.0.1 cannot be
had; what 5.0.1 does with a value was read from its ManagedLedgerClientFactory and BrokerService, and its one
other default from pull request 26627.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from entrycache_cli.pulsar_pip430.settings.era import Era
from entrycache_cli.settings import kinds
from entrycache_cli.settings.kinds import Kind, Value

MEGABYTE: Final = 1 << 20
ALL: Final = frozenset(Era)
SINCE_4_2: Final = frozenset({Era.PULSAR_4_2, Era.PULSAR_5_0})
NONE: Final[frozenset[Era]] = frozenset()

Default = Callable[[Era, int], Value]
"""The default in an era, on a machine with so many bytes of direct memory."""


class Setting(NamedTuple):
    """One line of broker.conf. `key`: what it is called in a case; None: cases do not have it."""

    name: str
    kind: Kind
    unit: str
    default: Default
    key: str | None = None
    dynamic: bool = False
    eras: frozenset[Era] = ALL


def always(value: Value) -> Default:
    """The same default everywhere."""
    return lambda era, direct_memory_bytes: value


def cache_size_mb(era: Era, direct_memory_bytes: int) -> Value:
    """A fifth of the direct memory, at least 64 MB."""
    return max(64, direct_memory_bytes // 5 // MEGABYTE)


def extends_accessed(era: Era, direct_memory_bytes: int) -> Value:
    """True until 5.0.0-M1, false since pull request 26627."""
    return era is not Era.PULSAR_5_0


def reads_in_flight(era: Era, direct_memory_bytes: int) -> Value:
    """Off; in 5.0 not set, which stands for a share of the direct memory."""
    return None if era is Era.PULSAR_5_0 else 0


CACHE_SIZE: Final = "managedLedgerCacheSizeMB"
COPY: Final = "managedLedgerCacheCopyEntries"
WATERMARK: Final = "managedLedgerCacheEvictionWatermark"
INTERVAL: Final = "managedLedgerCacheEvictionIntervalMs"
FREQUENCY: Final = "managedLedgerCacheEvictionFrequency"
TTL: Final = "managedLedgerCacheEvictionTimeThresholdMillis"
MAX_REQUEUES: Final = "managedLedgerCacheEvictionExtendTTLOfEntriesWithRemainingExpectedReadsMaxTimes"
EXTEND_ACCESSED: Final = "managedLedgerCacheEvictionExtendTTLOfRecentlyAccessed"
GRACE: Final = "managedLedgerContinueCachingAddedEntriesAfterLastActiveCursorLeavesMillis"
BY_EXPECTED: Final = "cacheEvictionByExpectedReadCount"
BY_MARK_DELETED: Final = "cacheEvictionByMarkDeletedPosition"
BACKLOGGED: Final = "managedLedgerCursorBackloggedThreshold"
MIN_CURSORS: Final = "managedLedgerMinimumBacklogCursorsForCaching"
MIN_BACKLOG: Final = "managedLedgerMinimumBacklogEntriesForCaching"
MAX_BETWEEN: Final = "managedLedgerMaxBacklogBetweenCursorsForCaching"
IN_FLIGHT: Final = "managedLedgerMaxReadsInFlightSizeInMB"
IN_FLIGHT_TIMEOUT: Final = "managedLedgerMaxReadsInFlightPermitsAcquireTimeoutMillis"
IN_FLIGHT_QUEUE: Final = "managedLedgerMaxReadsInFlightPermitsAcquireQueueSize"
RECEIVE_MINIMUM: Final = "brokerAdaptiveRecvByteBufAllocatorMinimumSize"
RECEIVE_INITIAL: Final = "brokerAdaptiveRecvByteBufAllocatorInitialSize"
RECEIVE_MAXIMUM: Final = "brokerAdaptiveRecvByteBufAllocatorMaximumSize"

SETTINGS: Final = {
    setting.name: setting
    for setting in (
        Setting(CACHE_SIZE, kinds.COUNT, "MB", cache_size_mb, "max_size_bytes", dynamic=True),
        Setting(WATERMARK, kinds.SHARE, "share of the limit", always(0.9), "watermark", dynamic=True),
        Setting(TTL, kinds.MILLIS, "ms", always(1000), "ttl_nanos", dynamic=True),
        Setting(INTERVAL, kinds.INTERVAL, "ms", always(10)),
        Setting(FREQUENCY, kinds.RATE, "passes a second", always(0.0)),
        Setting(COPY, kinds.FLAG, "", always(False)),
        Setting(BY_EXPECTED, kinds.FLAG, "", always(True), "evict_by_expected_reads", eras=SINCE_4_2),
        Setting(MAX_REQUEUES, kinds.COUNT, "times", always(5), "max_requeues", dynamic=True, eras=SINCE_4_2),
        Setting(EXTEND_ACCESSED, kinds.FLAG, "", extends_accessed, "extend_recently_accessed", True, SINCE_4_2),
        Setting(GRACE, kinds.MILLIS, "ms", always(None), "grace_millis", eras=SINCE_4_2),
        Setting(BY_MARK_DELETED, kinds.FLAG, "", always(False), "evict_by_mark_deleted"),
        Setting(BACKLOGGED, kinds.THRESHOLD, "entries", always(1000)),
        Setting(MIN_CURSORS, kinds.COUNT, "cursors", always(0), dynamic=True),
        Setting(MIN_BACKLOG, kinds.COUNT, "entries", always(1000), dynamic=True),
        Setting(MAX_BETWEEN, kinds.COUNT, "entries", always(1000), dynamic=True),
        Setting(IN_FLIGHT, kinds.LIMIT, "MB", reads_in_flight),
        Setting(IN_FLIGHT_TIMEOUT, kinds.LONG, "ms", always(60_000)),
        Setting(IN_FLIGHT_QUEUE, kinds.COUNT, "reads", always(50_000)),
        Setting(RECEIVE_MINIMUM, kinds.COUNT, "bytes", always(1024), eras=NONE),
        Setting(RECEIVE_INITIAL, kinds.COUNT, "bytes", always(16_384), eras=NONE),
        Setting(RECEIVE_MAXIMUM, kinds.COUNT, "bytes", always(1_048_576), eras=NONE),
    )
}
"""Every setting of the cache, by its name in broker.conf."""
