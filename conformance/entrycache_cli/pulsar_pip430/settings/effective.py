"""The effective configuration of a broker's cache: file, defaults and era put together."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_cli.pulsar_pip430.settings import table
from entrycache_cli.pulsar_pip430.settings.broker_conf import read_broker_conf
from entrycache_cli.pulsar_pip430.settings.era import Era
from entrycache_cli.pulsar_pip430.settings.fate import Fate, Values, eviction_interval_millis, fate
from entrycache_cli.settings.kinds import Value
from entrycache_cli.settings.properties import Given
from entrycache_protocol.errors import UsageError
from entrycache_protocol.shown import shown

DIRECT_MEMORY_BYTES: Final = 4 << 30
"""What conf/pulsar_env.sh gives a broker as shipped (-XX:MaxDirectMemorySize=4g)."""

LOOKS_LIKE_CACHE: Final = re.compile(
    r"managedLedger(Continue)?Cach|cacheEviction|AdaptiveRecv|ReadsInFlight|Backlog.*ForCaching|CursorBacklogged", re.I
)
"""A name that only the cache could mean."""

ALIKE: Final = 0.9
"""From this likeness on a name is taken for a mistyped one."""


NAME_MOST: Final = 200
"""Signs of a name that are compared with those there are."""


class Line(NamedTuple):
    """One setting as it stands. `line` None: not in the file."""

    setting: table.Setting
    default: Value
    value: Value
    line: int | None
    fate: Fate


class Effective(NamedTuple):
    """What a broker's cache runs with. `config`: under the names that cases have for it, of `era.release.system`."""

    path: Path
    era: Era
    direct_memory_bytes: int
    lines: tuple[Line, ...]
    passed_over: int
    interval_millis: int
    config: dict[str, Any]


def read_effective(path: Path, era: Era, direct_memory_bytes: int = DIRECT_MEMORY_BYTES) -> Effective:
    """The effective configuration that a file gives in an era.

    Raises:
        UsageError: the file cannot be read; it gives a cache setting that no release has, twice, or with a value
            that is none.
    """
    given = read_broker_conf(path)
    texts = _cache_settings(path, given)
    values: dict[str, Value] = {}
    for name, setting in table.SETTINGS.items():
        text = texts[name].text.strip() if name in texts else ""
        where = f"{path}: line {texts[name].line}" if name in texts else ""
        default = setting.default(era, direct_memory_bytes)
        values[name] = setting.kind.read(name, text, where) if text else default
    whole = Values(era, values)
    lines = tuple(
        Line(
            setting,
            setting.default(era, direct_memory_bytes),
            values[name],
            texts[name].line if name in texts and texts[name].text.strip() else None,
            fate(name, whole),
        )
        for name, setting in table.SETTINGS.items()
    )
    passed_over = len({item.name for item in given} - table.SETTINGS.keys())
    interval = eviction_interval_millis(whole)
    return Effective(path, era, direct_memory_bytes, lines, passed_over, interval, _config(era, lines))


def _cache_settings(path: Path, given: list[Given]) -> dict[str, Given]:
    """The settings of the cache among all that a file gives."""
    found: dict[str, Given] = {}
    for item in given:
        if item.name in table.SETTINGS:
            if item.name in found:
                first = found[item.name].line
                raise UsageError(f"{path}: line {item.line}: {item.name} is given twice, first in line {first}")
            found[item.name] = item
            continue
        name = item.name[:NAME_MOST]
        near = difflib.get_close_matches(name, table.SETTINGS, 1, ALIKE)
        if near or LOOKS_LIKE_CACHE.search(name):
            meant = near or difflib.get_close_matches(name, table.SETTINGS, 1)
            hint = f"; did you mean {meant[0]}?" if meant else "; entrycache settings lists those that there are"
            raise UsageError(f"{path}: line {item.line}: {shown(item.name)} is no setting of the cache{hint}")
    return found


def _config(era: Era, lines: tuple[Line, ...]) -> dict[str, Any]:
    """What is in force, under the names and in the units of a case."""
    force = {line.setting.key: line.fate.in_force for line in lines if line.setting.key is not None}
    values = {line.setting.key: line.value for line in lines if line.setting.key is not None}
    force["max_size_bytes"] = int(values["max_size_bytes"] or 0) * table.MEGABYTE
    known = {key: values[key] if value is None else value for key, value in force.items()}
    known["ttl_nanos"] = int(values["ttl_nanos"] or 0) * 1_000_000
    if known["grace_millis"] is None:
        known["grace_millis"] = 0
    if era.release.system == "pulsar-legacy":
        return {key: known[key] for key in ("max_size_bytes", "watermark", "ttl_nanos")}
    return known
