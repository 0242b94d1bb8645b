"""The type of a law of `pulsar-segmented`, and the questions that several laws ask about a step.

A `Law` names its rule, its operations, a guard, and the check that must hold whenever the guard does.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from entrycache_reference.pulsar_segmented.config import Config, Duplicate, Mode
from entrycache_reference.pulsar_segmented.ops import Insert, Op
from entrycache_reference.pulsar_segmented.outcomes import Inserted
from entrycache_reference.pulsar_segmented.state import Entry, Segment, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

Check = Callable[[Config, State, Any, Step], bool]
"""A question about one step: the configuration, the state before it, its event, and its result."""


class Law(NamedTuple):
    """A rule as a check of one step: whenever `guard` is true, `holds` must be.

    `on` names the operations that the law is about; empty means all of them.
    """

    rule: Rule
    on: tuple[type[Op], ...]
    guard: Check
    holds: Check


def always(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return true: the guard of a law about every step of its operations."""
    return True


def holds_position(segment: Segment, event: Any) -> bool:
    """Return whether one of a segment's entries has the event's position."""
    return (event.cache, event.pos) in [entry.place for entry in segment.entries]


def is_cached(state: State, event: Any) -> bool:
    """Return whether any segment has the event's position."""
    return any(holds_position(segment, event) for segment in state.segments.values())


def is_in_current(state: State, event: Insert) -> bool:
    """Return whether the current segment has the event's position."""
    return holds_position(state.segments[state.current], event)


def is_offered(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the insert reaches a segment.

    Caching is on, a segment can hold the entry, and the entry is not skipped as a duplicate.
    """
    if config.max_size_bytes == 0 or not 0 <= event.size <= pre.segment_bytes:
        return False
    return config.variants.duplicate is not Duplicate.IGNORED or not is_cached(pre, event)


def has_turned(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether another segment is current than before."""
    return step.state.current != pre.current


def has_stayed(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the insert reaches a segment, and the same one is current as before."""
    return is_offered(config, pre, event, step) and not has_turned(config, pre, event, step)


def does_fit(pre: State, event: Insert) -> bool:
    """Return whether the entry, as long as it is, ends within the current segment."""
    return pre.segment_bytes - pre.segments[pre.current].offset >= event.size


def newest_entry(step: Step) -> Entry | None:
    """Return the last entry of the segment that is current after the step."""
    segment = step.state.segments[step.state.current]
    return segment.entries[-1] if segment.entries else None


def is_new(entry: Entry | None, event: Insert) -> bool:
    """Return whether an entry is the one of the event: its place, its size and its payload."""
    token = None if event.token is ABSENT else event.token
    return entry is not None and entry._replace(start=0) == ((event.cache, event.pos), event.size, 0, token)


def is_taken(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the insert reached a segment and is its last entry, in the current one."""
    answered = step.outcome == Inserted(True)
    return answered and is_offered(config, pre, event, step) and is_new(newest_entry(step), event)


def growth(config: Config, size: int) -> int:
    """Return by how much an offset grows for an entry of that size."""
    if config.mode is Mode.REFERENCE or size % 64 == 0:
        return size
    return size + 64 - size % 64
