"""The laws about single entries: `insert`, the lookups, and the count of expected reads.

An insert adds the entry at the tail, keeps the first entry of a position, or takes nothing. A lookup hits exactly the
cached positions and changes nothing but marks. `mark_read` and `expect_read` change nothing but the count. Variants of
releases have guards of their own, so that each law is about one behaviour.
"""

from typing import Final

from entrycache_reference.pulsar_pip430.config import Config, CountFloor, DuplicateCount, ZeroReads
from entrycache_reference.pulsar_pip430.laws import law
from entrycache_reference.pulsar_pip430.laws.state import is_to_refuse, refuses
from entrycache_reference.pulsar_pip430.ops import Exists, ExpectRead, Get, GetRange, Insert, MarkRead
from entrycache_reference.pulsar_pip430.outcomes import Counted, Existing, Hit, Hits, Inserted
from entrycache_reference.pulsar_pip430.state import Slot, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT


def is_new(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether caching is on, and the cache does not hold the position."""
    return config.max_size_bytes > 0 and event.size >= 0 and law.cached_entry(pre, event.cache, event.pos) is None


def is_duplicate(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the cache holds the position, and duplicates keep the first count (the default)."""
    return config.variants.duplicate_count is DuplicateCount.KEPT and offers_again(config, pre, event, step)


def offers_again(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the cache holds the position."""
    return config.max_size_bytes > 0 and event.size >= 0 and law.cached_entry(pre, event.cache, event.pos) is not None


def is_disabled(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether caching is switched off."""
    return config.max_size_bytes == 0 and event.size >= 0


def adds_at_the_tail(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check R-INSERT-1; R-INSERT-4 and R-INSERT-6 check the count."""
    entry = law.cached_entry(step.state, event.cache, event.pos)
    if entry is None or step.outcome != Inserted(True):
        return False
    token = None if event.token is ABSENT else event.token
    as_inserted = (event.size, pre.now_nanos, 0, False, entry.expected_reads, token)
    wanted = law.entries_of(pre, event.cache)
    wanted[event.pos] = entry
    return (
        entry == as_inserted
        and step.state.queue == (*pre.queue, Slot(event.cache, event.pos))
        and step.state.caches[event.cache].entries == wanted
        and law.others_kept(pre, step, event.cache)
    )


def first_one_stays(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check R-INSERT-2."""
    return step.outcome == Inserted(False) and law.nothing_touched(pre, step)


def takes_nothing(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check R-INSERT-3."""
    return step.outcome == Inserted(False) and law.nothing_touched(pre, step)


def recounts(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the cache holds the position, and the configuration lets a duplicate bring its count."""
    return config.variants.duplicate_count is DuplicateCount.REPLACED and offers_again(config, pre, event, step)


def takes_the_new_count(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check R-INSERT-8; R-COUNT-6 checks that a held position has lost its claim."""
    given = None if expects_none(config, event) else event.expected_reads
    wanted = law.entries_of(pre, event.cache)
    wanted[event.pos] = wanted[event.pos]._replace(expected_reads=given if isinstance(given, int) else None)
    after = step.state
    return (
        step.outcome == Inserted(False)
        and law.entries_of(after, event.cache) == wanted
        and (after.queue, after.size_bytes, after.now_nanos) == (pre.queue, pre.size_bytes, pre.now_nanos)
        and law.others_kept(pre, step, event.cache)
    )


def expects_none(config: Config, event: Insert) -> bool:
    """Return whether no read is expected, as the configuration counts."""
    if event.expected_reads is ABSENT or event.expected_reads is None or event.expected_reads < 0:
        return True
    return event.expected_reads == 0 and config.variants.zero_reads is ZeroReads.UNCOUNTED


def new_without_reads(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the event offers a new entry for which no read is expected."""
    return expects_none(config, event) and is_new(config, pre, event, step)


def carries_no_count(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check R-INSERT-4."""
    entry = law.cached_entry(step.state, event.cache, event.pos)
    return entry is None or entry.expected_reads is None


def new_with_reads(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the event offers a new entry for which reads are expected."""
    return event.expected_reads != 0 and not expects_none(config, event) and is_new(config, pre, event, step)


def new_with_zero(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the event offers a new entry with 0 expected reads, and the configuration counts them."""
    return event.expected_reads == 0 and not expects_none(config, event) and is_new(config, pre, event, step)


def carries_that_count(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check R-INSERT-6, R-INSERT-7."""
    entry = law.cached_entry(step.state, event.cache, event.pos)
    return entry is None or entry.expected_reads == event.expected_reads


INSERT_LAWS: Final = (
    law.Law(Rule.INSERT_1, (Insert,), is_new, adds_at_the_tail),
    law.Law(Rule.INSERT_2, (Insert,), is_duplicate, first_one_stays),
    law.Law(Rule.INSERT_3, (Insert,), is_disabled, takes_nothing),
    law.Law(Rule.INSERT_4, (Insert,), new_without_reads, carries_no_count),
    law.Law(Rule.INSERT_5, (Insert,), is_to_refuse, refuses),
    law.Law(Rule.INSERT_6, (Insert,), new_with_reads, carries_that_count),
    law.Law(Rule.INSERT_7, (Insert,), new_with_zero, carries_that_count),
    law.Law(Rule.INSERT_8, (Insert,), recounts, takes_the_new_count),
)


# Laws about lookups.


def hits_what_is_cached(config: Config, pre: State, event: Get, step: Step) -> bool:
    """Check R-READ-1."""
    entry = law.cached_entry(pre, event.cache, event.pos)
    answer = step.outcome
    if not isinstance(answer, Hit) or answer.hit != (entry is not None):
        return False
    return entry is None or entry.token is None or answer.tokens == (entry.token,)


def is_cached(config: Config, pre: State, event: Get, step: Step) -> bool:
    """Return whether the cache holds the position."""
    return law.cached_entry(pre, event.cache, event.pos) is not None


def marks_it(config: Config, pre: State, event: Get, step: Step) -> bool:
    """Check R-READ-2: only the mark differs."""
    entry = law.cached_entry(pre, event.cache, event.pos)
    return (
        entry is not None
        and law.cached_entry(step.state, event.cache, event.pos) == entry._replace(accessed=True)
        and step.state.queue == pre.queue
    )


def in_order(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """Return whether the bounds are not reversed."""
    return event.first <= event.last


def answers_the_range(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """Check R-READ-3."""
    answer = step.outcome
    entries = law.entries_of(pre, event.cache)
    positions = tuple(sorted(pos for pos in entries if event.first <= pos <= event.last))
    if not isinstance(answer, Hits) or answer.hits != positions:
        return False
    tokens = tuple(entries[pos].token for pos in positions)
    return not positions or None in tokens or answer.tokens == tokens


def marks_the_range(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """Check R-READ-4: only the marks differ."""
    wanted = {
        pos: entry._replace(accessed=True) if event.first <= pos <= event.last else entry
        for pos, entry in law.entries_of(pre, event.cache).items()
    }
    return (
        law.entries_of(step.state, event.cache) == wanted
        and law.others_kept(pre, step, event.cache)
        and step.state.queue == pre.queue
    )


def reversed_bounds(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """Return whether the bounds are reversed."""
    return event.first > event.last


def finds_and_marks_nothing(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """Check R-READ-5."""
    answer = step.outcome
    return isinstance(answer, Hits) and not answer.hits and law.nothing_touched(pre, step)


def exists_if_cached(config: Config, pre: State, event: Exists, step: Step) -> bool:
    """Check R-READ-6."""
    return step.outcome == Existing(law.cached_entry(pre, event.cache, event.pos) is not None)


LOOKUP_LAWS: Final = (
    law.Law(Rule.READ_1, (Get,), law.always, hits_what_is_cached),
    law.Law(Rule.READ_2, (Get,), is_cached, marks_it),
    law.Law(Rule.READ_3, (GetRange,), in_order, answers_the_range),
    law.Law(Rule.READ_4, (GetRange,), in_order, marks_the_range),
    law.Law(Rule.READ_5, (GetRange,), reversed_bounds, finds_and_marks_nothing),
    law.Law(Rule.READ_6, (Exists,), law.always, exists_if_cached),
)


# Laws about the count of expected reads.


def count_of(state: State, event: MarkRead | ExpectRead) -> int | None:
    """Return the count of the entry; None if it is absent or carries none."""
    entry = law.cached_entry(state, event.cache, event.pos)
    return None if entry is None else entry.expected_reads


def is_counted(config: Config, pre: State, event: MarkRead | ExpectRead, step: Step) -> bool:
    """Return whether the entry carries a count."""
    return count_of(pre, event) is not None


def falls(config: Config, pre: State, event: MarkRead, step: Step) -> bool:
    """Return whether the entry carries a count that may fall."""
    return is_counted(config, pre, event, step) and not is_at_the_floor(config, pre, event, step)


def is_at_the_floor(config: Config, pre: State, event: MarkRead, step: Step) -> bool:
    """Return whether the configuration knows a floor, and the count is not above it."""
    count = count_of(pre, event)
    return config.variants.count_floor is CountFloor.ZERO and count is not None and count <= 0


def stays_at_the_floor(config: Config, pre: State, event: MarkRead, step: Step) -> bool:
    """Check R-COUNT-8."""
    count = count_of(pre, event)
    return count_of(step.state, event) == count and step.outcome == Counted(count)


def one_fewer(config: Config, pre: State, event: MarkRead, step: Step) -> bool:
    """Check R-COUNT-1."""
    count = count_of(pre, event)
    return count is not None and count_of(step.state, event) == count - 1 and step.outcome == Counted(count - 1)


def one_more(config: Config, pre: State, event: ExpectRead, step: Step) -> bool:
    """Check R-COUNT-2."""
    count = count_of(pre, event)
    return count is not None and count_of(step.state, event) == count + 1 and step.outcome == Counted(count + 1)


def is_countless(config: Config, pre: State, event: MarkRead | ExpectRead, step: Step) -> bool:
    """Return whether the entry is absent or carries no count."""
    return count_of(pre, event) is None


def stays_countless(config: Config, pre: State, event: MarkRead | ExpectRead, step: Step) -> bool:
    """Check R-COUNT-3."""
    return step.outcome == Counted(None) and law.nothing_touched(pre, step)


def only_the_count(config: Config, pre: State, event: MarkRead | ExpectRead, step: Step) -> bool:
    """Check R-COUNT-4: whatever the count is now, nothing else of the entry differs."""
    entry = law.cached_entry(pre, event.cache, event.pos)
    after = law.cached_entry(step.state, event.cache, event.pos)
    if entry is None or after is None or step.state.queue != pre.queue:
        return False
    return after._replace(expected_reads=None) == entry._replace(expected_reads=None)


COUNT_LAWS: Final = (
    law.Law(Rule.COUNT_1, (MarkRead,), falls, one_fewer),
    law.Law(Rule.COUNT_2, (ExpectRead,), is_counted, one_more),
    law.Law(Rule.COUNT_3, (MarkRead, ExpectRead), is_countless, stays_countless),
    law.Law(Rule.COUNT_8, (MarkRead,), is_at_the_floor, stays_at_the_floor),
    law.Law(Rule.COUNT_4, (MarkRead, ExpectRead), is_counted, only_the_count),
)
