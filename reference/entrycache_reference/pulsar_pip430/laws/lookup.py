"""The laws about `get`, `get_range` and `exists`."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws.law import Law, always, cached, entries_of, nothing_touched, others_kept
from entrycache_reference.pulsar_pip430.ops import Exists, Get, GetRange
from entrycache_reference.pulsar_pip430.outcomes import Existing, Hit, Hits
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule


def hits_what_is_cached(config: Config, pre: State, event: Get, step: Step) -> bool:
    """R-READ-1."""
    entry = cached(pre, event.cache, event.pos)
    answer = step.outcome
    if not isinstance(answer, Hit) or answer.hit != (entry is not None):
        return False
    return entry is None or entry.token is None or answer.tokens == (entry.token,)


def is_cached(config: Config, pre: State, event: Get, step: Step) -> bool:
    """The cache holds the position."""
    return cached(pre, event.cache, event.pos) is not None


def marks_it(config: Config, pre: State, event: Get, step: Step) -> bool:
    """R-READ-2: the mark is all that differs."""
    entry = cached(pre, event.cache, event.pos)
    return (
        entry is not None
        and cached(step.state, event.cache, event.pos) == entry._replace(accessed=True)
        and step.state.queue == pre.queue
    )


def in_order(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """The bounds are not reversed."""
    return event.first <= event.last


def answers_the_range(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """R-READ-3."""
    answer = step.outcome
    entries = entries_of(pre, event.cache)
    found = tuple(sorted(pos for pos in entries if event.first <= pos <= event.last))
    if not isinstance(answer, Hits) or answer.hits != found:
        return False
    tokens = tuple(entries[pos].token for pos in found)
    return not found or None in tokens or answer.tokens == tokens


def marks_the_range(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """R-READ-4: the marks are all that differs."""
    wanted = {
        pos: entry._replace(accessed=True) if event.first <= pos <= event.last else entry
        for pos, entry in entries_of(pre, event.cache).items()
    }
    return (
        entries_of(step.state, event.cache) == wanted
        and others_kept(pre, step, event.cache)
        and step.state.queue == pre.queue
    )


def reversed_bounds(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """The bounds are reversed."""
    return event.first > event.last


def finds_and_marks_nothing(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """R-READ-5."""
    answer = step.outcome
    return isinstance(answer, Hits) and not answer.hits and nothing_touched(pre, step)


def exists_if_cached(config: Config, pre: State, event: Exists, step: Step) -> bool:
    """R-READ-6."""
    return step.outcome == Existing(cached(pre, event.cache, event.pos) is not None)


LAWS: Final = (
    Law(Rule.READ_1, (Get,), always, hits_what_is_cached),
    Law(Rule.READ_2, (Get,), is_cached, marks_it),
    Law(Rule.READ_3, (GetRange,), in_order, answers_the_range),
    Law(Rule.READ_4, (GetRange,), in_order, marks_the_range),
    Law(Rule.READ_5, (GetRange,), reversed_bounds, finds_and_marks_nothing),
    Law(Rule.READ_6, (Exists,), always, exists_if_cached),
)
