"""Explanation and drawing of the failures of `pulsar-pip430`.

`BLAME` gives `explain.py` the seeded faults, the state query (`observe`), and the subject's own state as that query
shows it. The functions at the end show the removal queue, the caches and the cursors as text and as boxes.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from entrycache_faults.model import Fault
from entrycache_faults.reference.pulsar_pip430 import SEEDED_FAULTS, registry
from entrycache_protocol.system import Blame, Lane
from entrycache_reference.pulsar_pip430 import change, ops, outcomes
from entrycache_reference.pulsar_pip430.laws import ANSWER_LAWS
from entrycache_reference.pulsar_pip430.state import Cache, Counts, Entry, Row, Slot, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, Position

GENERAL_LAWS: Final = ANSWER_LAWS | {
    *(Rule.STATE_8, Rule.EVICT_8, Rule.METRICS_3, Rule.METRICS_4, Rule.METRICS_6),
    Rule.INFLIGHT_1,
}
"""Laws that compare an answer, rows or counts with what happened; rows, and mostly counts, are the reference's.

So are asks: their law compares those that an answer names with the reference's state.
"""


def seeded_faults() -> Sequence[Sequence[Fault]]:
    """Return the seeded faults by function, then the flips of the decision table."""
    return (tuple(SEEDED_FAULTS), registry.decision_flips())


def state_queries(declaration: Any, steps: Sequence[Any]) -> Sequence[Any]:
    """Return the operations that show the state and change nothing, of those that the subject offers.

    `observe` is one if it shows the queue or the caches. `metrics` is one in a case that asks for the counters.
    """
    shows = declaration.introspection
    observe = (ops.Observe(),) if "observe" in declaration.ops and (_shows_queue(shows) or "caches" in shows) else ()
    metrics = (ops.Metrics(),) if any(type(op) is ops.Metrics for op in steps) else ()
    return (*observe, *metrics)


def _shows_queue(shows: frozenset[str]) -> bool:
    return {"queue", "now"} <= shows


def own_step(
    pre: State, done: Step, op: Any, answer: Any, views: Mapping[Any, Any], declaration: Any
) -> tuple[State, Step, Step]:
    """Return the steps without dead slots: their place is not specified."""
    rows = tuple(row for row in done.rows if row.op != "TOMBSTONE")
    pre, right = _without_dead_slots(pre), Step(_without_dead_slots(done.state), done.outcome, rows, done.parts)
    state, observed, counters = right.state, views.get(ops.Observe()), views.get(ops.Metrics())
    if isinstance(observed, outcomes.Observed):
        state = own_state(observed, pre, state, declaration.introspection)
    if isinstance(counters, outcomes.Counters):
        state = state._replace(counts=Counts(*(getattr(counters, name) for name in Counts._fields)))
    return pre, right, right._replace(outcome=answer, state=state)


def _without_dead_slots(state: State) -> State:
    return state._replace(queue=tuple(slot for slot in state.queue if slot is not None))


def own_state(observed: outcomes.Observed, pre: State, reference: State, shows: frozenset[str]) -> State:
    """Return the state that a subject shows. What it does not declare or cannot show comes from the reference."""
    entries = _entries_in_queue(observed, reference, shows) if _shows_queue(shows) else {}
    if not _shows_queue(shows):
        entries = {name: _entries_in_cache(name, view, pre, reference) for name, view in observed.caches.items()}
    caches = {}
    for name in (*reference.caches, *(name for name in entries if name not in reference.caches)):
        held = entries.get(name, {})
        is_reported = "caches" in shows and name in observed.caches
        size = observed.caches[name].bytes if is_reported else sum(entry.size_bytes for entry in held.values())
        caches[name] = reference.caches.get(name, change.EMPTY_CACHE)._replace(entries=held, size_bytes=size)
    total = observed.bytes if "bytes" in shows else sum(cache.size_bytes for cache in caches.values())
    if not _shows_queue(shows):
        queue = _queue_of(caches, pre, reference)
        return reference._replace(caches=caches, queue=queue, size_bytes=total)
    queue = tuple(Slot(slot.cache, slot.pos) for slot in observed.queue)
    return reference._replace(now_nanos=observed.now, caches=caches, queue=queue, size_bytes=total)


def _entries_in_queue(
    observed: outcomes.Observed, reference: State, shows: frozenset[str]
) -> dict[CacheName, dict[Position, Entry]]:
    """Return the entries that the queue shows, by cache."""
    entries: dict[CacheName, dict[Position, Entry]] = {}
    for slot in observed.queue:
        expected = change.entry_at(reference, slot.cache, slot.pos)
        requeues = slot.requeues if "requeues" in shows or expected is None else expected.requeues
        stamp, token = observed.now - slot.age_nanos, None if expected is None else expected.token
        entry = Entry(slot.size, stamp, requeues, slot.accessed, slot.expected_reads, token)
        entries.setdefault(slot.cache, {})[slot.pos] = entry
    return entries


def _entries_in_cache(name: CacheName, view: outcomes.CacheView, pre: State, reference: State) -> dict[Position, Entry]:
    """Return the entries at the positions that a cache shows, with what the reference knows after the step, or before.

    Nothing else is known of a position that the reference never had.
    """
    unknown = Entry(0, reference.now_nanos, 0, False, None, None)
    return {
        pos: change.entry_at(reference, name, pos) or change.entry_at(pre, name, pos) or unknown for pos in view.entries
    }


def _queue_of(caches: Mapping[CacheName, Cache], pre: State, reference: State) -> tuple[Slot, ...]:
    """Return a queue of these entries in the order of the reference: entries that it has removed are the oldest."""
    known = dict.fromkeys(reference.queue)
    order = [*(slot for slot in pre.queue if slot not in known), *known]
    held = [Slot(name, pos) for name, cache in caches.items() for pos in cache.entries]
    ordered = dict.fromkeys(slot for slot in order if slot is not None)
    return (*(slot for slot in ordered if slot in set(held)), *(slot for slot in held if slot not in ordered))


def is_about_difference(expected: Any, got: Any, row: Row) -> bool:
    """Return whether a row is about an entry that two states show differently."""
    if not (isinstance(expected, outcomes.Observed) and isinstance(got, outcomes.Observed)):
        return False
    differing = {
        (slot.cache, *slot.pos)
        for slot in (*expected.queue, *got.queue)
        if (slot in expected.queue) != (slot in got.queue)
    }
    return (row.cache, row.ledger_id, row.entry_id) in differing


BLAME: Final = Blame(
    seeded_faults, state_queries, own_step, is_about_difference, GENERAL_LAWS, Rule.COUNT_7, Rule.EVICT_8
)


def queue_text(state: Any) -> str:
    """Return the removal queue from head to tail as text; a dead slot is a cross."""
    parts = []
    for slot in state.queue:
        if slot is None:
            parts.append("x")
            continue
        entry = state.caches[slot.cache].entries[slot.pos]
        marks = f"{slot.cache}({slot.pos.ledger},{slot.pos.entry}) {entry.size_bytes}B"
        marks += f" age {state.now_nanos - entry.stamp_nanos}"
        marks += f" requeues {entry.requeues}" if entry.requeues else ""
        marks += " accessed" if entry.accessed else ""
        marks += f" expects {entry.expected_reads}" if entry.expected_reads is not None else ""
        parts.append(marks)
    return "\n".join(parts) if parts else "(empty)"


def lanes(state: Any) -> tuple[Lane, ...]:
    """Return the queue from head to tail, then the content of each cache in the order of positions."""
    slots = tuple(("dead", "dead") if slot is None else _box(state, slot.cache, slot.pos) for slot in state.queue)
    caches = (
        Lane(f"cache {name}", tuple((f"({pos.ledger},{pos.entry}) {entry.size_bytes}B", "entry")
                                    for pos, entry in sorted(cache.entries.items())))
        for name, cache in sorted(state.caches.items()) if cache.entries
    )  # fmt: skip
    return (Lane("queue", slots), *caches)


def _box(state: Any, cache: str, pos: Any) -> tuple[str, str]:
    entry = state.caches[cache].entries[pos]
    count = "" if entry.expected_reads is None else f" expects {entry.expected_reads}"
    return f"{cache}({pos.ledger},{pos.entry}) {entry.size_bytes}B{count}", "accessed" if entry.accessed else "entry"


def cursors_text(state: Any) -> str:
    """Return the cursors of each cache, the slowest first; an untracked one has no position."""
    lines = [f"cursors of {lane.name}: {', '.join(text for text, _ in lane.boxes)}" for lane in _cursors(state)]
    return "\n".join(lines) if lines else "(no cursors)"


def cursor_lanes(state: Any) -> tuple[Lane, ...]:
    """Return the cursors as boxes."""
    return tuple(lane._replace(name=f"cursors {lane.name}") for lane in _cursors(state))


def _cursors(state: Any) -> list[Lane]:
    lanes = []
    for name, cache in sorted(state.caches.items()):
        members = sorted(cache.members.items(), key=lambda each: (each[1] is None, each[1] or (), each[0]))
        boxes = tuple(
            (f"{cursor} {'untracked' if pos is None else f'({pos.ledger},{pos.entry})'}", "cursor")
            for cursor, pos in members
        )
        if boxes:
            lanes.append(Lane(str(name), boxes))
    return lanes


def permits_text(state: Any) -> str:
    """Return the permits that are free, those that are out, and the requests that wait, from the head."""
    limiter = state.limiter
    lines = [f"permits: {limiter.free} free"]
    lines += [f"{_request_text(name)} has {permits}" for name, permits in limiter.out.items()]
    lines += [f"{_request_text(one.name)} waits for {one.permits}" for one in limiter.waiting]
    return "\n".join(lines)


def _request_text(name: Any) -> str:
    return name if isinstance(name, str) else f"{name.read}, range {name.number},"


def asks_text(state: Any) -> str:
    """Return the reads of storage that are not answered yet, each with the reads that wait for it."""
    lines = []
    for number, ask in sorted(state.pending.asks.items()):
        waiting = ", ".join(dict.fromkeys(waiter.read for waiter in ask.waiting))
        sealed = "" if ask.is_joinable else ", not joinable"
        lines.append(f"ask {number} ({ask.ledger},{ask.first}-{ask.last}{sealed}): {waiting or '(nobody)'}")
    return "\n".join(lines) if lines else "(no asks)"
