"""Mutants of the rules about variants: the readings of other releases."""

from __future__ import annotations

from typing import Final

from entrycache_faults import wrong_variants as wrong
from entrycache_faults.mutants.mutant import Mutant, of_module, of_op
from entrycache_reference.pulsar_pip430 import count, insert, ops, passes, storage_reads
from entrycache_reference.rules import Rule

VARIANTS: Final[tuple[Mutant, ...]] = (
    Mutant(
        Rule.INSERT_7,
        "Where 0 expected reads count, an insert with 0 gives no count.",
        of_op(wrong.insert_without_zero, ops.Insert),
    ),
    Mutant(
        Rule.INSERT_8,
        "Where a duplicate brings its count, one without a count leaves the former one.",
        of_module(insert, "kept", wrong.kept_without_a_count),
    ),
    Mutant(
        Rule.READ_13,
        "Where 0 expected reads count, fills with 0 are not cached.",
        of_module(storage_reads, "is_wanted", wrong.is_wanted_above_zero),
    ),
    Mutant(
        Rule.COUNT_8,
        "Where counts have a floor, a delivery goes below it.",
        of_module(count, "lowered", wrong.lowered_without_floor),
    ),
    Mutant(
        Rule.REQUEUE_9,
        "Where a size pass has one round, it spares one entry more.",
        of_module(passes, "is_late", wrong.is_late_by_one),
    ),
)
