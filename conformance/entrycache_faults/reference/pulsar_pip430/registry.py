"""The registry of the seeded faults, and the faults that are derived from the decision table.

`seeded_fault` enters the decorated function as a fault: its rule, the places that it replaces, and its docstring as the
sentence. `decision_flips` changes one cell of the decision table for each fault. `requeue_with_end` replaces the
requeue of a pass in faults that would requeue an entry for ever.
"""

from functools import cache
from itertools import product
from typing import Final

from entrycache_faults.model import CallLimitExceeded, Fault, FaultRegistry, Place
from entrycache_reference.pulsar_pip430 import passes, state
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.decision import ANY, DECISION, Action, Facts, Line, build_lookup

SEEDED_FAULTS: Final = FaultRegistry("entrycache_reference.pulsar_pip430")

seeded_fault = SEEDED_FAULTS.register


# Faults that are derived from the decision table.

MAX_REQUEUES: Final = 64
"""The number of requeues after which an entry would be requeued for ever."""

REACHABLE: Final = tuple(
    facts
    for facts in (Facts(*values) for values in product((False, True), repeat=5))
    if not facts.gone or not any(facts[2:])
)
"""The facts that a pass can meet: a dead slot is neither touched nor expected nor spare."""


class EndlessPass(CallLimitExceeded):
    """A seeded fault requeued one entry for ever."""


@cache
def decision_flips() -> tuple[Fault, ...]:
    """Return the table with one cell changed, for every cell: a fixed one to its opposite, ANY to a fixed value.

    Facts that are left without a line get another action than in the table. A change that no pass can see is left out;
    a requeue that never ends raises an error.
    """
    default_lines = build_lookup(DECISION)
    faults: list[Fault] = []
    for at, line in enumerate(DECISION):
        for column, cell in enumerate(line.cells):
            for value in (False, True) if cell is ANY else (not cell,):
                table = build_lookup((*DECISION[:at], _with_entry(line, column, value), *DECISION[at + 1 :]))
                for facts in default_lines.keys() - table.keys():
                    table[facts] = line._replace(action=_other_action(default_lines[facts].action))
                if any(table[facts].action is not default_lines[facts].action for facts in REACHABLE):
                    faults.append(_flip_fault(line, Facts._fields[column], value, table))
                    break
    return tuple(faults)


def _other_action(action: Action) -> Action:
    return Action.STOP if action in {Action.REMOVE, Action.MISSING} else Action.REMOVE


def _with_entry(line: Line, column: int, value: bool) -> Line:
    cells = list(line.cells)
    cells[column] = value
    gone, halt, touched, expected, spare = cells
    return line._replace(cells=(gone, halt, touched, expected, spare))


def _flip_fault(line: Line, column: str, value: bool, table: dict[Facts, Line]) -> Fault:
    replaced: dict[Place, object] = {"decision.LOOKUP": table, "passes.requeue_entry": requeue_with_end}
    return Fault(line.rule, f"{line.rule.name}: {column} = {value}", SEEDED_FAULTS.package, replaced, is_other=True)


def requeue_with_end(entry: state.Entry, now_nanos: int, action: Action, config: Config) -> state.Entry:
    """Requeue an entry, but stop what would never end.

    Raises:
        EndlessPass: the entry was requeued very often.
    """
    if entry.requeues >= MAX_REQUEUES:
        raise EndlessPass(f"an entry was requeued {MAX_REQUEUES} times")
    return passes.requeue_entry(entry, now_nanos, action, config)
