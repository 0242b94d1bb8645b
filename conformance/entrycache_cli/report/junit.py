"""Results as JUnit XML: a suite for each subject and level, and a test case for each rule.

Audits and proofs have one suite each. A violation is a failure, an undecided rule is skipped, and a broken subject is
an error. The text of a failure begins with the rule's sentence and its source. A suite has a time if its result holds
one.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree as Xml

from entrycache_cli.report import content
from entrycache_cli.report.content import DistinctFailure, deduplicate, exception_lines, failure_text, read_provenance
from entrycache_cli.report.results import Line, result_kind, verdict_lines
from entrycache_conformance.report import LevelReport, RunReport
from entrycache_protocol import codec, errors

TAGS: Final = {errors.Verdict.VIOLATES: "failure", errors.Verdict.NOTHING_CHECKED: "skipped"}


class Suite(NamedTuple):
    """A suite before it becomes XML."""

    name: str
    cases: list[Xml.Element]
    properties: dict[str, str]
    seconds: float | None = None


def render_junit(results: list[dict[str, Any]]) -> str:
    """Return the XML of all results."""
    root = Xml.Element("testsuites", name="entrycache")
    suites = [suite for result in results for suite in _suites(result)]
    for suite in suites:
        root.append(_element(suite))
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(one.get(count, "0")) for one in root)))
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def _suites(result: dict[str, Any]) -> Iterable[Suite]:
    if result_kind(result, "a result") == "conform":
        return _run_suites(RunReport.from_json(result), _properties(result))
    lines = verdict_lines(result)
    names = dict.fromkeys(line.what for line in lines)
    properties = _properties(result)
    return [Suite(name, [_line_case(line) for line in lines if line.what == name], properties) for name in names]


def _properties(result: dict[str, Any]) -> dict[str, str]:
    """Return the subject and the provenance of a result; the time stands at the suite."""
    provenance = read_provenance(result)
    keys = {name: text for name, text in provenance.keys.items() if name != "seconds"}
    named = {"subject": str(result["subject"])} if "subject" in result else {}
    return {**named, **keys, **{f"version of {what}": number for what, number in provenance.versions.items()}}


def _run_suites(report: RunReport, properties: dict[str, str]) -> list[Suite]:
    distinct = deduplicate(report.failures)
    properties = {**properties, "verdict": report.headline}
    for index, line in enumerate(exception_lines(report.exceptions), 1):
        properties[f"exception {index}"] = line
    return [_level_suite(report, name, level, distinct, properties) for name, level in report.levels.items()]


def _level_suite(
    report: RunReport, name: str, level: LevelReport, distinct: Sequence[DistinctFailure], properties: dict[str, str]
) -> Suite:
    suite = Suite(f"{report.subject}, level {name}", [], properties, level.seconds)
    here = [one for one in distinct if name in {each.level for each in (one.failure, *one.also)}]
    for rule, coverage in level.rules.items():
        case = _case(suite.name, rule)
        if coverage.verdict is errors.Verdict.VIOLATES:
            _add_failures(case, rule, name, [one for one in here if rule in one.failure.rules])
        elif coverage.verdict is errors.Verdict.NOTHING_CHECKED:
            _add_child(case, "skipped", coverage.unchecked_reason, "")
        suite.cases.append(case)
    if not level.rules or level.verdict is errors.Verdict.NOTHING_CHECKED:
        reasons = "; ".join(f"{skip.what}: {skip.reason}" for skip in report.skipped)
        note = f"{level.examples} examples, {level.steps} steps"
        line = Line(suite.name, f"level {name}", level.verdict.value, f"{note}; {reasons}" if reasons else note)
        suite.cases.append(_line_case(line))
    return suite


def _add_failures(case: Xml.Element, rule: str, level: str, distinct: list[DistinctFailure]) -> None:
    """Add failures to a test case: in full at the first rule and level of a failure, by name at the others.

    Each failure shows the sentence and the source of its rule.
    """
    sentence = _rule_sentence(rule)
    for one in distinct:
        first = one.failure
        if (rule, level) == (first.rules[0], first.level):
            message = f"{rule}: expected {codec.format_json(first.expected)}, got {codec.format_json(first.got)}"
            _add_child(case, "failure", message, f"{sentence}\n\n{failure_text(one)}".lstrip())
        else:
            _add_child(case, "failure", f"the failure of {first.rules[0]} at level {first.level}", sentence)
    if not distinct:
        _add_child(case, "failure", "violates", sentence)


def _rule_sentence(rule: str) -> str:
    """Return the sentence and the source of a rule, with addresses; return an empty text for an unknown rule."""
    text = content.find_rule_text(rule)
    return "" if text is None else f"{rule} {text.plain}"


def _line_case(line: Line) -> Xml.Element:
    case = _case(line.what, line.part or line.what)
    if line.verdict == "broken subject":
        _add_child(case, "error", line.note, "")
    elif line.held in TAGS:
        tag = TAGS[line.held]
        _add_child(
            case, tag, f"{line.verdict} {line.note}".strip(), _rule_sentence(line.part) if tag == "failure" else ""
        )
    return case


def _case(suite: str, name: str) -> Xml.Element:
    return Xml.Element("testcase", classname=errors.escape_unprintable(suite), name=errors.escape_unprintable(name))


def _add_child(case: Xml.Element, tag: str, message: str, text: str) -> None:
    """Add an element with a message; control characters and half surrogates, which XML cannot hold, are escaped."""
    child = Xml.SubElement(case, tag, message=errors.escape_unprintable(message))
    if text:
        child.text = "\n".join(errors.escape_unprintable(line) for line in text.split("\n"))


def _element(suite: Suite) -> Xml.Element:
    counts = {
        "tests": len(suite.cases),
        "failures": sum(case.find("failure") is not None for case in suite.cases),
        "errors": sum(case.find("error") is not None for case in suite.cases),
        "skipped": sum(case.find("skipped") is not None for case in suite.cases),
    }
    element = Xml.Element(
        "testsuite", {"name": errors.escape_unprintable(suite.name), **{name: str(counts[name]) for name in counts}}
    )
    if suite.seconds is not None:
        element.set("time", f"{suite.seconds:.3f}")
    if suite.properties:
        properties = Xml.SubElement(element, "properties")
        for name, value in suite.properties.items():
            Xml.SubElement(
                properties, "property", name=errors.escape_unprintable(name), value=errors.escape_unprintable(value)
            )
    element.extend(suite.cases)
    return element
