"""The formats of results: Markdown and a badge here, JUnit and HTML in modules of their own.

`FORMATS` maps the name of a format to a pure function of the result stream. The same results give the same bytes.
"""

import json
import re
from collections.abc import Callable
from typing import Any, Final

from entrycache_cli.report import content, html, junit
from entrycache_cli.report.results import all_verdict_lines, result_kind
from entrycache_conformance.report import WITH_EXCEPTIONS, RunReport
from entrycache_protocol import errors
from entrycache_protocol.errors import Verdict, escape_unprintable

BADGE_MESSAGES: Final = {
    Verdict.CONFORMS: ("conforms", "brightgreen"),
    Verdict.VIOLATES: ("violates", "red"),
    Verdict.NOTHING_CHECKED: ("not all checked", "yellow"),
}
"""The text and the colour of a badge by verdict."""

BADGE_WITH_EXCEPTIONS: Final = (WITH_EXCEPTIONS, "yellowgreen")
"""The text and the colour if everything conforms, but some verdict has exceptions; a missing digest is one."""


def render_badge(results: list[dict[str, Any]]) -> str:
    """Return the JSON of a badge endpoint."""
    verdict = errors.combine_verdicts(line.held for line in all_verdict_lines(results))
    runs = [RunReport.from_json(result) for result in results if result_kind(result, "a result") == "conform"]
    has_exceptions = any(result.get("exceptions") for result in results)
    has_exceptions |= any(run.headline == WITH_EXCEPTIONS for run in runs)
    limited = verdict is Verdict.CONFORMS and has_exceptions
    message, colour = BADGE_WITH_EXCEPTIONS if limited else BADGE_MESSAGES[verdict]
    return json.dumps({"schemaVersion": 1, "label": "entrycache", "message": message, "color": colour}) + "\n"


MARKDOWN_MARKS: Final = re.compile(r"[\\`*_\[\]<>|&~]")
"""Characters that Markdown would take for mark-up."""


def render_markdown(results: list[dict[str, Any]]) -> str:
    """Return all results as Markdown: a table of verdicts, then each failure with its steps."""
    rows = ["| what | part | verdict | shown by |", "|---|---|---|---|"]
    rows += [f"| {' | '.join(map(_in_a_cell, line))} |" for line in all_verdict_lines(results)]
    parts = ["\n".join(rows), *(part for result in results for part in _of_result(result))]
    return "\n\n".join(parts) + "\n"


def _of_result(result: dict[str, Any]) -> list[str]:
    """Return the section of a result: subject, provenance, and each failure; return [] if there are none."""
    provenance = content.read_provenance(result)
    how = ", ".join(content.provenance_texts(provenance, ["system"]))
    report = RunReport.from_json(result) if result_kind(result, "a result") == "conform" else None
    failures = () if report is None else content.deduplicate(report.failures)
    if not how and report is None:
        return []
    names = [name for name in (str(result.get("subject", "")), provenance.keys.get("system", "")) if name]
    head = [f"## {', '.join(map(_in_a_cell, names))}"] if names else []
    verdict = [] if report is None else [_of_exceptions(report)]
    return [
        *head,
        *([_in_a_cell(how)] if how else []),
        *verdict,
        *(part for one in failures for part in _of_failure(one)),
    ]


def _of_exceptions(report: RunReport) -> str:
    """Return the verdict of a run and what it does not cover, as a paragraph and a list."""
    lines = [
        *content.exception_lines(report.exceptions),
        *(f"skipped: {skip.what} ({skip.reason})" for skip in report.other_skipped),
        *filter(None, [content.undetectable_text(report)]),
    ]
    return "\n\n".join(
        [f"Verdict: {report.headline}", *(["\n".join(f"- {_in_a_cell(line)}" for line in lines)] if lines else [])]
    )


def _of_failure(distinct: content.DistinctFailure) -> list[str]:
    rules = ", ".join(_in_a_cell(rule) for rule in distinct.failure.rules)
    level = f", level {_in_a_cell(distinct.failure.level)}" if distinct.failure.level else ""
    return [f"### {rules}{level}", _block(content.failure_text(distinct))]


def _block(text: str) -> str:
    """Return an indented block, in which nothing is mark-up and nothing ends it."""
    return "\n".join(f"    {escape_unprintable(line)}" for line in text.split("\n"))


def _in_a_cell(text: str) -> str:
    """Return text as one line that is neither mark-up nor HTML and stays in its cell."""
    return MARKDOWN_MARKS.sub(r"\\\g<0>", escape_unprintable(text))


FORMATS: Final[dict[str, Callable[[list[dict[str, Any]]], str]]] = {
    "markdown": render_markdown,
    "junit": junit.render_junit,
    "html": html.render_html,
    "badge": render_badge,
}
