"""The seeded faults of this reference that are subjects, by the public names that `entrycache conform` takes.

Most of them are errors of the unmerged branch of PIP-174, or errors that its review warned of.
"""

from typing import Final

from entrycache_faults.model import Fault
from entrycache_faults.reference.pulsar_segmented import lookups, ring
from entrycache_faults.reference.pulsar_segmented.lookups import SEEDED_FAULTS
from entrycache_reference.pulsar_segmented.config import ClearedOffset, Duplicate, RangeWalk, Used
from entrycache_reference.rules import Rule

# The public names.

RING: Final[dict[str, Fault]] = {
    "segmented-clears-the-full-one": SEEDED_FAULTS.find(ring.cleared_with_the_full_one),
    "segmented-duplicate-overwrites": SEEDED_FAULTS.find_variant(Rule.S_INSERT_2, duplicate=Duplicate.OVERWRITTEN),
    "segmented-duplicate-turns": SEEDED_FAULTS.find_variant(Rule.S_INSERT_2, duplicate=Duplicate.ROTATING),
    "segmented-empty-where-off": SEEDED_FAULTS.find(ring.never_disabled),
    "segmented-full-advances": SEEDED_FAULTS.find(ring.passed_over_and_counted),
    "segmented-index-kept": SEEDED_FAULTS.find(ring.kept_all),
    "segmented-no-room-at-the-end": SEEDED_FAULTS.find(ring.room_to_spare),
    "segmented-not-aligned": SEEDED_FAULTS.find(ring.behind_without_alignment),
    "segmented-offset-kept": SEEDED_FAULTS.find_variant(Rule.S_RING_3, cleared_offset=ClearedOffset.KEPT),
    "segmented-references-aligned": SEEDED_FAULTS.find(ring.behind_with_alignment),
    "segmented-rounded-before-the-test": SEEDED_FAULTS.find(ring.room_when_rounded_up),
    "segmented-too-long-is-taken": SEEDED_FAULTS.find(ring.never_too_long),
    "segmented-turns-backwards": SEEDED_FAULTS.find(ring.previous_index),
}
"""The faults of inserts and the turn of the ring by public name."""

LOOKUPS: Final[dict[str, Fault]] = {
    "segmented-looks-in-the-current": SEEDED_FAULTS.find(lookups.found_in_the_current_segment),
    "segmented-range-in-part": SEEDED_FAULTS.find(lookups.range_in_part),
    "segmented-range-stops-early": SEEDED_FAULTS.find_variant(Rule.S_RANGE_1, range_walk=RangeWalk.ONE_PASS),
    "segmented-read-is-newest": SEEDED_FAULTS.find(lookups.get_as_the_newest),
    "segmented-usage-of-offsets": SEEDED_FAULTS.find_variant(Rule.S_USAGE_1, used=Used.OFFSETS),
}
"""The faults of lookups and usage by public name."""

SUBJECTS: Final[dict[str, Fault]] = {**RING, **LOOKUPS}
"""All of them by public name."""
