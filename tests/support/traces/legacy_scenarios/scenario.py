"""The list of scenarios of `pulsar-legacy`, and the decorator that adds one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.traces.legacy_script import LegacyScript, Row

Violations = list[tuple[str, Row]]
Scenario = Callable[[LegacyScript, bool], Violations]

SCENARIOS: list[tuple[Scenario, dict[str, Any]]] = []
"""Each scenario with the configuration of its script."""


def scenario(**config: Any) -> Callable[[Scenario], Scenario]:
    """Add a scenario to the list."""

    def enter(function: Scenario) -> Scenario:
        SCENARIOS.append((function, config))
        return function

    return enter


def wrong(violating: bool, *expected: tuple[str, Row]) -> Violations:
    """Return the violations to find, or none for the negative control."""
    return list(expected) if violating else []
