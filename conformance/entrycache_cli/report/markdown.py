"""Results as Markdown: a table of verdicts, then each failure with its steps."""

from __future__ import annotations

import re
from typing import Any, Final

from entrycache_cli.report.results import all_lines, runs_of
from entrycache_cli.report.told_once import Told, body, told_once
from entrycache_conformance.report import RunReport
from entrycache_protocol.shown import printable

MARKS: Final = re.compile(r"[\\`*_\[\]<>|&~]")
"""What Markdown would take for mark-up."""


def markdown(results: list[dict[str, Any]]) -> str:
    """The text of all results."""
    rows = ["| what | part | verdict | shown by |", "|---|---|---|---|"]
    rows += [f"| {' | '.join(map(_in_a_cell, line))} |" for line in all_lines(results)]
    parts = ["\n".join(rows), *(part for report in runs_of(results) for part in _of_run(report))]
    return "\n\n".join(parts) + "\n"


def _of_run(report: RunReport) -> list[str]:
    told = told_once(report.failures)
    if not told:
        return []
    about = {} if report.about is None else report.about.to_json()
    made = ", ".join(f"{name} {about[name]}" for name in ("seed", "profile", "engine") if name in about)
    head = f"## {_in_a_cell(report.subject)}, {_in_a_cell(report.system)}"
    return [head, *([_in_a_cell(made)] if made else []), *(part for one in told for part in _of_failure(one))]


def _of_failure(told: Told) -> list[str]:
    rules = ", ".join(_in_a_cell(rule) for rule in told.failure.rules)
    level = f", level {_in_a_cell(told.failure.level)}" if told.failure.level else ""
    return [f"### {rules}{level}", _block(body(told))]


def _block(text: str) -> str:
    """An indented block: nothing in it is mark-up, and nothing ends it."""
    return "\n".join(f"    {printable(line)}" for line in text.split("\n"))


def _in_a_cell(text: str) -> str:
    """One line of text that is no mark-up, no HTML, and stays in its cell."""
    return MARKS.sub(r"\\\g<0>", printable(text))
