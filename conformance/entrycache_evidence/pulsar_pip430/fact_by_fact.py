"""The decision table asked one fact after another: whoever follows branches meets only those that decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from entrycache_faults.model import Model
from entrycache_reference.pulsar_pip430.decision import Facts, Line


class Question(NamedTuple):
    """The column of a fact, and what is next where it is false and where it is true."""

    column: int
    no: Question | Line
    yes: Question | Line


class FactByFact:
    """A table from facts to lines, for facts that may stand for booleans: each is turned into one once it is asked.

    It answers as the table does. The table itself would turn all facts into booleans for its hash, and so tell apart
    ways that end on one line.
    """

    def __init__(self, table: Mapping[Facts, Line]) -> None:
        self.first = _first(list(table.items()), 0)

    def __getitem__(self, facts: Facts) -> Line:
        """The line for these facts."""
        at = self.first
        while isinstance(at, Question):
            at = at.yes if facts[at.column] else at.no
        return at


def _first(left: Sequence[tuple[Facts, Line]], column: int) -> Question | Line:
    """What is asked first about these lines, whose facts agree before the column; a line, if it is the only one."""
    found = left[0][1]
    if all(line is found for _, line in left):
        return found
    no, yes = (_first([part for part in left if part[0][column] is fact], column + 1) for fact in (False, True))
    return no if no is yes else Question(column, no, yes)


def fact_by_fact(model: Model) -> Model:
    """The model, whose decisions ask one fact after another."""
    place = "decision.LOOKUP"
    return Model(model.package, {**model.replaced, place: FactByFact(model[place])})
