"""The cells that a run counts: a kind of pass and a line of the decision table; a threshold and a side of it."""

from __future__ import annotations

from typing import Any, Final

from entrycache_conformance.systems.pulsar_pip430 import sides
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.decision import DECISION
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule

CELLS: Final = (*(f"{kind}/{line.rule.name}" for kind in ("TIME", "SIZE") for line in DECISION), *sides.CELLS)
"""Every cell."""

DECIDED: Final = frozenset({"TOMBSTONE", "EVICT", "REQUEUE"})


def count_cells(config: Config, state: State, op: Any, done: Step, cells: dict[str, int]) -> None:
    """Count the cells that a step met."""
    sides.count_sides(config, state, op, done, cells)
    _count_decisions(done, cells)


def _count_decisions(done: Step, cells: dict[str, int]) -> None:
    if not done.rows or (done.rows[-1].op != "PASS_END" and not done.parts):
        return
    kind = ""
    for row in done.rows:
        if row.op == "PASS_BEGIN":
            kind = row.cause or ""
        elif row.op in DECIDED or (row.op == "PASS_END" and row.rule is Rule.EVICT_2):
            name = f"{kind}/{row.rule.name}"
            cells[name] = cells.get(name, 0) + 1
