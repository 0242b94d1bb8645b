"""Prove that a loop treats each element of a sequence of any length once, in order.

A `Fold` names a loop and what it does with an element: a function that it calls for each, or an answer that it makes of
all. A stand-in of that function records the elements. The sequence is an `AnyTuple`: between its first element and the
second there may be any number of others. So a loop that counts its turns, or walks a part of the sequence, is refuted.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import z3

from entrycache_evidence.induction.lemma import Lemma, LemmaFault, Obligation, build_term_model
from entrycache_evidence.induction.symbolic import Term, paths
from entrycache_evidence.induction.turns import Unknown, counting_replaced
from entrycache_faults.model import Model
from entrycache_reference.rules import Rule

EARLIER: Final = z3.Int("elements before these")


class Visit(NamedTuple):
    """The part of a loop that treats an element: which element it treats, and the answer to go on with."""

    element: Callable[..., object]
    answer: Callable[..., object]


class Fold(NamedTuple):
    """A loop, the functions that treat an element, a run over an `AnyTuple`, and what it has to treat or to answer."""

    rule: Rule
    claim: str
    loop: str
    visits: Mapping[str, Visit]
    run: Callable[[Model], Iterable[object]]
    wanted: tuple[object, ...]
    fault: LemmaFault

    def lemma(self) -> Lemma:
        """Build the lemma: on every path, exactly these elements are treated, in this order."""
        claim = f"{self.claim}: any number of them, each once, in order"
        return Lemma(self.rule, claim, lambda table, model: _obligations(self, model), self.fault, loop=self.loop)


def _obligations(fold: Fold, model: Model) -> Iterator[Obligation]:
    ways = paths(lambda: _treated(fold, model) == fold.wanted)
    said = [z3.Implies(condition, z3.BoolVal(holds)) for condition, holds in ways]
    yield Obligation(fold.loop, EARLIER >= 0, z3.And(said))


def _treated(fold: Fold, model: Model) -> tuple[object, ...] | None:
    """Return what the loop treats, or its answer if no function is named; None if it counts or walks a part."""
    treated: list[object] = []
    module = fold.loop.rpartition(".")[0]
    replaced = {place: _recorder(visit, treated) for place, visit in fold.visits.items()}
    counted = {**counting_replaced(module), f"{module}.len": lambda held: Term(EARLIER) + len(held)}
    try:
        answer = fold.run(build_term_model(model, {**counted, **replaced}))
    except Unknown:
        return None
    return tuple(treated if fold.visits else answer)


def _recorder(visit: Visit, treated: list[object]) -> Callable[..., object]:
    def record(*arguments: Any) -> object:
        treated.append(visit.element(*arguments))
        return visit.answer(*arguments)

    return record
