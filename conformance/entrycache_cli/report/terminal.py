"""What a person sees of a run: tables, the failing sequence, the state before and after."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from entrycache_protocol.failure import Failure, got_json
from entrycache_protocol.text import arguments, compact
from entrycache_reference.rules import Rule

STYLE = {"conforms": "green", "violates": "red", "nothing-checked": "yellow", "inconclusive": "yellow"}


def coloured(verdict: str) -> str:
    """A verdict in its colour (which appears on a terminal only)."""
    return f"[{STYLE.get(verdict, 'white')}]{verdict}[/]"


def summary(report: dict[str, Any]) -> Table:
    """One line a level."""
    table = Table(title=Text(f"{report['subject']} beside the reference, {report['system']}"), title_justify="left")
    for column in ("level", "examples", "steps", "verdict", "not offered"):
        table.add_column(column, justify="right" if column in {"examples", "steps"} else "left")
    for level, judged in report["levels"].items():
        missing = ", ".join(judged["missing"])
        table.add_row(level, str(judged["examples"]), str(judged["steps"]), coloured(judged["verdict"]), missing)
    return table


def failure_table(failure: Failure, rules: tuple[Rule, ...]) -> Table:
    """The shortest sequence, a step a line; the last line is where subject and reference part."""
    difference = failure.difference
    names = ", ".join(rule.value for rule in rules)
    shown_part, state_text = failure.case.system.text.name, failure.case.system.text.state
    broken = "is broken" if len(rules) == 1 else "are broken"
    table = Table(title=f"{names} {broken} at step {difference.at}", title_justify="left", show_lines=True)
    for column in ("step", "op", "expected", "got", "rule", f"{shown_part} before", f"{shown_part} after"):
        table.add_column(column, overflow="fold")
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


def console(stderr: bool = False) -> Console:
    """A console; wide enough for tables where the output is no terminal."""
    made = Console(stderr=stderr, highlight=False)
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, width=160)
