"""Audit scenarios of `kafka-streams`, each with a negative control: a clean trace that differs only slightly.

A scenario writes a trace into a script. If `violating`, it violates its rule and returns the expected violations; else
the trace barely keeps every rule.
"""

from __future__ import annotations

# each of these enters its scenarios
from tests.support.traces.kafka_scenarios import delivery, eviction, namespaces, stores, sums, writes  # noqa: F401
from tests.support.traces.kafka_scenarios.scenario import ORDER_FREE, SCENARIOS

__all__ = ["ORDER_FREE", "SCENARIOS"]
