"""An effective configuration as a table and as JSON."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from entrycache_cli.pulsar_pip430.settings.effective import Effective, Line
from entrycache_cli.settings.kinds import Value


def plain(value: Value) -> str:
    """A value as broker.conf writes it."""
    if value is None:
        return "-"
    return str(value).lower() if isinstance(value, bool) else str(value)


def settings_table(effective: Effective) -> Table:
    """One line a setting."""
    release = effective.era.release
    title = f"{effective.path} in era {effective.era.value} (Pulsar {release.version}, {release.system})"
    made = Table(title=Text(title), title_justify="left")
    for column in ("setting", "value", "default", "unit", "in force", "acts", "why"):
        made.add_column(column, overflow="fold")
    for line in effective.lines:
        value = plain(line.value) if line.line is not None else ""
        cells = (line.setting.name, value, plain(line.default), line.setting.unit, plain(line.fate.in_force))
        made.add_row(*(Text(cell) for cell in cells), Text(line.fate.acts.value), Text(line.fate.why))
    return made


def to_json(effective: Effective) -> dict[str, Any]:
    """The object that `--json` prints."""
    return {
        "schema": 1,
        "broker_conf": str(effective.path),
        "era": effective.era.value,
        "version": effective.era.release.version,
        "system": effective.era.release.system,
        "direct_memory_mb": effective.direct_memory_bytes >> 20,
        "eviction_interval_millis": effective.interval_millis,
        "config": effective.config,
        "settings": [_line(line) for line in effective.lines],
        "passed_over": effective.passed_over,
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        "name": line.setting.name,
        "value": line.value,
        "default": line.default,
        "unit": line.setting.unit,
        "line": line.line,
        "in_force": line.fate.in_force,
        "acts": line.fate.acts.value,
        "why": line.fate.why,
        "dynamic": line.setting.dynamic,
        "key": line.setting.key,
    }
