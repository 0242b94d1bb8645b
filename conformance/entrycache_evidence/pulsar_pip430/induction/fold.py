"""The fold lemmas: what a turn of the loop of `run_pass` keeps holds after any number of them; and its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import z3

from entrycache_evidence.induction.lemma import Lemma, Obligation, Planted
from entrycache_evidence.induction.symbolic import paths
from entrycache_evidence.planted import FAULT_OF
from entrycache_evidence.pulsar_pip430.contracts.planted import INSIDE
from entrycache_evidence.pulsar_pip430.induction import claims
from entrycache_evidence.pulsar_pip430.induction.claims import Claim
from entrycache_evidence.pulsar_pip430.induction.loop import SETTINGS, runs
from entrycache_faults.model import Model
from entrycache_reference.pulsar_pip430 import passes
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.pass_events import Pass, PassKind, rows_of
from entrycache_reference.pulsar_pip430.state import Row, Slot, State, Step
from entrycache_reference.rules import Rule


def of_runs(claim: Claim) -> Callable[[Any, Model], Iterator[Obligation]]:
    """The claim on every way of two turns, the second of which is any."""

    def obligations(table: Any, model: Model) -> Iterator[Obligation]:
        for setting in SETTINGS:
            given, ways = runs(model, setting)
            said = []
            for condition, run in ways:
                for further, answer in paths(lambda: claim(run), z3.And(given, condition)):  # noqa: B023
                    said.append(z3.Implies(z3.And(condition, further), answer))
            yield Obligation(setting.name, given, z3.And(said))

    return obligations


def _own(rule: Rule) -> Planted:
    return Planted(FAULT_OF[rule].note, FAULT_OF[rule].model)


def _inside(rule: Rule) -> Planted:
    fault = next(fault for fault in INSIDE if fault.rule is rule)
    return Planted(fault.note, fault.model)


def _to_the_head(queue: Any, slot: Slot) -> None:
    queue.appendleft(slot)


AT_THE_HEAD: Final = Planted(
    "A requeued entry stands at the head.", Model(FAULT_OF[Rule.EVICT_8].package, {"passes.put_back": _to_the_head})
)


def _rows_twice(done: Pass) -> tuple[Row, ...]:
    return rows_of(done) * 2


def _counting_on(state: State, kind: PassKind, bound: int, config: Config) -> Step:
    done = passes.run_pass(state, kind, bound, config)
    counts = done.state.counts
    more = counts._replace(evicted_entries=counts.evicted_entries + len(done.state.queue[:1]))
    return done._replace(state=done.state._replace(counts=more))


def _claims_stay(holds: Any, gone: Any) -> Any:
    return holds


TOLD_TWICE: Final = Planted(
    "The rows of a pass are told twice.", Model(AT_THE_HEAD.model.package, {"passes.rows_of": _rows_twice})
)
COUNTED_ON: Final = Planted(
    "A pass counts what it halts at.", Model(AT_THE_HEAD.model.package, {"passes.run_pass": _counting_on})
)
STILL_HELD: Final = Planted(
    "A pass leaves claims on what it removed.",
    Model(AT_THE_HEAD.model.package, {"passes.without_claims": _claims_stay}),
)
FOLD: Final = "the loop of run_pass, any number of turns, any slots behind the head"

LEMMAS: Final = (
    Lemma(Rule.STATE_1, f"{FOLD}: the sums of bytes", of_runs(claims.sums), _inside(Rule.STATE_1)),
    Lemma(Rule.STATE_2, f"{FOLD}: one live slot an entry", of_runs(claims.one_slot_each), _inside(Rule.STATE_2)),
    Lemma(Rule.STATE_3, f"{FOLD}: the order of stamps", of_runs(claims.by_age), _inside(Rule.STATE_3)),
    Lemma(
        Rule.STATE_8,
        f"{FOLD}: its rows, made of all events at the end, for two",
        of_runs(claims.one_row_each),
        TOLD_TWICE,
    ),
    Lemma(Rule.COUNT_6, f"{FOLD}: what is held, at the end, for two", of_runs(claims.claims_follow), STILL_HELD),
    Lemma(
        Rule.METRICS_4,
        f"{FOLD}: what is counted, at the end, for two",
        of_runs(claims.answers_what_left),
        COUNTED_ON,
    ),
    Lemma(Rule.EVICT_1, f"{FOLD}: its end", of_runs(claims.no_dead_head), _own(Rule.EVICT_1)),
    Lemma(
        Rule.EVICT_2,
        f"{FOLD}: what is not at the head stays, as its end leaves all",
        of_runs(claims.the_rest_stays),
        _own(Rule.EVICT_2),
    ),
    Lemma(Rule.EVICT_4, f"{FOLD}: the end of a size pass", of_runs(claims.enough_or_empty), _own(Rule.EVICT_4)),
    Lemma(
        Rule.EVICT_5,
        f"{FOLD}: a size pass frees less than it needs and the size of the last entry it removed",
        of_runs(claims.overshoots_less_than_the_last),
        _own(Rule.EVICT_5),
    ),
    Lemma(
        Rule.EVICT_7,
        f"{FOLD}: each turn adds what it removed; the count of the answer, made of all events at the end, for two",
        of_runs(claims.answers_what_left),
        _own(Rule.EVICT_7),
    ),
    Lemma(
        Rule.EVICT_8,
        f"{FOLD}: it takes heads and puts back at the tail",
        of_runs(claims.from_head_to_tail),
        AT_THE_HEAD,
    ),
    Lemma(Rule.EXPIRE_1, f"{FOLD}: a turn of a time pass", of_runs(claims.takes_only_expired), _own(Rule.EXPIRE_1)),
    Lemma(Rule.EXPIRE_2, f"{FOLD}: the end of a time pass", of_runs(claims.the_rest_is_young), _own(Rule.EXPIRE_2)),
    Lemma(
        Rule.LIVENESS_1,
        f"{FOLD}: each turn lowers the rank, 1 a slot, the mark and what is left of the budget an entry; both "
        "variants of requeue_budget",
        of_runs(claims.ends),
        _own(Rule.LIVENESS_1),
    ),
)
"""What holds of a pass over a queue of any length."""
