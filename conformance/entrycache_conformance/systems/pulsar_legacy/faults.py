"""The seeded faults of the reference as subjects; the system has no fast cache."""

from typing import Any, Final

from entrycache_conformance.systems.reference import fault_subjects
from entrycache_faults.reference.pulsar_legacy.subjects import SUBJECTS
from entrycache_reference.pulsar_legacy import ops

OFFER: Final[dict[str, Any]] = {
    "ops": [op.name for op in ops.OPS],
    "introspection": ["now", "bytes", "caches"],
    "payload": True,
}
"""The offer of each of them: all that the reference has."""

FAULTS: Final = fault_subjects(SUBJECTS, OFFER)
"""The subjects by name."""
