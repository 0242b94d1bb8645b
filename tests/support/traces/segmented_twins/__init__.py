"""Planted violations of `pulsar-segmented`, each beside a twin: a clean trace that looks alike.

A story writes a trace into a script; where `planted` it breaks its rule and returns what an audit must find, else the
trace keeps every rule by a hair.
"""

from __future__ import annotations

# each of these enters its stories
from tests.support.traces.segmented_twins import inserts, lookups, turns  # noqa: F401
from tests.support.traces.segmented_twins.story import STORIES

__all__ = ["STORIES"]
