"""The list of scenarios of `kafka-streams`, and the decorator that adds one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.traces.kafka_script import Row, StreamScript

Violations = list[tuple[str, Row]]
Scenario = Callable[[StreamScript, bool], Violations]

SCENARIOS: list[tuple[Scenario, dict[str, Any]]] = []
"""Each scenario with the configuration of its script."""

ORDER_FREE = ("K-PUT-1", "K-EVICT-3")
"""Rules that rows of several threads decide as well, apart from the place of the evicted entry."""


def scenario(**config: Any) -> Callable[[Scenario], Scenario]:
    """Add a scenario to the list."""

    def enter(function: Scenario) -> Scenario:
        SCENARIOS.append((function, config))
        return function

    return enter


def wrong(violating: bool, rule: str, *rows: Row) -> Violations:
    """Return the violations to find, or none for the negative control."""
    return [(rule, row) for row in rows if violating]
