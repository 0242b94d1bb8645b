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

from entrycache_cli.report.terminal import coloured, console
from entrycache_conformance.report import LACKS, RunReport
from entrycache_protocol import verdict
from entrycache_protocol.errors import UsageError
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


RULE_ID: Final = re.compile(r"([A-Z]+-)[A-Z]+-[0-9]+")
SHORT: Final = next(iter(Rule)).value.partition("-")[0] + "-"
"""The prefix that is left out where many rules stand on a line."""

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
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the results {path}: {error}") from None
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError:
            raise UsageError(
                f"{path}, line {number}: not JSON; expected what --json prints, one object a line"
            ) from None
        if type(value) is not dict or value.get("schema") != 1:
            raise UsageError(f"{path}, line {number}: no result of schema 1; expected what --json prints")
        found.append(value)
    if not found:
        raise UsageError(f"{path} holds no result")
    return found


def lines_of(result: dict[str, Any]) -> list[Line]:
    """The verdicts in one result of `conform`, `audit`, `prove`, or a note that a part was skipped.

    Raises:
        UsageError: it is none of them, or lacks something.
    """
    if "levels" in result:
        return _of_run(result)
    if "evidence" in result:
        return [
            Line("proof", item["rule"], item["grade"], f"{item['bounds']}; refutes: {item['refuted_mutant']}")
            for item in result["evidence"]
        ]
    if "rules" in result and "violations" in result:
        name = f"audit, {result.get('engine', 'spark')}"
        return [Line(name, rule, verdict, "") for rule, verdict in result["rules"].items()]
    if "skipped" in result:
        return [Line(item["what"], "", "skipped", item["reason"]) for item in result["skipped"]]
    raise UsageError("a result is none of conform, audit or prove")


def _of_run(result: dict[str, Any]) -> list[Line]:
    """The levels of a conformance run."""
    try:
        report = RunReport.from_json(result)
    except LACKS as error:
        raise UsageError(f"a result of conform lacks something ({type(error).__name__}: {error})") from None
    return [
        Line(report.subject, f"level {name}", level.verdict.value, f"{level.examples} examples, {level.steps} steps")
        for name, level in report.levels.items()
    ]


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


def summary(results: list[dict[str, Any]]) -> str:
    """One short table: subjects by level, audits by verdict, evidence by grade."""
    return _table(gathered(results))


def terminal(results: list[dict[str, Any]]) -> str:
    """One table of all verdicts."""
    return _table(_all(results))


def _table(lines: list[Line]) -> str:
    table = Table(title="verdicts", title_justify="left")
    for column in ("what", "part", "verdict", "shown by"):
        table.add_column(column, overflow="fold")
    for line in lines:
        table.add_row(Text(line.what), Text(line.part), coloured(line.verdict), Text(line.note))
    out = console()
    with out.capture() as captured:
        out.print(table)
    return captured.get()


def markdown(results: list[dict[str, Any]]) -> str:
    """The same table in Markdown."""
    rows = ["| what | part | verdict | shown by |", "|---|---|---|---|"]
    rows += ["| " + " | ".join(part.replace("|", "\\|") for part in line) + " |" for line in _all(results)]
    return "\n".join(rows) + "\n"


def junit(results: list[dict[str, Any]]) -> str:
    """JUnit XML: a violation is a failure, what was not decided is skipped."""
    lines = _all(results)
    failures = sum(line.held is Verdict.VIOLATES for line in lines)
    skipped = sum(line.held is Verdict.NOTHING_CHECKED for line in lines)
    counts = f'tests="{len(lines)}" failures="{failures}" skipped="{skipped}"'
    out = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuite name="entrycache" {counts}>']
    for line in lines:
        head = f"  <testcase classname={quoteattr(line.what)} name={quoteattr(line.part or line.what)}"
        if line.held is Verdict.VIOLATES:
            out.append(f"{head}><failure message={quoteattr(line.verdict + ' ' + line.note)}/></testcase>")
        elif line.held is Verdict.NOTHING_CHECKED:
            out.append(f"{head}><skipped message={quoteattr(line.verdict + ' ' + line.note)}/></testcase>")
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
    "terminal": terminal,
    "markdown": markdown,
    "junit": junit,
    "badge": badge,
}
