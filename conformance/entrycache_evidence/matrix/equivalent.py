"""Changes after which the reference does what it did, each with the argument; kept in a file beside this module."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Final

from entrycache_protocol.errors import UsageError

FILE: Final = Path(__file__).parent / "equivalent.toml"


def arguments(ids: Collection[str], file: Path = FILE) -> dict[str, str]:
    """Why a change changes nothing, by its id.

    Raises:
        UsageError: an id names no change: what it was about has been changed, so its argument has to be read again.
    """
    found: dict[str, str] = {}
    for each in tomllib.loads(file.read_text(encoding="utf-8"))["equivalent"]:
        for name in each["ids"]:
            if name not in ids:
                place = f"{each['where']} (`{each['text']}`)"
                raise UsageError(f"{file.name}: {name} is no change any more: {place}; read its argument again")
            found[name] = each["because"]
    return found
