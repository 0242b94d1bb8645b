"""The registry of the seeded faults of `pulsar-segmented`, and the decorator that enters a function in it.

A fault replaces functions of the reference at the named places. Its docstring, up to a blank line, is its note.
"""

from typing import Final

from entrycache_faults.model import FaultRegistry

SEEDED_FAULTS: Final = FaultRegistry("entrycache_reference.pulsar_segmented")

seeded_fault = SEEDED_FAULTS.register
