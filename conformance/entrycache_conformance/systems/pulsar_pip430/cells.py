"""The decision cells: a kind of pass, a line of the table."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_pip430.decision import DECISION
from entrycache_reference.pulsar_pip430.state import Step
from entrycache_reference.rules import Rule

CELLS: Final = tuple(f"{kind}/{line.rule.name}" for kind in ("TIME", "SIZE") for line in DECISION)
"""Every cell."""

DECIDED: Final = frozenset({"TOMBSTONE", "EVICT", "REQUEUE"})


def count_cells(done: Step, cells: dict[str, int]) -> None:
    """Count the cells that the passes of a step met."""
    if not done.rows or (done.rows[-1].op != "PASS_END" and not done.parts):
        return
    kind = ""
    for row in done.rows:
        if row.op == "PASS_BEGIN":
            kind = row.cause or ""
        elif row.op in DECIDED or (row.op == "PASS_END" and row.rule is Rule.EVICT_2):
            name = f"{kind}/{row.rule.name}"
            cells[name] = cells.get(name, 0) + 1
