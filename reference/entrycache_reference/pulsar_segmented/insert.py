"""The operation `insert`."""

from __future__ import annotations

from entrycache_reference.pulsar_segmented import events
from entrycache_reference.pulsar_segmented.config import Config, Duplicate
from entrycache_reference.pulsar_segmented.ops import Insert
from entrycache_reference.pulsar_segmented.outcomes import ErrorKind, Inserted, Refused
from entrycache_reference.pulsar_segmented.ring import offered
from entrycache_reference.pulsar_segmented.state import Entry, Place, State, Step, found
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT


@rule(Rule.S_INSERT_4)
def is_disabled(config: Config) -> bool:
    """Whether caching is off."""
    return config.max_size_bytes == 0


@rule(Rule.S_INSERT_3)
def is_too_long(state: State, size: int) -> bool:
    """Whether an entry of that size fits into no segment."""
    return size > state.segment_bytes


@rule(Rule.S_INSERT_2)
def is_ignored(state: State, place: Place, config: Config) -> bool:
    """Whether an insert of that place is left out because some segment holds it."""
    return config.variants.duplicate is Duplicate.IGNORED and found(state, place) is not None


@rule(Rule.S_INSERT_1, Rule.S_INSERT_2, Rule.S_INSERT_3, Rule.S_INSERT_4, Rule.S_INSERT_5)
def insert(state: State, event: Insert, config: Config) -> Step:
    """Offer one entry to the ring."""
    # GUARD: a negative size is refused.
    place = Place(event.cache, event.pos)
    if event.size < 0:
        return Step(state, Refused(ErrorKind.ILLEGAL_ARGUMENT), ())

    # DECISION: nothing is taken where caching is off, nor what is too long, nor what is cached.
    for left_out, rule_of_it, op, cause in (
        (is_disabled(config), Rule.S_INSERT_4, "SKIP", "DISABLED"),
        (is_too_long(state, event.size), Rule.S_INSERT_3, "SKIP", "FULL"),
        (is_ignored(state, place, config), Rule.S_INSERT_2, "REJECT", "DUPLICATE"),
    ):
        if left_out:
            return Step(state, Inserted(False), (events.left_out(rule_of_it, op, cause, state, place, event.size),))

    # EFFECT: the current segment takes it, or the ring turns.
    entry = Entry(place, event.size, 0, None if event.token is ABSENT else event.token)
    done = offered(state, entry, config)

    # OUTCOME
    return Step(done.state, Inserted(done.is_taken), done.rows)
