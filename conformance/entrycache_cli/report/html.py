"""Results as one page that needs nothing else: no network, no other file.

All text from elsewhere stands in one block of JSON, in which no character of mark-up is left as it is; the script of
the page puts it in place as text. The policy in its head lets nothing run but that script, by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment

from entrycache_cli.report.made import in_words, made_of
from entrycache_cli.report.results import Line, all_lines, kind_of, lines_of
from entrycache_cli.report.told_once import OWN_CASE, UNCONFIRMED, Told, depends, elsewhere, told_once
from entrycache_conformance.report import RunReport
from entrycache_conformance.written import in_their_order
from entrycache_protocol import verdict
from entrycache_protocol.case import RULE_ID
from entrycache_protocol.shown import printable
from entrycache_protocol.system import Lane
from entrycache_protocol.text import compact

MARKS: Final = {mark: f"\\u{ord(mark):04x}" for mark in "<>&'"}
"""What could end the block of JSON, or be taken for mark-up, and what JSON says instead."""

LINES_MOST: Final = 2_000
"""Of the table that is read without the script."""


class Pool:
    """Texts by number: failures share most of theirs."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """The number of a text."""
        shown = "\n".join(printable(line) for line in text.split("\n"))
        return self.texts.setdefault(shown, len(self.texts))


def html(results: list[dict[str, Any]]) -> str:
    """The page of all results."""
    parts = {name: _file(f"page.{name}") for name in ("css", "js")}
    lines = [Line(*map(printable, line)) for line in all_lines(results)]
    page = Environment(autoescape=True, keep_trailing_newline=True).from_string(_file("page.html.j2"))
    return page.render(
        verdict=verdict.of(line.held for line in lines).value,
        lines=lines[:LINES_MOST],
        left_out=max(0, len(lines) - LINES_MOST),
        data=_block(_model(results)),
        hashes={name: _hash(text) for name, text in parts.items()},
        **parts,
    )


def _file(name: str) -> str:
    return (files("entrycache_cli.report") / "page" / name).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _block(model: dict[str, Any]) -> str:
    text = json.dumps(model, separators=(",", ":"))
    return "".join(MARKS.get(char, char) for char in text)


def _model(results: list[dict[str, Any]]) -> dict[str, Any]:
    """What the script of the page is handed: columns of verdicts, and failures in which texts are numbers."""
    pool = Pool()
    columns: list[dict[str, Any]] = []
    failures: list[dict[str, Any]] = []
    for result in results:
        if kind_of(result, "a result") == "conform":
            report = RunReport.from_json(result)
            failures += [_failure(told, len(columns), pool) for told in told_once(report.failures)]
            columns.append(_of_run(report, _how(result), pool))
        else:
            failures += [_violation(shown, len(columns), pool) for shown in result.get("shown", ())]
            columns += _of_lines(lines_of(result), _how(result), pool)
    rules = sorted({rule for column in columns for rule in column["rules"]}, key=in_their_order)
    for column in columns:
        column["rules"] = [column["rules"].get(rule, 0) for rule in rules]
    return {
        "rules": [pool(rule) for rule in rules],
        "columns": columns,
        "failures": failures,
        "texts": list(pool.texts),
    }


def _how(result: dict[str, Any]) -> str:
    """How a result was made, in a cell."""
    return "  ".join(in_words(made_of(result)))


def _of_run(report: RunReport, how: str, pool: Pool) -> dict[str, Any]:
    """A column of the matrix: of each rule the worst verdict of all levels, and how often it fired in all."""
    rules: dict[str, list[Any]] = {}
    for level in report.levels.values():
        for rule, met in level.rules.items():
            rules.setdefault(rule, []).append(met)
    return {
        "name": pool(report.subject),
        "verdict": pool(report.verdict.value),
        "about": pool(how),
        "levels": [[pool(name), pool(level.verdict.value), level.steps] for name, level in report.levels.items()],
        "rules": {
            rule: [pool(verdict.worst(one.verdict for one in met).value), sum(one.fired for one in met)]
            for rule, met in rules.items()
        },
    }


def _of_lines(lines: list[Line], how: str, pool: Pool) -> Iterable[dict[str, Any]]:
    """Columns of an audit, of evidence, of what was skipped."""
    for name in dict.fromkeys(line.what for line in lines):
        own = [line for line in lines if line.what == name]
        rest = [line for line in own if not RULE_ID.fullmatch(line.part)]
        yield {
            "name": pool(name),
            "verdict": pool(verdict.of(line.held for line in own).value),
            "about": pool("\n".join([*(line.note for line in rest if line.note), *([how] if how else [])])),
            "levels": [[pool(line.part), pool(line.verdict), 0] for line in rest],
            "rules": {line.part: [pool(line.verdict), 0] for line in own if line not in rest},
        }


def _failure(told: Told, column: int, pool: Pool) -> dict[str, Any]:
    failure, table = told.failure, told.failure.table
    notes = [depends(failure.earlier)] if failure.earlier else []
    notes += [failure.schedules.in_words] if failure.schedules is not None else []
    own = OWN_CASE.format(failure.finding) if failure.finding else ""
    alone = UNCONFIRMED.format(failure.unconfirmed) if failure.unconfirmed else ""
    notes += [text for text in (elsewhere(told), own, alone, failure.log) if text]
    value = {
        "of": column,
        "rules": [pool(rule) for rule in failure.rules],
        "levels": [pool(one.level) for one in (failure, *told.also)],
        "expected": pool(compact(failure.expected)),
        "got": pool(compact(failure.got)),
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
        "before": _lanes(table.before, pool),
        "after": _lanes(table.after, pool),
    }


def _violation(shown: dict[str, Any], column: int, pool: Pool) -> dict[str, Any]:
    """A violation of an audit: the rows around it, and the bytes over the events near it."""
    return {
        "of": column,
        "rules": [pool(shown["rule"])],
        "levels": [pool(f"broker {shown['broker']}")],
        "expected": pool(shown["expected"]),
        "got": pool(shown["observed"]),
        "notes": [],
        "case": pool(""),
        "replay": pool(""),
        "title": pool(f"{shown['rule']}: seq {shown['seq']}"),
        "config": pool(""),
        "columns": [pool(name) for name in shown["columns"]],
        "rows": [[pool(cell) for cell in row] for row in shown["rows"]],
        "bad": shown["bad"],
        "wrong": -1,
        "before": [],
        "after": [],
        "timeline": {"at": shown["seq"], **{name: shown[name] for name in ("bytes", "trigger", "target")}},
    }


def _lanes(lanes: tuple[Lane, ...], pool: Pool) -> list[Any]:
    return [[pool(lane.name), [[pool(text), pool(mark)] for text, mark in lane.boxes]] for lane in lanes]
