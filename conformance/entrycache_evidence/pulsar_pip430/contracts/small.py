"""Small states for contracts, and what the rules ask of a pass over one, written without the reference's functions."""

from __future__ import annotations

from typing import Any, NamedTuple

from entrycache_evidence.under import asked
from entrycache_faults.model import Model
from entrycache_reference.pulsar_pip430 import outcomes
from entrycache_reference.pulsar_pip430.config import Settings
from entrycache_reference.pulsar_pip430.state import Cache, Entry, Slot, State, Step
from entrycache_reference.vocabulary import CacheName, Position

CACHE = CacheName("a")
NORM = Model("entrycache_reference.pulsar_pip430")


def in_question(place: str) -> Any:
    """The function that a contract is about: the reference's, or that of the model with a planted error."""
    return (asked() or NORM)[place]


class Held(NamedTuple):
    """One slot of the queue; `gone`: it is dead, and the rest means nothing."""

    gone: bool
    size: int
    stamp: int
    requeues: int
    accessed: bool
    reads: int | None


def sound(queue: tuple[Held, ...], now: int) -> bool:
    """Whether this is a queue that the rules allow: sizes and requeues not below 0, stamps in order."""
    latest = 0
    for held in queue:
        if not held.gone:
            if held.size < 0 or held.requeues < 0 or held.stamp < latest:
                return False
            latest = held.stamp
    return latest <= now


def state_of(queue: tuple[Held, ...], now: int, settings: Settings) -> State:
    """The state with this queue; the slots are numbered from the head."""
    entries: dict[Position, Entry] = {}
    slots: list[Slot | None] = []
    total = 0
    for number, held in enumerate(queue):
        pos = Position(0, number)
        if held.gone:
            slots.append(None)
        else:
            slots.append(Slot(CACHE, pos))
            entries[pos] = Entry(held.size, held.stamp, held.requeues, held.accessed, held.reads, None)
            total += held.size
    return State(now, settings, {CACHE: Cache(entries, total)}, tuple(slots), total)


def broken_sums(queue: tuple[Held, ...], pre: State, step: Step) -> tuple[str, ...]:
    """The rules about bytes that a pass breaks."""
    after = step.state
    cache = after.caches[CACHE]
    entries = cache.entries
    wrong: list[str] = []
    removed = [held for number, held in enumerate(queue) if not held.gone and Position(0, number) not in entries]
    freed = sum(held.size for held in removed)
    if not cache.size_bytes == after.size_bytes == pre.size_bytes - freed:
        wrong.append("R-STATE-1")
    if step.outcome != outcomes.Removed(len(removed), freed):
        wrong.append("R-EVICT-7")
    return tuple(wrong)


def broken_order(queue: tuple[Held, ...], pre: State, step: Step) -> tuple[str, ...]:
    """The rules about slots, stamps and requeues that a pass breaks."""
    after = step.state
    entries = after.caches[CACHE].entries
    wrong: list[str] = []
    live = [slot.pos for slot in after.queue if slot is not None]
    if len(set(live)) != len(live) or set(live) != set(entries):
        wrong.append("R-STATE-2")
    stamps = [entries[pos].stamp_nanos for pos in live if pos in entries]
    if any(stamps[at] > stamps[at + 1] for at in range(len(stamps) - 1)) or any(at > pre.now_nanos for at in stamps):
        wrong.append("R-STATE-3")
    if after.queue and after.queue[0] is None:
        wrong.append("R-EVICT-1")
    rounds: dict[int, int] = {}
    for number, held in enumerate(queue):
        pos = Position(0, number)
        if held.gone or pos not in entries:
            continue
        entry = entries[pos]
        times = entry.requeues - held.requeues
        rounds[number] = times
        if times == 0:
            if entry != Entry(held.size, held.stamp, held.requeues, held.accessed, held.reads, None):
                wrong.append("R-EVICT-2")
            continue
        if entry.accessed or entry.stamp_nanos != pre.now_nanos:
            wrong.append("R-REQUEUE-4")
        for_access = 1 if held.accessed and pre.settings.extend_recently_accessed else 0
        if times > for_access and not (held.reads is not None and held.reads > 0):
            wrong.append("R-REQUEUE-8")
        if times > for_access and entry.requeues > pre.settings.max_requeues:
            wrong.append("R-REQUEUE-6")
    # A pass goes round the queue: who was taken fewer times stands before who was taken more often.
    order = [pos.entry for pos in live if pos.entry in rounds]
    if order != sorted(rounds, key=lambda number: (rounds[number], number)):
        wrong.append("R-EVICT-8")
    return tuple(wrong)
