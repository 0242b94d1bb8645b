"""The laws about `read` and `read_one`.

What a read serves and what it caches are asked apart: R-READ-8, R-READ-9, R-READ-12 and R-METRICS-6 take the hits
that were answered for granted, R-READ-7 asks whether they are right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from entrycache_reference.pulsar_pip430.config import Config, ZeroReads
from entrycache_reference.pulsar_pip430.laws.law import Law, cached, refusable
from entrycache_reference.pulsar_pip430.laws.state import refuses, to_refuse
from entrycache_reference.pulsar_pip430.laws.thresholds import same_content, was_taken
from entrycache_reference.pulsar_pip430.ops import Get, Insert, MarkRead, Read, ReadOne
from entrycache_reference.pulsar_pip430.outcomes import Served
from entrycache_reference.pulsar_pip430.state import Part, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import Position


def asked_for(event: Read | ReadOne) -> list[Position]:
    """The positions that a read asks for, ascending."""
    if type(event) is ReadOne:
        return [event.pos]
    assert type(event) is Read
    return [Position(event.first.ledger, entry) for entry in range(event.first.entry, event.last.entry + 1)]


def allowed(config: Config, pre: State, event: Read | ReadOne, step: Step) -> bool:
    """The read is not refused."""
    return not refusable(config, pre, event)


def marked_by(parts: Sequence[Part]) -> list[Position]:
    """The positions that the first parts of a read looked up, up to the first part of another kind."""
    found = []
    for part in parts:
        if type(part.event) is not Get:
            break
        found.append(part.event.pos)
    return found


def serves_what_is_cached(config: Config, pre: State, event: Read, step: Step) -> bool:
    """R-READ-7; where a step names no parts an entry can have been requeued since it was marked."""
    wanted = [pos for pos in asked_for(event) if cached(pre, event.cache, pos) is not None]
    if type(step.outcome) is not Served or list(step.outcome.hits) != wanted:
        return False
    return (not step.parts and not wanted) or marked_by(step.parts) == wanted


def leaves_a_gap(config: Config, pre: State, event: Read, step: Step) -> bool:
    """A position of the range is not served from the cache."""
    if type(step.outcome) is not Served or refusable(config, pre, event):
        return False
    return len(step.outcome.hits) != event.last.entry - event.first.entry + 1


def the_rest_from_storage(config: Config, pre: State, event: Read, step: Step) -> bool:
    """R-READ-8."""
    outcome = step.outcome
    return type(outcome) is Served and list(outcome.fills) == [
        pos for pos in asked_for(event) if pos not in outcome.hits
    ]


def reads_from_storage(config: Config, pre: State, event: Read | ReadOne, step: Step) -> bool:
    """Storage has given something."""
    return type(step.outcome) is Served and bool(step.outcome.fills)


def fills_to_judge(config: Config, pre: State, event: Read, step: Step) -> bool:
    """Storage has given something; 0 expected reads that count are left to R-READ-13."""
    return reads_from_storage(config, pre, event, step) and not counts_zero(config, event)


def counts_zero(config: Config, event: Read) -> bool:
    """Whether the fills carry 0 expected reads as a count."""
    return event.expected_reads == 0 and config.variants.zero_reads is ZeroReads.COUNTED


def fills_with_zero(config: Config, pre: State, event: Read, step: Step) -> bool:
    """Storage has given something, and 0 expected reads are a count."""
    return counts_zero(config, event) and reads_from_storage(config, pre, event, step)


def cached_with_zero(config: Config, pre: State, event: Read, step: Step) -> bool:
    """R-READ-13."""
    return all_offered(config, event, step)


def fills_in_order(config: Config, pre: State, event: Read, step: Step) -> bool:
    """R-READ-9; that each fill has its own trigger is a matter of R-TRIGGER-2 and R-TRIGGER-4."""
    if not chained(pre, step):
        return False
    if event.expected_reads <= 0 or config.max_size_bytes == 0:
        return not any(type(part.event) is Insert and was_taken(part.step) for part in step.parts)
    return all_offered(config, event, step)


def all_offered(config: Config, event: Read, step: Step) -> bool:
    """Whether all that came from storage was offered to the cache, one by one, with the count of the read."""
    fills = sorted(step.outcome.fills) if type(step.outcome) is Served else []
    size_bytes = config.storage_entry_size
    return [part.event for part in step.parts if type(part.event) is Insert] == [
        Insert(event.cache, pos, size_bytes, event.expected_reads, pos.entry) for pos in fills
    ]


def chained(pre: State, step: Step) -> bool:
    """Whether each part of a step met what the one before it left, and the step itself left no other content."""
    state = pre
    for part in step.parts:
        if state is not pre and not same_content(state, part.pre):
            return False
        state = part.step.state
    return state is pre or same_content(state, step.state)


def serves_but_caches_nothing(config: Config, pre: State, event: ReadOne, step: Step) -> bool:
    """R-READ-10."""
    outcome = step.outcome
    if type(outcome) is not Served or any(type(part.event) not in {Get, MarkRead} for part in step.parts):
        return False
    before, after = cached(pre, event.cache, event.pos), cached(step.state, event.cache, event.pos)
    if before is None:
        return (outcome.hits, outcome.fills) == ((), (event.pos,)) and after is None
    wanted = before._replace(accessed=True)
    served = (outcome.hits, outcome.fills) == ((event.pos,), ())
    return served and after is not None and after._replace(expected_reads=before.expected_reads) == wanted


def hands_over_payloads(config: Config, pre: State, event: Read | ReadOne, step: Step) -> bool:
    """Payloads are carried: every hit has one, or there is no hit and the answer holds some."""
    outcome = step.outcome
    if type(outcome) is not Served:
        return False
    entries = [cached(pre, event.cache, pos) for pos in outcome.hits]
    if not entries:
        return outcome.tokens is not None
    return all(entry is not None and entry.token is not None for entry in entries)


def the_payloads_of_these(config: Config, pre: State, event: Read | ReadOne, step: Step) -> bool:
    """R-READ-12."""
    outcome = step.outcome
    if type(outcome) is not Served or outcome.tokens is None:
        return False
    entries = [cached(pre, event.cache, pos) for pos in outcome.hits]
    wanted = [entry.token for entry in entries if entry is not None] + [pos.entry for pos in outcome.fills]
    return list(outcome.tokens) == wanted


LAWS: Final = (
    Law(Rule.READ_7, (Read,), allowed, serves_what_is_cached, True),
    Law(Rule.READ_8, (Read,), leaves_a_gap, the_rest_from_storage, True),
    Law(Rule.READ_9, (Read,), fills_to_judge, fills_in_order, True),
    Law(Rule.READ_10, (ReadOne,), allowed, serves_but_caches_nothing, True),
    Law(Rule.READ_11, (Read, ReadOne), to_refuse, refuses, True),
    Law(Rule.READ_13, (Read,), fills_with_zero, cached_with_zero, True),
    Law(Rule.READ_12, (Read, ReadOne), hands_over_payloads, the_payloads_of_these, True),
)
