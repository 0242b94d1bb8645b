"""Changes of one row of a trace: each column of each kind of event, in each of a few ways."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from entrycache_trace.schema import ROW_SCHEMA

Row = dict[str, Any]

REQUIRED: Final = tuple(column.name for column in ROW_SCHEMA if not column.nullable)
FAR: Final = 1_000
DOUBLED_MOST: Final = 1 << 51
NOT_CHANGED: Final = frozenset({"seq", "value"})
"""`seq` twice is refused and a gap is told (docs/how-to/audit-a-trace.md); `value` is changed number by number."""


class Change(NamedTuple):
    """One way to change one column of events of one op and cause."""

    op: str
    cause: str | None
    column: str
    way: str

    @property
    def event(self) -> str:
        """The events, as a table names them."""
        return self.op if self.cause is None else f"{self.op} {self.cause}"


def _more(value: Any, rows: Sequence[Row], at: int, column: str) -> Any:
    return value + 1 if type(value) is int else None


def _less(value: Any, rows: Sequence[Row], at: int, column: str) -> Any:
    return value - 1 if type(value) is int else None


def _far(value: Any, rows: Sequence[Row], at: int, column: str) -> Any:
    return value + FAR if type(value) is int else None


def _doubled(value: Any, rows: Sequence[Row], at: int, column: str) -> Any:
    return 2 * value if type(value) is int and 0 < abs(value) < DOUBLED_MOST else None


def _flipped(value: Any, rows: Sequence[Row], at: int, column: str) -> Any:
    return not value if type(value) is bool else None


def _shifted(value: Any, rows: Sequence[Row], at: int, column: str) -> Any:
    """The value of the event of the same op before it."""
    own = (row[column] for row in reversed(rows[:at]) if row["op"] == rows[at]["op"])
    return next((other for other in own if other is not None and other != value), None)


def _renamed(value: Any, rows: Sequence[Row], at: int, column: str) -> Any:
    """Another name that stands in the same column."""
    if type(value) is not str:
        return None
    others = sorted({row[column] for row in rows if row[column] is not None} - {value, "CONFIG", "END"})
    return random.Random(f"{at} {column}").choice(others) if others else None


NEW: Final[Mapping[str, Callable[[Any, Sequence[Row], int, str], Any]]] = {
    "+1": _more,
    "-1": _less,
    f"+{FAR}": _far,
    "doubled": _doubled,
    "flipped": _flipped,
    "shifted": _shifted,
    "renamed": _renamed,
}
"""How a value becomes another one; None where it cannot."""
WAYS: Final = (*NEW, "swapped", "dropped")


def changes_of(rows: Sequence[Row]) -> list[Change]:
    """All changes that the events of a trace allow, in a fixed order."""
    told = Counter(
        (row["op"], row["cause"], column)
        for row in rows
        for column, value in row.items()
        if value is not None and column not in NOT_CHANGED and column != "broker"
    )
    kinds = sorted(told, key=str)
    return [Change(*kind, way) for kind in kinds for way in WAYS if way != "dropped" or kind[2] not in REQUIRED]


def changed(rows: Sequence[Row], change: Change, seed: int) -> tuple[list[Row], int] | None:
    """A copy of the rows with one of them changed, and its seq; None where no row can be changed so."""
    fit = [
        at for at, row in enumerate(rows) if (row["op"], row["cause"]) == change[:2] and row[change.column] is not None
    ]
    random.Random(f"{seed} {change}").shuffle(fit)
    for at in fit:
        own = [dict(row) for row in rows]
        if _apply(own, at, change):
            return own, own[at]["seq"]
    return None


def _apply(rows: list[Row], at: int, change: Change) -> bool:
    column, value = change.column, rows[at][change.column]
    if change.way == "dropped":
        rows[at][column] = None
        return True
    if change.way == "swapped":
        return _swap(rows, at, change)
    new = NEW[change.way](value, rows, at, column)
    if new is None:
        return False
    rows[at][column] = new
    return True


def _swap(rows: list[Row], at: int, change: Change) -> bool:
    """Exchange the value with that of the next event of the same kind that has another one."""
    column, value = change.column, rows[at][change.column]
    for row in rows[at + 1 :]:
        if (row["op"], row["cause"]) == change[:2] and row[column] not in (None, value):
            rows[at][column], row[column] = row[column], value
            return True
    return False


def renamed(rows: Iterable[Row], broker: str) -> list[Row]:
    """The rows as those of another broker."""
    return [{**row, "broker": broker} for row in rows]
