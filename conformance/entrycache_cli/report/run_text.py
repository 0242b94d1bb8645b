"""A conformance run as people read it on a terminal; all of it is made from its report."""

from __future__ import annotations

import shlex
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from entrycache_cli.report.failure_table import failure_table
from entrycache_cli.report.history_table import history_table
from entrycache_cli.report.terminal import coloured, console
from entrycache_conformance.report import Failure, RunReport
from entrycache_protocol.failure import FailingCase
from entrycache_protocol.shown import cut, printable

SELDOM: Final = (
    "it did not fail again when it was played again: the answer goes by chance, or by what came before the case"
)


def depends(runs: int) -> str:
    """What is told of a failure that needs the runs before it."""
    which = "the run before it, which stands" if runs == 1 else f"the {runs} runs before it, which stand"
    return f"it depends on earlier runs: it fails after {which} in the case file and above, and not alone"


def show(report: RunReport, choice: str, subject: str) -> None:
    """The failures, the levels, and what was counted and skipped; `choice`: the seed and the like, in words.

    `subject` is the subject as it was typed, for the lines that replay a failure.
    """
    out = console()
    for failure in report.failures:
        _show_failure(out, failure, subject)
    out.print(summary(report))
    for level in report.levels.values():
        if level.threads is not None and level.examples:
            out.print(
                f"{level.threads.histories} histories on {level.threads.threads} threads; "
                f"{level.threads.inconclusive} inconclusive "
                f"(a search for an order enters at most {level.threads.states_max} states)"
            )
    if type(report.source) is str:
        out.print(f"source: {cut(printable(report.source), 400)}", soft_wrap=True)
    out.print(f"{choice}; {_met(report)}")
    out.print(f"skipped: {len(report.skipped)}")
    for skip in report.skipped:
        out.print(f"  {printable(f'{skip.what}: {skip.reason}')}")


def summary(report: RunReport) -> Table:
    """One line a level."""
    table = Table(title=Text(f"{report.subject} beside the reference, {report.system}"), title_justify="left")
    for column in ("level", "examples", "steps", "verdict", "not offered"):
        table.add_column(column, justify="right" if column in {"examples", "steps"} else "left")
    for name, level in report.levels.items():
        verdict, missing = coloured(level.verdict.value), ", ".join(level.missing)
        table.add_row(name, str(level.examples), str(level.steps), verdict, missing)
    return table


def table_of(failure: Failure) -> Table | None:
    """The case or the history of a failure as a table; None where only its file is known."""
    if failure.found is None:
        return None
    if isinstance(failure.found, FailingCase):
        return failure_table(failure.found, failure.rules)
    return history_table(failure.found)


def _show_failure(out: Console, failure: Failure, subject: str) -> None:
    table = table_of(failure)
    if table is not None:
        out.print(table)
    if failure.schedules is not None:
        out.print(printable(failure.schedules.in_words), soft_wrap=True)
    if failure.earlier:
        out.print(depends(failure.earlier), soft_wrap=True)
    if not failure.repeats:
        out.print(SELDOM, soft_wrap=True)
    if failure.unwritten:
        out.print("case file: none", soft_wrap=True)
        return
    again = f"entrycache replay {shlex.quote(str(failure.case))} {subject}"
    out.print(f"case file: {printable(str(failure.case))}\nreplay it: {printable(again)}", soft_wrap=True)


def _met(report: RunReport) -> str:
    """How many rules fired, and how many cells of the decision table were met, where there is one."""
    fired, cells = report.rules.values(), report.cells.values()
    met = f"{sum(count > 0 for count in fired)} of {len(fired)} rules fired"
    return met + (f", {sum(count > 0 for count in cells)} of {len(cells)} decision cells met" if cells else "")
