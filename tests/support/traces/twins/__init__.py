"""Planted violations of the levels manager, reads and cursors, each beside a twin: a clean trace that looks alike.

A story writes a trace into a script; where `planted` it breaks its rule and returns what an audit must find, else
the trace keeps every rule by a hair.
"""

from __future__ import annotations

# each of these enters its stories
from tests.support.traces.twins import carried, counters, counts, cursors, invalidation, reads, slots, state, trigger  # noqa: F401
from tests.support.traces.twins.story import STORIES

__all__ = ["STORIES"]
