"""Files of docs/ that a run is compared with, and that a command writes: there are some in a source checkout only."""

from __future__ import annotations

from pathlib import Path

from entrycache_evidence.rulebook.registry import checkout
from entrycache_protocol.output import write_text


def in_docs(name: str) -> Path | None:
    """Where a file of that name stands; None outside of a source checkout."""
    root = checkout()
    return None if root is None else root / "docs" / name


def write_anew(name: str, path: Path | None, text: str) -> None:
    """Write this text.

    Raises:
        FileNotFoundError: there is no such path, since this is not a source checkout.
    """
    if path is None:
        raise FileNotFoundError(f"docs/{name} is written in a source checkout only")
    write_text(path, text)
