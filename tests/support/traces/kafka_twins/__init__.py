"""Planted violations of `kafka-streams`, each beside a twin: a clean trace that looks alike.

A story writes a trace into a script; where `planted` it breaks its rule and returns what an audit must find, else the
trace keeps every rule by a hair.
"""

from __future__ import annotations

# each of these enters its stories
from tests.support.traces.kafka_twins import delivery, eviction, namespaces, sums, writes  # noqa: F401
from tests.support.traces.kafka_twins.story import ORDER_FREE, STORIES

__all__ = ["ORDER_FREE", "STORIES"]
