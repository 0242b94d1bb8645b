"""JSON of cases in words, short enough for a cell of a table: `insert a 1:0, size 10`, `entries 1, bytes 10`."""

from __future__ import annotations

import json
from typing import Any, Final

ADDRESS: Final = ("op", "cache", "ns", "store", "cursor", "key", "pos")
"""What needs no name in front of it."""

POSITIONS: Final = frozenset({"pos", "first", "last"})


def words(value: Any) -> str:
    """A step, an outcome, or a part of one."""
    if isinstance(value, dict):
        address = " ".join(_part(name, value[name]) for name in ADDRESS if name in value)
        others = [f"{name} {_part(name, part)}" for name, part in value.items() if name not in ADDRESS]
        return ", ".join([*([address] if address else []), *others]) or "done"
    if isinstance(value, list):
        return f"[{('; ' if _holds(value, dict) else ', ').join(_item(part) for part in value)}]"
    return value if isinstance(value, str) else json.dumps(value)


def _part(name: str, value: Any) -> str:
    """The value of a key."""
    if name in POSITIONS and isinstance(value, list):
        return _item(value)
    if isinstance(value, dict):
        return f"({words(value)})" if value else "none"
    return words(value)


def _item(value: Any) -> str:
    """What stands in a list: a position, a key with its value and what its write carried, or anything else."""
    if not isinstance(value, list):
        return words(value)
    if _holds(value, int):
        return ":".join(str(part) for part in value)
    carried = "".join(f" ({words(part)})" for part in value[2:])
    return f"{value[0]} = {words(value[1])}{carried}"


def _holds(value: list[Any], kind: type[Any]) -> bool:
    return bool(value) and all(type(part) is kind for part in value)
