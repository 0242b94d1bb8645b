"""Results as Markdown: a table of verdicts, then each failure with its steps."""

from __future__ import annotations

import re
from typing import Any, Final

from entrycache_cli.report.made import in_words, made_of
from entrycache_cli.report.results import all_lines, kind_of
from entrycache_cli.report.told_once import Told, body, told_once
from entrycache_conformance.report import RunReport
from entrycache_protocol.shown import printable

MARKS: Final = re.compile(r"[\\`*_\[\]<>|&~]")
"""What Markdown would take for mark-up."""


def markdown(results: list[dict[str, Any]]) -> str:
    """The text of all results."""
    rows = ["| what | part | verdict | shown by |", "|---|---|---|---|"]
    rows += [f"| {' | '.join(map(_in_a_cell, line))} |" for line in all_lines(results)]
    parts = ["\n".join(rows), *(part for result in results for part in _of_result(result))]
    return "\n\n".join(parts) + "\n"


def _of_result(result: dict[str, Any]) -> list[str]:
    """Who was judged, how, and each failure; nothing where the table above says all."""
    made = made_of(result)
    how = ", ".join(in_words(made, ["system"]))
    failures = told_once(RunReport.from_json(result).failures) if kind_of(result, "a result") == "conform" else ()
    if not how and not failures:
        return []
    names = [name for name in (str(result.get("subject", "")), made.keys.get("system", "")) if name]
    head = [f"## {', '.join(map(_in_a_cell, names))}"] if names else []
    return [*head, *([_in_a_cell(how)] if how else []), *(part for one in failures for part in _of_failure(one))]


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
