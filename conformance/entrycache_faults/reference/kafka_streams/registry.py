"""The lists of the planted faults, and the decorators that enter a function in them."""

from __future__ import annotations

from typing import Final

from entrycache_faults.seeded import FaultRegistry
from entrycache_reference.kafka_streams.outcomes import Answer
from entrycache_reference.kafka_streams.state import State

SEEDED_FAULTS: Final = FaultRegistry("entrycache_reference.kafka_streams")

seeded_fault = SEEDED_FAULTS.register

SEEDED_THREAD_FAULTS: Final = FaultRegistry(SEEDED_FAULTS.package)
"""Faults that only several threads show, one a rule of histories."""

seeded_thread_fault = SEEDED_THREAD_FAULTS.register

OperationResult = tuple[State, Answer]
"""What an operation makes of a state, and its answer."""
