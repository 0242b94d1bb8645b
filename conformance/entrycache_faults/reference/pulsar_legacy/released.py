"""An error of a variant that a release has. No subject runs with it."""

from __future__ import annotations

from entrycache_faults.reference.pulsar_legacy.planted import planted
from entrycache_reference.pulsar_legacy import change
from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.state import Entry, State
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, Position


@planted(Rule.L_READ_7, "lookup.found")
def object_found_by_its_position(state: State, name: CacheName, pos: Position, config: Config) -> Entry | None:
    """With variant `single_lookup` "object" a single entry is found all the same."""
    return change.entry_at(state, name, pos)
