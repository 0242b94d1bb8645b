"""A conformance run as text for a terminal, made from its report alone.

`print_run` prints each distinct failure as a table of steps, then a table of levels, and what was counted and skipped.
`failure_table` lays out the steps of a case or history to the width of the terminal, with the wrong cells in red.
"""

import re
from typing import Final, NamedTuple

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from entrycache_cli.report import content, terminal
from entrycache_conformance import failure
from entrycache_conformance.report import RunReport
from entrycache_protocol.errors import escape_unprintable, shorten

NOT_REPRODUCED: Final = (
    "it did not fail again when it was played again: the answer goes by chance, or by what came before the case"
)


def print_run(report: RunReport, note: str = "") -> None:
    """Print the failures, the levels, the counts and the skipped parts; `note` is a further remark on the run."""
    out = terminal.make_console()
    for distinct in content.deduplicate(report.failures):
        _print_failure(out, distinct)
    out.print(levels_table(report))
    for level in report.levels.values():
        if level.threads is not None and level.examples:
            out.print(
                f"{level.threads.histories} histories on {level.threads.threads} threads; "
                f"{level.threads.inconclusive} inconclusive "
                f"(a search for an order enters at most {level.threads.states_max} states)"
            )
    if type(report.source) is str:
        out.print(f"source: {shorten(escape_unprintable(report.source), 400)}", soft_wrap=True)
    provenance = [] if report.about is None else [f"seed {report.about.seed}", f"profile {report.about.profile}"]
    choice = ", ".join([*provenance, *([note] if note else [])])
    out.print(f"{choice}; {_coverage_line(report)}" if choice else _coverage_line(report))
    print_verdict(out, report, report.subject)


def print_verdict(out: Console, report: RunReport, name: str) -> None:
    """Print the verdict of a run under a name, and what the verdict does not cover."""
    out.print(Text.assemble(escape_unprintable(name), ": ", terminal.coloured_verdict(report.headline)))
    for line in content.exception_lines(report.exceptions):
        out.print(f"  except {escape_unprintable(line)}", soft_wrap=True)
    if text := content.undetectable_text(report):
        out.print(escape_unprintable(f"  {text}"), soft_wrap=True)
    for finding in report.repaired:
        out.print(f"repaired: {escape_unprintable(finding)} (its cases follow the specification, and so must the run)")
    out.print(f"skipped: {len(report.other_skipped)}")
    for skip in report.other_skipped:
        out.print(f"  {escape_unprintable(f'{skip.what}: {skip.reason}')}")


def levels_table(report: RunReport) -> Table:
    """Return a table with one line for each level."""
    given = content.given_text(report)
    title = escape_unprintable(f"{report.subject}{given} beside the reference, {report.system}")
    table = Table(title=Text(title), title_justify="left")
    for column in ("level", "examples", "steps", "verdict", "not offered"):
        table.add_column(column, justify="right" if column in {"examples", "steps"} else "left")
    for name, level in report.levels.items():
        verdict, missing = terminal.coloured_verdict(level.verdict.value), ", ".join(level.missing)
        table.add_row(name, str(level.examples), str(level.steps), verdict, missing)
    return table


def print_log(out: Console, of: failure.Failure) -> None:
    """Print the cause that the subject named in a traceback or on stderr."""
    for line in of.log.splitlines():
        out.print(escape_unprintable(f"stderr: {line}"), soft_wrap=True)


def _print_failure(out: Console, distinct: content.DistinctFailure) -> None:
    failure = distinct.failure
    if failure.table is not None:
        out.print(failure_table(failure.table))
    if failure.schedules is not None:
        out.print(escape_unprintable(failure.schedules.in_words), soft_wrap=True)
    print_log(out, failure)
    if failure.finding:
        out.print(escape_unprintable(content.OWN_CASE.format(failure.finding)), soft_wrap=True)
    if failure.earlier:
        out.print(content.earlier_runs_note(failure.earlier), soft_wrap=True)
    if not failure.repeats:
        out.print(NOT_REPRODUCED, soft_wrap=True)
    if failure.unconfirmed:
        out.print(escape_unprintable(content.UNCONFIRMED.format(failure.unconfirmed)), soft_wrap=True)
    if failure.hint:
        out.print(escape_unprintable(failure.hint), soft_wrap=True)
    if failure.unwritten:
        out.print("case file: none", soft_wrap=True)
        return
    if distinct.also:
        out.print(escape_unprintable(content.other_places(distinct)), soft_wrap=True)
    out.print(
        f"case file: {escape_unprintable(str(failure.case))}\nreplay it: {escape_unprintable(failure.replay)}",
        soft_wrap=True,
    )


def _coverage_line(report: RunReport) -> str:
    """Return how many rules fired and, if there is a decision table, how many of its entries were reached."""
    fired, cells = report.rules.values(), report.cells.values()
    sentence = f"{sum(count > 0 for count in fired)} of {len(fired)} rules fired"
    return sentence + (
        f", {sum(count > 0 for count in cells)} of {len(cells)} decision-table entries met" if cells else ""
    )


NARROW_COLUMNS: Final = 110
"""The width below which the state before a step is omitted; it equals the state after the step above."""


LONG_TEXT: Final = re.compile(r'"((?:[^"\\]|\\.){200,})"')
"""A quoted text that is too long for a table."""


def _cut_long_texts(cell: str) -> str:
    """Return a cell with the beginning and the length of each long text in it; the case file holds all of it."""
    return LONG_TEXT.sub(lambda match: f'"{match[1][:40]}.." ({len(match[1])} characters)', cell)


class _FittedTable(NamedTuple):
    """A table that is laid out when the width is known."""

    case_table: failure.Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table as Rich asks for it."""
        yield _lay_out(self.case_table, options.max_width < NARROW_COLUMNS)


def failure_table(case_table: failure.Table) -> RenderableType:
    """Return the steps of a failing case or history as a table that fits the width of the terminal."""
    return _FittedTable(case_table)


def _lay_out(case_table: failure.Table, narrow: bool) -> Table:
    title = f"{case_table.title}\nconfig {case_table.config}" if case_table.config else case_table.title
    layout = Table(title=Text(title), title_justify="left", show_lines=case_table.wrong is not None)
    columns = [at for at, column in enumerate(case_table.columns) if not (narrow and column.endswith(" before"))]
    for at in columns:
        layout.add_column(case_table.columns[at], overflow="fold")
    for index, row in enumerate(case_table.rows):
        red = [index == case_table.bad and case_table.wrong in {None, at} for at in columns]
        layout.add_row(
            *(Text(_cut_long_texts(row[at]), style="red" if bad else "") for at, bad in zip(columns, red, strict=True))
        )
    return layout
