"""The list of scenarios of `pulsar-legacy`, and the decorator that adds one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.traces.legacy_script import LegacyScript, Row

Found = list[tuple[str, Row]]
Scenario = Callable[[LegacyScript, bool], Found]

SCENARIOS: list[tuple[Scenario, dict[str, Any]]] = []
"""Each scenario with the configuration of its script."""


def scenario(**config: Any) -> Callable[[Scenario], Scenario]:
    """Add a scenario to the list."""

    def enter(tell: Scenario) -> Scenario:
        SCENARIOS.append((tell, config))
        return tell

    return enter


def wrong(violating: bool, *found: tuple[str, Row]) -> Found:
    """Return the violations to find, or none for the negative control."""
    return list(found) if violating else []
