"""Mutants of the rules of level `manager`: trigger, settings, invalidation, counters."""

from __future__ import annotations

from typing import Final

from entrycache_faults import wrong_manager as wrong
from entrycache_faults.mutants.mutant import Mutant, of_module, of_op
from entrycache_reference.pulsar_pip430 import limits, ops, pass_events, remove, trigger
from entrycache_reference.rules import Rule

MANAGER: Final[tuple[Mutant, ...]] = (
    Mutant(
        Rule.TRIGGER_1,
        "The target is the watermark's share of the trigger, not of the limit.",
        tuple((module, "target_bytes", wrong.target_from_the_trigger) for module in (limits, pass_events)),
    ),
    Mutant(
        Rule.TRIGGER_2,
        "An insert that reaches the trigger exactly runs a size pass.",
        of_module(trigger, "trigger_when_needed", wrong.after_insert_at_the_trigger),
    ),
    Mutant(
        Rule.TRIGGER_3,
        "A duplicate that finds the caches over the trigger triggers a pass.",
        of_op(wrong.insert_triggering_when_refused, ops.Insert),
    ),
    Mutant(Rule.TRIGGER_4, "cycle clears the flag.", of_op(wrong.cycle_clearing_the_flag, ops.Cycle)),
    Mutant(
        Rule.TRIGGER_5,
        "run_scheduled runs its pass though no insert has asked for one.",
        of_op(wrong.run_scheduled_unasked, ops.RunScheduled),
    ),
    Mutant(
        Rule.TRIGGER_6,
        "With manual eviction cycle leaves the size pass to run_scheduled.",
        of_op(wrong.cycle_without_size_pass, ops.Cycle),
    ),
    Mutant(
        Rule.TRIGGER_7,
        "cycle answers what its size pass removed.",
        of_module(trigger, "both", wrong.only_the_second),
    ),
    Mutant(
        Rule.TRIGGER_8,
        "Above the trigger a size pass frees at least one byte.",
        of_module(trigger, "bytes_over", wrong.bytes_over_at_least_one),
    ),
    Mutant(
        Rule.TRIGGER_9,
        "An insert whose entry is removed at once answers false.",
        of_op(wrong.insert_telling_what_stayed, ops.Insert),
    ),
    Mutant(
        Rule.CONFIG_1,
        "What configure does not name goes back to where the run began.",
        of_op(wrong.configure_from_the_start, ops.Configure),
    ),
    Mutant(
        Rule.CONFIG_2,
        "configure leaves out the settings that are wrong and takes the others.",
        of_op(wrong.configure_what_is_right, ops.Configure),
    ),
    Mutant(
        Rule.CONFIG_3,
        "configure runs or schedules the size pass that the new limit asks for.",
        of_op(wrong.configure_evicting, ops.Configure),
    ),
    Mutant(
        Rule.INVALIDATE_7,
        "invalidate_before takes the entry at the position too.",
        of_op(wrong.invalidate_before_included, ops.InvalidateBefore),
    ),
    Mutant(
        Rule.INVALIDATE_8,
        "invalidate_ledger takes the ledgers before it too.",
        of_op(wrong.invalidate_ledgers_up_to, ops.InvalidateLedger),
    ),
    Mutant(
        Rule.INVALIDATE_9,
        "remove_cache forgets the cursors.",
        of_op(wrong.remove_cache_with_cursors, ops.RemoveCache),
    ),
    Mutant(
        Rule.METRICS_4,
        "Removals by a call are not counted.",
        of_module(remove, "drop_entries", wrong.drop_entries_uncounted),
    ),
    Mutant(Rule.METRICS_5, "evict counts as an eviction cycle.", of_op(wrong.evict_counted, ops.Evict)),
    Mutant(
        Rule.METRICS_7,
        "Asking for the counters starts them again.",
        of_op(wrong.metrics_starting_again, ops.Metrics),
    ),
)

OTHER_MANAGER: Final[tuple[Mutant, ...]] = (
    Mutant(
        Rule.TRIGGER_2,
        "A triggered pass frees as many bytes as the insert brought.",
        of_module(trigger, "trigger_when_needed", wrong.after_insert_for_its_size),
    ),
    Mutant(
        Rule.TRIGGER_2,
        "A triggered pass frees as many bytes as may stay.",
        of_module(trigger, "trigger_when_needed", wrong.after_insert_for_the_target),
    ),
    Mutant(
        Rule.TRIGGER_5,
        "run_scheduled keeps the flag where there is nothing to free any more.",
        of_op(wrong.run_scheduled_keeping_the_flag, ops.RunScheduled),
    ),
    Mutant(
        Rule.TRIGGER_6,
        "cycle runs its size pass before its time pass.",
        of_op(wrong.cycle_size_pass_first, ops.Cycle),
    ),
    Mutant(
        Rule.CONFIG_2,
        "What is refused because of its watermark has changed the other settings.",
        of_op(wrong.configure_up_to_the_watermark, ops.Configure),
    ),
    Mutant(
        Rule.METRICS_3,
        "A duplicate counts as inserted.",
        of_op(wrong.insert_counted_when_refused, ops.Insert),
    ),
)
