"""Files of docs/ that a run is compared with, and that a command writes: there are some in a source checkout only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from entrycache_evidence.rulebook.registry import checkout
from entrycache_protocol.output import write_text


def in_docs(name: str) -> Path | None:
    """Where a file of that name stands; None outside of a source checkout."""
    root = checkout()
    return None if root is None else root / "docs" / name


def read(path: Path | None) -> Any:
    """What a file of JSON holds; None where there is none."""
    return None if path is None or not path.is_file() else json.loads(path.read_text(encoding="utf-8"))


def write_anew(name: str, path: Path | None, text: str) -> None:
    """Write this text.

    Raises:
        FileNotFoundError: there is no such path, since this is not a source checkout.
    """
    if path is None:
        raise FileNotFoundError(f"docs/{name} is written in a source checkout only")
    write_text(path, text)
