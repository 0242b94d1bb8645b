"""What a step that removes entries did, slot by slot, as its rows tell it and its states confirm."""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

from entrycache_reference.pulsar_pip430.laws.law import cached
from entrycache_reference.pulsar_pip430.state import Entry, Row, Slot, State, Step
from entrycache_reference.vocabulary import Position


class Take(NamedTuple):
    """One slot that a pass took from the head; `entry` is what stood there, None: the slot was dead.

    `number` counts the takes of the pass from 0.
    `entry` comes from the state before the step, or, where this pass has requeued it before, from that
    requeue. `requeues_after` and `stamp_after` are those of a requeue.
    """

    number: int
    op: str
    cause: str | None
    slot: Slot | None
    entry: Entry | None
    requeues_after: int
    stamp_after: int
    shown: Row


class Walk(NamedTuple):
    """The events of one pass.

    `queue` is what taking these slots in this order makes of the queue, None where a slot that was taken
    did not stand at the head. `bound` is that of the beginning. The takes of entries fall into four kinds:
    access extends the stay (`accessed`), or not and reads are expected, with budget left (`awaited`) or without
    (`exhausted`), or not (`unawaited`).
    """

    bound: int | None
    takes: tuple[Take, ...]
    queue: tuple[Slot | None, ...] | None
    requeued: dict[Slot, int]
    accessed: tuple[Take, ...]
    awaited: tuple[Take, ...]
    exhausted: tuple[Take, ...]
    unawaited: tuple[Take, ...]


def slot_of(row: Row) -> Slot | None:
    """The entry that a row is about, if any."""
    if row.cache is None or row.ledger_id is None or row.entry_id is None:
        return None
    return Slot(row.cache, Position(row.ledger_id, row.entry_id))


def left(pre: State, step: Step) -> dict[Slot, int]:
    """The entries that were cached before the step and are not after it, with their sizes."""
    if step.state.caches is pre.caches:
        return {}
    gone: dict[Slot, int] = {}
    after = step.state.caches
    for name, cache in pre.caches.items():
        now = after.get(name)
        if now is not cache:
            kept = {} if now is None else now.entries
            if kept is cache.entries or cache.entries.keys() <= kept.keys():
                continue
            gone.update({Slot(name, pos): entry.size_bytes for pos, entry in cache.entries.items() if pos not in kept})
    return gone


_memo: list[tuple[State, tuple[Row, ...], Walk]] = []


def walk(pre: State, step: Step) -> Walk:
    """The events of the pass that this step ran; the last answer is kept, as many laws ask for it."""
    if _memo and _memo[0][0] is pre and _memo[0][1] is step.rows:
        return _memo[0][2]
    found = _walked(pre, step.rows)
    _memo[:] = [(pre, step.rows, found)]
    return found


TAKING: Final = frozenset({"TOMBSTONE", "EVICT", "REQUEUE"})


def _walked(pre: State, rows: tuple[Row, ...]) -> Walk:
    bound = rows[0].bound if rows and rows[0].op == "PASS_BEGIN" else None
    takes: list[Take] = []
    requeued: dict[Slot, int] = {}
    again: dict[Slot, Entry] = {}
    queue = deque(pre.queue)
    in_order = True
    kinds: tuple[list[Take], list[Take], list[Take], list[Take]] = ([], [], [], [])
    for row in rows:
        if row.op not in TAKING:
            continue
        slot = slot_of(row)
        in_order = in_order and bool(queue) and queue.popleft() == slot
        entry = None if slot is None else again.get(slot) or cached(pre, slot.cache, slot.pos)
        requeues_after = row.requeues or 0
        stamp_after = -1 if row.new_stamp_ns is None else row.new_stamp_ns
        take = Take(len(takes), row.op, row.cause, slot, entry, requeues_after, stamp_after, row)
        takes.append(take)
        if slot is None or entry is None:
            continue
        kinds[_kind(pre, entry)].append(take)
        if row.op == "REQUEUE":
            requeued[slot] = requeued.get(slot, 0) + 1
            # What the row shows at the next take tells whether the mark was really cleared.
            again[slot] = entry._replace(accessed=False, stamp_nanos=stamp_after, requeues=requeues_after)
            queue.append(slot)
    left_over = tuple(queue) if in_order else None
    accessed, awaited, exhausted, unawaited = map(tuple, kinds)
    return Walk(bound, tuple(takes), left_over, requeued, accessed, awaited, exhausted, unawaited)


def _kind(pre: State, entry: Entry) -> int:
    if pre.settings.extend_recently_accessed and entry.accessed:
        return 0
    if not entry.expected_reads or entry.expected_reads < 0:
        return 3
    return 1 if pre.settings.max_requeues - entry.requeues > 0 else 2
