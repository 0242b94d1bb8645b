"""Audit scenarios of `pulsar-legacy`, each with a negative control: a clean trace that differs only slightly."""

from __future__ import annotations

# each of these enters its scenarios
from tests.support.traces.legacy_scenarios import entries, offers, passes, reads  # noqa: F401
from tests.support.traces.legacy_scenarios.scenario import SCENARIOS

__all__ = ["SCENARIOS"]
