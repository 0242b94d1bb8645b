"""What became of each entry in a pass, in the reference and in the subject, and the rule that the two part by."""

from __future__ import annotations

from typing import Any, Final

from entrycache_conformance.probe import Probed
from entrycache_reference.pulsar_pip430.outcomes import SlotView
from entrycache_reference.pulsar_pip430.state import Entry, Slot, State
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

LEFT: Final = "left"
STAYED: Final = "stayed"
REQUEUED: Final = "requeued"


def rules_by_fate(probed: Probed) -> list[Rule]:
    """The rules of the first entry, from the head, that a pass of the subject treated otherwise than the reference.

    Empty where the subject shows no queue, or where both agree about every entry and the order.
    """
    if probed.observed is None:
        return []
    event = probed.case.steps[probed.at]
    done = probed.steps[probed.at]
    shown = {Slot(slot.cache, slot.pos): slot for slot in probed.observed.queue}
    for slot in probed.pre.queue:
        if slot is None:
            continue
        before = probed.pre.caches[slot.cache].entries[slot.pos]
        right = done.state.caches[slot.cache].entries.get(slot.pos)
        found = _parted(event, before, right, shown.get(slot), done, slot)
        if found:
            return found
    live = [slot for slot in done.state.queue if slot is not None]
    return [Rule.EVICT_8] if live != list(shown) else []


def _parted(event: Any, before: Entry, right: Entry | None, own: SlotView | None, done: Any, slot: Slot) -> list[Rule]:
    """The rules by which the fates of one entry part; empty where they are the same."""
    state: State = done.state
    wanted = LEFT if right is None else STAYED if right == before else REQUEUED
    age = state.now_nanos - before.stamp_nanos
    if own is None:
        fate = LEFT
    elif (own.age_nanos, own.accessed) == (age, before.accessed) and own.requeues in {before.requeues, 0}:
        fate = STAYED
    else:
        fate = REQUEUED
    if fate == wanted:
        return _fields(right, own, state)
    if (
        wanted == REQUEUED
        and right is not None
        and own is not None
        and own.requeues == right.requeues > before.requeues
    ):
        return [Rule.REQUEUE_4]
    is_time = type(event).name == "expire"
    if wanted == STAYED:
        return [Rule.EXPIRE_1, *_cutoff(event)] if is_time else [Rule.EVICT_5]
    if fate == STAYED:
        return [Rule.EXPIRE_2, *_cutoff(event)] if is_time else [Rule.EVICT_4]
    decided = _decision(done, slot)
    if wanted == REQUEUED:
        return [decided]
    if decided is Rule.REQUEUE_3:
        return [Rule.REQUEUE_6, Rule.REQUEUE_3]
    if before.accessed and not state.settings.extend_recently_accessed:
        return [Rule.REQUEUE_7, decided]
    if before.expected_reads is not None:
        return [Rule.REQUEUE_8, decided]
    return [decided]


def _fields(right: Entry | None, own: SlotView | None, state: State) -> list[Rule]:
    """Both did the same with the entry; the rule of the field in which it now differs."""
    if right is None or own is None:
        return []
    if own.age_nanos != state.now_nanos - right.stamp_nanos or own.accessed != right.accessed:
        return [Rule.REQUEUE_4]
    return [Rule.REQUEUE_5] if own.requeues not in {right.requeues, 0} else []


def _cutoff(event: Any) -> list[Rule]:
    return [Rule.EXPIRE_3 if event.older_than_nanos is ABSENT else Rule.EXPIRE_5]


def _decision(done: Any, slot: Slot) -> Rule:
    """The line of the table by which the reference decided about the entry last."""
    rules: list[Rule] = [row.rule for row in done.rows if (row.cache, (row.ledger_id, row.entry_id)) == slot]
    return rules[-1] if rules else Rule.EVICT_2
