"""The case files of the planted faults that are subjects: of our fast caches, and of a reference that has none."""

from __future__ import annotations

from pathlib import Path

from entrycache_protocol.case import Case, read_case
from entrycache_protocol.system import Systems

CASES = Path(__file__).parent / "cases"


def catalogue(systems: Systems) -> dict[str, Case]:
    """The planted faults by name, each with the shortest case that shows it."""
    return {path.stem: read_case(path, systems) for path in sorted(CASES.glob("*.json"))}
