"""The laws about removal by a call."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.laws.law import Law, always, entries_of, others_kept
from entrycache_reference.pulsar_legacy.ops import Clear, InvalidateBefore, InvalidateLedger, RemoveCache, RemoveRange
from entrycache_reference.pulsar_legacy.state import State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, Position


def kept_are(pre: State, step: Step, name: CacheName, kept: list[Position]) -> bool:
    """Whether of one cache these entries stay, as they were, and of every other all."""
    before = entries_of(pre, name)
    return entries_of(step.state, name) == {pos: before[pos] for pos in kept} and others_kept(pre, step, name)


def keeps_what_lies_outside(config: Config, pre: State, event: RemoveRange, step: Step) -> bool:
    """L-INVALIDATE-1."""
    below = [pos for pos in entries_of(pre, event.cache) if pos < event.first]
    above = [pos for pos in entries_of(pre, event.cache) if pos > event.last]
    end = [event.last] if event.last in entries_of(pre, event.cache) and not event.last_inclusive else []
    return kept_are(pre, step, event.cache, list({*below, *above, *end}))


def keeps_nothing(config: Config, pre: State, event: Clear | RemoveCache, step: Step) -> bool:
    """L-INVALIDATE-2, L-INVALIDATE-5."""
    return event.cache not in step.state.caches and others_kept(pre, step, event.cache)


def keeps_from_the_position(config: Config, pre: State, event: InvalidateBefore, step: Step) -> bool:
    """L-INVALIDATE-3."""
    return kept_are(pre, step, event.cache, [pos for pos in entries_of(pre, event.cache) if not pos < event.pos])


def keeps_other_ledgers(config: Config, pre: State, event: InvalidateLedger, step: Step) -> bool:
    """L-INVALIDATE-4."""
    kept = [pos for pos in entries_of(pre, event.cache) if pos.ledger != event.ledger]
    return kept_are(pre, step, event.cache, kept)


LAWS: Final = (
    Law(Rule.L_INVALIDATE_1, (RemoveRange,), always, keeps_what_lies_outside),
    Law(Rule.L_INVALIDATE_2, (Clear,), always, keeps_nothing),
    Law(Rule.L_INVALIDATE_3, (InvalidateBefore,), always, keeps_from_the_position),
    Law(Rule.L_INVALIDATE_4, (InvalidateLedger,), always, keeps_other_ledgers),
    Law(Rule.L_INVALIDATE_5, (RemoveCache,), always, keeps_nothing),
)
