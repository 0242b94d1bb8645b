"""What `pulsar-pip430` says for explaining a difference: its looks, and the subject's state as they tell it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from entrycache_reference.pulsar_pip430.change import EMPTY
from entrycache_reference.pulsar_pip430.ops import Observe
from entrycache_reference.pulsar_pip430.outcomes import Observed
from entrycache_reference.pulsar_pip430.state import Entry, Row, Slot, State, Step
from entrycache_reference.rules import Rule

if TYPE_CHECKING:
    from entrycache_conformance.blame_proto import Seen
    from entrycache_protocol.declaration import Declaration

GENERAL: Final = frozenset({Rule.EVICT_7, Rule.INVALIDATE_5, Rule.TRIGGER_7, Rule.STATE_8})
"""Laws that compare an answer, or rows, with what was removed: where that is wrong, others say more."""


def looks(declaration: Declaration, steps: Sequence[Any]) -> Sequence[Any]:
    """`observe`, which marks and counts nothing, where a subject shows its queue."""
    shows = "observe" in declaration.ops and {"queue", "now"} <= declaration.introspection
    return (Observe(),) if shows else ()


def told(seen: Seen) -> tuple[State, Step, Step]:
    """The step at fault without dead slots: where they lie is nobody's business."""
    done: Step = seen.steps[seen.at]
    rows = tuple(row for row in done.rows if row.op != "TOMBSTONE")
    right = Step(_live(done.state), done.outcome, rows, done.parts)
    state = right.state
    if seen.shown and isinstance(seen.shown[0], Observed):
        state = own_state(seen.shown[0], done.state, seen.declaration)
    return _live(seen.pre), right, right._replace(outcome=seen.answers[seen.at], state=state)


def _live(state: State) -> State:
    return state._replace(queue=tuple(slot for slot in state.queue if slot is not None))


def own_state(observed: Observed, reference: State, declaration: Declaration) -> State:
    """The state that a subject shows; what it does not declare, or cannot show, is taken from the reference."""
    shows = declaration.introspection
    entries: dict[Any, dict[Any, Entry]] = {name: {} for name in reference.caches}
    for slot in observed.queue:
        twin = reference.caches.get(slot.cache, EMPTY).entries.get(slot.pos)
        requeues = slot.requeues if "requeues" in shows or twin is None else twin.requeues
        stamp, token = observed.now - slot.age_nanos, None if twin is None else twin.token
        entry = Entry(slot.size, stamp, requeues, slot.accessed, slot.expected_reads, token)
        entries.setdefault(slot.cache, {})[slot.pos] = entry
    caches = {}
    for name, held in entries.items():
        told = "caches" in shows and name in observed.caches
        size = observed.caches[name].bytes if told else sum(entry.size_bytes for entry in held.values())
        caches[name] = reference.caches.get(name, EMPTY)._replace(entries=held, size_bytes=size)
    total = observed.bytes if "bytes" in shows else sum(cache.size_bytes for cache in caches.values())
    queue = tuple(Slot(slot.cache, slot.pos) for slot in observed.queue)
    return reference._replace(now_nanos=observed.now, caches=caches, queue=queue, size_bytes=total)


def is_about(seen: Seen, row: Row) -> bool:
    """Whether a row is about an entry that the two states do not show alike."""
    expected, got = seen.difference.expected, seen.difference.got
    if not (isinstance(expected, Observed) and isinstance(got, Observed)):
        return False
    differing = {
        (slot.cache, *slot.pos)
        for slot in (*expected.queue, *got.queue)
        if (slot in expected.queue) != (slot in got.queue)
    }
    return (row.cache, row.ledger_id, row.entry_id) in differing
