"""One mutant a rule of histories: the reference for several threads with the fault of an exhibit."""

from __future__ import annotations

from typing import Final

from entrycache_faults import wrong_threads as wrong
from entrycache_faults.mutants.mutant import Mutant
from entrycache_reference.kafka_streams.threads import shared
from entrycache_reference.rules import Rule


def _shared(rule: Rule, note: str, fault: type[shared.Shared]) -> Mutant:
    return Mutant(rule, note, ((shared, "Shared", fault),))


THREADS: Final[tuple[Mutant, ...]] = (
    _shared(Rule.K_CONCURRENCY_1, "Two flushes take two locks in two orders.", wrong.CrossedLocks),
    _shared(Rule.K_CONCURRENCY_2, "The running total is changed outside the lock.", wrong.LateTotal),
    _shared(Rule.K_CONCURRENCY_3, "Gets are counted outside the lock.", wrong.LostCounts),
    _shared(Rule.K_CONCURRENCY_4, "A flush gathers its entries outside the lock.", wrong.HandedOverTwice),
    _shared(Rule.K_CONCURRENCY_5, "A write reads the state outside the lock.", wrong.UnlockedWrite),
    _shared(Rule.K_CONCURRENCY_6, "A thread reads what it saw last.", wrong.OwnCopies),
    _shared(Rule.K_CONCURRENCY_7, "A write looks for room outside the lock.", wrong.LimitLookedAtFirst),
)
"""Mutants of the reference for several threads."""
