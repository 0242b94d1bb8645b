"""A failing case as a table: its steps, both answers, the state before and after."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from entrycache_conformance.judge import Coverage, trajectory
from entrycache_protocol.case import Case
from entrycache_protocol.failure import FailingCase, got_json
from entrycache_protocol.text import arguments, compact


def failure_table(failure: FailingCase, rules: tuple[str, ...]) -> Table:
    """The shortest sequence, a step a line; the last line is where subject and reference part."""
    difference = failure.difference
    names = ", ".join(rules)
    shown_part, state_text = failure.case.system.text.name, failure.case.system.text.state
    broken = "is broken" if len(rules) == 1 else "are broken"
    table = Table(title=f"{names} {broken} at step {difference.at}", title_justify="left", show_lines=True)
    for column in ("step", "op", "expected", "got", "rule", f"{shown_part} before", f"{shown_part} after"):
        table.add_column(column, overflow="fold")
    for number, run in enumerate(failure.case.earlier, 1):
        for cells in _earlier_steps(run, f"earlier run {number}, step"):
            table.add_row(*map(Text, cells))
    state = failure.case.system.model.initial(failure.case.config)
    for index, (op, done) in enumerate(zip(failure.case.steps, failure.steps, strict=True)):
        if index > difference.at:
            break
        bad = index == difference.at
        got = compact(
            got_json(failure.case.system, difference) if bad else failure.case.system.wire.write_outcome(done.outcome)
        )
        shown = difference.expected if bad and difference.expected is not None else done.outcome
        cells = (
            str(index),
            f"{type(op).name}  {arguments(op)}",
            compact(failure.case.system.wire.write_outcome(shown)),
            got,
            names if bad else (done.rows[-1].rule.value if done.rows else ""),
            state_text(state),
            state_text(done.state),
        )
        table.add_row(*(Text(cell, style="red" if bad and cell is got else "") for cell in cells))
        state = done.state
    return table


def _earlier_steps(run: Case, name: str) -> Iterator[tuple[str, ...]]:
    """The lines of a run that the failure needs before it; its answers were right, so they stand once."""
    state_text, state = run.system.text.state, run.system.model.initial(run.config)
    for index, (op, done) in enumerate(zip(run.steps, trajectory(run, Coverage()), strict=True)):
        answer = compact(run.system.wire.write_outcome(done.outcome))
        rule = done.rows[-1].rule.value if done.rows else ""
        cells = (f"{name} {index}", f"{type(op).name}  {arguments(op)}", answer, answer, rule)
        yield (*cells, state_text(state), state_text(done.state))
        state = done.state
