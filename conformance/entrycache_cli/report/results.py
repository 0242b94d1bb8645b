"""The result stream: the objects that commands print with `--json`, one a line, and the verdicts in them.

`read_results` reads a file of such objects and checks their shapes. `verdict_lines` turns a result of `conform`,
`audit` or `prove` into lines of the form subject, part, verdict, note. All formats and the tables of `make conform` and
`entrycache report` are made from these lines.
"""

from pathlib import Path
from typing import Any, Final, NamedTuple

from rich.table import Table
from rich.text import Text

from entrycache_cli.report.terminal import coloured_verdict
from entrycache_conformance.report import METADATA_SHAPE, REPORT_SHAPE, RunReport
from entrycache_protocol import case, errors, files, strict_json
from entrycache_reference.rules import Rule


class Line(NamedTuple):
    """One verdict: the subject, the rule or level, the result, and a note on the evidence."""

    what: str
    part: str
    verdict: str
    note: str

    @property
    def held(self) -> errors.Verdict:
        """The line's verdict in three classes; a grade of evidence counts as conforming."""
        if self.verdict == errors.Verdict.VIOLATES.value:
            return errors.Verdict.VIOLATES
        return errors.Verdict.NOTHING_CHECKED if self.verdict in UNDECIDED else errors.Verdict.CONFORMS


SHORT_PREFIX: Final = next(iter(Rule)).value.partition("-")[0] + "-"
"""The prefix of rule ids that is omitted where a line lists many rules."""

UNDECIDED: Final = frozenset({"nothing-checked", "inconclusive", "skipped", "broken subject"})


def read_results(path: Path) -> list[dict[str, Any]]:
    """Read the objects in a file of results.

    Raises:
        UsageError: the file cannot be read, or a line is not a result.
    """
    results_read = []
    for number, line in enumerate(files.read_text(path, "the results").split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = strict_json.parse_json(line, may_have_halves=True)
        except ValueError as error:
            raise errors.UsageError(
                f"{path}, line {number}: not JSON; expected what --json prints, one object a line ({error})"
            ) from None
        if type(value) is not dict or not strict_json.is_same_json(value.get("schema"), 1):
            raise errors.UsageError(f"{path}, line {number}: no result of schema 1; expected what --json prints")
        strict_json.check_shape(value, SHAPES[result_kind(value, f"{path}, line {number}")], f"{path}, line {number}")
        results_read.append(value)
    if not results_read:
        raise errors.UsageError(f"{path} holds no result")
    return results_read


def result_kind(result: dict[str, Any], where: str) -> str:
    """Return the kind of a result: `conform`, `audit`, `prove`, a broken subject or a skipped part.

    Raises:
        UsageError: it is of no known kind.
    """
    kind = next((kind for kind, needs in KINDS.items() if needs <= result.keys()), None)
    if kind is None:
        raise errors.UsageError(f"{where}: none of the results of conform, audit or prove")
    return kind


def verdict_lines(result: dict[str, Any]) -> list[Line]:
    """Return the verdicts in one result."""
    return LINES[result_kind(result, "a result")](result)


def _run_lines(result: dict[str, Any]) -> list[Line]:
    report = RunReport.from_json(result)
    return [
        Line(report.subject, f"level {name}", level.verdict.value, f"{level.examples} examples, {level.steps} steps")
        for name, level in report.levels.items()
    ]


def _proof_lines(result: dict[str, Any]) -> list[Line]:
    return [
        Line("proof", item["rule"], item["grade"], f"{item['bounds']}; refutes: {item['refuted_mutant']}")
        for item in result["evidence"]
    ]


WITHOUT_ROWS: Final = "brokers_without_rows"
"""The key of an audit's result that lists the brokers without rows."""


def _audit_lines(result: dict[str, Any]) -> list[Line]:
    name = f"audit, {result.get('engine', 'spark')}"
    empty = [Line(name, f"broker {each}", "nothing-checked", "no rows") for each in result.get(WITHOUT_ROWS, ())]
    return [*(Line(name, rule, verdict, "") for rule, verdict in result["rules"].items()), *empty]


def _skipped_lines(result: dict[str, Any]) -> list[Line]:
    return [Line(item["what"], "", "skipped", item["reason"]) for item in result["skipped"]]


def _broken_lines(result: dict[str, Any]) -> list[Line]:
    return [Line(result["subject"], "", "broken subject", result["broken"])]


KINDS: Final = {
    "a broken subject": {"broken"},
    "conform": {"levels"},
    "prove": {"evidence"},
    "audit": {"rules", "violations"},
    "a part that was skipped": {"skipped"},
}
"""The keys by which a result is recognized; the first kind whose keys are all present counts."""

INTEGER: Final = {"type": "integer"}
PAIR: Final = {**strict_json.list_shape(INTEGER), "minItems": 2, "maxItems": 2}

VIOLATION_SHAPE: Final = strict_json.object_shape(
    {
        **dict.fromkeys(("rule", "broker", "expected", "observed"), strict_json.TEXT),
        "seq": INTEGER,
        "columns": strict_json.list_shape(strict_json.TEXT),
        "rows": strict_json.list_shape(strict_json.list_shape(strict_json.TEXT)),
        "bad": INTEGER,
        "bytes": strict_json.list_shape(PAIR),
        "trigger": strict_json.nullable_shape(INTEGER),
        "target": strict_json.nullable_shape(INTEGER),
        "limit": strict_json.nullable_shape(INTEGER),
        "needed": strict_json.COUNT,
    },
    *("limit", "needed"),
)
"""The shape of a violation with the rows around it.

`bad` is the index of the violating row, and `needed` the number of first columns that the verdict needs. `bytes` holds
pairs of an event's number and the bytes after it. `trigger` and `target` come from the last event up to it that has
them, `limit` from the last CONFIG.
"""

SHAPES: Final = {
    "a broken subject": strict_json.object_shape(
        {"broken": strict_json.TEXT, "subject": strict_json.TEXT, **METADATA_SHAPE}, *METADATA_SHAPE
    ),
    "conform": REPORT_SHAPE,
    "prove": strict_json.object_shape(
        {
            "evidence": strict_json.list_shape(
                strict_json.object_shape(dict.fromkeys(("rule", "grade", "bounds", "refuted_mutant"), strict_json.TEXT))
            ),
            **METADATA_SHAPE,
        },
        *METADATA_SHAPE,
    ),
    "audit": strict_json.object_shape(
        {
            "rules": strict_json.mapping_shape(strict_json.TEXT),
            "violations": strict_json.COUNT,
            "shown": strict_json.list_shape(VIOLATION_SHAPE),
            WITHOUT_ROWS: strict_json.TEXTS,
            "violation_counts": strict_json.mapping_shape(strict_json.mapping_shape(strict_json.COUNT)),
            "brokers": strict_json.mapping_shape(strict_json.mapping_shape(strict_json.TEXT)),
            "notes": strict_json.TEXTS,
            **METADATA_SHAPE,
        },
        "shown",
        WITHOUT_ROWS,
        *("violation_counts", "brokers", "notes"),
        *METADATA_SHAPE,
    ),
    "a part that was skipped": strict_json.object_shape(
        {
            "skipped": strict_json.list_shape(
                strict_json.object_shape({"what": strict_json.TEXT, "reason": strict_json.TEXT})
            )
        }
    ),
}
"""The shapes of results as JSON Schema, by kind."""

LINES: Final = {
    "a broken subject": _broken_lines,
    "conform": _run_lines,
    "prove": _proof_lines,
    "audit": _audit_lines,
    "a part that was skipped": _skipped_lines,
}


def gather_rules(results: list[dict[str, Any]]) -> list[Line]:
    """Return the verdicts with rules of equal verdict gathered into one line each."""
    lines: list[Line] = []
    rules: dict[tuple[str, str, str], list[str]] = {}
    for line in all_verdict_lines(results):
        rule = case.RULE_ID.fullmatch(line.part)
        prefix = "" if rule is None else rule[1]
        if rule is None:
            lines.append(line)
        elif line.part not in rules.setdefault((line.what, line.verdict, prefix), []):
            rules[line.what, line.verdict, prefix].append(line.part)
    for (what, judged, prefix), names in rules.items():
        short_names = (name.removeprefix(prefix) if prefix == SHORT_PREFIX else name for name in names)
        lines.append(Line(what, f"{len(names)} rules", judged, ", ".join(short_names)))
    return lines


def summary_table(results: list[dict[str, Any]]) -> Table:
    """Return one short table: subjects by level, audits by verdict, evidence by grade."""
    return _table(gather_rules(results))


def verdict_table(results: list[dict[str, Any]]) -> Table:
    """Return one table of all verdicts."""
    return _table(all_verdict_lines(results))


def _table(lines: list[Line]) -> Table:
    table = Table(title="verdicts", title_justify="left")
    for column in ("what", "part", "verdict", "shown by"):
        table.add_column(column, overflow="fold")
    for line in lines:
        table.add_row(Text(line.what), Text(line.part), coloured_verdict(line.verdict), Text(line.note))
    return table


def all_verdict_lines(results: list[dict[str, Any]]) -> list[Line]:
    """Return every verdict of the results."""
    return [line for result in results for line in verdict_lines(result)]
