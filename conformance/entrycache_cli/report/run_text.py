"""A conformance run as people read it on a terminal; all of it is made from its report."""

from __future__ import annotations

from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from entrycache_cli.report.failure_table import shown_table
from entrycache_cli.report.terminal import coloured, console
from entrycache_cli.report.told_once import OWN_CASE, UNCONFIRMED, Told, depends, elsewhere, told_once
from entrycache_conformance.report import RunReport
from entrycache_protocol.shown import cut, printable

SELDOM: Final = (
    "it did not fail again when it was played again: the answer goes by chance, or by what came before the case"
)


def show(report: RunReport, note: str = "") -> None:
    """The failures, the levels, and what was counted and skipped; `note`: what else is to be told of the run."""
    out = console()
    for told in told_once(report.failures):
        _show_failure(out, told)
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
    made = [] if report.about is None else [f"seed {report.about.seed}", f"profile {report.about.profile}"]
    choice = ", ".join([*made, *([note] if note else [])])
    out.print(f"{choice}; {_met(report)}" if choice else _met(report))
    out.print(f"skipped: {len(report.skipped)}")
    for skip in report.skipped:
        out.print(f"  {printable(f'{skip.what}: {skip.reason}')}")


def show_briefly(report: RunReport) -> None:
    """A line a failure, and the verdict of each level."""
    out = console()
    for told in told_once(report.failures):
        failure = told.failure
        place = f"step {failure.step}, level {failure.level}"
        out.print(
            printable(f"{', '.join(failure.rules)} at {place}: {failure.replay or 'no case file'}"), soft_wrap=True
        )
    levels = ", ".join(f"{name} {level.verdict.value}" for name, level in report.levels.items())
    out.print(printable(f"{report.subject}: {report.verdict.value} ({levels})"), soft_wrap=True)


def summary(report: RunReport) -> Table:
    """One line a level."""
    table = Table(title=Text(f"{report.subject} beside the reference, {report.system}"), title_justify="left")
    for column in ("level", "examples", "steps", "verdict", "not offered"):
        table.add_column(column, justify="right" if column in {"examples", "steps"} else "left")
    for name, level in report.levels.items():
        verdict, missing = coloured(level.verdict.value), ", ".join(level.missing)
        table.add_row(name, str(level.examples), str(level.steps), verdict, missing)
    return table


def _show_failure(out: Console, told: Told) -> None:
    failure = told.failure
    if failure.table is not None:
        out.print(shown_table(failure.table))
    if failure.schedules is not None:
        out.print(printable(failure.schedules.in_words), soft_wrap=True)
    for line in failure.log.splitlines():
        out.print(printable(f"stderr: {line}"), soft_wrap=True)
    if failure.finding:
        out.print(printable(OWN_CASE.format(failure.finding)), soft_wrap=True)
    if failure.earlier:
        out.print(depends(failure.earlier), soft_wrap=True)
    if not failure.repeats:
        out.print(SELDOM, soft_wrap=True)
    if failure.unconfirmed:
        out.print(printable(UNCONFIRMED.format(failure.unconfirmed)), soft_wrap=True)
    if failure.unwritten:
        out.print("case file: none", soft_wrap=True)
        return
    if told.also:
        out.print(printable(elsewhere(told)), soft_wrap=True)
    out.print(f"case file: {printable(str(failure.case))}\nreplay it: {printable(failure.replay)}", soft_wrap=True)


def _met(report: RunReport) -> str:
    """How many rules fired, and how many cells of the decision table were met, where there is one."""
    fired, cells = report.rules.values(), report.cells.values()
    met = f"{sum(count > 0 for count in fired)} of {len(fired)} rules fired"
    return met + (f", {sum(count > 0 for count in cells)} of {len(cells)} cells met" if cells else "")
