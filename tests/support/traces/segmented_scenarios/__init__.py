"""Audit scenarios of `pulsar-segmented`, each with a negative control: a clean trace that differs only slightly.

A scenario writes a trace into a script. If `violating`, it violates its rule and returns the expected violations; else
the trace barely keeps every rule.
"""

from __future__ import annotations

# each of these enters its scenarios
from tests.support.traces.segmented_scenarios import inserts, lookups, turns  # noqa: F401
from tests.support.traces.segmented_scenarios.scenario import SCENARIOS

__all__ = ["SCENARIOS"]
