"""The one result stream: objects that commands print with `--json`, one a line, and what is made of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple
from xml.sax.saxutils import quoteattr

from rich.table import Table
from rich.text import Text

from entrycache_cli.report.terminal import coloured
from entrycache_conformance.report import SHAPE, RunReport
from entrycache_protocol import verdict
from entrycache_protocol.case import RULE_ID
from entrycache_protocol.errors import UsageError
from entrycache_protocol.input import read_text
from entrycache_protocol.shape import TEXT, each, hold, many, record
from entrycache_protocol.shown import printable
from entrycache_protocol.strict_json import parse, same_json
from entrycache_protocol.verdict import Verdict
from entrycache_reference.rules import Rule


class Line(NamedTuple):
    """One verdict: who was held to what, with which result, and a word of evidence."""

    what: str
    part: str
    verdict: str
    note: str

    @property
    def held(self) -> Verdict:
        """What it comes to; a grade of evidence is as good as a run that conforms."""
        if self.verdict == Verdict.VIOLATES.value:
            return Verdict.VIOLATES
        return Verdict.NOTHING_CHECKED if self.verdict in OPEN else Verdict.CONFORMS


SHORT: Final = next(iter(Rule)).value.partition("-")[0] + "-"
"""The prefix that is left out where many rules stand on a line."""

MARKS: Final = re.compile(r"[\\`*_\[\]<>|&~]")
"""What Markdown would take for mark-up."""

OPEN: Final = frozenset({"nothing-checked", "inconclusive", "skipped"})

MESSAGES: Final = {
    Verdict.CONFORMS: ("conforms", "brightgreen"),
    Verdict.VIOLATES: ("violates", "red"),
    Verdict.NOTHING_CHECKED: ("not all checked", "yellow"),
}
"""What a badge says, and its colour."""


def read_results(path: Path) -> list[dict[str, Any]]:
    """The objects in a file of results.

    Raises:
        UsageError: the file cannot be read, or a line of it is no result.
    """
    found = []
    for number, line in enumerate(read_text(path, "the results").split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = parse(line, may_have_halves=True)
        except ValueError as error:
            raise UsageError(
                f"{path}, line {number}: not JSON; expected what --json prints, one object a line ({error})"
            ) from None
        if type(value) is not dict or not same_json(value.get("schema"), 1):
            raise UsageError(f"{path}, line {number}: no result of schema 1; expected what --json prints")
        hold(value, SHAPES[kind_of(value, f"{path}, line {number}")], f"{path}, line {number}")
        found.append(value)
    if not found:
        raise UsageError(f"{path} holds no result")
    return found


def kind_of(result: dict[str, Any], where: str) -> str:
    """What a result is of: `conform`, `audit`, `prove`, or a note that a part was skipped.

    Raises:
        UsageError: it is none of them.
    """
    kind = next((kind for kind, needs in KINDS.items() if needs <= result.keys()), None)
    if kind is None:
        raise UsageError(f"{where}: none of the results of conform, audit or prove")
    return kind


def lines_of(result: dict[str, Any]) -> list[Line]:
    """The verdicts in one result."""
    return LINES[kind_of(result, "a result")](result)


def _of_run(result: dict[str, Any]) -> list[Line]:
    report = RunReport.from_json(result)
    return [
        Line(report.subject, f"level {name}", level.verdict.value, f"{level.examples} examples, {level.steps} steps")
        for name, level in report.levels.items()
    ]


def _of_proof(result: dict[str, Any]) -> list[Line]:
    return [
        Line("proof", item["rule"], item["grade"], f"{item['bounds']}; refutes: {item['refuted_mutant']}")
        for item in result["evidence"]
    ]


def _of_audit(result: dict[str, Any]) -> list[Line]:
    name = f"audit, {result.get('engine', 'spark')}"
    return [Line(name, rule, verdict, "") for rule, verdict in result["rules"].items()]


def _of_skipped(result: dict[str, Any]) -> list[Line]:
    return [Line(item["what"], "", "skipped", item["reason"]) for item in result["skipped"]]


KINDS: Final = {
    "conform": {"levels"},
    "prove": {"evidence"},
    "audit": {"rules", "violations"},
    "a part that was skipped": {"skipped"},
}
"""By which keys a result is known, the first that has them all."""

SHAPES: Final = {
    "conform": SHAPE,
    "prove": record({"evidence": many(record(dict.fromkeys(("rule", "grade", "bounds", "refuted_mutant"), TEXT)))}),
    "audit": record({"rules": each(TEXT), "engine": TEXT}, "engine"),
    "a part that was skipped": record({"skipped": many(record({"what": TEXT, "reason": TEXT}))}),
}
"""What of each is read, as JSON Schema."""

LINES: Final = {"conform": _of_run, "prove": _of_proof, "audit": _of_audit, "a part that was skipped": _of_skipped}


def gathered(results: list[dict[str, Any]]) -> list[Line]:
    """The verdicts with the rules of an audit, and of a grade of evidence, gathered into one line each."""
    lines: list[Line] = []
    rules: dict[tuple[str, str, str], list[str]] = {}
    for line in _all(results):
        rule = RULE_ID.fullmatch(line.part)
        prefix = "" if rule is None else rule[1]
        if rule is None:
            lines.append(line)
        elif line.part not in rules.setdefault((line.what, line.verdict, prefix), []):
            rules[line.what, line.verdict, prefix].append(line.part)
    for (what, judged, prefix), names in rules.items():
        shown = (name.removeprefix(prefix) if prefix == SHORT else name for name in names)
        lines.append(Line(what, f"{len(names)} rules", judged, ", ".join(shown)))
    return lines


def summary(results: list[dict[str, Any]]) -> Table:
    """One short table: subjects by level, audits by verdict, evidence by grade."""
    return _table(gathered(results))


def table_of_all(results: list[dict[str, Any]]) -> Table:
    """One table of all verdicts."""
    return _table(_all(results))


def _table(lines: list[Line]) -> Table:
    table = Table(title="verdicts", title_justify="left")
    for column in ("what", "part", "verdict", "shown by"):
        table.add_column(column, overflow="fold")
    for line in lines:
        table.add_row(Text(line.what), Text(line.part), coloured(line.verdict), Text(line.note))
    return table


def markdown(results: list[dict[str, Any]]) -> str:
    """The same table in Markdown."""
    rows = ["| what | part | verdict | shown by |", "|---|---|---|---|"]
    rows += [f"| {' | '.join(map(_in_markdown, line))} |" for line in _all(results)]
    return "\n".join(rows) + "\n"


def _in_markdown(text: str) -> str:
    """One line of text that is no mark-up, no HTML, and stays in its cell."""
    return MARKS.sub(r"\\\g<0>", printable(text))


def _in_xml(text: str) -> str:
    """A quoted attribute; XML has no way to write most control characters, nor half of a pair of surrogates."""
    return quoteattr(printable(text))


def junit(results: list[dict[str, Any]]) -> str:
    """JUnit XML: a violation is a failure, what was not decided is skipped."""
    lines = _all(results)
    failures = sum(line.held is Verdict.VIOLATES for line in lines)
    skipped = sum(line.held is Verdict.NOTHING_CHECKED for line in lines)
    counts = f'tests="{len(lines)}" failures="{failures}" skipped="{skipped}"'
    out = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuite name="entrycache" {counts}>']
    for line in lines:
        head = f"  <testcase classname={_in_xml(line.what)} name={_in_xml(line.part or line.what)}"
        if line.held is Verdict.VIOLATES:
            out.append(f"{head}><failure message={_in_xml(line.verdict + ' ' + line.note)}/></testcase>")
        elif line.held is Verdict.NOTHING_CHECKED:
            out.append(f"{head}><skipped message={_in_xml(line.verdict + ' ' + line.note)}/></testcase>")
        else:
            out.append(f"{head}/>")
    return "\n".join([*out, "</testsuite>", ""])


def badge(results: list[dict[str, Any]]) -> str:
    """The JSON of a badge endpoint."""
    message, colour = MESSAGES[verdict.of(line.held for line in _all(results))]
    return json.dumps({"schemaVersion": 1, "label": "entrycache", "message": message, "color": colour}) + "\n"


def _all(results: list[dict[str, Any]]) -> list[Line]:
    return [line for result in results for line in lines_of(result)]


FORMS: Final[dict[str, Callable[[list[dict[str, Any]]], str]]] = {
    "markdown": markdown,
    "junit": junit,
    "badge": badge,
}
