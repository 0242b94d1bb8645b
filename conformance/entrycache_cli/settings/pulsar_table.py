"""The cache settings of a Pulsar broker: names, units, defaults, and the eras that know them.

An `Era` is a line of releases with the same settings; a release stands for it. `SETTINGS` has a `Setting` for each name
of broker.conf. Names, types, defaults and whether a setting can be changed while the broker runs are those of the class
`org.apache.pulsar.broker.ServiceConfiguration` of 4.0.8, 4.2.4 and 5.0.0-M1. That class of 5.0.1 is not published. The
effect of a value in 5.0.1 was read from its ManagedLedgerClientFactory and BrokerService, and its one other default
from pull request 26627.
"""

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_cli.settings import properties
from entrycache_cli.settings.properties import GivenSetting, Kind, Value, read_properties
from entrycache_protocol.errors import UsageError


class Release(NamedTuple):
    """The release whose classes were read for an era, and the system that it implements."""

    version: str
    system: str


class Era(Enum):
    """A line of releases with the same settings; the value is its name on the command line."""

    PULSAR_4_0 = "4.0"
    PULSAR_4_2 = "4.2"
    PULSAR_5_0 = "5.0"

    @property
    def release(self) -> Release:
        """The release that stands for the era."""
        return RELEASES[self]


RELEASES = {
    Era.PULSAR_4_0: Release("4.0.8", "pulsar-legacy"),
    Era.PULSAR_4_2: Release("4.2.4", "pulsar-pip430"),
    Era.PULSAR_5_0: Release("5.0.1", "pulsar-pip430"),
}


def era_named(name: str) -> Era:
    """Return the era of a name.

    Raises:
        UsageError: there is no such era.
    """
    try:
        return Era(name)
    except ValueError:
        raise UsageError(f"unknown era {name!r}; expected one of: {', '.join(era.value for era in Era)}") from None


MEGABYTE: Final = 1 << 20
ALL_ERAS: Final = frozenset(Era)
SINCE_4_2: Final = frozenset({Era.PULSAR_4_2, Era.PULSAR_5_0})
NO_ERA: Final[frozenset[Era]] = frozenset()

Default = Callable[[Era, int], Value]
"""A function from an era and the bytes of direct memory to a default."""


class Setting(NamedTuple):
    """One line of broker.conf; `key` is its name in a case, or None if cases do not have it."""

    name: str
    kind: Kind
    unit: str
    default: Default
    key: str | None = None
    dynamic: bool = False
    eras: frozenset[Era] = ALL_ERAS


def same_default(value: Value) -> Default:
    """Return a default that is the same everywhere."""
    return lambda era, direct_memory_bytes: value


def default_cache_size_mb(era: Era, direct_memory_bytes: int) -> Value:
    """Return a fifth of the direct memory, at least 64 MB."""
    return max(64, direct_memory_bytes // 5 // MEGABYTE)


def default_extends_accessed(era: Era, direct_memory_bytes: int) -> Value:
    """Return True for releases until 5.0.0-M1, and False since pull request 26627."""
    return era is not Era.PULSAR_5_0


def default_reads_in_flight(era: Era, direct_memory_bytes: int) -> Value:
    """Return 0, which means off; in 5.0 return None, for which the broker computes `computed_reads_in_flight`."""
    return None if era is Era.PULSAR_5_0 else 0


def computed_reads_in_flight(direct_memory_bytes: int, read_bytes_max: int) -> int:
    """Return the MB that 5.0 computes: 15 % of the direct memory, at least one read (pull request 25979)."""
    return max(direct_memory_bytes * 15 // 100, read_bytes_max) // MEGABYTE


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

PUBLISH_BUFFER: Final = "maxMessagePublishBufferSizeInMB"
READ_BYTES_MAX: Final = "dispatcherMaxReadSizeBytes"
READ_BYTES_DEFAULT: Final = 5 << 20

OTHER_MEMORY: Final = {
    PUBLISH_BUFFER: properties.Kind("whole number", -properties.INT_MAX, properties.INT_MAX),
    READ_BYTES_MAX: properties.COUNT,
}
"""Settings that are not the cache's and are read, because they share the direct memory with it."""


def default_publish_buffer_mb(direct_memory_bytes: int) -> int:
    """Return half of the direct memory, at least 64 MB."""
    return max(64, direct_memory_bytes // 2 // MEGABYTE)


SETTINGS: Final = {
    setting.name: setting
    for setting in (
        Setting(CACHE_SIZE, properties.COUNT, "MB", default_cache_size_mb, "max_size_bytes", dynamic=True),
        Setting(WATERMARK, properties.SHARE, "share of the limit", same_default(0.9), "watermark", dynamic=True),
        Setting(TTL, properties.MILLIS, "ms", same_default(1000), "ttl_nanos", dynamic=True),
        Setting(INTERVAL, properties.INTERVAL, "ms", same_default(10)),
        Setting(FREQUENCY, properties.RATE, "passes a second", same_default(0.0)),
        Setting(COPY, properties.FLAG, "", same_default(False)),
        Setting(BY_EXPECTED, properties.FLAG, "", same_default(True), "evict_by_expected_reads", eras=SINCE_4_2),
        Setting(MAX_REQUEUES, properties.COUNT, "times", same_default(5), "max_requeues", dynamic=True, eras=SINCE_4_2),
        Setting(
            EXTEND_ACCESSED, properties.FLAG, "", default_extends_accessed, "extend_recently_accessed", True, SINCE_4_2
        ),
        Setting(GRACE, properties.MILLIS, "ms", same_default(None), "grace_millis", eras=SINCE_4_2),
        Setting(BY_MARK_DELETED, properties.FLAG, "", same_default(False), "evict_by_mark_deleted"),
        Setting(BACKLOGGED, properties.THRESHOLD, "entries", same_default(1000)),
        Setting(MIN_CURSORS, properties.COUNT, "cursors", same_default(0), dynamic=True),
        Setting(MIN_BACKLOG, properties.COUNT, "entries", same_default(1000), dynamic=True),
        Setting(MAX_BETWEEN, properties.COUNT, "entries", same_default(1000), dynamic=True),
        Setting(IN_FLIGHT, properties.LIMIT, "MB", default_reads_in_flight),
        Setting(IN_FLIGHT_TIMEOUT, properties.LONG, "ms", same_default(60_000)),
        Setting(IN_FLIGHT_QUEUE, properties.COUNT, "reads", same_default(50_000)),
        Setting(RECEIVE_MINIMUM, properties.COUNT, "bytes", same_default(1024), eras=NO_ERA),
        Setting(RECEIVE_INITIAL, properties.COUNT, "bytes", same_default(16_384), eras=NO_ERA),
        Setting(RECEIVE_MAXIMUM, properties.COUNT, "bytes", same_default(1_048_576), eras=NO_ERA),
    )
}
"""Every setting of the cache by its name in broker.conf."""


def read_broker_conf(path: Path) -> list[GivenSetting]:
    """Read every setting of a broker.conf in order, duplicates included.

    Raises:
        UsageError: see `read_properties`.
    """
    return read_properties(path, "the broker configuration", "a broker")
