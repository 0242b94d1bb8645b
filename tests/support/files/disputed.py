"""Files that no reader may accept, decided by other readers than ours: no JSON or TOML, or not for every reader."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from datetime import date, datetime, time
from typing import Any, NoReturn

NO_JSON = (date, datetime, time)
"""Values of TOML that JSON does not have."""


def _refused(name: str) -> NoReturn:
    raise ValueError(name)


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(members)) < len(members):
        raise ValueError("twice")
    return dict(members)


def no_json(raw: bytes, may_have_halves: bool = False) -> bool:
    """Return whether a file is not JSON, or has an invalid number, a repeated key, or half a surrogate pair."""
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_refused, object_pairs_hook=_once)
        if not may_have_halves:
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return True
    return False


def no_json_lines(raw: bytes) -> bool:
    """Return whether a line of a file is not JSON in that sense."""
    return any(no_json(line) for line in raw.split(b"\n") if line.strip())


def no_results(raw: bytes) -> bool:
    """Return whether a line is not JSON, half surrogates aside: the text of subjects is kept and only shown."""
    lines = raw.replace(b"\r", b"\n").split(b"\n")
    return any(no_json(line, may_have_halves=True) for line in lines if line.strip())


def _values(value: Any) -> Iterable[Any]:
    yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _values(part)


def no_toml(raw: bytes) -> bool:
    """Return whether a file is not TOML, or holds values that JSON does not have."""
    try:
        values = list(_values(tomllib.loads(raw.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n"))))
    except (ValueError, RecursionError):
        return True
    return any(isinstance(each, NO_JSON) or (isinstance(each, float) and each - each != 0) for each in values)
