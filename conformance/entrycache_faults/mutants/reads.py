"""Mutants of the rules of level `reads`: reads through the cache, holds, hits and misses."""

from __future__ import annotations

from typing import Final

from entrycache_faults import wrong_reads as wrong
from entrycache_faults.mutants.mutant import Mutant, of_module, of_op
from entrycache_reference.pulsar_pip430 import ops, storage_reads
from entrycache_reference.rules import Rule

READS: Final[tuple[Mutant, ...]] = (
    Mutant(
        Rule.READ_7,
        "A read is served from the cache only where all of it is cached.",
        of_module(storage_reads, "look_up", wrong.look_up_all_or_nothing),
    ),
    Mutant(
        Rule.READ_8,
        "A read hands over what storage gives in descending order.",
        of_op(wrong.read_handing_over_backwards, ops.Read),
    ),
    Mutant(
        Rule.READ_9,
        "Fills that nobody else expects are cached.",
        of_module(storage_reads, "is_wanted", wrong.is_wanted_always),
    ),
    Mutant(
        Rule.READ_10,
        "read_one caches what storage gives.",
        of_op(wrong.read_one_caching, ops.ReadOne),
    ),
    Mutant(
        Rule.READ_11,
        "A reversed range is read as an empty one.",
        of_op(wrong.read_backwards_nothing, ops.Read),
    ),
    Mutant(
        Rule.READ_12,
        "The payloads from storage stand before those of the hits.",
        of_module(storage_reads, "handed_over", wrong.handed_over_fills_first),
    ),
    Mutant(
        Rule.COUNT_5, "A release takes 2 from each count.", of_module(storage_reads, "deliver", wrong.deliver_twice)
    ),
    Mutant(
        Rule.COUNT_6,
        "A release takes from whatever entry is cached there now.",
        of_module(storage_reads, "deliver", wrong.deliver_to_whatever_is_there),
    ),
    Mutant(
        Rule.COUNT_7,
        "A name stays open when it is released.",
        of_op(wrong.release_keeping_the_name, ops.Release),
    ),
    Mutant(Rule.METRICS_3, "Fills are not counted.", of_module(storage_reads, "offer", wrong.offer_uncounted)),
    Mutant(
        Rule.METRICS_6,
        "A read counts at most one miss.",
        of_module(storage_reads, "look_up", wrong.look_up_one_miss),
    ),
)

OTHER_READS: Final[tuple[Mutant, ...]] = (
    Mutant(
        Rule.COUNT_5,
        "A read without a hold releases nothing.",
        of_module(storage_reads, "finished", wrong.finished_without_release),
    ),
    Mutant(
        Rule.READ_9,
        "One trigger for all fills, after the last of them.",
        of_module(storage_reads, "fill", wrong.fill_with_one_trigger),
    ),
    Mutant(
        Rule.COUNT_7,
        "The release of what is not open answers 0.",
        of_op(wrong.release_once_too_often, ops.Release),
    ),
    Mutant(
        Rule.METRICS_6, "A read counts at most one hit.", of_module(storage_reads, "look_up", wrong.look_up_one_hit)
    ),
    Mutant(
        Rule.METRICS_6,
        "A hit counts the bytes that storage would have given.",
        of_module(storage_reads, "look_up", wrong.look_up_stored_bytes),
    ),
)
