"""Lemmas about the queue and the loop of `run_pass`: what any turn keeps holds after any number of turns.

The claims about the loop are in `pass_loop`; each becomes an obligation on all paths of two turns, the second of which
stands for any turn. R-REQUEUE-9 is about variant `size_pass_rounds` "one".

The last lemmas are about the whole queue, of any length: sums of bytes, and the order of stamps. The queue is three
arrays from `head` to `tail`, excluded, and a ghost array of prefix sums. An invariant about every place is assumed at
the places that matter, and proved at any place.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import z3

from entrycache_evidence.core.models import FAULT_OF
from entrycache_evidence.induction.lemma import Lemma, LemmaFault, Obligation
from entrycache_evidence.induction.symbolic import Term, paths, raw
from entrycache_evidence.induction.turns import EARLIER_TURNS
from entrycache_evidence.pulsar_pip430.contracts.fixtures import PASS_FAULTS, STALE_STAMP_FAULT
from entrycache_evidence.pulsar_pip430.induction import pass_loop
from entrycache_evidence.pulsar_pip430.induction.decision import Decision, Table, lemma_fault
from entrycache_evidence.pulsar_pip430.induction.pass_loop import (
    SETTINGS,
    Claim,
    LoopState,
    Run,
    Setting,
    paths_of_two_turns,
)
from entrycache_faults.model import Model
from entrycache_reference.pulsar_pip430 import ops, passes
from entrycache_reference.pulsar_pip430.config import Config, SizePassRounds, Variants
from entrycache_reference.pulsar_pip430.decision import DECISION
from entrycache_reference.pulsar_pip430.passes import Pass, PassKind, rows_of_pass
from entrycache_reference.pulsar_pip430.state import Cache, Entry, Row, Slot, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, Position


def run_obligations(
    claim: Claim, config: Config | None = None, settings: Sequence[Setting] = SETTINGS
) -> Callable[[Any, Model], Iterator[Obligation]]:
    """Build the obligations of a claim on every path of two turns, the second of which is any turn.

    Each claim includes that the loop ends rightly: a bound on its turns would make it claim too little.
    """

    def obligations(table: Any, model: Model) -> Iterator[Obligation]:
        for setting in settings:
            given, ways = paths_of_two_turns(model, setting, config)
            said = []
            for condition, run in ways:
                for further, answer in paths(lambda: _claimed(claim, run), z3.And(given, condition)):  # noqa: B023
                    said.append(z3.Implies(z3.And(condition, further), answer))
            yield Obligation(setting.name, given, z3.And(said))

    return obligations


def _claimed(claim: Claim, run: Run) -> Any:
    return pass_loop.ends_rightly(run) and claim(run)


def _rule_fault(rule: Rule) -> LemmaFault:
    return LemmaFault(FAULT_OF[rule].note, FAULT_OF[rule].model)


def _pass_fault(rule: Rule) -> LemmaFault:
    fault = next(fault for fault in PASS_FAULTS if fault.rule is rule)
    return LemmaFault(fault.note, fault.model)


def _to_the_head(queue: Any, slot: Slot) -> None:
    queue.appendleft(slot)


def _without_the_entry(caches: Any, slot: Slot) -> None:
    """Leave the entry where it is."""


ENTRY_LEFT: Final = LemmaFault(
    "A pass takes the slot of what it removes and leaves the entry.",
    Model(FAULT_OF[Rule.EVICT_8].package, {"passes.remove_from_cache": _without_the_entry}),
)


AT_THE_HEAD: Final = LemmaFault(
    "A requeued entry stands at the head.", Model(FAULT_OF[Rule.EVICT_8].package, {"passes.put_back": _to_the_head})
)


def _rows_twice(done: Pass) -> tuple[Row, ...]:
    return rows_of_pass(done) * 2


def _counting_on(state: State, kind: PassKind, bound: int, config: Config) -> Step:
    done = passes.run_pass(state, kind, bound, config)
    counts = done.state.counts
    more = counts._replace(evicted_entries=counts.evicted_entries + len(done.state.queue[:1]))
    return done._replace(state=done.state._replace(counts=more))


def _claims_stay(holds: Any, gone: Any) -> Any:
    return holds


ROWS_TWICE: Final = LemmaFault(
    "A pass reports its rows twice.", Model(AT_THE_HEAD.model.package, {"passes.rows_of_pass": _rows_twice})
)
COUNTS_TOO_FAR: Final = LemmaFault(
    "A pass counts what it halts at.", Model(AT_THE_HEAD.model.package, {"passes.run_pass": _counting_on})
)
CLAIMS_KEPT: Final = LemmaFault(
    "A pass leaves claims on what it removed.",
    Model(AT_THE_HEAD.model.package, {"passes.drop_claims": _claims_stay}),
)
LOOP: Final = "the loop of run_pass, any number of turns, any slots behind the head"

FOLD_LEMMAS: Final = (
    Lemma(Rule.STATE_1, f"{LOOP}: the sums of bytes", run_obligations(pass_loop.claim_sums), _pass_fault(Rule.STATE_1)),
    Lemma(
        Rule.STATE_2,
        f"{LOOP}: one live slot an entry",
        run_obligations(pass_loop.one_slot_each),
        ENTRY_LEFT,
    ),
    Lemma(Rule.STATE_3, f"{LOOP}: the order of stamps", run_obligations(pass_loop.by_age), _pass_fault(Rule.STATE_3)),
    Lemma(
        Rule.STATE_8,
        f"{LOOP}: its rows, made of all events at the end, for two",
        run_obligations(pass_loop.one_row_each),
        ROWS_TWICE,
    ),
    Lemma(
        Rule.COUNT_6,
        f"{LOOP}: what is held, at the end, for two",
        run_obligations(pass_loop.claims_follow),
        CLAIMS_KEPT,
    ),
    Lemma(
        Rule.METRICS_4,
        f"{LOOP}: what is counted, at the end, for two",
        run_obligations(pass_loop.answers_what_left),
        COUNTS_TOO_FAR,
    ),
    Lemma(Rule.EVICT_1, f"{LOOP}: its end", run_obligations(pass_loop.no_dead_head), _rule_fault(Rule.EVICT_1)),
    Lemma(
        Rule.EVICT_2,
        f"{LOOP}: what is not at the head stays, as its end leaves all",
        run_obligations(pass_loop.the_rest_stays),
        _rule_fault(Rule.EVICT_2),
    ),
    Lemma(
        Rule.EVICT_4,
        f"{LOOP}: the end of a size pass",
        run_obligations(pass_loop.enough_or_empty),
        _rule_fault(Rule.EVICT_4),
    ),
    Lemma(
        Rule.EVICT_5,
        f"{LOOP}: a size pass frees less than it needs and the size of the last entry it removed",
        run_obligations(pass_loop.overshoots_less_than_the_last),
        _rule_fault(Rule.EVICT_5),
    ),
    Lemma(
        Rule.EVICT_7,
        f"{LOOP}: each turn adds what it removed; the count of the answer, made of all events at the end, for two",
        run_obligations(pass_loop.answers_what_left),
        _rule_fault(Rule.EVICT_7),
    ),
    Lemma(
        Rule.EVICT_8,
        f"{LOOP}: it takes heads and puts back at the tail",
        run_obligations(pass_loop.from_head_to_tail),
        AT_THE_HEAD,
    ),
    Lemma(
        Rule.EVICT_8,
        f"{LOOP}: what leaves has no later stamp than anything that stays, in any ledger",
        run_obligations(pass_loop.oldest_leaves),
        _pass_fault(Rule.STATE_3),
    ),
    Lemma(
        Rule.EXPIRE_1,
        f"{LOOP}: a turn of a time pass",
        run_obligations(pass_loop.takes_only_expired),
        _rule_fault(Rule.EXPIRE_1),
    ),
    Lemma(
        Rule.EXPIRE_2,
        f"{LOOP}: the end of a time pass",
        run_obligations(pass_loop.the_rest_is_young),
        _rule_fault(Rule.EXPIRE_2),
    ),
    Lemma(
        Rule.LIVENESS_1,
        f"{LOOP}: each turn lowers the rank, 1 a slot, the mark and what is left of the budget an entry; both "
        "variants of requeue_budget",
        run_obligations(pass_loop.claim_termination),
        _rule_fault(Rule.LIVENESS_1),
    ),
)
"""The lemmas about a pass over a queue of any length."""


# --- Size passes of one round

ONE_ROUND: Final = Config(variants=Variants(size_pass_rounds=SizePassRounds.ONE))
ONE_ROUND_SETTINGS: Final = tuple(setting for setting in SETTINGS if setting.heads and setting.is_counted)


def spares_one_round(run: Run) -> Any:
    """Claim that each turn counts itself and those before it, and that a late one puts nothing back."""
    said, slots = [], raw(pass_loop.SLOTS)
    for at, (before, after) in enumerate(run.turns):
        event, turns_before = after.events[-1], at and EARLIER_TURNS + at
        is_late = z3.And(z3.BoolVal(run.kind is PassKind.SIZE), turns_before >= slots)
        said.append(z3.Implies(is_late, z3.BoolVal(event.requeued is None)))
        slot = before.queue[0]
        if slot is not None and not event.halted:
            is_spared = z3.And(z3.Not(is_late), raw(run.pre.settings.extend_recently_accessed), _marked(before, slot))
            said.append(z3.Implies(is_spared, z3.BoolVal(event.requeued is not None)))
    return z3.And(said)


def _marked(before: LoopState, slot: Slot) -> Any:
    mark = raw(before.entry(slot).accessed)
    return z3.BoolVal(mark) if isinstance(mark, bool) else mark


ONE_ROUND_LEMMAS: Final = (
    Lemma(
        Rule.REQUEUE_9,
        "the loop of run_pass under variant size_pass_rounds one, any number of turns, any slots behind the head, any "
        "number of slots at the beginning: a size pass puts nothing back after that many turns, and until then, as a "
        "time pass always, what was accessed",
        run_obligations(spares_one_round, ONE_ROUND, ONE_ROUND_SETTINGS),
        LemmaFault(FAULT_OF[Rule.REQUEUE_9].note, FAULT_OF[Rule.REQUEUE_9].model),
    ),
)
"""The lemma about size passes of one round."""

# --- The whole queue

_HEAD, _TAIL, _ANY, _OTHER = z3.Ints("head tail any other")
_LIVE = z3.Array("live", z3.IntSort(), z3.BoolSort())
_SIZES = z3.Array("sizes", z3.IntSort(), z3.IntSort())
_STAMPS = z3.Array("stamps", z3.IntSort(), z3.IntSort())
_SUMS = z3.Array("sums", z3.IntSort(), z3.IntSort())
_NAME = CacheName("a")
_POS = Position(0, 0)


def _build_state(total: Any, entry: Entry | None) -> State:
    """Build a state with these sums; the queue itself is in the arrays."""
    entries = {} if entry is None else {_POS: entry}
    settings = Config().settings
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
        ("cache", "manager"),
        _sums_of(model["entries.add_entry"](_build_state(free, None), _NAME, _POS, added)),
        strict=True,
    ):
        obligations.append(Obligation(f"insert, {what}", invariant, kept(*put, _HEAD, _TAIL + 1, after)))

    inside = z3.And(invariant, at >= _HEAD, at < _TAIL, _LIVE[at])
    held: Any = Entry(Term(_SIZES[at]), 0, 0, False, None, None)  # type: ignore[arg-type]
    place = z3.Int("place")
    lower = z3.Lambda([place], z3.If(place > at, _SUMS[place] - _SIZES[at], _SUMS[place]))
    gone = (z3.Store(_LIVE, at, False), _SIZES, lower)
    for what, after in zip(
        ("cache", "manager"),
        _sums_of(model["manager.drop_entries"](_build_state(free, held), _NAME, (_POS,))),
        strict=True,
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
        _build_state(0, None)._replace(now_nanos=clock), ops.Insert(_NAME, _POS, 1), Config()
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


QUEUE_LEMMAS: Final = tuple(
    lemma._replace(table=DECISION)
    for lemma in (
        Lemma(
            Rule.STATE_1,
            "queue of any length; insert, removal by a call, every line of the table; a cache and the manager",
            _accounting,
            lemma_fault(Rule.STATE_1),
        ),
        Lemma(
            Rule.STATE_3,
            "queue of any length; advance, insert, every line of the table",
            _order,
            LemmaFault(STALE_STAMP_FAULT.note, STALE_STAMP_FAULT.model),
        ),
    )
)
"""The lemmas about the whole queue."""


PASS_LEMMAS: Final = tuple(lemma._replace(loop="passes.run_pass") for lemma in (*FOLD_LEMMAS, *ONE_ROUND_LEMMAS))
"""All lemmas about the loop of a pass."""

LEMMAS: Final = (*QUEUE_LEMMAS, *PASS_LEMMAS)
