"""The list of the planted faults, and the decorator that enters a function in it."""

from __future__ import annotations

from typing import Final

from entrycache_faults.planted import Faults
from entrycache_reference.kafka_streams.outcomes import Answer
from entrycache_reference.kafka_streams.state import State

PLANTED: Final = Faults("entrycache_reference.kafka_streams")

planted = PLANTED.plant

Taken = tuple[State, Answer]
"""What an operation makes of a state, and its answer."""
