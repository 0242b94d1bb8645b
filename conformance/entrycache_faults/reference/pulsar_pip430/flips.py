"""The decision table with one cell flipped, for every cell."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Final

from entrycache_faults.model import Place
from entrycache_faults.planted import Fault
from entrycache_faults.reference.pulsar_pip430.planted import PLANTED
from entrycache_reference.pulsar_pip430 import passes
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.decision import ANY, DECISION, Action, Facts, Line, lookup
from entrycache_reference.pulsar_pip430.state import Entry

REQUEUES_MOST: Final = 64
"""An entry that is requeued so often would be requeued for ever."""

REACHABLE: Final = tuple(
    facts
    for facts in (Facts(*values) for values in product((False, True), repeat=5))
    if not facts.gone or not any(facts[2:])
)
"""The facts that a pass can meet: a dead slot is neither touched nor expected nor spare."""


class EndlessPass(AssertionError):
    """A planted fault requeued one entry for ever."""


@cache
def flips() -> tuple[Fault, ...]:
    """The table with one cell changed, for every cell: a fixed one to its contrary, ANY to a fixed value.

    A fact that is left without a line is decided otherwise than the table says. A change that no pass can see is
    left out; a requeue that goes on for ever raises.
    """
    norm = lookup(DECISION)
    found: list[Fault] = []
    for at, line in enumerate(DECISION):
        for column, cell in enumerate(line.cells):
            for value in (False, True) if cell is ANY else (not cell,):
                table = lookup((*DECISION[:at], _with(line, column, value), *DECISION[at + 1 :]))
                for facts in norm.keys() - table.keys():
                    table[facts] = line._replace(action=_another(norm[facts].action))
                if any(table[facts].action is not norm[facts].action for facts in REACHABLE):
                    found.append(_flip(line, Facts._fields[column], value, table))
                    break
    return tuple(found)


def _another(action: Action) -> Action:
    return Action.STOP if action in {Action.REMOVE, Action.MISSING} else Action.REMOVE


def _with(line: Line, column: int, value: bool) -> Line:
    cells = list(line.cells)
    cells[column] = value
    gone, halt, touched, expected, spare = cells
    return line._replace(cells=(gone, halt, touched, expected, spare))


def _flip(line: Line, column: str, value: bool, table: dict[Facts, Line]) -> Fault:
    replaced: dict[Place, object] = {"decision.LOOKUP": table, "passes.requeued": ending_requeued}
    return Fault(line.rule, f"{line.rule.name}: {column} = {value}", PLANTED.package, replaced, is_other=True)


def ending_requeued(entry: Entry, now_nanos: int, action: Action, config: Config) -> Entry:
    """Right, but ends what would never end.

    Raises:
        EndlessPass: the entry was requeued very often.
    """
    if entry.requeues >= REQUEUES_MOST:
        raise EndlessPass(f"an entry was requeued {REQUEUES_MOST} times")
    return passes.requeued(entry, now_nanos, action, config)
