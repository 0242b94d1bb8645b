"""Parts that the contracts share: small states, the rules' demands on a pass, seeded faults, the decision fact by fact.

`build_state` builds a state from a few slots. `find_broken_sums` says, without the reference's functions, which rules
about bytes a pass over it breaks. `CONTRACT_FAULTS` lists the seeded faults that contracts have to detect:
one for each rule, the flipped decision tables, and some inside passes. `FactByFact` replaces the decision table so that
a path splits only at facts that decide.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from entrycache_evidence.core.models import current_model
from entrycache_faults.model import Fault, FaultRegistry, Model
from entrycache_faults.reference.pulsar_pip430 import SEEDED_FAULTS as OWN
from entrycache_faults.reference.pulsar_pip430.registry import decision_flips
from entrycache_reference import rules, vocabulary
from entrycache_reference.pulsar_pip430 import decision, outcomes, passes
from entrycache_reference.pulsar_pip430.config import Config, Settings
from entrycache_reference.pulsar_pip430.state import Cache, Entry, Slot, State, Step

CACHE = vocabulary.CacheName("a")
REFERENCE_MODEL = Model("entrycache_reference.pulsar_pip430")


def function_under_contract(place: str) -> Any:
    """Return the function under contract, of the reference or of the model under test."""
    return (current_model() or REFERENCE_MODEL)[place]


class QueueSlot(NamedTuple):
    """A slot of the queue; a dead one (`gone`) has no meaningful other field."""

    gone: bool
    size: int
    stamp: int
    requeues: int
    accessed: bool
    reads: int | None


def build_state(queue: tuple[QueueSlot, ...], now: int, settings: Settings) -> State:
    """Build the state with this queue; its slots are numbered from the head."""
    entries: dict[vocabulary.Position, Entry] = {}
    slots: list[Slot | None] = []
    total = 0
    for number, held in enumerate(queue):
        pos = vocabulary.Position(0, number)
        if held.gone:
            slots.append(None)
        else:
            slots.append(Slot(CACHE, pos))
            entries[pos] = Entry(held.size, held.stamp, held.requeues, held.accessed, held.reads, None)
            total += held.size
    return State(now, settings, {CACHE: Cache(entries, total)}, tuple(slots), total)


def find_broken_sums(queue: tuple[QueueSlot, ...], pre: State, step: Step) -> tuple[str, ...]:
    """Return the rules about bytes that a pass breaks."""
    after = step.state
    cache = after.caches[CACHE]
    entries = cache.entries
    wrong: list[str] = []
    removed = [
        held for number, held in enumerate(queue) if not held.gone and vocabulary.Position(0, number) not in entries
    ]
    freed = sum(held.size for held in removed)
    if not cache.size_bytes == after.size_bytes == pre.size_bytes - freed:
        wrong.append("R-STATE-1")
    if step.outcome != outcomes.Removed(len(removed), freed):
        wrong.append("R-EVICT-7")
    return tuple(wrong)


# --- Seeded faults

PASS_FAULTS: Final = FaultRegistry(OWN.package)
"""Seeded faults inside passes, for contracts and lemmas."""

seeded_pass_fault = PASS_FAULTS.register


@seeded_pass_fault(rules.Rule.STATE_3, "passes.requeue_entry")
def requeued_keeping_its_stamp(entry: Entry, now_nanos: int, action: decision.Action, config: Config) -> Entry:
    """A requeued entry keeps its stamp."""
    return entry._replace(accessed=False, requeues=entry.requeues + 1)


@seeded_pass_fault(rules.Rule.STATE_1, "passes.remove_from_cache")
def without_keeping_the_bytes(caches: dict[vocabulary.CacheName, Cache], slot: Slot) -> None:
    """A pass leaves the bytes of what it removes in the cache's sum."""
    cache = caches[slot.cache]
    entries = {pos: entry for pos, entry in cache.entries.items() if pos != slot.pos}
    caches[slot.cache] = Cache(entries, cache.size_bytes)


@seeded_pass_fault(rules.Rule.EVICT_7, "passes.run_pass")
def pass_counting_requeues(state: State, kind: passes.PassKind, bound: int, config: Config) -> Step:
    """A pass counts requeued entries as evicted ones."""
    done = passes.run_pass(state, kind, bound, config)
    assert isinstance(done.outcome, outcomes.Removed)
    again = sum(row.op == "REQUEUE" for row in done.rows)
    return done._replace(outcome=outcomes.Removed(done.outcome.entries + again, done.outcome.bytes))


STALE_STAMP_FAULT: Final = next(fault for fault in PASS_FAULTS if fault.rule is rules.Rule.STATE_3)

CONTRACT_FAULTS: Final[tuple[Fault, ...]] = (
    *OWN.own,
    *PASS_FAULTS,
    *(dataclasses.replace(flip, note=f"The table flipped, {flip.note}.") for flip in decision_flips()),
)
"""The seeded faults in a fixed order, so that a number names one for a child process."""


# --- The decision table fact by fact


class Question(NamedTuple):
    """A fact, by its column, and the next question or the line if it is false or true."""

    column: int
    no: Question | decision.Line
    yes: Question | decision.Line


class FactByFact:
    """A decision table that asks one fact after another and turns each into a boolean only then.

    It answers as the table does. A plain table would turn all facts into booleans for its hash, and so split paths that
    end in one line.
    """

    def __init__(self, table: Mapping[decision.Facts, decision.Line]) -> None:
        self.first = _first_question(list(table.items()), 0)

    def __getitem__(self, facts: decision.Facts) -> decision.Line:
        """Return the line for these facts."""
        at = self.first
        while isinstance(at, Question):
            at = at.yes if facts[at.column] else at.no
        return at


def _first_question(lines: Sequence[tuple[decision.Facts, decision.Line]], column: int) -> Question | decision.Line:
    """Build the first question about these lines, whose facts agree before the column, or the only line left."""
    first_line = lines[0][1]
    if all(line is first_line for _, line in lines):
        return first_line
    no, yes = (
        _first_question([part for part in lines if part[0][column] is fact], column + 1) for fact in (False, True)
    )
    return no if no is yes else Question(column, no, yes)


def ask_fact_by_fact(model: Model) -> Model:
    """Return the model with decisions that ask one fact after another."""
    place = "decision.LOOKUP"
    return Model(model.package, {**model.replaced, place: FactByFact(model[place])})
