"""The registries of the seeded faults of `kafka-streams`, and the decorators that enter a function or a class in them.

A fault replaces functions of the reference at the named places. Its docstring, up to a blank line, is its note.
`SEEDED_THREAD_FAULTS` holds the faults that only several threads show.
"""

from typing import Final

from entrycache_faults.model import FaultRegistry
from entrycache_reference.kafka_streams import outcomes, state

SEEDED_FAULTS: Final = FaultRegistry("entrycache_reference.kafka_streams")

seeded_fault = SEEDED_FAULTS.register

SEEDED_THREAD_FAULTS: Final = FaultRegistry(SEEDED_FAULTS.package)
"""The faults that only several threads show, one for each rule of histories."""

seeded_thread_fault = SEEDED_THREAD_FAULTS.register

OperationResult = tuple[state.State, outcomes.Answer]
"""The state after an operation, and its answer."""
