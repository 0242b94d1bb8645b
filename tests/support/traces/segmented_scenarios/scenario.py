"""The list of scenarios of `pulsar-segmented`, and the decorator that adds one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.traces.segmented_script import RingScript, Row

Violations = list[tuple[str, Row]]
Scenario = Callable[[RingScript, bool], Violations]

SCENARIOS: list[tuple[Scenario, dict[str, Any]]] = []
"""Each scenario with the configuration of its script."""


def scenario(**config: Any) -> Callable[[Scenario], Scenario]:
    """Add a scenario to the list."""

    def enter(function: Scenario) -> Scenario:
        SCENARIOS.append((function, config))
        return function

    return enter


def at(entry: int, ledger: int = 1, cache: str = "a") -> tuple[str, int, int]:
    """A position."""
    return cache, ledger, entry


def fill(s: RingScript, entries: int, size: int = 50) -> None:
    """So many entries of one size, from 0 on."""
    for entry in range(entries):
        s.insert(at(entry), size)


def wrong(violating: bool, *expected: tuple[str, Row]) -> Violations:
    """Return the violations to find, or none for the negative control."""
    return list(expected) if violating else []
