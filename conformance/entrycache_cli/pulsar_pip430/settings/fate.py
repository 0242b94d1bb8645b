"""Whether a setting acts, with which value, and why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final, NamedTuple

from entrycache_cli.pulsar_pip430.settings import table
from entrycache_cli.pulsar_pip430.settings.era import Era
from entrycache_cli.settings.kinds import Value

LONGEST_INTERVAL_MILLIS: Final = 1_000_000


class Acts(Enum):
    """Whether the value in the file reaches the cache."""

    YES = "yes"
    NO = "no"
    DYNAMIC = "when changed dynamically"


class Fate(NamedTuple):
    """What becomes of a value: the one in force (None: nothing is) and, in words, why or with what effect."""

    acts: Acts
    in_force: Value
    why: str = ""


class Values(NamedTuple):
    """All values that a broker starts with, defaults filled in."""

    era: Era
    of: Mapping[str, Value]


def fate(name: str, values: Values) -> Fate:
    """What becomes of one setting beside the others."""
    setting = table.SETTINGS[name]
    if not setting.eras:
        why = f"not read; BrokerService.defaultServerBootstrap of {values.era.release.version} has constants"
        return Fate(Acts.NO, setting.default(values.era, 0), why)
    if values.era not in setting.eras:
        return Fate(Acts.NO, None, f"{values.era.release.version} has no such setting and passes over it")
    outlives = name == table.CACHE_SIZE or (name in LIMITER and values.era is Era.PULSAR_5_0)
    if values.of[table.CACHE_SIZE] == 0 and not outlives:
        return Fate(Acts.NO, None, f"caching is off, because {table.CACHE_SIZE} is 0")
    judge = JUDGES.get(name)
    return Fate(Acts.YES, values.of[name]) if judge is None else judge(values)


def _cache_size(values: Values) -> Fate:
    size = values.of[table.CACHE_SIZE]
    note = "caching is off; a cache opened now stays off even if the limit is raised" if size == 0 else ""
    return Fate(Acts.YES, size, note)


def _watermark(values: Values) -> Fate:
    share = values.of[table.WATERMARK]
    note = ""
    if isinstance(share, float) and share >= 0.98:
        note = "not below the trigger, 0.98 of the limit: a pass may find nothing to free"
    return Fate(Acts.YES, share, note)


def eviction_interval_millis(values: Values) -> int:
    """The pace of scheduled passes (ServiceConfiguration.getManagedLedgerCacheEvictionIntervalMs)."""
    frequency, interval = values.of[table.FREQUENCY], values.of[table.INTERVAL]
    assert isinstance(frequency, float) and isinstance(interval, int)
    if frequency > 0:
        return int(1000.0 / max(min(frequency, 1000.0), 0.001))
    return min(LONGEST_INTERVAL_MILLIS, interval)


def _interval(values: Values) -> Fate:
    millis = eviction_interval_millis(values)
    if values.of[table.FREQUENCY]:
        return Fate(Acts.NO, millis, f"{table.FREQUENCY} is above 0 and wins")
    cut = values.of[table.INTERVAL] != millis
    return Fate(Acts.YES, millis, f"cut to {LONGEST_INTERVAL_MILLIS}" if cut else "")


def _frequency(values: Values) -> Fate:
    frequency = values.of[table.FREQUENCY]
    if not frequency:
        return Fate(Acts.NO, None, f"deprecated; 0 leaves the pace to {table.INTERVAL}")
    return Fate(Acts.YES, frequency, f"deprecated; a pass every {eviction_interval_millis(values)} ms")


def _only_dynamic(name: str, at_start: Value) -> Callable[[Values], Fate]:
    def judge(values: Values) -> Fate:
        note = ""
        if name == table.MAX_REQUEUES and not values.of[table.BY_EXPECTED]:
            note = f"{table.BY_EXPECTED} is false: only entries read in a backlog carry a count"
        if values.era is not Era.PULSAR_4_2:
            return Fate(Acts.YES, values.of[name], note)
        shown = str(at_start).lower()
        why = f"ManagedLedgerClientFactory does not pass it on: {shown} holds from the start until it is changed"
        return Fate(Acts.DYNAMIC, at_start, "; ".join(part for part in (why, note) if part))

    return judge


def _grace(values: Values) -> Fate:
    if not values.of[table.BY_EXPECTED]:
        return Fate(Acts.NO, 0, f"{table.BY_EXPECTED} is false, and the other container of cursors has no grace period")
    if values.era is Era.PULSAR_4_2:
        return Fate(Acts.NO, 0, "stored in ManagedLedgerFactoryConfig and read by nothing: the grace period is off")
    given = values.of[table.GRACE]
    ttl = values.of[table.TTL]
    assert isinstance(ttl, int)
    return Fate(Acts.YES, 2 * ttl if given is None else given, f"not set: 2 x {table.TTL}" if given is None else "")


def _mark_deleted(values: Values) -> Fate:
    if values.era in table.SINCE_4_2 and values.of[table.BY_EXPECTED]:
        return Fate(Acts.NO, False, f"{table.BY_EXPECTED} is true, and then BrokerService sets it to false")
    return Fate(Acts.YES, values.of[table.BY_MARK_DELETED])


def _backlog(name: str) -> Callable[[Values], Fate]:
    def judge(values: Values) -> Fate:
        if values.era in table.SINCE_4_2 and values.of[table.BY_EXPECTED]:
            return Fate(Acts.NO, None, f"{table.BY_EXPECTED} is true, and then no backlog is looked at")
        if name in {table.MIN_BACKLOG, table.MAX_BETWEEN} and values.of[table.MIN_CURSORS] == 0:
            return Fate(Acts.NO, None, f"{table.MIN_CURSORS} is 0: backlogs are not cached")
        off = name == table.MIN_CURSORS and values.of[name] == 0
        return Fate(Acts.YES, values.of[name], "0: backlogs are not cached" if off else "")

    return judge


def _in_flight(values: Values) -> Fate:
    given = values.of[table.IN_FLIGHT]
    if given is None:
        return Fate(Acts.YES, None, "not set: 15 % of the direct memory, at least dispatcherMaxReadSizeBytes")
    note = "0: reads are not limited" if given == 0 else ""
    return Fate(Acts.YES, given, note)


def _in_flight_detail(name: str) -> Callable[[Values], Fate]:
    def judge(values: Values) -> Fate:
        if values.of[table.IN_FLIGHT] == 0:
            return Fate(Acts.NO, None, f"{table.IN_FLIGHT} is 0: reads are not limited")
        return Fate(Acts.YES, values.of[name])

    return judge


LIMITER: Final = frozenset({table.IN_FLIGHT, table.IN_FLIGHT_TIMEOUT, table.IN_FLIGHT_QUEUE})
"""The limiter of reads in flight, which stands before the cache; EntryCacheDisabled has one since 5.0.1."""

JUDGES: Final[Mapping[str, Callable[[Values], Fate]]] = {
    table.CACHE_SIZE: _cache_size,
    table.WATERMARK: _watermark,
    table.INTERVAL: _interval,
    table.FREQUENCY: _frequency,
    table.MAX_REQUEUES: _only_dynamic(table.MAX_REQUEUES, 5),
    table.EXTEND_ACCESSED: _only_dynamic(table.EXTEND_ACCESSED, True),
    table.GRACE: _grace,
    table.BY_MARK_DELETED: _mark_deleted,
    table.BACKLOGGED: _backlog(table.BACKLOGGED),
    table.MIN_CURSORS: _backlog(table.MIN_CURSORS),
    table.MIN_BACKLOG: _backlog(table.MIN_BACKLOG),
    table.MAX_BETWEEN: _backlog(table.MAX_BETWEEN),
    table.IN_FLIGHT: _in_flight,
    table.IN_FLIGHT_TIMEOUT: _in_flight_detail(table.IN_FLIGHT_TIMEOUT),
    table.IN_FLIGHT_QUEUE: _in_flight_detail(table.IN_FLIGHT_QUEUE),
}
"""The settings whose value does not simply act."""
