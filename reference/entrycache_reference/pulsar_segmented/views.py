"""The operations that only look: `usage` and `observe`."""

from __future__ import annotations

from entrycache_reference.pulsar_segmented import outcomes
from entrycache_reference.pulsar_segmented.config import Config, Used
from entrycache_reference.pulsar_segmented.ops import Observe, Usage
from entrycache_reference.pulsar_segmented.outcomes import EntryView, Observed, SegmentView
from entrycache_reference.pulsar_segmented.state import Segment, State, Step
from entrycache_reference.rules import Rule, rule


@rule(Rule.S_USAGE_1)
def sum_of_sizes(state: State) -> int:
    """The sizes of all entries, as they were inserted."""
    return sum(entry.size_bytes for segment in state.segments.values() for entry in segment.entries)


@rule(Rule.S_USAGE_2)
def sum_of_offsets(state: State) -> int:
    """The bytes up to which the segments are written."""
    return sum(segment.offset for segment in state.segments.values())


@rule(Rule.S_USAGE_1, Rule.S_USAGE_2, Rule.S_GET_2)
def usage(state: State, event: Usage, config: Config) -> Step:
    """Entries and bytes of all segments."""
    # GUARD: none.  DECISION: none.  EFFECT: none.
    # OUTCOME
    entries = sum(len(segment.entries) for segment in state.segments.values())
    used = sum_of_sizes(state) if config.variants.used is Used.SIZES else sum_of_offsets(state)
    return Step(state, outcomes.Usage(entries, used), ())


def view(segment: Segment) -> SegmentView:
    """One segment as it is shown."""
    return SegmentView(segment.offset, tuple(EntryView(*entry.place) for entry in segment.entries))


@rule(Rule.S_STATE_2, Rule.S_GET_2)
def observe(state: State, event: Observe, config: Config) -> Step:
    """The whole ring."""
    # GUARD: none.  DECISION: none.  EFFECT: none.
    # OUTCOME
    shown = tuple(view(state.segments[index]) for index in range(len(state.segments)))
    return Step(state, Observed(shown, state.current), ())
