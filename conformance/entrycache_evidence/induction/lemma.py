"""A lemma about takes or about the queue, and how z3 checks it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final, NamedTuple

import z3

from entrycache_evidence.explore.search import unhindered
from entrycache_evidence.induction.terms import all_of, negated
from entrycache_faults.model import Model
from entrycache_reference.rules import Rule


class Obligation(NamedTuple):
    """Whenever `given` is true, `goal` has to be; `given` must be satisfiable, or nothing is said."""

    name: str
    given: Any
    goal: Any


class Planted(NamedTuple):
    """A planted error: a model with an error in one of the reference's functions, or a changed decision table.

    `table` None: the system has none, or it is that of the reference.
    """

    note: str
    model: Model
    table: Any = None


class Lemma(NamedTuple):
    """The obligations of a rule as they follow from a decision table and the functions of a model: base and steps.

    `table` is that of the reference, None where the system has none. The obligations may be made one by one, as they
    are asked for.
    """

    rule: Rule
    claim: str
    obligations: Callable[[Any, Model], Iterable[Obligation]]
    fault: Planted
    table: Any = None

    def of_norm(self) -> list[Obligation]:
        """The obligations about the reference itself."""
        return list(self.obligations(self.table, norm(self.fault.model.package)))


@cache
def norm(package: str) -> Model:
    """The reference of a system, as the model without an error."""
    return Model(package)


EFFORT: Final = 10**9
"""After so many units of its own work, not after a time, z3 gives a term up: so it does not matter what else runs."""


def unsatisfiable(term: Any) -> bool | None:
    """Whether z3 refutes the term; None: it does not know."""
    solver = z3.SimpleSolver()  # z3.Solver first looks for a tactic, which costs more than most questions
    solver.set("rlimit", EFFORT)
    solver.set("ctrl_c", False)  # z3 would take the signal for itself, and go on with "unknown"
    solver.add(term)
    answer = solver.check()
    return None if answer == z3.unknown else bool(answer == z3.unsat)


def problems(lemma: Lemma) -> list[str]:
    """What keeps the lemma from being proved: an obligation that fails or is void, a fault that is not refuted."""
    return asked(lemma)[1]


def asked(lemma: Lemma) -> tuple[int, list[str]]:
    """The number of obligations, and what keeps the lemma from being proved: the first that fails or is void."""
    with unhindered():
        return _asked(lemma)


def _asked(lemma: Lemma) -> tuple[int, list[str]]:
    count, found = 0, []
    # Many obligations have one assumption. Terms are kept with what is told of them: else their ids are given again.
    told: dict[int, tuple[Any, bool | None]] = {}
    for name, given, goal in lemma.obligations(lemma.table, norm(lemma.fault.model.package)):
        count += 1
        if given.get_id() not in told:
            told[given.get_id()] = given, unsatisfiable(given)
        is_void, is_refuted = told[given.get_id()][1], unsatisfiable(all_of((given, negated(goal))))
        if None in {is_void, is_refuted}:
            found.append(f"{lemma.rule.value}: {name}: not finished: z3 has given up after {EFFORT} units of work")
        elif is_void:
            found.append(f"{lemma.rule.value}: {name}: its assumptions cannot be met")
        elif not is_refuted:
            found.append(f"{lemma.rule.value}: {name}: not proved")
        if found:
            break
    if not count:
        found.append(f"{lemma.rule.value}: no obligation, so nothing is proved")
    if not refuted(lemma):
        found.append(f"{lemma.rule.value}: the planted error is not refuted: {lemma.fault.note}")
    return count, found


def refuted(lemma: Lemma) -> bool:
    """Whether z3 finds a counterexample to some obligation once the planted error is there."""
    table = lemma.table if lemma.fault.table is None else lemma.fault.table
    obligations = lemma.obligations(table, lemma.fault.model)
    return any(unsatisfiable(all_of((given, negated(goal)))) is False for _, given, goal in obligations)
