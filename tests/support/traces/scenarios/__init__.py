"""Audit scenarios of `pulsar-pip430`, each with a negative control: a clean trace that differs only slightly.

A scenario writes a trace into a script. If `violating`, it violates its rule and returns the expected violations; else
the trace barely keeps every rule.
"""

from __future__ import annotations

# each of these enters its scenarios
from tests.support.traces.scenarios import (  # noqa: F401
    carried,
    counters,
    counts,
    cursors,
    invalidation,
    reads,
    reads_in_flight,
    slots,
    state,
    trigger,
)
from tests.support.traces.scenarios.scenario import SCENARIOS

__all__ = ["SCENARIOS"]
