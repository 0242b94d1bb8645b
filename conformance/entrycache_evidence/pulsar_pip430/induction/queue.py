"""Lemmas about the whole queue, of any length: sums of bytes, and the order of stamps.

The queue is three arrays from `head` to `tail`, excluded, and a ghost array of prefix sums. An invariant about every
place is assumed at the places that matter, and proved at any place.
"""

from typing import Any, Final

import z3

from entrycache_evidence.induction.lemma import Lemma, LemmaFault, Obligation
from entrycache_evidence.induction.symbolic import Term, raw
from entrycache_evidence.pulsar_pip430.contracts.fixtures import STALE_STAMP_FAULT
from entrycache_evidence.pulsar_pip430.induction.decision import Decision, Table, lemma_fault
from entrycache_faults.model import Model
from entrycache_reference import rules, vocabulary
from entrycache_reference.pulsar_pip430 import config, decision, ops
from entrycache_reference.pulsar_pip430.state import Cache, Entry, Slot, State

_HEAD, _TAIL, _ANY, _OTHER = z3.Ints("head tail any other")
_LIVE = z3.Array("live", z3.IntSort(), z3.BoolSort())
_SIZES = z3.Array("sizes", z3.IntSort(), z3.IntSort())
_STAMPS = z3.Array("stamps", z3.IntSort(), z3.IntSort())
_SUMS = z3.Array("sums", z3.IntSort(), z3.IntSort())
_NAME = vocabulary.CacheName("a")
_POS = vocabulary.Position(0, 0)


def _state(total: Any, entry: Entry | None) -> State:
    """Build a state with these sums; the queue itself is in the arrays."""
    entries = {} if entry is None else {_POS: entry}
    settings = config.Config().settings
    return State(0, settings, {_NAME: Cache(entries, total)}, (), total)


def _sums_of(state: State) -> tuple[Any, Any]:
    return raw(state.caches[_NAME].size_bytes), raw(state.size_bytes)


def _link(live: Any, sizes: Any, sums: Any, at: Any, head: Any, tail: Any) -> Any:
    """Build the constraint that the prefix sums fit at one place."""
    weight = z3.If(live[at], sizes[at], 0)
    return z3.Implies(z3.And(head <= at, at < tail), sums[at + 1] == sums[at] + weight)


def _accounting(table: Table, model: Model) -> list[Obligation]:
    """Prove that the bytes are the sum over the queue: `total == sums[tail] - sums[head]`.

    The same holds for one cache if only its own entries weigh anything.
    """
    total, size, at = z3.Ints("total new_size at")
    free: Any = Term(total)
    linked = z3.And([_link(_LIVE, _SIZES, _SUMS, place, _HEAD, _TAIL) for place in (_HEAD, _TAIL - 1, at, _ANY)])
    invariant = z3.And(_HEAD <= _TAIL, linked, total == _SUMS[_TAIL] - _SUMS[_HEAD])
    empty = z3.And(_HEAD == _TAIL, total == 0)
    obligations = [Obligation("base: the empty queue", empty, total == _SUMS[_TAIL] - _SUMS[_HEAD])]

    def kept(live: Any, sizes: Any, sums: Any, head: Any, tail: Any, after: Any) -> Any:
        return z3.And(_link(live, sizes, sums, _ANY, head, tail), after == sums[tail] - sums[head])

    # Taken from the functions that the operations call, so that a seeded error in them counts.
    added: Any = Entry(Term(size), 0, 0, False, None, None)  # type: ignore[arg-type]
    put = (z3.Store(_LIVE, _TAIL, True), z3.Store(_SIZES, _TAIL, size), z3.Store(_SUMS, _TAIL + 1, _SUMS[_TAIL] + size))
    for what, after in zip(
        ("cache", "manager"), _sums_of(model["entries.add_entry"](_state(free, None), _NAME, _POS, added)), strict=True
    ):
        obligations.append(Obligation(f"insert, {what}", invariant, kept(*put, _HEAD, _TAIL + 1, after)))

    inside = z3.And(invariant, at >= _HEAD, at < _TAIL, _LIVE[at])
    held: Any = Entry(Term(_SIZES[at]), 0, 0, False, None, None)  # type: ignore[arg-type]
    place = z3.Int("place")
    lower = z3.Lambda([place], z3.If(place > at, _SUMS[place] - _SIZES[at], _SUMS[place]))
    gone = (z3.Store(_LIVE, at, False), _SIZES, lower)
    for what, after in zip(
        ("cache", "manager"), _sums_of(model["manager.drop_entries"](_state(free, held), _NAME, (_POS,))), strict=True
    ):
        obligations.append(Obligation(f"removal by a call, {what}", inside, kept(*gone, _HEAD, _TAIL, after)))

    take = Decision(table, model)
    head = take.head
    taken = z3.And(invariant, head.sane, _HEAD < _TAIL, head.gone == z3.Not(_LIVE[_HEAD]), head.size == _SIZES[_HEAD])
    caches = {_NAME: Cache({_POS: Entry(Term(head.size), 0, 0, False, None, None)}, free)}  # type: ignore[arg-type]
    model["passes.remove_from_cache"](caches, Slot(_NAME, _POS))
    rest = (_LIVE, _SIZES, _SUMS, _HEAD + 1, _TAIL)
    obligations.append(Obligation("a dead slot is dropped", z3.And(taken, take.drops_it), kept(*rest, total)))
    for what, after in (("cache", raw(caches[_NAME].size_bytes)), ("manager", total - head.size)):
        obligations.append(Obligation(f"a pass removes, {what}", z3.And(taken, take.removes_it), kept(*rest, after)))
    again = (
        z3.Store(_LIVE, _TAIL, _LIVE[_HEAD]),
        z3.Store(_SIZES, _TAIL, head.size),
        z3.Store(_SUMS, _TAIL + 1, _SUMS[_TAIL] + head.size),
    )
    requeue = kept(*again, _HEAD + 1, _TAIL + 1, total)
    obligations.append(Obligation("a pass requeues", z3.And(taken, take.requeues_it), requeue))
    return obligations


def _ordered(stamps: Any, first: Any, second: Any, head: Any, tail: Any, now: Any) -> Any:
    """Build the constraint that two places are in order, and neither is later than the present."""
    there = z3.And(head <= first, first <= second, second < tail)
    return z3.Implies(there, z3.And(stamps[first] <= stamps[second], stamps[second] <= now))


def _sorted(places: tuple[Any, ...], now: Any) -> Any:
    pairs = [(one, two) for one in places for two in places]
    return z3.And(_HEAD <= _TAIL, *[_ordered(_STAMPS, one, two, _HEAD, _TAIL, now) for one, two in pairs])


def _order(table: Table, model: Model) -> list[Obligation]:
    """Prove that stamps ascend and that none is later than the present; a dead slot keeps its stamp."""
    take = Decision(table, model)
    now, passed = take.head.now, z3.Int("passed")
    invariant = _sorted((_HEAD, _TAIL - 1, _ANY, _OTHER), now)
    is_ordered = _ordered(_STAMPS, _ANY, _OTHER, _HEAD, _TAIL, now)
    obligations = [Obligation("base: the empty queue", _HEAD == _TAIL, is_ordered)]
    moved = _ordered(_STAMPS, _ANY, _OTHER, _HEAD, _TAIL, now + passed)
    obligations.append(Obligation("time passes", z3.And(invariant, passed >= 0), moved))
    clock: Any = Term(now)
    entry = model["entries.new_entry"](
        _state(0, None)._replace(now_nanos=clock), ops.Insert(_NAME, _POS, 1), config.Config()
    )
    fresh = z3.Store(_STAMPS, _TAIL, raw(entry.stamp_nanos))
    obligations.append(Obligation("insert", invariant, _ordered(fresh, _ANY, _OTHER, _HEAD, _TAIL + 1, now)))
    taken = z3.And(invariant, take.head.sane, _HEAD < _TAIL, take.head.stamp == _STAMPS[_HEAD])
    rest = _ordered(_STAMPS, _ANY, _OTHER, _HEAD + 1, _TAIL, now)
    obligations.append(Obligation("a slot leaves", z3.And(taken, z3.Or(take.drops_it, take.removes_it)), rest))
    again = z3.Store(_STAMPS, _TAIL, take.stamp_after)
    behind = _ordered(again, _ANY, _OTHER, _HEAD + 1, _TAIL + 1, now)
    obligations.append(Obligation("a pass requeues", z3.And(taken, take.requeues_it), behind))
    return obligations


LEMMAS: Final = tuple(
    lemma._replace(table=decision.DECISION)
    for lemma in (
        Lemma(
            rules.Rule.STATE_1,
            "queue of any length; insert, removal by a call, every line of the table; a cache and the manager",
            _accounting,
            lemma_fault(rules.Rule.STATE_1),
        ),
        Lemma(
            rules.Rule.STATE_3,
            "queue of any length; advance, insert, every line of the table",
            _order,
            LemmaFault(STALE_STAMP_FAULT.note, STALE_STAMP_FAULT.model),
        ),
    )
)
