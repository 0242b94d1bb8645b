"""The seeded faults of this reference that are subjects, by the public names that `entrycache conform` takes.

The system has no fast cache. Its subjects are the faults about inserts, triggers, evictions, expiry and reads.
"""

from typing import Final

from entrycache_faults.model import Fault
from entrycache_faults.reference.pulsar_legacy import entries, passes
from entrycache_faults.reference.pulsar_legacy.entries import SEEDED_FAULTS

# The public names.

SUBJECTS: Final[dict[str, Fault]] = {
    "legacy-amount-brought-up-to-date": SEEDED_FAULTS.find(passes.amount_brought_up_to_date),
    "legacy-amount-of-the-moment": SEEDED_FAULTS.find(passes.amount_of_the_moment),
    "legacy-asked-at-the-trigger": SEEDED_FAULTS.find(passes.asked_at_the_trigger),
    "legacy-cutoff-is-young": SEEDED_FAULTS.find(passes.cutoff_is_young),
    "legacy-down-from-the-limit": SEEDED_FAULTS.find(passes.down_from_the_limit),
    "legacy-duplicate-answered-as-taken": SEEDED_FAULTS.find(entries.duplicate_answered_as_taken),
    "legacy-duplicate-by-the-state-before": SEEDED_FAULTS.find(entries.duplicate_by_the_state_before),
    "legacy-duplicate-stamped-anew": SEEDED_FAULTS.find(entries.duplicate_stamped_anew),
    "legacy-every-cache-gives": SEEDED_FAULTS.find(passes.every_cache_gives),
    "legacy-exists-in-any-cache": SEEDED_FAULTS.find(entries.exists_in_any_cache),
    "legacy-frees-a-byte-at-least": SEEDED_FAULTS.find(passes.frees_a_byte_at_least),
    "legacy-from-the-highest": SEEDED_FAULTS.find(passes.from_the_highest),
    "legacy-get-misses-what-is-empty": SEEDED_FAULTS.find(entries.get_misses_what_is_empty),
    "legacy-half-exceeded": SEEDED_FAULTS.find(passes.half_exceeded),
    "legacy-later-fills-unasked": SEEDED_FAULTS.find(entries.later_fills_unasked),
    "legacy-manual-at-once": SEEDED_FAULTS.find(passes.manual_at_once),
    "legacy-no-age-for-absent": SEEDED_FAULTS.find(passes.no_age_for_absent),
    "legacy-one-byte-more": SEEDED_FAULTS.find(passes.one_byte_more),
    "legacy-one-too-many": SEEDED_FAULTS.find(passes.one_too_many),
    "legacy-only-what-fits": SEEDED_FAULTS.find(passes.only_what_fits),
    "legacy-only-what-was-missing": SEEDED_FAULTS.find(entries.only_what_was_missing),
    "legacy-partial-hits": SEEDED_FAULTS.find(entries.partial_hits),
    "legacy-range-without-its-end": SEEDED_FAULTS.find(entries.range_without_its_end),
    "legacy-refused-asks-for-nothing": SEEDED_FAULTS.find(passes.refused_asks_for_nothing),
    "legacy-refused-for-its-size": SEEDED_FAULTS.find(entries.refused_for_its_size),
    "legacy-room-after-the-pass": SEEDED_FAULTS.find(entries.room_after_the_pass),
    "legacy-room-at-the-limit": SEEDED_FAULTS.find(entries.room_at_the_limit),
    "legacy-runs-again-and-again": SEEDED_FAULTS.find(passes.runs_again_and_again),
    "legacy-share-in-integers": SEEDED_FAULTS.find(passes.share_in_integers),
    "legacy-share-of-everything": SEEDED_FAULTS.find(passes.share_of_everything),
    "legacy-share-rounded": SEEDED_FAULTS.find(passes.share_rounded),
    "legacy-single-read-is-cached": SEEDED_FAULTS.find(entries.single_read_is_cached),
    "legacy-smallest-first": SEEDED_FAULTS.find(passes.smallest_first),
    "legacy-stamped-too-late": SEEDED_FAULTS.find(entries.stamped_too_late),
    "legacy-ties-from-the-end": SEEDED_FAULTS.find(passes.ties_from_the_end),
    "legacy-whole-cache-searched": SEEDED_FAULTS.find(passes.whole_cache_searched),
}
"""The faults that are subjects, by public name."""
