"""The laws about the turn of the ring."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_segmented.config import ClearedIndex, ClearedOffset, Config
from entrycache_reference.pulsar_segmented.laws.law import Law, always, has_turned, is_new, is_taken, newest
from entrycache_reference.pulsar_segmented.ops import Insert
from entrycache_reference.pulsar_segmented.outcomes import Inserted
from entrycache_reference.pulsar_segmented.state import Entry, State, Step
from entrycache_reference.rules import Rule


def is_the_next(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """S-RING-1; whether a segment that keeps its offset takes the entry is a matter of S-RING-5."""
    last = len(pre.segments) - 1
    if step.state.current != (0 if pre.current == last else pre.current + 1):
        return False
    if config.variants.cleared_offset is ClearedOffset.KEPT:
        return True
    return step.outcome == Inserted(True) and is_new(newest(step), event)


def empties(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """The ring has turned, and the configuration asks for the norm."""
    return config.variants.cleared_index is ClearedIndex.EMPTIED and has_turned(config, pre, event, step)


def holds_at_most_the_new_one(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """S-RING-2."""
    entries = step.state.segments[step.state.current].entries
    return len(entries) <= 1 and all(is_new(entry, event) for entry in entries)


def starts_again(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """The ring has turned and the entry was taken, and the configuration asks for the norm."""
    resets = config.variants.cleared_offset is ClearedOffset.RESET
    return resets and has_turned(config, pre, event, step) and is_taken(config, pre, event, step)


def starts_at_0(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """S-RING-3."""
    new = newest(step)
    return new is not None and new.start == 0


def keeps_the_others(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """S-RING-4; the offset of the segment that was current is a matter of S-SEGMENT-4."""
    before, after = pre.segments, step.state.segments
    if before.keys() != after.keys():
        return False
    others = before.keys() - {step.state.current}
    return all(
        before[index].entries == after[index].entries
        and (index == pre.current or before[index].offset == after[index].offset)
        for index in others
    )


def goes_on(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """The ring has turned, and a cleared segment keeps its offset."""
    return config.variants.cleared_offset is ClearedOffset.KEPT and has_turned(config, pre, event, step)


def takes_what_fits_behind(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """S-RING-5."""
    kept = pre.segments[step.state.current].offset
    if kept + event.size > pre.segment_bytes:
        return step.outcome == Inserted(False) and not is_new(newest(step), event)
    new = newest(step)
    return step.outcome == Inserted(True) and new is not None and is_new(new, event) and new.start == kept


def still_finds(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """The ring has turned, and a cleared segment keeps its index."""
    return config.variants.cleared_index is ClearedIndex.KEPT and has_turned(config, pre, event, step)


def keeps_its_entries(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """S-RING-6."""
    here = step.state.segments[step.state.current].entries
    kept: list[Entry] = list(pre.segments[step.state.current].entries)
    if step.outcome == Inserted(True):
        kept = [entry for entry in kept if entry.place != (event.cache, event.pos)]
        here = here[:-1]
    return list(here) == kept


LAWS: Final = (
    Law(Rule.S_RING_1, (Insert,), has_turned, is_the_next),
    Law(Rule.S_RING_2, (Insert,), empties, holds_at_most_the_new_one),
    Law(Rule.S_RING_3, (Insert,), starts_again, starts_at_0),
    Law(Rule.S_RING_4, (Insert,), always, keeps_the_others),
    Law(Rule.S_RING_5, (Insert,), goes_on, takes_what_fits_behind),
    Law(Rule.S_RING_6, (Insert,), still_finds, keeps_its_entries),
)
