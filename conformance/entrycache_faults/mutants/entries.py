"""Mutants of the rules about single entries: state, insert, read, count, invalidate, and sums."""

from __future__ import annotations

from typing import Final

from entrycache_faults import wrong, wrong_passes
from entrycache_faults.mutants.mutant import Mutant, of_module, of_op
from entrycache_reference.pulsar_pip430 import insert, lookup, ops, remove
from entrycache_reference.rules import Rule

ENTRIES: Final[tuple[Mutant, ...]] = (
    Mutant(
        Rule.STATE_1,
        "An insert adds its size twice to the bytes of the manager.",
        of_module(insert, "add_entry", wrong.add_entry_counted_twice),
    ),
    Mutant(
        Rule.STATE_2,
        "Entries removed by a call leave live slots behind.",
        of_module(remove, "drop_entries", wrong.drop_entries_leaving_slots),
    ),
    Mutant(
        Rule.STATE_3,
        "A removal rebuilds the queue cache by cache and loses the order of ages.",
        of_module(remove, "drop_entries", wrong.drop_entries_rebuilding_the_queue),
    ),
    Mutant(
        Rule.STATE_4,
        "Entries older than the time to live leave when time passes.",
        of_op(wrong.advance_expiring, ops.Advance),
    ),
    Mutant(
        Rule.STATE_5,
        "A refused evict drops the dead slot at the head.",
        of_op(wrong_passes.evict_dropping_when_refused, ops.Evict),
    ),
    Mutant(
        Rule.STATE_6,
        "A negative advance is taken for one by 0.",
        of_op(wrong.advance_ignoring_negative, ops.Advance),
    ),
    Mutant(Rule.STATE_7, "exists marks the entry accessed.", of_op(wrong.exists_marking, ops.Exists)),
    Mutant(
        Rule.STATE_8,
        "Each entry of a removed range is reported as removed twice.",
        of_module(remove, "removal", wrong.removal_told_twice),
    ),
    Mutant(
        Rule.STATE_9,
        "exists opens no cache.",
        of_op(wrong.exists_leaving_no_cache, ops.Exists),
    ),
    Mutant(Rule.INSERT_1, "A new entry counts as accessed.", of_module(insert, "new_entry", wrong.new_entry_marked)),
    Mutant(
        Rule.INSERT_2,
        "A duplicate renews the count of expected reads.",
        of_op(wrong.insert_renewing_the_count, ops.Insert),
    ),
    Mutant(Rule.INSERT_3, "A limit of 0 stands for no limit.", of_op(wrong.insert_unlimited, ops.Insert)),
    Mutant(
        Rule.INSERT_4,
        "An entry that nobody is expected to read carries the count 0.",
        of_module(insert, "new_entry", wrong.new_entry_counted),
    ),
    Mutant(
        Rule.INSERT_5,
        "A negative size is answered as a duplicate is.",
        of_op(wrong.insert_not_refusing, ops.Insert),
    ),
    Mutant(
        Rule.INSERT_6,
        "The count is a flag: at most 1.",
        of_module(insert, "new_entry", wrong.new_entry_with_a_flag),
    ),
    Mutant(Rule.READ_1, "A get answers a miss for an entry of size 0.", of_op(wrong.get_missing_empty, ops.Get)),
    Mutant(Rule.READ_2, "A hit leaves no mark.", of_op(wrong.get_not_marking, ops.Get)),
    Mutant(
        Rule.READ_3,
        "get_range answers in descending order.",
        of_module(lookup, "positions_between", wrong.positions_descending),
    ),
    Mutant(Rule.READ_4, "get_range marks the first entry only.", of_op(wrong.get_range_marking_one, ops.GetRange)),
    Mutant(Rule.READ_5, "Reversed bounds are put in order.", of_op(wrong.get_range_reordering, ops.GetRange)),
    Mutant(Rule.READ_6, "An entry of size 0 does not exist.", of_op(wrong.exists_missing_empty, ops.Exists)),
    Mutant(Rule.COUNT_1, "A count stops at 0.", of_op(wrong.mark_read_with_floor, ops.MarkRead)),
    Mutant(
        Rule.COUNT_2,
        "A count that has come to 0 cannot rise again.",
        of_op(wrong.expect_read_not_reviving, ops.ExpectRead),
    ),
    Mutant(
        Rule.COUNT_3,
        "expect_read gives an entry without a count the count 1.",
        of_op(wrong.expect_read_starting_a_count, ops.ExpectRead),
    ),
    Mutant(Rule.COUNT_4, "mark_read marks the entry accessed.", of_op(wrong.mark_read_marking, ops.MarkRead)),
    Mutant(
        Rule.INVALIDATE_1,
        "remove_range leaves the entry at its beginning.",
        of_module(remove, "positions_between", wrong.positions_after_the_first),
    ),
    Mutant(
        Rule.INVALIDATE_2,
        "remove_range always includes its end.",
        of_op(wrong.remove_range_inclusive, ops.RemoveRange),
    ),
    Mutant(
        Rule.INVALIDATE_3,
        "Reversed bounds are put in order.",
        of_op(wrong.remove_range_reordering, ops.RemoveRange),
    ),
    Mutant(Rule.INVALIDATE_4, "clear empties the first ledger only.", of_op(wrong.clear_first_ledger, ops.Clear)),
    Mutant(
        Rule.INVALIDATE_5,
        "Removals by a call answer the number of entries twice.",
        of_op(wrong.remove_range_numbers_only, ops.RemoveRange),
    ),
    Mutant(
        Rule.METRICS_1,
        "usage of a cache answers the bytes of all.",
        of_op(wrong.usage_with_all_bytes, ops.Usage),
    ),
    Mutant(
        Rule.METRICS_2,
        "usage of all caches counts the slots of the queue, dead ones too.",
        of_op(wrong.usage_counting_slots, ops.Usage),
    ),
    Mutant(Rule.LIVENESS_2, "advance answers the time.", of_op(wrong.advance_answering_time, ops.Advance)),
)
