"""Mutants of the rules about variants of `kafka-streams`: the readings of the releases."""

from __future__ import annotations

from typing import Final

from entrycache_faults import wrong_stream_variants as wrong
from entrycache_faults.mutants.mutant import Mutant, of_module
from entrycache_reference.kafka_streams import flush, namespaces, stores
from entrycache_reference.rules import Rule

STREAM_VARIANTS: Final[tuple[Mutant, ...]] = (
    Mutant(
        Rule.K_FLUSH_7,
        "Where an undelivered entry is lost, its key is no longer dirty.",
        of_module(flush, "unheard", wrong.unheard_with_its_key),
    ),
    Mutant(
        Rule.K_FLUSH_8,
        "Where a failed flush leaves entries clean, their keys stay among the dirty ones.",
        of_module(flush, "refused", wrong.refused_still_listed),
    ),
    Mutant(
        Rule.K_FLUSH_9,
        "Where the key of a tombstone is dropped, a value that was written to it meanwhile stays.",
        of_module(flush, "without_keys", wrong.without_deleted_keys),
    ),
    Mutant(
        Rule.K_METRICS_4,
        "Where the total is a running one, what is cleared stays in it.",
        of_module(namespaces, "booked", wrong.booked_nothing),
    ),
    Mutant(
        Rule.K_STORE_9,
        "Where entries are passed on one by one, an overtaken one is left out.",
        of_module(stores, "receive_one_by_one", wrong.received_unless_overtaken),
    ),
    Mutant(
        Rule.K_STORE_10,
        "Where a deletion caches what it reads, it does not.",
        of_module(stores, "read_to_delete", wrong.read_without_caching),
    ),
)
