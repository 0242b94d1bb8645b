"""Results as one HTML page that needs no network and no other file.

All foreign text stands in one block of JSON, in which every character of mark-up is escaped; the script of the page
inserts it as text. The policy in the page's head allows only that script, by its hash. The template, the scripts and
the style stand in `entrycache_cli/templates/report`. `_page_data` builds the JSON: the rules with their sentences, a
column for each subject with its exceptions and the state of each rule, and the failures. Texts are numbers of a pool.

The state of a rule is a verdict, or one of two words that only a page needs. `not reached`: the search of a level ended
at a failure before the rule had fired often enough. `conforms in part`: the rule conforms at a level, and at another
one it was not decided.
"""

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Any, Final

from entrycache_cli.report import content, differences
from entrycache_cli.report.results import WITHOUT_ROWS, Line, all_verdict_lines, result_kind, verdict_lines
from entrycache_conformance.levels import CONCURRENT_LEVEL
from entrycache_conformance.report import WITH_EXCEPTIONS, RunReport, rule_order
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol import case, errors, system
from entrycache_protocol.errors import Verdict, escape_unprintable

MARKS: Final = {mark: f"\\u{ord(mark):04x}" for mark in "<>&'"}
"""Characters that could end the block of JSON or be taken for mark-up, with their escapes."""

LINES_MOST: Final = 2_000
"""The number of lines in the table that needs no script."""

BROKERS_MOST: Final = 200
"""The number of brokers in the table of an audit; those with the most violations come first."""

NOT_REACHED: Final = "not reached"
IN_PART: Final = "conforms in part"

SCRIPTS: Final = ("draw.js", "page.js")


class TextPool:
    """Texts by number; failures share most of their texts."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """Return the number of a text."""
        escaped = "\n".join(escape_unprintable(line) for line in text.split("\n"))
        return self.texts.setdefault(escaped, len(self.texts))

    def pieces(self, pieces: differences.Pieces) -> list[list[int]]:
        """Return marked pieces as pairs of a number and 1 for a difference."""
        return [[self(text), int(differs)] for text, differs in pieces]


def render_html(results: list[dict[str, Any]]) -> str:
    """Return the page of all results."""
    parts = {"css": _file("page.css"), "js": "".join(map(_file, SCRIPTS))}
    lines = [Line(*map(escape_unprintable, line)) for line in all_verdict_lines(results)]
    data = _page_data(results)
    verdict = errors.combine_verdicts(line.held for line in lines).value
    if verdict == Verdict.CONFORMS.value and any(column["exceptions"] for column in data["columns"]):
        verdict = WITH_EXCEPTIONS
    from jinja2 import Environment  # noqa: PLC0415 - slow to import

    page = Environment(autoescape=True, keep_trailing_newline=True).from_string(_file("page.html.j2"))
    return page.render(
        verdict=verdict,
        lines=lines[:LINES_MOST],
        left_out=max(0, len(lines) - LINES_MOST),
        data=_json_block(data),
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
    """Return the data of the page's script: rules, columns, and failures in which texts are numbers."""
    pool = TextPool()
    columns: list[dict[str, Any]] = []
    failures: list[dict[str, Any]] = []
    for result in results:
        if result_kind(result, "a result") == "conform":
            report = RunReport.from_json(result)
            distinct = content.deduplicate(report.failures)
            failures += [_failure_json(one, len(columns), pool) for one in distinct]
            columns.append(_run_column(report, result, len(distinct), pool))
        else:
            failures += [_violation_json(violation, len(columns), pool) for violation in result.get("shown", ())]
            columns += _line_columns(result, pool)
    named = {rule for result in results for rule in _broken_rules(result)}
    rules = sorted(named | {rule for column in columns for rule in column["rules"]}, key=_rule_key)
    for column in columns:
        column["rules"] = [column["rules"].get(rule, 0) for rule in rules]
    return {
        "rules": [_rule_json(rule, pool) for rule in rules],
        "columns": columns,
        "failures": failures,
        "more": sum(_left_out(result) for result in results),
        "texts": list(pool.texts),
    }


def _left_out(result: Mapping[str, Any]) -> int:
    """Return the number of an audit's violations without their rows; a page draws none of them."""
    return max(0, int(result.get("violations", 0)) - len(result.get("shown", ())))


def _broken_rules(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the rules that the failures and violations of a result name."""
    for failure in result.get("failures", ()):
        yield from failure["rules"]
    for violation in result.get("shown", ()):
        yield violation["rule"]


def _rule_key(rule: str) -> tuple[bool, str, int]:
    """Return the sort key of a rule; names that are no rule ids come last."""
    return (False, *rule_order(rule)) if case.RULE_ID.fullmatch(rule) else (True, rule, 0)


def _rule_json(rule: str, pool: TextPool) -> dict[str, Any]:
    """Return the id and the family of a rule, and its text if the specification has one."""
    value: dict[str, Any] = {"id": pool(rule), "family": pool(rule.rpartition("-")[0])}
    text = content.find_rule_text(rule)
    if text is None:
        return value
    source = [[pool(piece), pool(address) if address else -1] for piece, address in text.source]
    return value | {"text": pool(text.sentence), "intent": pool(text.intent), "source": source}


def _provenance(result: Mapping[str, Any], pool: TextPool) -> list[list[int]]:
    """Return how a result was made, as pairs of a name and a value."""
    keys, versions = content.read_provenance(result)
    named = {**keys, **{f"version of {name}": number for name, number in versions.items()}}
    return [[pool(name), pool(text)] for name, text in named.items()]


def _run_column(report: RunReport, result: Mapping[str, Any], failures: int, pool: TextPool) -> dict[str, Any]:
    """Return the column of a run: its levels, its exceptions, and the state of each rule."""
    exceptions = list(_run_exceptions(report))
    rules = dict.fromkeys([*report.rules, *(rule for level in report.levels.values() for rule in level.rules)])
    return {
        "name": pool(report.subject),
        "kind": pool("run"),
        "verdict": pool(report.headline),
        "about": _provenance(result, pool),
        "exceptions": [[pool(text) for text in one] for one in exceptions],
        "failures": failures,
        "levels": [
            [pool(name), pool(level.verdict.value), level.examples, level.steps]
            for name, level in report.levels.items()
        ],
        "rules": {rule: _rule_cell(report, rule, pool) for rule in rules},
    }


def _run_exceptions(report: RunReport) -> Iterator[tuple[str, str, str]]:
    """Yield what the verdict of a run does not cover: its kind, its name, and the reason."""
    yield from report.exceptions
    for skip in report.skipped:
        yield "waived" if skip.reason.startswith("waived by ") else "skipped", skip.what, skip.reason


def _rule_cell(report: RunReport, rule: str, pool: TextPool) -> list[Any]:
    """Return the state of a rule in a run, and for each level that has the rule: its name, state and judged steps."""
    states: list[tuple[str, str, int]] = []
    for name, level in report.levels.items():
        if rule in level.rules:
            verdict, fired = level.rules[rule].verdict, level.rules[rule].fired
            cut = verdict is Verdict.NOTHING_CHECKED and level.verdict is Verdict.VIOLATES
            states.append((name, NOT_REACHED if cut else verdict.value, fired))
    if not states and any(_could_fire(report, rule, level) for level in report.levels):
        return [pool(NOT_REACHED), []]
    state = _combined_state({state for _, state, _ in states})
    return [pool(state), [[pool(name), pool(each), fired] for name, each, fired in states]]


def _combined_state(states: set[str]) -> str:
    """Return the state of a rule from its states at the levels."""
    if Verdict.VIOLATES.value in states:
        return Verdict.VIOLATES.value
    if Verdict.CONFORMS.value in states:
        return Verdict.CONFORMS.value if len(states) == 1 else IN_PART
    return NOT_REACHED if states == {NOT_REACHED} else Verdict.NOTHING_CHECKED.value


def _could_fire(report: RunReport, rule: str, name: str) -> bool:
    """Return whether a level whose search ended at a failure could have played the example of a rule.

    An example with a variant does not count, because a result does not name the variants of its subject.
    """
    level, example, tested = report.levels[name], content.find_example(rule), SYSTEMS.get(report.system)
    if level.verdict is not Verdict.VIOLATES or example is None or tested is None or "variants" in example:
        return False
    if "clients" in example or name not in tested.levels:
        return "clients" in example and name == CONCURRENT_LEVEL
    ops = {step["op"] for step in example["steps"]}
    return ops <= set(tested.ops_up_to(name)) - set(level.missing) | {"observe"}


def _line_columns(result: Mapping[str, Any], pool: TextPool) -> Iterable[dict[str, Any]]:
    """Yield the columns of an audit, of evidence, or of skipped parts."""
    lines = verdict_lines(dict(result))
    for name in dict.fromkeys(line.what for line in lines):
        own = [line for line in lines if line.what == name]
        rest = [line for line in own if not case.RULE_ID.fullmatch(line.part)]
        notes = [(line.verdict, line.part or line.what, line.note) for line in rest if line.note]
        notes += [("not decided", "some rules", note) for note in result.get("notes", ())]
        yield {
            "name": pool(name),
            "kind": pool("audit" if "violations" in result else "lines"),
            "verdict": pool(errors.combine_verdicts(line.held for line in own).value),
            "about": _provenance(result, pool),
            "exceptions": [[pool(text) for text in note] for note in notes],
            "failures": result.get("violations", 0),
            "levels": [],
            "rules": {line.part: [pool(line.verdict), []] for line in own if line not in rest},
            **_broker_sums(result, pool),
        }


def _broker_sums(result: Mapping[str, Any], pool: TextPool) -> dict[str, Any]:
    """Return the sums of an audit: the violated rules, and for each broker its verdicts and violations of each."""
    counts: Mapping[str, Mapping[str, int]] = result.get("violation_counts", {})
    verdicts: Mapping[str, Mapping[str, str]] = result.get("brokers", {})
    empty: dict[str, dict[str, int]] = {name: {} for name in result.get(WITHOUT_ROWS, ())}
    brokers = sorted({**empty, **verdicts, **counts}, key=lambda name: (-sum(counts.get(name, {}).values()), name))
    if not brokers:
        return {}
    broken = sorted({rule for own in counts.values() for rule in own}, key=rule_order)
    words = ("conforms", "violates", "inconclusive", "nothing-checked")
    return {
        "broken": [pool(rule) for rule in broken],
        "brokers": [
            [
                pool(name),
                [sum(verdict == word for verdict in verdicts.get(name, {}).values()) for word in words],
                [counts.get(name, {}).get(rule, 0) for rule in broken],
            ]
            for name in brokers[:BROKERS_MOST]
        ],
        "more": max(0, len(brokers) - BROKERS_MOST),
    }


def _failure_json(distinct: content.DistinctFailure, column: int, pool: TextPool) -> dict[str, Any]:
    failure, table = distinct.failure, distinct.failure.table
    notes = [content.earlier_runs_note(failure.earlier)] if failure.earlier else []
    notes += [failure.schedules.in_words] if failure.schedules is not None else []
    own = content.OWN_CASE.format(failure.finding) if failure.finding else ""
    alone = content.UNCONFIRMED.format(failure.unconfirmed) if failure.unconfirmed else ""
    notes += [text for text in (content.other_places(distinct), own, alone, failure.log) if text]
    expected, got = differences.mark_answers(failure.expected, failure.got)
    value = {
        "of": column,
        "rules": [pool(rule) for rule in failure.rules],
        "levels": [pool(f"level {one.level}") for one in (failure, *distinct.also) if one.level],
        "expected": pool.pieces(expected),
        "got": pool.pieces(got),
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
    expected, got = differences.mark_words(violation["expected"], violation["observed"])
    bounds = {name: violation.get(name) for name in ("trigger", "target", "limit")}
    return {
        "of": column,
        "rules": [pool(violation["rule"])],
        "levels": [pool(f"broker {violation['broker']}")],
        "expected": pool.pieces(expected),
        "got": pool.pieces(got),
        "notes": [],
        "case": pool(""),
        "replay": pool(""),
        "title": pool(f"{violation['rule']} is broken at seq {violation['seq']}"),
        "config": pool(""),
        "columns": [pool(name) for name in violation["columns"]],
        "needed": violation.get("needed", len(violation["columns"])),
        "rows": [[pool(cell) for cell in row] for row in violation["rows"]],
        "bad": violation["bad"],
        "wrong": -1,
        "before": [],
        "after": [],
        "timeline": {"at": violation["seq"], "bytes": violation["bytes"], **bounds},
    }


def _lanes_json(lanes: tuple[system.Lane, ...], pool: TextPool) -> list[Any]:
    return [[pool(lane.name), [[pool(text), pool(mark)] for text, mark in lane.boxes]] for lane in lanes]
