"""The laws about `get`, `get_range`, `usage` and `observe`.

A law compares the answer with the places that the segments hold, computed from the state before the step. Where two
segments hold the same place, the entry that was inserted last counts.
"""

from typing import Any, Final

from entrycache_reference.pulsar_segmented import outcomes
from entrycache_reference.pulsar_segmented.config import Config, RangeWalk, Used
from entrycache_reference.pulsar_segmented.laws.law import Law, always, is_cached
from entrycache_reference.pulsar_segmented.ops import Get, GetRange, Observe, Usage
from entrycache_reference.pulsar_segmented.outcomes import Hit, Hits, Observed
from entrycache_reference.pulsar_segmented.state import Entry, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import Position


def newest_of_all(state: State) -> dict[tuple[Any, ...], Entry]:
    """Return every place that is cached, with the entry that was inserted last there."""
    number = len(state.segments)
    oldest_first = [state.segments[(state.current + 1 + at) % number] for at in range(number)]
    return {tuple(entry.place): entry for segment in oldest_first for entry in segment.entries}


def hits_what_is_cached(config: Config, pre: State, event: Get, step: Step) -> bool:
    """Check S-GET-1; S-GET-3 checks the payload."""
    return isinstance(step.outcome, Hit) and step.outcome.hit is is_cached(pre, event)


def leaves_all_as_it_is(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check S-GET-2."""
    return step.state == pre


def entries_of_one_walk(pre: State, event: GetRange) -> list[Entry]:
    """Return the entries that one walk over the segments finds, the newest segment first.

    Of a place that stands twice, it may find the older entry. The walk also ends when only the last position is
    missing.
    """
    number, entries_met, ends = len(pre.segments), list[Entry](), count_positions(event)
    for back in range(number):
        segment = pre.segments[(pre.current - back) % number]
        here = {tuple(entry.place): entry for entry in segment.entries}
        while (
            len(entries_met) < ends
            and (event.cache, (event.first.ledger, event.first.entry + len(entries_met))) in here
        ):
            entries_met.append(here[event.cache, Position(event.first.ledger, event.first.entry + len(entries_met))])
        if len(entries_met) >= ends - 1:
            break
    return entries_met


def payloads_of(config: Config, pre: State, event: Any, step: Step) -> list[int | None]:
    """Return the payloads of the entries in the answer; None for an entry that carries none or is not cached."""
    entries, answer = newest_of_all(pre), step.outcome
    if type(event) is GetRange and config.variants.range_walk is RangeWalk.ONE_PASS:
        entries = {tuple(entry.place): entry for entry in entries_of_one_walk(pre, event)}
    places = [event.pos] if isinstance(answer, Hit) and answer.hit else getattr(answer, "hits", ())
    entries_named = [entries.get((event.cache, pos)) for pos in places]
    return [None if entry is None else entry.token for entry in entries_named]


def hands_over_payloads(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return whether the answer names entries, all of them are cached, and all of them carry a payload."""
    tokens = payloads_of(config, pre, event, step)
    return bool(tokens) and None not in tokens


def hands_over_its_own(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check S-GET-3."""
    return getattr(step.outcome, "tokens", None) == tuple(payloads_of(config, pre, event, step))


def count_positions(event: GetRange) -> int:
    """Return the number of positions of a range; 0 if it is reversed or lies in two ledgers."""
    return max(0, event.last.entry - event.first.entry + 1) if event.first.ledger == event.last.ledger else 0


def cached_positions(pre: State, event: GetRange) -> list[Position]:
    """Return the cached positions of a range in one ledger, ascending."""
    return sorted(pos for cache, pos in newest_of_all(pre) if cache == event.cache and event.first <= pos <= event.last)


def is_asked_everywhere(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """Return whether every entry of the range is cached, under the default walk."""
    is_norm = config.variants.range_walk is RangeWalk.WHOLE
    return is_norm and 0 < count_positions(event) == len(cached_positions(pre, event))


def answers_all(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """Check S-RANGE-1; S-GET-3 checks payloads."""
    return isinstance(step.outcome, Hits) and list(step.outcome.hits) == cached_positions(pre, event)


def has_a_gap(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """Return whether some entry of the range is not cached."""
    return count_positions(event) > len(cached_positions(pre, event))


def is_no_range(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """Return whether the bounds are reversed, or lie in two ledgers."""
    return count_positions(event) == 0


def answers_nothing(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """Check S-RANGE-2, S-RANGE-3."""
    return isinstance(step.outcome, Hits) and step.outcome.hits == ()


def is_walked_once(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """Return whether every entry of the range is cached, and segments are asked once."""
    is_once = config.variants.range_walk is RangeWalk.ONE_PASS
    return is_once and 0 < count_positions(event) == len(cached_positions(pre, event))


def answers_what_one_walk_meets(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """Check S-RANGE-4: the walk finds every entry of the range, or the range is a miss."""
    is_met = len(entries_of_one_walk(pre, event)) == count_positions(event)
    return answers_all(config, pre, event, step) if is_met else answers_nothing(config, pre, event, step)


def counts_sizes(config: Config, pre: State, event: Usage, step: Step) -> bool:
    """Return whether the configuration has the default, and the answer is a usage."""
    return config.variants.used is Used.SIZES and isinstance(step.outcome, outcomes.Usage)


def sums_up_sizes(config: Config, pre: State, event: Usage, step: Step) -> bool:
    """Check S-USAGE-1."""
    sizes = [entry.size_bytes for segment in pre.segments.values() for entry in segment.entries]
    return step.outcome == outcomes.Usage(len(sizes), sum(sizes))


def counts_offsets(config: Config, pre: State, event: Usage, step: Step) -> bool:
    """Return whether the bytes are those of the offsets, and the answer is a usage."""
    return config.variants.used is Used.OFFSETS and isinstance(step.outcome, outcomes.Usage)


def sums_up_offsets(config: Config, pre: State, event: Usage, step: Step) -> bool:
    """Check S-USAGE-2."""
    entries = sum(len(segment.entries) for segment in pre.segments.values())
    return step.outcome == outcomes.Usage(entries, sum(segment.offset for segment in pre.segments.values()))


def shows_the_ring(config: Config, pre: State, event: Observe, step: Step) -> bool:
    """Check S-STATE-2."""
    if not isinstance(step.outcome, Observed) or len(step.outcome.segments) != len(pre.segments):
        return False
    segment_views = step.outcome.segments
    return step.outcome.current == pre.current and all(
        segment_views[index].bytes == segment.offset
        and [(one.cache, one.pos) for one in segment_views[index].entries]
        == [tuple(entry.place) for entry in segment.entries]
        for index, segment in pre.segments.items()
    )


LOOKUP_LAWS: Final = (
    Law(Rule.S_GET_1, (Get,), always, hits_what_is_cached),
    Law(Rule.S_GET_2, (Get, GetRange, Usage, Observe), always, leaves_all_as_it_is),
    Law(Rule.S_GET_3, (Get, GetRange), hands_over_payloads, hands_over_its_own),
    Law(Rule.S_RANGE_1, (GetRange,), is_asked_everywhere, answers_all),
    Law(Rule.S_RANGE_2, (GetRange,), has_a_gap, answers_nothing),
    Law(Rule.S_RANGE_3, (GetRange,), is_no_range, answers_nothing),
    Law(Rule.S_RANGE_4, (GetRange,), is_walked_once, answers_what_one_walk_meets),
    Law(Rule.S_USAGE_1, (Usage,), counts_sizes, sums_up_sizes),
    Law(Rule.S_USAGE_2, (Usage,), counts_offsets, sums_up_offsets),
    Law(Rule.S_STATE_2, (Observe,), always, shows_the_ring),
)
