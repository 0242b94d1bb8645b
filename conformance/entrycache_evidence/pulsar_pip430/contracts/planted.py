"""The errors that contracts have to see: one planted fault a rule, the flips of the table, and some inside passes."""

from __future__ import annotations

import dataclasses
from typing import Final

from entrycache_faults.planted import Fault, Faults
from entrycache_faults.reference.pulsar_pip430 import PLANTED as OWN
from entrycache_faults.reference.pulsar_pip430.flips import flips
from entrycache_reference.pulsar_pip430 import outcomes, passes
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.decision import Action
from entrycache_reference.pulsar_pip430.state import Cache, Entry, Slot, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName

INSIDE: Final = Faults(OWN.package)
"""Errors inside passes, which only contracts are to see."""

planted = INSIDE.register


@planted(Rule.STATE_3, "passes.requeued")
@planted(Rule.REQUEUE_4, "passes.requeued")
def requeued_keeping_its_stamp(entry: Entry, now_nanos: int, action: Action, config: Config) -> Entry:
    """A requeued entry keeps its stamp."""
    return entry._replace(accessed=False, requeues=entry.requeues + 1)


@planted(Rule.STATE_1, "passes.without")
def without_keeping_the_bytes(caches: dict[CacheName, Cache], slot: Slot) -> None:
    """A pass leaves the bytes of what it removes in the cache's sum."""
    cache = caches[slot.cache]
    entries = {pos: entry for pos, entry in cache.entries.items() if pos != slot.pos}
    caches[slot.cache] = Cache(entries, cache.size_bytes)


@planted(Rule.STATE_2, "passes.without")
def without_keeping_the_entry(caches: dict[CacheName, Cache], slot: Slot) -> None:
    """A pass takes the slot of what it removes and leaves the entry."""


@planted(Rule.EVICT_7, "passes.run_pass")
def pass_counting_requeues(state: State, kind: passes.PassKind, bound: int, config: Config) -> Step:
    """A pass counts requeued entries as evicted ones."""
    done = passes.run_pass(state, kind, bound, config)
    assert isinstance(done.outcome, outcomes.Removed)
    again = sum(row.op == "REQUEUE" for row in done.rows)
    return done._replace(outcome=outcomes.Removed(done.outcome.entries + again, done.outcome.bytes))


STALE: Final = next(fault for fault in INSIDE if fault.rule is Rule.STATE_3)

PLANTED: Final[tuple[Fault, ...]] = (
    *OWN.own,
    *INSIDE,
    *(dataclasses.replace(flip, note=f"The table flipped, {flip.note}.") for flip in flips()),
)
"""In a fixed order: a number names one for a child process."""
