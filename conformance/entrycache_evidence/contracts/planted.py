"""The errors that contracts have to see: the museum's mutants, the flips of the table, and some inside passes."""

from __future__ import annotations

from typing import Final

from entrycache_faults.mutants import MUTANTS, Mutant, flips
from entrycache_reference.pulsar_pip430 import outcomes, passes
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.decision import Action
from entrycache_reference.pulsar_pip430.state import Cache, Entry, Slot, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName

_run_pass: Final = passes.run_pass


def requeued_keeping_its_stamp(entry: Entry, now_nanos: int, action: Action, config: Config) -> Entry:
    """R-STATE-3, R-REQUEUE-4."""
    return entry._replace(accessed=False, requeues=entry.requeues + 1)


def without_keeping_the_bytes(caches: dict[CacheName, Cache], slot: Slot) -> None:
    """R-STATE-1."""
    cache = caches[slot.cache]
    entries = {pos: entry for pos, entry in cache.entries.items() if pos != slot.pos}
    caches[slot.cache] = Cache(entries, cache.size_bytes)


def without_keeping_the_entry(caches: dict[CacheName, Cache], slot: Slot) -> None:
    """R-STATE-2."""


def pass_counting_requeues(state: State, kind: passes.PassKind, bound: int, config: Config) -> Step:
    """R-EVICT-7."""
    done = _run_pass(state, kind, bound, config)
    assert isinstance(done.outcome, outcomes.Removed)
    again = sum(row.op == "REQUEUE" for row in done.rows)
    return done._replace(outcome=outcomes.Removed(done.outcome.entries + again, done.outcome.bytes))


STALE: Final = Mutant(
    Rule.STATE_3, "A requeued entry keeps its stamp.", ((passes, "requeued", requeued_keeping_its_stamp),)
)

PLANTED: Final[tuple[Mutant, ...]] = (
    *MUTANTS,
    STALE,
    STALE._replace(rule=Rule.REQUEUE_4),
    Mutant(
        Rule.STATE_1,
        "A pass leaves the bytes of what it removes in the cache's sum.",
        ((passes, "without", without_keeping_the_bytes),),
    ),
    Mutant(
        Rule.STATE_2,
        "A pass takes the slot of what it removes and leaves the entry.",
        ((passes, "without", without_keeping_the_entry),),
    ),
    Mutant(
        Rule.EVICT_7,
        "A pass counts requeued entries as evicted ones.",
        ((passes, "run_pass", pass_counting_requeues),),
    ),
    *(flip._replace(note=f"The table flipped, {flip.note}.") for flip in flips()),
)
"""In a fixed order: a number names one for a child process."""
