"""Mutants of the rules of level `cursors`."""

from __future__ import annotations

from typing import Final

from entrycache_faults import wrong_cursors as wrong
from entrycache_faults.mutants.mutant import Mutant, of_module, of_op
from entrycache_reference.pulsar_pip430 import cursors, ops
from entrycache_reference.rules import Rule

CURSORS: Final[tuple[Mutant, ...]] = (
    Mutant(
        Rule.CONFIG_4,
        "The default grace period is twice the present time to live.",
        of_op(wrong.should_cache_by_present_ttl, ops.ShouldCache),
    ),
    Mutant(
        Rule.CURSOR_1,
        "A new cursor without a position is tracked at the very start.",
        of_op(wrong.cursor_add_at_the_start, ops.CursorAdd),
    ),
    Mutant(
        Rule.CURSOR_2,
        "cursor_add of a member leaves it where it was.",
        of_op(wrong.cursor_add_once, ops.CursorAdd),
    ),
    Mutant(Rule.CURSOR_3, "A cursor does not move back.", of_op(wrong.cursor_move_forward, ops.CursorMove)),
    Mutant(
        Rule.CURSOR_4,
        "cursor_move of an unknown cursor makes it a member.",
        of_op(wrong.cursor_move_adding, ops.CursorMove),
    ),
    Mutant(
        Rule.CURSOR_5,
        "cursor_remove answers whether the cursor was tracked.",
        of_op(wrong.cursor_remove_tracked, ops.CursorRemove),
    ),
    Mutant(
        Rule.CURSOR_6,
        "The grace period starts when the last member leaves, not before.",
        of_op(wrong.cursor_remove_the_last, ops.CursorRemove),
    ),
    Mutant(
        Rule.CURSOR_7,
        "Of the cursors at the same position a rank counts one.",
        of_module(cursors, "rank", wrong.rank_before),
    ),
    Mutant(
        Rule.CURSOR_8,
        "A cursor of the heap container has the rank 0.",
        of_op(wrong.cursor_rank_of_the_heap, ops.CursorRank),
    ),
    Mutant(
        Rule.CURSOR_9,
        "slowest takes a member that is not tracked for one at the very start.",
        of_op(wrong.slowest_untracked, ops.Slowest),
    ),
    Mutant(Rule.CURSOR_10, "cursors counts the tracked ones.", of_op(wrong.cursors_tracked, ops.Cursors)),
    Mutant(
        Rule.CURSOR_11,
        "The grace period is measured in nanoseconds.",
        of_module(cursors, "in_grace", wrong.in_grace_by_nanos),
    ),
    Mutant(
        Rule.CURSOR_12,
        "The heap container knows the grace period.",
        of_op(wrong.should_cache_in_the_heap, ops.ShouldCache),
    ),
    Mutant(
        Rule.CURSOR_13,
        "The heap container tracks what is moved.",
        of_module(cursors, "moves", wrong.moves_every_member),
    ),
    Mutant(
        Rule.CURSOR_14,
        "The last cursor takes the entries of its cache with it.",
        of_op(wrong.cursor_remove_clearing, ops.CursorRemove),
    ),
)

OTHER_CURSORS: Final[tuple[Mutant, ...]] = (
    Mutant(
        Rule.CURSOR_3,
        "A move to nowhere leaves the cursor where it is.",
        of_op(wrong.cursor_move_ignoring_null, ops.CursorMove),
    ),
    Mutant(
        Rule.CURSOR_14,
        "A removed cursor leaves every cache.",
        of_op(wrong.cursor_remove_everywhere, ops.CursorRemove),
    ),
    Mutant(
        Rule.CURSOR_6,
        "The grace period starts with the cache and never again.",
        of_op(wrong.cursor_remove_without_grace, ops.CursorRemove),
    ),
    Mutant(
        Rule.CURSOR_6,
        "A member that was not tracked starts no grace period.",
        of_op(wrong.cursor_remove_grace_of_tracked, ops.CursorRemove),
    ),
    Mutant(
        Rule.CURSOR_6,
        "A cache that is named again has a grace period of its own.",
        of_op(wrong.remove_cache_with_grace, ops.RemoveCache),
    ),
)
