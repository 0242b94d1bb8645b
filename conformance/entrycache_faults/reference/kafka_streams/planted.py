"""The lists of the planted faults, and the decorators that enter a function in them."""

from __future__ import annotations

from typing import Final

from entrycache_faults.planted import Faults
from entrycache_reference.kafka_streams.outcomes import Answer
from entrycache_reference.kafka_streams.state import State

PLANTED: Final = Faults("entrycache_reference.kafka_streams")

planted = PLANTED.register

THREADS: Final = Faults(PLANTED.package)
"""Faults that only several threads show, one a rule of histories."""

planted_for_threads = THREADS.register

Taken = tuple[State, Answer]
"""What an operation makes of a state, and its answer."""
