"""What the rows of a trace must say before their calls can be made once more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from entrycache_protocol.errors import UsageError
from entrycache_protocol.strict_json import parse

PLACE: Final = ("cache", "ledger_id", "entry_id")
NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("INSERT", "REJECT", "SKIP", "HIT", "MISS", "READ_DONE", "EXPECT", "REMOVE"), PLACE),
    **dict.fromkeys(("CURSOR_ADD", "CURSOR_MOVE", "CURSOR_REMOVE"), ("cache", "cursor")),
    "CACHE_CLOSE": ("cache",),
    "PASS_BEGIN": ("cause", "bound"),
}
"""The columns that an event of each kind must have."""


def check_rows(rows: Sequence[Mapping[str, Any]], where: str) -> None:
    """Hold one broker's rows to what a simulation needs of them.

    Raises:
        UsageError: a column is null that must not be, time goes back, or a later CONFIG is no JSON object.
    """
    before_ns = rows[0]["ts_ns"] if rows else 0
    for row in rows:
        seq, op = row["seq"], row["op"]
        missing = next((name for name in NEEDED.get(op, ()) if row[name] is None), None)
        if missing is not None:
            raise UsageError(f"{where}, seq {seq}: {op} without {missing}")
        if row["ts_ns"] < before_ns:
            raise UsageError(f"{where}, seq {seq}: time goes back from {before_ns} to {row['ts_ns']}")
        before_ns = row["ts_ns"]
        if op == "CONFIG":
            read_object(row["value"], f"{where}, seq {seq}: CONFIG")


def read_object(text: str | None, where: str) -> dict[str, Any]:
    """The JSON object in a text.

    Raises:
        UsageError: there is none.
    """
    try:
        value = parse(text or "")
    except ValueError as error:
        raise UsageError(f"{where} is no JSON object ({error})") from None
    if type(value) is not dict:
        raise UsageError(f"{where} is no JSON object")
    return value
