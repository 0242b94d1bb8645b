"""Mutants of the rules about the two passes."""

from __future__ import annotations

from typing import Final

from entrycache_faults import wrong_passes
from entrycache_faults.mutants.mutant import Mutant, of_module, of_op
from entrycache_reference.pulsar_pip430 import decision, ops, passes
from entrycache_reference.rules import Rule

_TIME: Final = ((passes, "halts", wrong_passes.halts_remembering_the_kind),)
"""`decide` is not told which pass asks; these mutants remember what `halts` was told last."""

PASSES: Final[tuple[Mutant, ...]] = (
    Mutant(
        Rule.EXPIRE_1,
        "A time pass takes entries as old as the cutoff.",
        of_module(passes, "halts", wrong_passes.halts_after_the_cutoff),
    ),
    Mutant(
        Rule.EXPIRE_2,
        "A time pass ends at an accessed entry.",
        of_module(passes, "halts", wrong_passes.halts_at_an_accessed_entry),
    ),
    Mutant(
        Rule.EXPIRE_3,
        "Without an age, entries as old as the time to live are expired.",
        of_module(passes, "cutoff", wrong_passes.cutoff_off_by_one),
    ),
    Mutant(
        Rule.EXPIRE_4,
        "A negative age is taken for 0.",
        of_op(wrong_passes.expire_not_refusing, ops.Expire),
    ),
    Mutant(
        Rule.EXPIRE_5,
        "An age below the time to live is raised to it.",
        of_module(passes, "cutoff", wrong_passes.cutoff_at_least_ttl),
    ),
    Mutant(
        Rule.EVICT_1,
        "A size pass that has enough halts at a dead slot.",
        of_module(decision, "LOOKUP", wrong_passes.STOP_AT_DEAD),
    ),
    Mutant(
        Rule.EVICT_2,
        "A pass takes the mark of the entry at which it halts.",
        of_module(passes, "run_pass", wrong_passes.pass_unmarking_the_head),
    ),
    Mutant(
        Rule.EVICT_3,
        "An entry that expects nobody is kept as long as its budget lasts.",
        of_module(decision, "touched", wrong_passes.touched_on_budget),
    ),
    Mutant(
        Rule.EVICT_4,
        "A size pass is content with one byte too few.",
        of_module(passes, "halts", wrong_passes.halts_one_byte_early),
    ),
    Mutant(
        Rule.EVICT_5,
        "A size pass that has freed exactly what it needs takes one more.",
        of_module(passes, "halts", wrong_passes.halts_one_late),
    ),
    Mutant(
        Rule.EVICT_6,
        "evict of 0 or fewer bytes answers 0, 0.",
        of_op(wrong_passes.evict_not_refusing, ops.Evict),
    ),
    Mutant(
        Rule.EVICT_7,
        "A pass counts dead slots as evicted entries.",
        of_module(passes, "run_pass", wrong_passes.pass_counting_dead_slots),
    ),
    Mutant(
        Rule.EVICT_8,
        "A pass collects what it requeues on a stack and puts it back at its end.",
        of_module(passes, "run_pass", wrong_passes.pass_stacking_requeues),
    ),
    Mutant(
        Rule.REQUEUE_1,
        "The budget bounds extensions by access.",
        of_module(decision, "touched", wrong_passes.touched_within_budget),
    ),
    Mutant(
        Rule.REQUEUE_2,
        "The last extension of the budget is not given.",
        of_module(decision, "spare", wrong_passes.spare_one_less),
    ),
    Mutant(
        Rule.REQUEUE_3,
        "A time pass takes an exhausted entry for an accessed one.",
        (*_TIME, (passes, "decide", wrong_passes.decide_keeping_exhausted)),
    ),
    Mutant(
        Rule.REQUEUE_4,
        "An extension because of expected reads leaves the mark.",
        of_module(passes, "requeued", wrong_passes.requeued_still_marked),
    ),
    Mutant(
        Rule.REQUEUE_5,
        "An extension by access is not counted.",
        of_module(passes, "requeued", wrong_passes.requeued_free_by_access),
    ),
    Mutant(
        Rule.REQUEUE_6,
        "A time pass grants one extension above the budget.",
        (*_TIME, (passes, "decide", wrong_passes.decide_one_above_the_budget)),
    ),
    Mutant(
        Rule.REQUEUE_7,
        "Access extends the stay whatever the setting.",
        of_module(decision, "touched", wrong_passes.touched_always),
    ),
    Mutant(
        Rule.REQUEUE_8,
        "A count of 0 still expects a read.",
        of_module(decision, "expected", wrong_passes.expected_at_zero),
    ),
    Mutant(
        Rule.LIVENESS_1,
        "The access mark outlives every other requeue.",
        of_module(passes, "requeued", wrong_passes.requeued_mark_stays_once),
    ),
)

OTHER_PASSES: Final[tuple[Mutant, ...]] = (
    Mutant(
        Rule.REQUEUE_4,
        "A requeued entry keeps its stamp.",
        of_module(passes, "requeued", wrong_passes.requeued_keeping_the_stamp),
    ),
    Mutant(
        Rule.EVICT_8, "A requeued entry stays at the head.", of_module(passes, "put_back", wrong_passes.put_back_first)
    ),
    Mutant(Rule.EXPIRE_3, "The default age is twice the TTL.", of_module(passes, "cutoff", wrong_passes.cutoff_twice)),
)
