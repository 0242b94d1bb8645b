"""Results as one HTML page that needs no network and no other file.

All foreign text stands in one block of JSON, in which every character of mark-up is escaped; the script of the page
inserts it as text. The policy in the page's head allows only that script, by its hash. The template, the script and the
style stand in `entrycache_cli/templates/report`. `_page_data` builds the JSON: columns of verdicts, and failures whose
texts are numbers of a pool.
"""

import base64
import hashlib
import json
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, Final

from entrycache_cli.report import content
from entrycache_cli.report.results import Line, all_verdict_lines, result_kind, verdict_lines
from entrycache_conformance.report import RunReport, rule_order
from entrycache_protocol import case, codec, errors, system
from entrycache_protocol.errors import escape_unprintable

MARKS: Final = {mark: f"\\u{ord(mark):04x}" for mark in "<>&'"}
"""Characters that could end the block of JSON or be taken for mark-up, with their escapes."""

LINES_MOST: Final = 2_000
"""The number of lines in the table that needs no script."""


class TextPool:
    """Texts by number; failures share most of their texts."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """Return the number of a text."""
        escaped = "\n".join(escape_unprintable(line) for line in text.split("\n"))
        return self.texts.setdefault(escaped, len(self.texts))


def render_html(results: list[dict[str, Any]]) -> str:
    """Return the page of all results."""
    parts = {name: _file(f"page.{name}") for name in ("css", "js")}
    lines = [Line(*map(escape_unprintable, line)) for line in all_verdict_lines(results)]
    from jinja2 import Environment  # noqa: PLC0415 - slow to import

    page = Environment(autoescape=True, keep_trailing_newline=True).from_string(_file("page.html.j2"))
    return page.render(
        verdict=errors.combine_verdicts(line.held for line in lines).value,
        lines=lines[:LINES_MOST],
        left_out=max(0, len(lines) - LINES_MOST),
        data=_json_block(_page_data(results)),
        hashes={name: _hash(text) for name, text in parts.items()},
        **parts,
    )


def _file(name: str) -> str:
    return (files("entrycache_cli") / "templates" / "report" / name).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _json_block(model: dict[str, Any]) -> str:
    text = json.dumps(model, separators=(",", ":"))
    return "".join(MARKS.get(char, char) for char in text)


def _page_data(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the data of the page's script: columns of verdicts, and failures in which texts are numbers."""
    pool = TextPool()
    columns: list[dict[str, Any]] = []
    failures: list[dict[str, Any]] = []
    for result in results:
        if result_kind(result, "a result") == "conform":
            report = RunReport.from_json(result)
            failures += [
                _failure_json(distinct, len(columns), pool) for distinct in content.deduplicate(report.failures)
            ]
            columns.append(_run_column(report, _provenance_text(result), pool))
        else:
            failures += [_violation_json(violation, len(columns), pool) for violation in result.get("shown", ())]
            columns += _line_columns(verdict_lines(result), _provenance_text(result), pool)
    rules = sorted({rule for column in columns for rule in column["rules"]}, key=rule_order)
    for column in columns:
        column["rules"] = [column["rules"].get(rule, 0) for rule in rules]
    return {
        "rules": [pool(rule) for rule in rules],
        "columns": columns,
        "failures": failures,
        "texts": list(pool.texts),
    }


def _provenance_text(result: dict[str, Any]) -> str:
    """Return how a result was made, as one text."""
    return "  ".join(content.provenance_texts(content.read_provenance(result)))


def _run_column(report: RunReport, how: str, pool: TextPool) -> dict[str, Any]:
    """Return the column of a run: for each rule its worst verdict of all levels and the sum of its counts."""
    rules: dict[str, list[Any]] = {}
    for level in report.levels.values():
        for rule, coverage in level.rules.items():
            rules.setdefault(rule, []).append(coverage)
    return {
        "name": pool(report.subject),
        "verdict": pool(report.verdict.value),
        "about": pool(how),
        "levels": [[pool(name), pool(level.verdict.value), level.steps] for name, level in report.levels.items()],
        "rules": {
            rule: [
                pool(errors.worst_verdict(one.verdict for one in coverage).value),
                sum(one.fired for one in coverage),
            ]
            for rule, coverage in rules.items()
        },
    }


def _line_columns(lines: list[Line], how: str, pool: TextPool) -> Iterable[dict[str, Any]]:
    """Yield the columns of an audit, of evidence, or of skipped parts."""
    for name in dict.fromkeys(line.what for line in lines):
        own = [line for line in lines if line.what == name]
        rest = [line for line in own if not case.RULE_ID.fullmatch(line.part)]
        yield {
            "name": pool(name),
            "verdict": pool(errors.combine_verdicts(line.held for line in own).value),
            "about": pool("\n".join([*(line.note for line in rest if line.note), *([how] if how else [])])),
            "levels": [[pool(line.part), pool(line.verdict), 0] for line in rest],
            "rules": {line.part: [pool(line.verdict), 0] for line in own if line not in rest},
        }


def _failure_json(distinct: content.DistinctFailure, column: int, pool: TextPool) -> dict[str, Any]:
    failure, table = distinct.failure, distinct.failure.table
    notes = [content.earlier_runs_note(failure.earlier)] if failure.earlier else []
    notes += [failure.schedules.in_words] if failure.schedules is not None else []
    own = content.OWN_CASE.format(failure.finding) if failure.finding else ""
    alone = content.UNCONFIRMED.format(failure.unconfirmed) if failure.unconfirmed else ""
    notes += [text for text in (content.other_places(distinct), own, alone, failure.log) if text]
    value = {
        "of": column,
        "rules": [pool(rule) for rule in failure.rules],
        "levels": [pool(one.level) for one in (failure, *distinct.also)],
        "expected": pool(codec.format_json(failure.expected)),
        "got": pool(codec.format_json(failure.got)),
        "notes": [pool(note) for note in notes],
        "case": pool(failure.case),
        "replay": pool(failure.replay),
    }
    if table is None:
        return value
    return value | {
        "title": pool(table.title),
        "config": pool(table.config),
        "columns": [pool(name) for name in table.columns],
        "rows": [[pool(cell) for cell in row] for row in table.rows],
        "bad": table.bad,
        "wrong": table.wrong,
        "before": _lanes_json(table.before, pool),
        "after": _lanes_json(table.after, pool),
    }


def _violation_json(violation: dict[str, Any], column: int, pool: TextPool) -> dict[str, Any]:
    """Return a violation of an audit with the rows around it and the bytes over the events near it."""
    return {
        "of": column,
        "rules": [pool(violation["rule"])],
        "levels": [pool(f"broker {violation['broker']}")],
        "expected": pool(violation["expected"]),
        "got": pool(violation["observed"]),
        "notes": [],
        "case": pool(""),
        "replay": pool(""),
        "title": pool(f"{violation['rule']}: seq {violation['seq']}"),
        "config": pool(""),
        "columns": [pool(name) for name in violation["columns"]],
        "rows": [[pool(cell) for cell in row] for row in violation["rows"]],
        "bad": violation["bad"],
        "wrong": -1,
        "before": [],
        "after": [],
        "timeline": {"at": violation["seq"], **{name: violation[name] for name in ("bytes", "trigger", "target")}},
    }


def _lanes_json(lanes: tuple[system.Lane, ...], pool: TextPool) -> list[Any]:
    return [[pool(lane.name), [[pool(text), pool(mark)] for text, mark in lane.boxes]] for lane in lanes]
