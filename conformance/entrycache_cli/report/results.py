"""The result stream: the objects that commands print with `--json`, one a line, and the verdicts in them.

`read_results` reads a file of such objects and checks their shapes. `verdict_lines` turns a result of `conform`,
`audit` or `prove` into lines of the form subject, part, verdict, note. All formats and the tables of `make conform` and
`entrycache report` are made from these lines.
"""

from collections import Counter
from pathlib import Path
from typing import Any, Final, NamedTuple

from rich import box
from rich.table import Table
from rich.text import Text

from entrycache_cli.report.terminal import coloured_verdict
from entrycache_conformance.report import METADATA_SHAPE, REPORT_SHAPE, WITH_EXCEPTIONS, RunReport
from entrycache_protocol import errors, files, strict_json


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


UNDECIDED: Final = frozenset({"nothing-checked", "inconclusive", "skipped", "broken subject"})

UNCHECKED: Final = errors.Verdict.NOTHING_CHECKED.value

AUDIT_VERDICTS: Final = ("violates", "inconclusive", "conforms")
"""The verdicts of rules that decide that of an audit, the first one first; else it is `nothing-checked`."""


def read_results(path: Path) -> list[dict[str, Any]]:
    """Read the objects in a file of results.

    Raises:
        UsageError: the file cannot be read, or a line is not a result, or it was edited, or it contradicts itself.
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
        where = f"{path}, line {number}"
        strict_json.check_shape(value, SHAPES[result_kind(value, where)], where)
        contradiction = find_contradiction(value, where)
        if contradiction:
            raise errors.UsageError(f"{where}: {contradiction}; expected what --json prints, unchanged")
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


def find_contradiction(result: dict[str, Any], where: str) -> str:
    """Return the first part of a result that contradicts its other parts or its system; empty if none does."""
    kind = result_kind(result, where)
    if not strict_json.is_sealed(result):
        return f"its {strict_json.DIGEST} is not that of its content: somebody has edited it"
    if kind == "conform":
        return _find_foreign_part(result) or _find_wrong_count(result) or _find_wrong_level(result)
    if kind == "audit":
        return _find_foreign_rule(result) or _find_wrong_rule(result)
    if kind == "prove" and {"verdict", "problems"} <= result.keys():
        verdict, problems = result["verdict"], result["problems"]
        if (verdict == errors.Verdict.VIOLATES.value) != bool(problems):
            return (
                f"its verdict is {errors.describe_value(verdict)}, and it names {'some' if problems else 'no'} problem"
            )
    return ""


def _find_foreign_part(result: dict[str, Any]) -> str:
    """Return the first level, operation or rule of a run that its system does not have."""
    from entrycache_conformance.levels import list_levels  # noqa: PLC0415 - it imports the systems
    from entrycache_conformance.systems import SYSTEMS  # noqa: PLC0415

    name = result["system"]
    if name not in SYSTEMS:
        return f"its system is {errors.describe_value(name)}, and there is none of that name"
    levels, rules = list_levels(SYSTEMS[name]), {rule.value for rule in SYSTEMS[name].laws.rules}
    ops, failures = SYSTEMS[name].ops.keys(), result.get("failures", ())
    named = [
        *(
            ("level", level, levels)
            for level in (*result["levels"], *(one["level"] for one in failures if "level" in one))
        ),
        *(("operation", op, ops) for level in result["levels"].values() for op in level["missing"]),
        *(("rule", rule, rules) for level in result["levels"].values() for rule in level.get("rules", ())),
        *(("rule", rule, rules) for one in failures for rule in one.get("rules", ())),
        *(("rule", rule, rules) for rule in result.get("rules", ())),
    ]
    foreign = next(((kind, one) for kind, one, known in named if one not in known), None)
    return "" if foreign is None else f"{name} has no {foreign[0]} {errors.describe_value(foreign[1])}"


def _find_wrong_count(result: dict[str, Any]) -> str:
    """Return the first rule that fired more often at the levels of a run than in the whole run, or with no level."""
    fired: Counter[str] = Counter()
    for level in result["levels"].values():
        fired.update({rule: one["fired"] for rule, one in level.get("rules", {}).items()})
    for rule, count in fired.items():
        total = result.get("rules", {}).get(rule, {"fired": count})["fired"]
        if count > total:
            return f"its levels count {count} steps of {rule}, and the whole run {total}"
    for name, level in result["levels"].items():
        if level["verdict"] == errors.Verdict.CONFORMS.value and level["steps"] < level["examples"]:
            return f"its level {name} conforms after {level['examples']} examples and {level['steps']} steps"
    return ""


def _find_foreign_rule(result: dict[str, Any]) -> str:
    """Return the first rule of an audit that its system does not have."""
    from entrycache_conformance.systems import SYSTEMS  # noqa: PLC0415 - it imports a system

    name = result.get("system")
    if name is None:
        return ""
    if name not in SYSTEMS:
        return f"its system is {errors.describe_value(name)}, and there is none of that name"
    rules = {rule.value for rule in SYSTEMS[name].laws.rules}
    foreign = next((rule for rule in result["rules"] if rule not in rules), None)
    return "" if foreign is None else f"{name} has no rule {errors.describe_value(foreign)}"


def _find_wrong_level(result: dict[str, Any]) -> str:
    """Return the first level of a run, or the run, whose verdict its rules or its levels contradict."""
    violates = errors.Verdict.VIOLATES.value
    for name, level in result["levels"].items():
        broken = [rule for rule, one in level.get("rules", {}).items() if one["verdict"] == violates]
        if broken and level["verdict"] != violates:
            return f"its level {name} is {level['verdict']}, and there {broken[0]} is {violates}"
        if "rules" in level and level["verdict"] == violates and not broken:
            return f"its level {name} is {violates}, and no rule of it is"
        groundless = _find_groundless_verdict(level)
        if groundless:
            return f"its level {name} {groundless}"
    for failure in result.get("failures", ()):
        level = result["levels"].get(failure.get("level"))
        if level is not None and level["verdict"] != violates:
            return (
                f"its level {failure['level']} is {level['verdict']}, and a failure there names {failure['rules'][:1]}"
            )
    whole = errors.combine_verdicts(errors.Verdict(level["verdict"]) for level in result["levels"].values()).value
    if result.get("verdict", whole) != whole:
        return f"its verdict is {errors.describe_value(result['verdict'])}, and that of its levels is {whole}"
    return ""


def _find_groundless_verdict(level: dict[str, Any]) -> str:
    """Return what makes a conforming level, or a conforming rule of it, impossible; empty if nothing does."""
    conforms, rules = errors.Verdict.CONFORMS.value, level.get("rules", {})
    for rule, one in rules.items():
        if one["verdict"] == conforms and (not one["fired"] or one.get("detectable") is False):
            return f"says that {rule} {conforms}, and that nothing could have shown it broken"
    if level["verdict"] != conforms:
        return ""
    if not (level["examples"] and level["steps"]):
        return f"{conforms} after {level['examples']} examples and {level['steps']} steps"
    if "rules" in level and all(one["verdict"] != conforms for one in rules.values()):
        return f"{conforms}, and no rule of it does"
    return ""


def _find_wrong_rule(result: dict[str, Any]) -> str:
    """Return the first rule of an audit that does not violate, although violations of it are counted."""
    violates = errors.Verdict.VIOLATES.value
    counted = [rule for rules in result.get("violation_counts", {}).values() for rule, count in rules.items() if count]
    broken = [*counted, *(one["rule"] for one in result.get("shown", ()))]
    for rule in broken:
        if result["rules"].get(rule, violates) != violates:
            return f"its rule {rule} is {result['rules'][rule]}, and it has violations of it"
    counts = result.get("violation_counts")
    if counts is not None and sum(sum(rules.values()) for rules in counts.values()) != result["violations"]:
        return f"it has {result['violations']} violations, and its counts by broker and rule have another sum"
    if result["violations"] and violates not in result["rules"].values():
        return f"it has {result['violations']} violations, and none of its rules is {violates}"
    return ""


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
    name = f"audit, {result.get('backend', result.get('engine', 'spark'))}"
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


SUMMARY_ROWS: Final = 22
"""The most rows of a summary: it fits on a screen of 40 lines of 80 columns even if half of them take two lines."""

NOTE_LENGTH: Final = 100
"""The most characters of a note in a summary."""


def summary_table(results: list[dict[str, Any]]) -> Table:
    """Return one row for each result, without ids of rules that conform, and one for each reason why parts are skipped.

    If there are too many rows, the last ones that conform become one.
    """
    kinds = [(result_kind(result, "a result"), result) for result in results]
    lines = [SUMMARIES[kind](result) for kind, result in kinds if kind in SUMMARIES]
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in ("what", "verdict", "shown by"):
        table.add_column(column, overflow="fold")
    for line in _shorten_summary(lines + _skipped_reasons(results)):
        table.add_row(Text(line.what), coloured_verdict(line.verdict), Text(errors.shorten(line.note, NOTE_LENGTH)))
    return table


def _summarize_run(result: dict[str, Any]) -> Line:
    report = RunReport.from_json(result)
    rules = dict.fromkeys(failure.rules[0] for failure in report.failures)
    examples = sum(level.examples for level in report.levels.values())
    counts = Counter(level.verdict.value for level in report.levels.values())
    levels = [_count_verdicts(counts)] if len(counts) > 1 else []
    count = len(report.exceptions) + len(report.other_skipped)
    exceptions = [f"{count} exceptions"] if count else []
    what = report.subject if ":" in report.subject else f"{report.subject}, {report.system}"
    verdict = SHORT_WORDS.get(report.headline, report.headline)
    return Line(what, "", verdict, ", ".join([*rules, *levels, f"{examples} cases", *exceptions]))


def _summarize_audit(result: dict[str, Any]) -> Line:
    lines = _audit_lines(result)
    counts = Counter(line.verdict for line in lines)
    verdict = next((each for each in AUDIT_VERDICTS if counts[each]), UNCHECKED)
    broken = [line.part for line in lines if line.held is errors.Verdict.VIOLATES]
    backend = result.get("backend", result.get("engine", ""))
    what = ", ".join(part for part in (f"audit {result.get('system', '')}".strip(), backend) if part)
    return Line(what, "", verdict, ", ".join([*broken, _count_verdicts(counts)]))


def _summarize_proofs(result: dict[str, Any]) -> Line:
    counts = Counter(line.verdict for line in _proof_lines(result))
    return Line("proofs", "", result.get("verdict", next(iter(counts), UNCHECKED)), _count_verdicts(counts))


def _count_verdicts(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())


def _skipped_reasons(results: list[dict[str, Any]]) -> list[Line]:
    """Return one line for each reason why parts are skipped."""
    parts: dict[str, list[str]] = {}
    for result in results:
        if result_kind(result, "a result") == "a part that was skipped":
            for line in _skipped_lines(result):
                parts.setdefault(line.note, []).append(line.what)
    return [
        Line(names[0] + (f" and {len(names) - 1} more" if names[1:] else ""), "", "skipped", reason)
        for reason, names in parts.items()
    ]


SHORT_WORDS: Final = {WITH_EXCEPTIONS: "conforms, except"}
"""The verdict in a summary, whose note counts the exceptions."""

SUMMARIES: Final = {
    "a broken subject": lambda result: _broken_lines(result)[0],
    "conform": _summarize_run,
    "prove": _summarize_proofs,
    "audit": _summarize_audit,
}
"""The functions that make one line of a result, by kind; skipped parts are gathered by their reasons."""


def _shorten_summary(lines: list[Line]) -> list[Line]:
    """Replace the last lines that conform by one, if there are more than `SUMMARY_ROWS`."""
    surplus = len(lines) - SUMMARY_ROWS
    conforming = [line for line in lines if line.held is errors.Verdict.CONFORMS]
    if surplus <= 0 or not conforming:
        return lines
    left_out = conforming[-surplus - 1 :]
    return [line for line in lines if line not in left_out] + [
        Line(f"{len(left_out)} more parts", "", errors.Verdict.CONFORMS.value, "")
    ]


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
