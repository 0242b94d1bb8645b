"""What became of each entry in a step with a pass, in the reference and in the subject, and the rule they part by."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from entrycache_conformance.systems.pulsar_pip430.probe import Probed
from entrycache_reference.pulsar_pip430.config import Eviction
from entrycache_reference.pulsar_pip430.limits import target_bytes, trigger_bytes
from entrycache_reference.pulsar_pip430.outcomes import Inserted, SlotView
from entrycache_reference.pulsar_pip430.state import Entry, Row, Slot, State
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, Position

LEFT: Final = "left"
STAYED: Final = "stayed"
REQUEUED: Final = "requeued"


class Fates(NamedTuple):
    """One step: the reference's rows by slot, what the subject shows of each slot, and the kinds of pass that ran."""

    probed: Probed
    rows: dict[Slot, list[Row]]
    shown: dict[Slot, SlotView]
    passes: tuple[str, ...]

    @property
    def event(self) -> Any:
        """The operation of the step."""
        return self.probed.case.steps[self.probed.at]

    @property
    def after(self) -> State:
        """The reference's state after the step."""
        state: State = self.probed.steps[self.probed.at].state
        return state


def rules_by_fate(probed: Probed) -> list[Rule]:
    """The rules of the first entry, from the head, that a pass of the subject treated otherwise than the reference.

    Empty where the subject shows no queue, or where both agree about every entry and the order.
    """
    if probed.observed is None:
        return []
    rows: dict[Slot, list[Row]] = {}
    done = probed.steps[probed.at]
    for row in done.rows:
        if row.op in {"EVICT", "REQUEUE"}:
            rows.setdefault(Slot(row.cache, Position(row.ledger_id, row.entry_id)), []).append(row)
    shown = {Slot(slot.cache, slot.pos): slot for slot in probed.observed.queue}
    passes = tuple(row.cause for row in done.rows if row.op == "PASS_BEGIN")
    fates = Fates(probed, rows, shown, passes)
    for slot in probed.pre.queue:
        if slot is not None:
            found = _parted(fates, slot)
            if found:
                return found
    found = _new_ones(fates)
    if found:
        return found
    live = [slot for slot in done.state.queue if slot is not None]
    if live == list(shown):
        return []
    return [Rule.EVICT_8] if set(live) == set(shown) else []


def _parted(fates: Fates, slot: Slot) -> list[Rule]:
    """The rules by which the fates of one entry part; empty where they are the same."""
    before = fates.probed.pre.caches[slot.cache].entries[slot.pos]
    right = fates.after.caches[slot.cache].entries.get(slot.pos)
    own = fates.shown.get(slot)
    decided = fates.rows.get(slot, [])
    wanted = STAYED if not decided else LEFT if right is None else REQUEUED
    if right is None and not decided:
        return []
    fate = _own_fate(fates, before, right, own)
    if fate == wanted:
        return _fields(fates, right, own) if decided else []
    if wanted == REQUEUED and right is not None and own is not None and own.requeues == right.requeues:
        return [Rule.REQUEUE_4]
    if wanted == STAYED:
        return _too_much(fates, own)
    if fate == STAYED:
        return _too_little(fates, decided[-1])
    rule = decided[-1].rule
    if wanted == REQUEUED:
        return [rule]
    if rule is Rule.REQUEUE_3:
        return [Rule.REQUEUE_6, Rule.REQUEUE_3]
    if before.accessed and not fates.probed.pre.settings.extend_recently_accessed:
        return [Rule.REQUEUE_7, rule]
    if before.expected_reads is not None:
        return [Rule.REQUEUE_8, rule]
    return [rule]


def _new_ones(fates: Fates) -> list[Rule]:
    """The fates of what this step has itself brought in, as far as a pass may have taken it."""
    before = fates.probed.pre.caches
    for slot, decided in fates.rows.items():
        entries = before[slot.cache].entries if slot.cache in before else {}
        if slot.pos not in entries and decided[-1].op == "EVICT" and slot in fates.shown:
            return _too_little(fates, decided[-1])
    if type(fates.event).name == "insert" and fates.probed.difference.got != Inserted(False):
        slot = Slot(fates.event.cache, fates.event.pos)
        cache = fates.after.caches.get(slot.cache)
        if cache is not None and slot.pos in cache.entries and slot not in fates.shown:
            return _too_much(fates, None)
    return []


def _own_fate(fates: Fates, before: Entry, right: Entry | None, own: SlotView | None) -> str:
    """What the subject did with an entry, as far as its state shows it."""
    if own is None:
        return LEFT
    age = fates.after.now_nanos - before.stamp_nanos
    accessed = before.accessed if right is None else right.accessed
    kept = (own.age_nanos, own.accessed) in {(age, before.accessed), (age, accessed or before.accessed)}
    return STAYED if kept and own.requeues in {before.requeues, 0} else REQUEUED


def _too_much(fates: Fates, own: SlotView | None) -> list[Rule]:
    """The reference left the entry alone, the subject did not."""
    name = type(fates.event).name
    if name == "expire":
        return [Rule.EXPIRE_1, *_cutoff(fates.event)]
    if name == "evict":
        return [Rule.EVICT_5]
    if "SIZE" in fates.passes:
        return [Rule.EVICT_5, Rule.TRIGGER_1]
    if name == "cycle" and own is not None:
        return [Rule.EXPIRE_1, Rule.TRIGGER_6]
    return [*due(fates), *([Rule.EXPIRE_1] if name == "cycle" else [])]


def _too_little(fates: Fates, decided: Row) -> list[Rule]:
    """The reference removed or requeued the entry, the subject left it alone."""
    name = type(fates.event).name
    if decided.cause == "TIME" or fates.passes == ("TIME",):
        later = _cutoff(fates.event) if name == "expire" else [Rule.EXPIRE_3, Rule.TRIGGER_6]
        return [Rule.EXPIRE_2, *later]
    if name == "evict":
        return [Rule.EVICT_4]
    stayed = all(slot in fates.shown for slot in fates.probed.pre.queue if slot is not None)
    return due(fates) if stayed else [Rule.EVICT_4, Rule.TRIGGER_1]


def due(fates: Fates) -> list[Rule]:
    """The rules that say when this operation runs a size pass."""
    pre = fates.probed.pre
    name = type(fates.event).name
    if name == "run_scheduled":
        found = [Rule.TRIGGER_5]
    elif name == "cycle":
        found = [Rule.TRIGGER_6]
    elif fates.probed.case.config.eviction is Eviction.MANUAL:
        found = [Rule.TRIGGER_4]
    elif "SIZE" not in fates.passes and fates.after.size_bytes == pre.size_bytes:
        found = [Rule.TRIGGER_3]
    else:
        found = [Rule.TRIGGER_2]
    between = trigger_bytes(pre) < fates.after.size_bytes <= target_bytes(pre)
    eights = [Rule.TRIGGER_8] if between and "SIZE" not in fates.passes else []
    return [*eights, *found, Rule.TRIGGER_1]


def _fields(fates: Fates, right: Entry | None, own: SlotView | None) -> list[Rule]:
    """Both did the same with the entry; the rule of the field in which it now differs."""
    if right is None or own is None:
        return []
    if own.age_nanos != fates.after.now_nanos - right.stamp_nanos or own.accessed != right.accessed:
        return [Rule.REQUEUE_4]
    return [Rule.REQUEUE_5] if own.requeues not in {right.requeues, 0} else []


def _cutoff(event: Any) -> list[Rule]:
    return [Rule.EXPIRE_3 if event.older_than_nanos is ABSENT else Rule.EXPIRE_5]
