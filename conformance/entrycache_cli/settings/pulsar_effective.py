"""The effective configuration of a broker's cache, computed from its file, the defaults and the era of its release.

`read_effective_settings` reads a broker.conf and returns a `SettingLine` for each cache setting. `setting_status`
decides whether a value takes effect in that era, and why not: a setting can be unread, overruled by another, or
effective only when it is changed while the broker runs. `settings_table` and `settings_json` present the result.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Final, NamedTuple

from rich.table import Table
from rich.text import Text

from entrycache_cli.settings import DIRECT_MEMORY_BYTES, properties, pulsar_table
from entrycache_cli.settings.pulsar_table import Era, read_broker_conf
from entrycache_protocol.errors import UsageError, describe_value

LOOKS_LIKE_CACHE: Final = re.compile(
    r"managedLedger(Continue)?Cach|cacheEviction|AdaptiveRecv|ReadsInFlight|Backlog.*ForCaching|CursorBacklogged", re.I
)
"""A pattern of names that only the cache could mean."""

SIMILARITY_MIN: Final = 0.9
"""The similarity from which a name is taken for a mistyped one."""


NAME_MOST: Final = 200
"""The number of characters of a name that are compared with known names."""


class SettingLine(NamedTuple):
    """One setting with its default and its value; `line` is None if the file does not have it."""

    setting: pulsar_table.Setting
    default: properties.Value
    value: properties.Value
    line: int | None
    status: SettingStatus


class EffectiveSettings(NamedTuple):
    """The settings that a broker's cache runs with; `config` has the names that cases of `era.release.system` use."""

    path: Path
    era: Era
    direct_memory_bytes: int
    lines: tuple[SettingLine, ...]
    passed_over: int
    interval_millis: int
    config: dict[str, Any]
    memory: MemoryUse


class MemoryUse(NamedTuple):
    """The most MB of direct memory that a broker's settings let each user take; None means without a limit."""

    cache_mb: int
    reads_in_flight_mb: int | None
    publish_buffers_mb: int | None
    direct_memory_mb: int

    @property
    def limits_mb(self) -> int:
        """The sum of the limits that there are."""
        return self.cache_mb + (self.reads_in_flight_mb or 0) + (self.publish_buffers_mb or 0)

    def warnings(self) -> list[str]:
        """Return a line if the limits together exceed the direct memory."""
        if self.limits_mb <= self.direct_memory_mb:
            return []
        parts = (
            f"the cache ({self.cache_mb} MB)",
            f"reads in flight ({_limit_text(self.reads_in_flight_mb)})",
            f"publish buffers ({_limit_text(self.publish_buffers_mb)})",
        )
        return [
            f"{', '.join(parts[:2])} and {parts[2]} may take {self.limits_mb} MB, but the direct memory has "
            f"{self.direct_memory_mb} MB: lower {pulsar_table.CACHE_SIZE}, {pulsar_table.IN_FLIGHT} or "
            f"{pulsar_table.PUBLISH_BUFFER}, or raise -XX:MaxDirectMemorySize (here: --direct-memory-mb)"
        ]


def _limit_text(megabytes: int | None) -> str:
    return "not limited" if megabytes is None else f"{megabytes} MB"


def read_effective_settings(path: Path, era: Era, direct_memory_bytes: int = DIRECT_MEMORY_BYTES) -> EffectiveSettings:
    """Read the effective configuration that a file gives in an era.

    Raises:
        UsageError: the file cannot be read; or it gives a cache setting that no release has, gives one twice, or gives
        one
            a malformed value.
    """
    given = read_broker_conf(path)
    texts = _cache_settings(path, given)
    values: dict[str, properties.Value] = {}
    for name, setting in pulsar_table.SETTINGS.items():
        text = texts[name].text.strip() if name in texts else ""
        where = f"{path}: line {texts[name].line}" if name in texts else ""
        default = setting.default(era, direct_memory_bytes)
        values[name] = setting.kind.read(name, text, where) if text else default
    other = _other_memory(path, given)
    read_bytes_max = other.get(pulsar_table.READ_BYTES_MAX, pulsar_table.READ_BYTES_DEFAULT)
    whole = SettingValues(era, values, pulsar_table.computed_reads_in_flight(direct_memory_bytes, read_bytes_max))
    lines = tuple(
        SettingLine(
            setting,
            setting.default(era, direct_memory_bytes),
            values[name],
            texts[name].line if name in texts and texts[name].text.strip() else None,
            setting_status(name, whole),
        )
        for name, setting in pulsar_table.SETTINGS.items()
    )
    passed_over = len({item.name for item in given} - pulsar_table.SETTINGS.keys() - pulsar_table.OTHER_MEMORY.keys())
    interval = eviction_interval_millis(whole)
    memory = _memory_use(lines, direct_memory_bytes, other.get(pulsar_table.PUBLISH_BUFFER))
    config = _case_config(era, lines)
    return EffectiveSettings(path, era, direct_memory_bytes, lines, passed_over, interval, config, memory)


def _other_memory(path: Path, given: list[properties.GivenSetting]) -> dict[str, int]:
    """Return the settings of `OTHER_MEMORY` that a file has. As for the broker, the last of several counts."""
    values: dict[str, int] = {}
    for item in given:
        text = item.text.strip()
        if item.name in pulsar_table.OTHER_MEMORY and text:
            value = pulsar_table.OTHER_MEMORY[item.name].read(item.name, text, f"{path}: line {item.line}")
            assert isinstance(value, int)
            values[item.name] = value
    return values


def _memory_use(lines: tuple[SettingLine, ...], direct_memory_bytes: int, publish_mb: int | None) -> MemoryUse:
    """Return the most that the cache, reads in flight and publish buffers may take; 0 or less means no limit."""
    statuses = {line.setting.name: line.status.effective for line in lines}
    values = {line.setting.name: line.value for line in lines}
    if publish_mb is None:
        publish_mb = pulsar_table.default_publish_buffer_mb(direct_memory_bytes)
    reads_mb = int(statuses[pulsar_table.IN_FLIGHT] or 0)
    cache_mb = int(values[pulsar_table.CACHE_SIZE] or 0)
    return MemoryUse(
        cache_mb, reads_mb or None, publish_mb if publish_mb > 0 else None, direct_memory_bytes // pulsar_table.MEGABYTE
    )


def _cache_settings(path: Path, given: list[properties.GivenSetting]) -> dict[str, properties.GivenSetting]:
    """Return the settings of the cache among all settings of a file."""
    cache_settings: dict[str, properties.GivenSetting] = {}
    for item in given:
        if item.name in pulsar_table.SETTINGS:
            if item.name in cache_settings:
                first = cache_settings[item.name].line
                raise UsageError(f"{path}: line {item.line}: {item.name} is given twice, first in line {first}")
            cache_settings[item.name] = item
            continue
        name = item.name[:NAME_MOST]
        near = difflib.get_close_matches(name, pulsar_table.SETTINGS, 1, SIMILARITY_MIN)
        if near or LOOKS_LIKE_CACHE.search(name):
            meant = near or difflib.get_close_matches(name, pulsar_table.SETTINGS, 1)
            hint = f"; did you mean {meant[0]}?" if meant else "; entrycache settings lists those that there are"
            raise UsageError(f"{path}: line {item.line}: {describe_value(item.name)} is no setting of the cache{hint}")
    return cache_settings


def _case_config(era: Era, lines: tuple[SettingLine, ...]) -> dict[str, Any]:
    """Return the effective values with the names and units of a case."""
    effective_values = {line.setting.key: line.status.effective for line in lines if line.setting.key is not None}
    values = {line.setting.key: line.value for line in lines if line.setting.key is not None}
    effective_values["max_size_bytes"] = int(values["max_size_bytes"] or 0) * pulsar_table.MEGABYTE
    known = {key: values[key] if value is None else value for key, value in effective_values.items()}
    known["ttl_nanos"] = int(values["ttl_nanos"] or 0) * 1_000_000
    if known["grace_millis"] is None:
        known["grace_millis"] = 0
    if era.release.system == "pulsar-legacy":
        return {key: known[key] for key in ("max_size_bytes", "watermark", "ttl_nanos")}
    return known


LONGEST_INTERVAL_MILLIS: Final = 1_000_000


class Applicability(Enum):
    """The answer whether the value in the file reaches the cache."""

    YES = "yes"
    NO = "no"
    DYNAMIC = "when changed dynamically"


class SettingStatus(NamedTuple):
    """The status of a value: whether it acts, the effective value (None if there is none), and the reason or effect."""

    acts: Applicability
    effective: properties.Value
    why: str = ""


class SettingValues(NamedTuple):
    """The values with which a broker starts, defaults included."""

    era: Era
    of: Mapping[str, properties.Value]
    computed_reads_in_flight_mb: int


def setting_status(name: str, values: SettingValues) -> SettingStatus:
    """Return the status of one setting, given all others."""
    setting = pulsar_table.SETTINGS[name]
    if not setting.eras:
        why = f"not read; BrokerService.defaultServerBootstrap of {values.era.release.version} has constants"
        return SettingStatus(Applicability.NO, setting.default(values.era, 0), why)
    if values.era not in setting.eras:
        return SettingStatus(
            Applicability.NO, None, f"{values.era.release.version} has no such setting and passes over it"
        )
    is_independent = name == pulsar_table.CACHE_SIZE or (name in LIMITER and values.era is Era.PULSAR_5_0)
    if values.of[pulsar_table.CACHE_SIZE] == 0 and not is_independent:
        return SettingStatus(Applicability.NO, None, f"caching is off, because {pulsar_table.CACHE_SIZE} is 0")
    judge = STATUS_RULES.get(name)
    return SettingStatus(Applicability.YES, values.of[name]) if judge is None else judge(values)


def _cache_size_status(values: SettingValues) -> SettingStatus:
    size = values.of[pulsar_table.CACHE_SIZE]
    note = "caching is off; a cache opened now stays off even if the limit is raised" if size == 0 else ""
    return SettingStatus(Applicability.YES, size, note)


def _watermark_status(values: SettingValues) -> SettingStatus:
    share = values.of[pulsar_table.WATERMARK]
    note = ""
    if isinstance(share, float) and share >= 0.98:
        note = "not below the trigger, 0.98 of the limit: a pass may find nothing to free"
    return SettingStatus(Applicability.YES, share, note)


def eviction_interval_millis(values: SettingValues) -> int:
    """Return the interval of scheduled passes (ServiceConfiguration.getManagedLedgerCacheEvictionIntervalMs)."""
    frequency, interval = values.of[pulsar_table.FREQUENCY], values.of[pulsar_table.INTERVAL]
    assert isinstance(frequency, float) and isinstance(interval, int)
    if frequency > 0:
        return int(1000.0 / max(min(frequency, 1000.0), 0.001))
    return min(LONGEST_INTERVAL_MILLIS, interval)


def _interval_status(values: SettingValues) -> SettingStatus:
    millis = eviction_interval_millis(values)
    if values.of[pulsar_table.FREQUENCY]:
        return SettingStatus(Applicability.NO, millis, f"{pulsar_table.FREQUENCY} is above 0 and wins")
    cut = values.of[pulsar_table.INTERVAL] != millis
    return SettingStatus(Applicability.YES, millis, f"cut to {LONGEST_INTERVAL_MILLIS}" if cut else "")


def _frequency_status(values: SettingValues) -> SettingStatus:
    frequency = values.of[pulsar_table.FREQUENCY]
    if not frequency:
        return SettingStatus(Applicability.NO, None, f"deprecated; 0 leaves the pace to {pulsar_table.INTERVAL}")
    return SettingStatus(
        Applicability.YES, frequency, f"deprecated; a pass every {eviction_interval_millis(values)} ms"
    )


def _dynamic_status(name: str, at_start: properties.Value) -> Callable[[SettingValues], SettingStatus]:
    def judge(values: SettingValues) -> SettingStatus:
        note = ""
        if name == pulsar_table.MAX_REQUEUES and not values.of[pulsar_table.BY_EXPECTED]:
            note = f"{pulsar_table.BY_EXPECTED} is false: only entries read in a backlog carry a count"
        if values.era is not Era.PULSAR_4_2:
            return SettingStatus(Applicability.YES, values.of[name], note)
        value = str(at_start).lower()
        why = f"ManagedLedgerClientFactory does not pass it on: {value} holds from the start until it is changed"
        return SettingStatus(Applicability.DYNAMIC, at_start, "; ".join(part for part in (why, note) if part))

    return judge


def _grace_status(values: SettingValues) -> SettingStatus:
    if not values.of[pulsar_table.BY_EXPECTED]:
        return SettingStatus(
            Applicability.NO,
            0,
            f"{pulsar_table.BY_EXPECTED} is false, and the other container of cursors has no grace period",
        )
    if values.era is Era.PULSAR_4_2:
        return SettingStatus(
            Applicability.NO, 0, "stored in ManagedLedgerFactoryConfig and read by nothing: the grace period is off"
        )
    given = values.of[pulsar_table.GRACE]
    ttl = values.of[pulsar_table.TTL]
    assert isinstance(ttl, int)
    return SettingStatus(
        Applicability.YES,
        2 * ttl if given is None else given,
        f"not set: 2 x {pulsar_table.TTL}" if given is None else "",
    )


def _mark_deleted_status(values: SettingValues) -> SettingStatus:
    if values.era in pulsar_table.SINCE_4_2 and values.of[pulsar_table.BY_EXPECTED]:
        return SettingStatus(
            Applicability.NO, False, f"{pulsar_table.BY_EXPECTED} is true, and then BrokerService sets it to false"
        )
    return SettingStatus(Applicability.YES, values.of[pulsar_table.BY_MARK_DELETED])


def _backlog_status(name: str) -> Callable[[SettingValues], SettingStatus]:
    def judge(values: SettingValues) -> SettingStatus:
        if values.era in pulsar_table.SINCE_4_2 and values.of[pulsar_table.BY_EXPECTED]:
            return SettingStatus(
                Applicability.NO, None, f"{pulsar_table.BY_EXPECTED} is true, and then no backlog is looked at"
            )
        if name in {pulsar_table.MIN_BACKLOG, pulsar_table.MAX_BETWEEN} and values.of[pulsar_table.MIN_CURSORS] == 0:
            return SettingStatus(Applicability.NO, None, f"{pulsar_table.MIN_CURSORS} is 0: backlogs are not cached")
        off = name == pulsar_table.MIN_CURSORS and values.of[name] == 0
        return SettingStatus(Applicability.YES, values.of[name], "0: backlogs are not cached" if off else "")

    return judge


def _in_flight_status(values: SettingValues) -> SettingStatus:
    given = values.of[pulsar_table.IN_FLIGHT]
    if given is None:
        return SettingStatus(
            Applicability.YES,
            values.computed_reads_in_flight_mb,
            "not set: 15 % of the direct memory, at least dispatcherMaxReadSizeBytes",
        )
    note = "0: reads are not limited" if given == 0 else ""
    return SettingStatus(Applicability.YES, given, note)


def _in_flight_detail_status(name: str) -> Callable[[SettingValues], SettingStatus]:
    def judge(values: SettingValues) -> SettingStatus:
        if values.of[pulsar_table.IN_FLIGHT] == 0:
            return SettingStatus(Applicability.NO, None, f"{pulsar_table.IN_FLIGHT} is 0: reads are not limited")
        return SettingStatus(Applicability.YES, values.of[name])

    return judge


LIMITER: Final = frozenset({pulsar_table.IN_FLIGHT, pulsar_table.IN_FLIGHT_TIMEOUT, pulsar_table.IN_FLIGHT_QUEUE})
"""The settings of the limiter of reads in flight, which EntryCacheDisabled has too since 5.0.1."""

STATUS_RULES: Final[Mapping[str, Callable[[SettingValues], SettingStatus]]] = {
    pulsar_table.CACHE_SIZE: _cache_size_status,
    pulsar_table.WATERMARK: _watermark_status,
    pulsar_table.INTERVAL: _interval_status,
    pulsar_table.FREQUENCY: _frequency_status,
    pulsar_table.MAX_REQUEUES: _dynamic_status(pulsar_table.MAX_REQUEUES, 5),
    pulsar_table.EXTEND_ACCESSED: _dynamic_status(pulsar_table.EXTEND_ACCESSED, True),
    pulsar_table.GRACE: _grace_status,
    pulsar_table.BY_MARK_DELETED: _mark_deleted_status,
    pulsar_table.BACKLOGGED: _backlog_status(pulsar_table.BACKLOGGED),
    pulsar_table.MIN_CURSORS: _backlog_status(pulsar_table.MIN_CURSORS),
    pulsar_table.MIN_BACKLOG: _backlog_status(pulsar_table.MIN_BACKLOG),
    pulsar_table.MAX_BETWEEN: _backlog_status(pulsar_table.MAX_BETWEEN),
    pulsar_table.IN_FLIGHT: _in_flight_status,
    pulsar_table.IN_FLIGHT_TIMEOUT: _in_flight_detail_status(pulsar_table.IN_FLIGHT_TIMEOUT),
    pulsar_table.IN_FLIGHT_QUEUE: _in_flight_detail_status(pulsar_table.IN_FLIGHT_QUEUE),
}
"""The settings whose value does not simply take effect, with the functions that decide."""


def plain_value(value: properties.Value) -> str:
    """Return a value as broker.conf writes it."""
    if value is None:
        return "-"
    return str(value).lower() if isinstance(value, bool) else str(value)


def settings_table(effective: EffectiveSettings) -> Table:
    """Return a table with one line for each setting."""
    release = effective.era.release
    title = f"{effective.path} in era {effective.era.value} (Pulsar {release.version}, {release.system})"
    rows_table = Table(title=Text(title), title_justify="left")
    for column in ("setting", "value", "default", "unit", "effective", "acts", "why"):
        rows_table.add_column(column, overflow="fold")
    for line in effective.lines:
        value = plain_value(line.value) if line.line is not None else ""
        cells = (
            line.setting.name,
            value,
            plain_value(line.default),
            line.setting.unit,
            plain_value(line.status.effective),
        )
        rows_table.add_row(*(Text(cell) for cell in cells), Text(line.status.acts.value), Text(line.status.why))
    return rows_table


def settings_json(effective: EffectiveSettings) -> dict[str, Any]:
    """Return the object that `--json` prints."""
    return {
        "schema": 1,
        "broker_conf": str(effective.path),
        "era": effective.era.value,
        "version": effective.era.release.version,
        "system": effective.era.release.system,
        "direct_memory_mb": effective.direct_memory_bytes >> 20,
        "eviction_interval_millis": effective.interval_millis,
        "config": effective.config,
        "settings": [_line_json(line) for line in effective.lines],
        "passed_over": effective.passed_over,
        "memory": {**effective.memory._asdict(), "limits_mb": effective.memory.limits_mb},
        "warnings": effective.memory.warnings(),
    }


def _line_json(line: SettingLine) -> dict[str, Any]:
    return {
        "name": line.setting.name,
        "value": line.value,
        "default": line.default,
        "unit": line.setting.unit,
        "line": line.line,
        "in_force": line.status.effective,
        "acts": line.status.acts.value,
        "why": line.status.why,
        "dynamic": line.setting.dynamic,
        "key": line.setting.key,
    }
