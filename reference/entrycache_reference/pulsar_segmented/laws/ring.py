"""The laws about `insert`, single segments, and the turn of the ring.

A law is a pair of functions: the first says whether a step exercises the rule, the second whether the step keeps it.
They compare the segments before and after the step, and never call the function that made it.
"""

from typing import Final

from entrycache_reference.pulsar_segmented.config import (
    ClearedIndex,
    ClearedOffset,
    Config,
    Duplicate,
    FailedOffer,
    Mode,
)
from entrycache_reference.pulsar_segmented.laws import law
from entrycache_reference.pulsar_segmented.ops import Insert
from entrycache_reference.pulsar_segmented.outcomes import ErrorKind, Inserted, Refused
from entrycache_reference.pulsar_segmented.state import Entry, State, Step
from entrycache_reference.rules import Rule


def has_stayed_with_a_new_one(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the current segment stayed current, and did not hold the position."""
    return law.has_stayed(config, pre, event, step) and not law.is_in_current(pre, event)


def comes_last(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check S-INSERT-1; S-SEGMENT-2 and S-SEGMENT-3 check the offset."""
    before, after = pre.segments[pre.current], step.state.segments[pre.current]
    new = law.newest_entry(step)
    return (
        step.outcome == Inserted(True)
        and new is not None
        and law.is_new(new, event)
        and new.start == before.offset
        and after.entries[:-1] == before.entries
    )


def is_duplicate(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether some segment holds the position, and the configuration has the default."""
    return config.variants.duplicate is Duplicate.IGNORED and event.size >= 0 and law.is_cached(pre, event)


def is_too_long(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the entry is longer than a segment."""
    return config.max_size_bytes > 0 and event.size > pre.segment_bytes


def is_disabled(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether caching is off."""
    return config.max_size_bytes == 0 and event.size >= 0


def nothing_is_taken(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check S-INSERT-2, S-INSERT-3, S-INSERT-4."""
    return step.outcome == Inserted(False) and step.state == pre


def is_negative(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the size is negative."""
    return event.size < 0


def is_refused(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check S-INSERT-5."""
    return step.outcome == Refused(ErrorKind.ILLEGAL_ARGUMENT) and step.state == pre


def overwrites(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the current segment holds the position and stayed current, and duplicates overwrite."""
    is_variant = config.variants.duplicate is Duplicate.OVERWRITTEN
    return is_variant and law.has_stayed(config, pre, event, step) and law.is_in_current(pre, event)


def stands_anew(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check S-INSERT-6."""
    before = pre.segments[pre.current]
    others = [entry for entry in before.entries if entry.place != (event.cache, event.pos)]
    new = law.newest_entry(step)
    return (
        step.outcome == Inserted(True)
        and new is not None
        and law.is_new(new, event)
        and [*others, new] == list(step.state.segments[pre.current].entries)
        and new.start == before.offset
    )


def is_taken_for_full(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the current segment holds the position, and duplicates turn the ring."""
    is_variant = config.variants.duplicate is Duplicate.ROTATING
    return is_variant and law.is_offered(config, pre, event, step) and law.is_in_current(pre, event)


def is_asked_for_room(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the insert reaches the current segment, and nothing but its room matters."""
    return law.is_offered(config, pre, event, step) and not is_taken_for_full(config, pre, event, step)


def stays_where_it_fits(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check S-SEGMENT-1."""
    return law.has_turned(config, pre, event, step) != law.does_fit(pre, event)


def copies(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether an entry was taken in mode copy."""
    return config.mode is Mode.COPY and law.is_taken(config, pre, event, step)


def refers(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether an entry was taken in mode reference."""
    return config.mode is Mode.REFERENCE and law.is_taken(config, pre, event, step)


def ends_behind_it(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check S-SEGMENT-2, S-SEGMENT-3; S-INSERT-1 and S-RING-3 check where the entry starts."""
    new = law.newest_entry(step)
    offset = step.state.segments[step.state.current].offset
    return new is not None and offset == new.start + law.growth(config, event.size)


def passes_over(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the ring has turned, and the configuration has the default."""
    return config.variants.failed_offer is FailedOffer.UNCOUNTED and law.has_turned(config, pre, event, step)


def is_written_no_further(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check S-SEGMENT-4."""
    return step.state.segments[pre.current].offset == pre.segments[pre.current].offset


def counts_tries(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the ring has turned, and tries count."""
    return config.variants.failed_offer is FailedOffer.COUNTED and law.has_turned(config, pre, event, step)


def is_written_further(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check S-SEGMENT-5."""
    grown = law.growth(config, event.size)
    if step.state.segments[pre.current].offset != pre.segments[pre.current].offset + 2 * grown:
        return False
    now = step.state.current
    return step.outcome == Inserted(True) or step.state.segments[now].offset == pre.segments[now].offset + grown


INSERT_LAWS: Final = (
    law.Law(Rule.S_INSERT_1, (Insert,), has_stayed_with_a_new_one, comes_last),
    law.Law(Rule.S_INSERT_2, (Insert,), is_duplicate, nothing_is_taken),
    law.Law(Rule.S_INSERT_3, (Insert,), is_too_long, nothing_is_taken),
    law.Law(Rule.S_INSERT_4, (Insert,), is_disabled, nothing_is_taken),
    law.Law(Rule.S_INSERT_5, (Insert,), is_negative, is_refused),
    law.Law(Rule.S_INSERT_6, (Insert,), overwrites, stands_anew),
    law.Law(Rule.S_INSERT_7, (Insert,), is_taken_for_full, law.has_turned),
    law.Law(Rule.S_SEGMENT_1, (Insert,), is_asked_for_room, stays_where_it_fits),
    law.Law(Rule.S_SEGMENT_2, (Insert,), copies, ends_behind_it),
    law.Law(Rule.S_SEGMENT_3, (Insert,), refers, ends_behind_it),
    law.Law(Rule.S_SEGMENT_4, (Insert,), passes_over, is_written_no_further),
    law.Law(Rule.S_SEGMENT_5, (Insert,), counts_tries, is_written_further),
)


# Laws about the turn of the ring.


def is_the_next(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check S-RING-1; S-RING-5 checks a segment that keeps its offset."""
    last = len(pre.segments) - 1
    if step.state.current != (0 if pre.current == last else pre.current + 1):
        return False
    if config.variants.cleared_offset is ClearedOffset.KEPT:
        return True
    return step.outcome == Inserted(True) and law.is_new(law.newest_entry(step), event)


def empties(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the ring has turned, and the configuration has the default."""
    return config.variants.cleared_index is ClearedIndex.EMPTIED and law.has_turned(config, pre, event, step)


def holds_at_most_the_new_one(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check S-RING-2."""
    entries = step.state.segments[step.state.current].entries
    return len(entries) <= 1 and all(law.is_new(entry, event) for entry in entries)


def starts_again(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the ring has turned and the entry was taken, and the configuration has the default."""
    resets = config.variants.cleared_offset is ClearedOffset.RESET
    return resets and law.has_turned(config, pre, event, step) and law.is_taken(config, pre, event, step)


def starts_at_0(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check S-RING-3."""
    new = law.newest_entry(step)
    return new is not None and new.start == 0


def keeps_the_others(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check S-RING-4; S-SEGMENT-4 checks the offset of the segment that was current."""
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
    """Return whether the ring has turned, and a cleared segment keeps its offset."""
    return config.variants.cleared_offset is ClearedOffset.KEPT and law.has_turned(config, pre, event, step)


def takes_what_fits_behind(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check S-RING-5."""
    before, after = pre.segments[step.state.current], step.state.segments[step.state.current]
    kept_offset = before.offset
    if kept_offset + event.size > pre.segment_bytes:
        return step.outcome == Inserted(False) and all(entry in before.entries for entry in after.entries)
    new = law.newest_entry(step)
    return step.outcome == Inserted(True) and new is not None and law.is_new(new, event) and new.start == kept_offset


def still_finds(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the ring has turned, and a cleared segment keeps its index."""
    return config.variants.cleared_index is ClearedIndex.KEPT and law.has_turned(config, pre, event, step)


def keeps_its_entries(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check S-RING-6."""
    here = step.state.segments[step.state.current].entries
    remaining: list[Entry] = list(pre.segments[step.state.current].entries)
    if step.outcome == Inserted(True):
        remaining = [entry for entry in remaining if entry.place != (event.cache, event.pos)]
        here = here[:-1]
    return list(here) == remaining


RING_LAWS: Final = (
    law.Law(Rule.S_RING_1, (Insert,), law.has_turned, is_the_next),
    law.Law(Rule.S_RING_2, (Insert,), empties, holds_at_most_the_new_one),
    law.Law(Rule.S_RING_3, (Insert,), starts_again, starts_at_0),
    law.Law(Rule.S_RING_4, (Insert,), law.always, keeps_the_others),
    law.Law(Rule.S_RING_5, (Insert,), goes_on, takes_what_fits_behind),
    law.Law(Rule.S_RING_6, (Insert,), still_finds, keeps_its_entries),
)
