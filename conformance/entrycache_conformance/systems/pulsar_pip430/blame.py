"""What `pulsar-pip430` says for explaining a difference: its looks, and the subject's state as they tell it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from entrycache_faults.planted import Fault
from entrycache_faults.reference.pulsar_pip430 import PLANTED
from entrycache_faults.reference.pulsar_pip430.flips import flips
from entrycache_protocol.blame import Blame
from entrycache_reference.pulsar_pip430.change import EMPTY
from entrycache_reference.pulsar_pip430.laws import ANSWER_LAWS
from entrycache_reference.pulsar_pip430.ops import Observe
from entrycache_reference.pulsar_pip430.outcomes import Observed
from entrycache_reference.pulsar_pip430.state import Entry, Row, Slot, State, Step
from entrycache_reference.rules import Rule

GENERAL: Final = ANSWER_LAWS | {Rule.STATE_8, Rule.EVICT_8, Rule.METRICS_4}
"""Laws that compare an answer, rows or counts with what was removed; rows and counts are the reference's."""


def faults() -> Sequence[Sequence[Fault]]:
    """What is planted function by function, then the flips of the table."""
    return (tuple(PLANTED), flips())


def looks(declaration: Any, steps: Sequence[Any]) -> Sequence[Any]:
    """`observe`, which marks and counts nothing, where a subject shows its queue."""
    shows = "observe" in declaration.ops and {"queue", "now"} <= declaration.introspection
    return (Observe(),) if shows else ()


def told(
    pre: State, done: Step, op: Any, answer: Any, shown: Mapping[Any, Any], declaration: Any
) -> tuple[State, Step, Step]:
    """The step without dead slots: where they lie is nobody's business."""
    rows = tuple(row for row in done.rows if row.op != "TOMBSTONE")
    right = Step(_live(done.state), done.outcome, rows, done.parts)
    observed = shown.get(Observe())
    state = own_state(observed, done.state, declaration.introspection) if observed is not None else right.state
    return _live(pre), right, right._replace(outcome=answer, state=state)


def _live(state: State) -> State:
    return state._replace(queue=tuple(slot for slot in state.queue if slot is not None))


def own_state(observed: Observed, reference: State, shows: frozenset[str]) -> State:
    """The state that a subject shows; what it does not declare, or cannot show, is taken from the reference."""
    entries: dict[Any, dict[Any, Entry]] = {name: {} for name in reference.caches}
    for slot in observed.queue:
        twin = reference.caches.get(slot.cache, EMPTY).entries.get(slot.pos)
        requeues = slot.requeues if "requeues" in shows or twin is None else twin.requeues
        stamp, token = observed.now - slot.age_nanos, None if twin is None else twin.token
        entry = Entry(slot.size, stamp, requeues, slot.accessed, slot.expected_reads, token)
        entries.setdefault(slot.cache, {})[slot.pos] = entry
    caches = {}
    for name, held in entries.items():
        is_told = "caches" in shows and name in observed.caches
        size = observed.caches[name].bytes if is_told else sum(entry.size_bytes for entry in held.values())
        caches[name] = reference.caches.get(name, EMPTY)._replace(entries=held, size_bytes=size)
    total = observed.bytes if "bytes" in shows else sum(cache.size_bytes for cache in caches.values())
    queue = tuple(Slot(slot.cache, slot.pos) for slot in observed.queue)
    return reference._replace(now_nanos=observed.now, caches=caches, queue=queue, size_bytes=total)


def is_about(expected: Any, got: Any, row: Row) -> bool:
    """Whether a row is about an entry that two states do not show alike."""
    if not (isinstance(expected, Observed) and isinstance(got, Observed)):
        return False
    differing = {
        (slot.cache, *slot.pos)
        for slot in (*expected.queue, *got.queue)
        if (slot in expected.queue) != (slot in got.queue)
    }
    return (row.cache, row.ledger_id, row.entry_id) in differing


BLAME: Final = Blame(faults, looks, told, is_about, GENERAL, Rule.COUNT_7)
