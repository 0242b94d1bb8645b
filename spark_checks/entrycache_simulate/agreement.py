"""Whether a trace was recorded with given settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from entrycache_protocol.errors import UsageError
from entrycache_simulate.configs import recorded_config
from entrycache_trace.files import list_parts, read_broker, read_metadata

COLUMNS = ("broker", "seq", "op", "value")


def hold_to(directory: Path, settings: Mapping[str, Any], system: str, source: str) -> None:
    """Refuse a trace whose brokers started with other settings than these.

    A later CONFIG is a change while the broker ran, and no difference.

    Raises:
        UsageError: a broker of the trace says something else, or nothing; the line names the first of all.
    """
    said = read_metadata(directory).system
    if said != system:
        raise UsageError(f"{directory}: the trace is of {said}, {source} is read as one of {system}")
    parts = list_parts(directory, COLUMNS)
    for name in sorted({part.broker for part in parts}):
        table = read_broker([part for part in parts if part.broker == name], COLUMNS)
        first = next((row for row in table.slice(0, 1).to_pylist() if row["op"] == "CONFIG"), None)
        where = f"{directory}: broker {name!r}"
        if first is None:
            raise UsageError(f"{where}: the first event is no CONFIG, so nothing says that {source} was in force")
        recorded = recorded_config(first["value"], where)
        for key, value in settings.items():
            if recorded[key] != value:
                here, there = json.dumps(recorded[key]), json.dumps(value)
                raise UsageError(f"{where}: {key} was {here} when it was recorded, {source} makes it {there}")
