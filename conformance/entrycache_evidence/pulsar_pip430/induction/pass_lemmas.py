"""Lemmas about the loop of `run_pass`: a property that any turn keeps holds after any number of turns.

The claims are in `pass_loop`; each becomes an obligation on all paths of two turns, the second of which stands for any
turn. The last lemma, R-REQUEUE-9, is about variant `size_pass_rounds` "one".
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import z3

from entrycache_evidence.core.models import FAULT_OF
from entrycache_evidence.induction.lemma import Lemma, LemmaFault, Obligation
from entrycache_evidence.induction.symbolic import paths, raw
from entrycache_evidence.induction.turns import EARLIER_TURNS
from entrycache_evidence.pulsar_pip430.contracts.fixtures import PASS_FAULTS
from entrycache_evidence.pulsar_pip430.induction import pass_loop
from entrycache_evidence.pulsar_pip430.induction.pass_loop import (
    SETTINGS,
    Claim,
    LoopState,
    Run,
    Setting,
    paths_of_two_turns,
)
from entrycache_faults.model import Model
from entrycache_reference.pulsar_pip430 import passes
from entrycache_reference.pulsar_pip430.config import Config, SizePassRounds, Variants
from entrycache_reference.pulsar_pip430.passes import Pass, PassKind, rows_of_pass
from entrycache_reference.pulsar_pip430.state import Row, Slot, State, Step
from entrycache_reference.rules import Rule


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

LEMMAS: Final = tuple(lemma._replace(loop="passes.run_pass") for lemma in (*FOLD_LEMMAS, *ONE_ROUND_LEMMAS))
"""All lemmas about the loop of a pass."""
