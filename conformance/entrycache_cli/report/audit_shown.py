"""The first violations of an audit as a page shows them: the rows around each, and the bytes over the rows near it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from entrycache_spark.verdict import Violation
from entrycache_trace.around import EACH_SIDE, around

ON_PAGE: Final = 50
"""Violations that a page shows with their rows; each costs a look into the parts of its broker."""

NEAR: Final = 60
"""So many events before and behind the offending one are drawn."""

LEFT_OUT: Final = frozenset({"broker", "value"})
"""Columns that are no cell of a table."""


def shown(trace: Path, violations: Iterable[Violation]) -> list[dict[str, Any]]:
    """The first violations with the rows around them, as JSON.

    Raises:
        UsageError: a part of the trace cannot be read.
    """
    return [_shown(trace, violation) for _, violation in zip(range(ON_PAGE), violations, strict=False)]


def _shown(trace: Path, violation: Violation) -> dict[str, Any]:
    near = around(trace, violation.broker, violation.seq, NEAR)
    rows = [row for row in near if abs(row["seq"] - violation.seq) <= EACH_SIDE]
    columns = [name for name in dict.fromkeys(name for row in rows for name in row) if name not in LEFT_OUT]
    return {
        "rule": violation.rule,
        "broker": violation.broker,
        "seq": violation.seq,
        "expected": violation.expected,
        "observed": violation.observed,
        "columns": columns,
        "rows": [[str(row.get(name, "")) for name in columns] for row in rows],
        "bad": next((at for at, row in enumerate(rows) if row["seq"] == violation.seq), -1),
        "bytes": [[row["seq"], row["bytes_after"]] for row in near],
        "trigger": _last(near, "trigger_bytes"),
        "target": _last(near, "target_bytes"),
    }


def _last(rows: Iterable[Mapping[str, Any]], name: str) -> int | None:
    """What the last of the rows that tells it says."""
    return next((row[name] for row in reversed(list(rows)) if name in row), None)
