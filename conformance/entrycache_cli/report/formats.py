"""Results as a badge: three words and a colour."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

from entrycache_cli.report.content import DistinctFailure, deduplicate, failure_text, provenance_texts, read_provenance
from entrycache_cli.report.html import render_html
from entrycache_cli.report.junit import render_junit
from entrycache_cli.report.results import all_verdict_lines, result_kind
from entrycache_conformance.report import RunReport
from entrycache_protocol import errors
from entrycache_protocol.errors import Verdict
from entrycache_protocol.messages import escape_unprintable

BADGE_MESSAGES: Final = {
    Verdict.CONFORMS: ("conforms", "brightgreen"),
    Verdict.VIOLATES: ("violates", "red"),
    Verdict.NOTHING_CHECKED: ("not all checked", "yellow"),
}
"""What a badge says, and its colour."""


def render_badge(results: list[dict[str, Any]]) -> str:
    """The JSON of a badge endpoint."""
    message, colour = BADGE_MESSAGES[errors.combine_verdicts(line.held for line in all_verdict_lines(results))]
    return json.dumps({"schemaVersion": 1, "label": "entrycache", "message": message, "color": colour}) + "\n"


# --- markdown
# Results as Markdown: a table of verdicts, then each failure with its steps.

MARKDOWN_MARKS: Final = re.compile(r"[\\`*_\[\]<>|&~]")
"""What Markdown would take for mark-up."""


def render_markdown(results: list[dict[str, Any]]) -> str:
    """The text of all results."""
    rows = ["| what | part | verdict | shown by |", "|---|---|---|---|"]
    rows += [f"| {' | '.join(map(_in_a_cell, line))} |" for line in all_verdict_lines(results)]
    parts = ["\n".join(rows), *(part for result in results for part in _of_result(result))]
    return "\n\n".join(parts) + "\n"


def _of_result(result: dict[str, Any]) -> list[str]:
    """Who was judged, how, and each failure; nothing where the table above says all."""
    made = read_provenance(result)
    how = ", ".join(provenance_texts(made, ["system"]))
    failures = deduplicate(RunReport.from_json(result).failures) if result_kind(result, "a result") == "conform" else ()
    if not how and not failures:
        return []
    names = [name for name in (str(result.get("subject", "")), made.keys.get("system", "")) if name]
    head = [f"## {', '.join(map(_in_a_cell, names))}"] if names else []
    return [*head, *([_in_a_cell(how)] if how else []), *(part for one in failures for part in _of_failure(one))]


def _of_failure(told: DistinctFailure) -> list[str]:
    rules = ", ".join(_in_a_cell(rule) for rule in told.failure.rules)
    level = f", level {_in_a_cell(told.failure.level)}" if told.failure.level else ""
    return [f"### {rules}{level}", _block(failure_text(told))]


def _block(text: str) -> str:
    """An indented block: nothing in it is mark-up, and nothing ends it."""
    return "\n".join(f"    {escape_unprintable(line)}" for line in text.split("\n"))


def _in_a_cell(text: str) -> str:
    """One line of text that is no mark-up, no HTML, and stays in its cell."""
    return MARKDOWN_MARKS.sub(r"\\\g<0>", escape_unprintable(text))


# --- forms
# The forms that results are printed in: pure functions of the result stream, byte for byte the same for the same.

FORMATS: Final[dict[str, Callable[[list[dict[str, Any]]], str]]] = {
    "markdown": render_markdown,
    "junit": render_junit,
    "html": render_html,
    "badge": render_badge,
}
