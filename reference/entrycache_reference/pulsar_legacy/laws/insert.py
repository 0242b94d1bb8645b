"""The laws about inserts, but for what they trigger. The five guards leave no insert out that is not refused."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.laws.law import Law, cached
from entrycache_reference.pulsar_legacy.ops import Insert
from entrycache_reference.pulsar_legacy.outcomes import Inserted
from entrycache_reference.pulsar_legacy.state import Entry, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT


def met(pre: State, step: Step) -> State:
    """The state that the entry met: that which the insert's own pass left, if it ran one."""
    return step.parts[-1].step.state if step.parts else pre


def is_full(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """The bytes at the beginning are at the limit or above it."""
    return event.size >= 0 and not pre.size_bytes < config.max_size_bytes


def adds_nothing(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """L-INSERT-3."""
    here = event.cache, event.pos
    return step.outcome == Inserted(False) and cached(step.state, *here) == cached(met(pre, step), *here)


def is_duplicate(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Not full, and the position is cached when the entry comes to it."""
    is_open = event.size >= 0 and pre.size_bytes < config.max_size_bytes
    return is_open and cached(met(pre, step), event.cache, event.pos) is not None


def keeps_the_first(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """L-INSERT-2."""
    return adds_nothing(config, pre, event, step)


def is_free(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Not full, and the position was not cached at the beginning."""
    is_open = event.size >= 0 and pre.size_bytes < config.max_size_bytes
    return is_open and cached(pre, event.cache, event.pos) is None


def fits_or_came_in(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """The position is free, and the limit is not exceeded by the entry; or that has come in all the same."""
    if is_free(config, pre, event, step) and pre.size_bytes + event.size <= config.max_size_bytes:
        return True
    here = event.cache, event.pos
    is_new = cached(met(pre, step), *here) is None and cached(step.state, *here) is not None
    return is_new and pre.size_bytes < config.max_size_bytes and step.outcome == Inserted(True)


def exceeds(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """The position is free, and the entry exceeds the limit."""
    return is_free(config, pre, event, step) and pre.size_bytes + event.size > config.max_size_bytes


def takes_it(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """L-INSERT-1."""
    entry = Entry(event.size, pre.now_nanos, None if event.token is ABSENT else event.token)
    return step.outcome == Inserted(True) and cached(step.state, event.cache, event.pos) == entry


def was_evicted(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Not full, and the pass of this insert has evicted what was cached at the position."""
    if event.size < 0 or pre.size_bytes >= config.max_size_bytes:
        return False
    here = event.cache, event.pos
    return cached(pre, *here) is not None and cached(met(pre, step), *here) is None


def comes_in(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """L-INSERT-4, L-INSERT-5; with which stamp is a matter of L-INSERT-1."""
    return step.outcome == Inserted(True) and cached(step.state, event.cache, event.pos) is not None


LAWS: Final = (
    Law(Rule.L_INSERT_1, (Insert,), fits_or_came_in, takes_it),
    Law(Rule.L_INSERT_2, (Insert,), is_duplicate, keeps_the_first),
    Law(Rule.L_INSERT_3, (Insert,), is_full, adds_nothing),
    Law(Rule.L_INSERT_4, (Insert,), exceeds, comes_in),
    Law(Rule.L_INSERT_5, (Insert,), was_evicted, comes_in),
)
