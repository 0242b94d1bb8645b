"""The case files of the exhibits."""

from __future__ import annotations

from pathlib import Path

from entrycache_protocol.case import Case, read_case

CASES = Path(__file__).parent / "cases"


def catalogue() -> dict[str, Case]:
    """The exhibits by name, each with the shortest case that shows it."""
    return {path.stem: read_case(path) for path in sorted(CASES.glob("*.json"))}
