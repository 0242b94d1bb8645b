"""The registry of the seeded faults of `pulsar-legacy`, and the decorator that enters a function in it.

A fault replaces functions of the reference at the named places. Its docstring, up to a blank line, is its note.
"""

from typing import Final

from entrycache_faults.model import FaultRegistry
from entrycache_reference import rules, vocabulary
from entrycache_reference.pulsar_legacy import change
from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.state import Entry, State

SEEDED_FAULTS: Final = FaultRegistry("entrycache_reference.pulsar_legacy")

seeded_fault = SEEDED_FAULTS.register


# An error within a variant; no subject runs with it.


@seeded_fault(rules.Rule.L_READ_7, "entries.find_entry")
def object_found_by_its_position(
    state: State, name: vocabulary.CacheName, pos: vocabulary.Position, config: Config
) -> Entry | None:
    """With variant `single_lookup` "object" a single entry is found all the same."""
    return change.entry_at(state, name, pos)
