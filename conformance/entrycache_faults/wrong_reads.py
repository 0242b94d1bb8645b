"""Wrong versions of the reference's functions of level `reads`, each with one error."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_pip430 import change, insert, ops, outcomes, storage_reads, trigger
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.state import Held, Part, State, Step
from entrycache_reference.vocabulary import ABSENT, Absent, CacheName, HoldName, Position

_deliver: Final = storage_reads.deliver
_fill: Final = storage_reads.fill
_handed_over: Final = storage_reads.handed_over
_look_up: Final = storage_reads.look_up
_offer: Final = trigger.offer


def look_up_all_or_nothing(state: State, name: CacheName, wanted: tuple[Position, ...], config: Config) -> Step:
    """R-READ-7."""
    if all(change.entry_at(state, name, pos) is not None for pos in wanted):
        return _look_up(state, name, wanted, config)
    nowhere = CacheName("")
    done = _look_up(state, nowhere, wanted, config)
    return done._replace(rows=tuple(row._replace(cache=name) for row in done.rows))


def read_handing_over_backwards(state: State, event: ops.Read, config: Config) -> Step:
    """R-READ-8."""
    done = storage_reads.read(state, event, config)
    if not isinstance(done.outcome, outcomes.Served):
        return done
    hits, fills, tokens = done.outcome.hits, done.outcome.fills, done.outcome.tokens
    turned = None if tokens is None else tokens[: len(hits)] + tokens[len(hits) :][::-1]
    return done._replace(outcome=outcomes.Served(hits, fills[::-1], turned))


def is_wanted_always(expected_reads: int, config: Config) -> bool:
    """R-READ-9."""
    return True


def read_one_caching(state: State, event: ops.ReadOne, config: Config) -> Step:
    """R-READ-10."""
    if storage_reads.is_held(state, event.hold):
        return storage_reads.read_one(state, event, config)
    served = storage_reads.look_up(state, event.cache, (event.pos,), config)
    filled = Step(served.state, served.outcome, ())
    if change.entry_at(state, event.cache, event.pos) is None:
        entry = ops.Insert(event.cache, event.pos, config.storage_entry_size)
        added = insert.insert(served.state, entry, config, "FILL")
        filled = added._replace(parts=(Part(served.state, entry, added),))
    kept = storage_reads.handed(filled.state, event.cache, (event.pos,))
    return storage_reads.finished(served, filled, kept, event.hold, config)


def read_backwards_nothing(state: State, event: ops.Read, config: Config) -> Step:
    """R-READ-11."""
    if event.first.ledger == event.last.ledger and event.first > event.last:
        return Step(state, outcomes.Served((), ()), ())
    return storage_reads.read(state, event, config)


def handed_over_fills_first(tokens: tuple[int | None, ...], fills: tuple[Position, ...]) -> tuple[int, ...] | None:
    """R-READ-12."""
    right = _handed_over(tokens, fills)
    return None if right is None else right[len(tokens) :] + right[: len(tokens)]


def deliver_twice(state: State, kept: tuple[Held, ...], config: Config) -> Step:
    """R-COUNT-5."""
    once = _deliver(state, kept, config)
    again = _deliver(once.state, kept, config)
    return again._replace(rows=once.rows + again.rows, parts=once.parts + again.parts)


def deliver_to_whatever_is_there(state: State, kept: tuple[Held, ...], config: Config) -> Step:
    """R-COUNT-6."""
    there = tuple(
        held._replace(is_cached=change.entry_at(state, held.slot.cache, held.slot.pos) is not None) for held in kept
    )
    return _deliver(state, there, config)


def release_keeping_the_name(state: State, event: ops.Release, config: Config) -> Step:
    """R-COUNT-7."""
    done = storage_reads.release(state, event, config)
    return done if done.state is state else done._replace(state=done.state._replace(holds=state.holds))


def release_once_too_often(state: State, event: ops.Release, config: Config) -> Step:
    """R-COUNT-7: the release of what is not open answers 0."""
    if storage_reads.is_held(state, event.hold):
        return storage_reads.release(state, event, config)
    return Step(state, outcomes.Released(0), ())


def offer_uncounted(state: State, event: ops.Insert, config: Config, cause: str = "ADD") -> Step:
    """R-METRICS-3."""
    done = _offer(state, event, config, cause)
    counts = done.state.counts._replace(inserted_entries=state.counts.inserted_entries)
    return done._replace(state=done.state._replace(counts=counts))


def look_up_one_miss(state: State, name: CacheName, wanted: tuple[Position, ...], config: Config) -> Step:
    """R-METRICS-6."""
    done = _look_up(state, name, wanted, config)
    missed = min(1, done.state.counts.miss_entries - state.counts.miss_entries)
    counts = done.state.counts._replace(
        miss_entries=state.counts.miss_entries + missed,
        miss_bytes=state.counts.miss_bytes + missed * config.storage_entry_size,
    )
    return done._replace(state=done.state._replace(counts=counts))


def look_up_one_hit(state: State, name: CacheName, wanted: tuple[Position, ...], config: Config) -> Step:
    """R-METRICS-6: a hit a read."""
    done = _look_up(state, name, wanted, config)
    found = min(1, done.state.counts.hit_entries - state.counts.hit_entries)
    counts = done.state.counts._replace(hit_entries=state.counts.hit_entries + found)
    return done._replace(state=done.state._replace(counts=counts))


def look_up_stored_bytes(state: State, name: CacheName, wanted: tuple[Position, ...], config: Config) -> Step:
    """R-METRICS-6: hits are counted with the size that storage would have given."""
    done = _look_up(state, name, wanted, config)
    found = done.state.counts.hit_entries - state.counts.hit_entries
    counts = done.state.counts._replace(hit_bytes=state.counts.hit_bytes + found * config.storage_entry_size)
    return done._replace(state=done.state._replace(counts=counts))


def finished_without_release(
    served: Step, filled: Step, kept: tuple[Held, ...], hold: HoldName | Absent, config: Config
) -> Step:
    """R-COUNT-5: a read without a hold releases nothing."""
    holds = filled.state.holds if hold is ABSENT else {**filled.state.holds, hold: kept}
    held = filled.state._replace(holds=holds)
    return Step(held, served.outcome, served.rows + filled.rows, served.parts + filled.parts)


def fill_with_one_trigger(state: State, event: ops.Read, fills: tuple[Position, ...], config: Config) -> Step:
    """R-READ-9: one trigger for all fills, after the last of them."""
    wide = state._replace(settings=state.settings._replace(max_size_bytes=2**53))
    filled = _fill(wide, event, fills, config)
    after = filled.state._replace(settings=state.settings)
    relieved = trigger.trigger_when_needed(after, config) if filled.parts else Step(after, filled.outcome, ())
    return Step(relieved.state, filled.outcome, filled.rows + relieved.rows, filled.parts + relieved.parts)
