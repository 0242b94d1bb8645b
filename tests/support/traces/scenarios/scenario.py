"""The list of scenarios of `pulsar-pip430`, and the decorator that adds one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.traces.script import Place, Row, Script

Violations = list[tuple[str, Row]]
Scenario = Callable[[Script, bool], Violations]

SCENARIOS: list[tuple[Scenario, dict[str, Any], str]] = []
"""Each scenario with the configuration of its script and its `threads`."""

SMALL: dict[str, Any] = {"max_size_bytes": 1000, "watermark": 0.5}


def scenario(threads: str = "one", **config: Any) -> Callable[[Scenario], Scenario]:
    """Add a scenario to the list."""

    def enter(function: Scenario) -> Scenario:
        SCENARIOS.append((function, config, threads))
        return function

    return enter


def at(entry: int, ledger: int = 1, cache: str = "a") -> Place:
    return (cache, ledger, entry)


def wrong(violating: bool, *expected: tuple[str, Row | None]) -> Violations:
    """Return the violations to find, or none for the negative control."""
    return [(rule, row) for rule, row in expected if violating and row is not None]
