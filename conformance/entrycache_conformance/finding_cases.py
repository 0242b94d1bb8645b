"""Play the cases of findings before a search.

A finding is a known difference of a release from the specification, with its shortest case in `docs/findings`. A search
meets such a rare failure only by luck. A run that lifts the waiver of a finding therefore plays the case of the finding
before the search of its level. If the subject does not differ there, the search goes on as usual.
"""

import dataclasses
import enum
import re
import typing
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import entrycache_conformance
from entrycache_conformance import explain, report, shrink
from entrycache_conformance.generate import shrink_case
from entrycache_conformance.judge import Coverage, find_difference, judge, judge_case, run_reference
from entrycache_conformance.subjects.wrappers import ALL_FINDINGS, FINDING_SEPARATOR, lift_waivers
from entrycache_protocol.case import Case, read_case, variants_to_json
from entrycache_protocol.errors import UsageError, Verdict
from entrycache_protocol.subject import Difference, FailingCase, SkippedRun, TestedSubject, require_supported
from entrycache_protocol.system import AnySystem

MAX_TRIES: Final = 60
"""The number of shorter cases to try: another subject than the finding's may need fewer steps."""

_RELATED_ROW: Final = re.compile(r"^\| Together with \| (.*) \|$", re.MULTILINE)
"""The row of a finding's page that links the findings whose repairs its own repair needs."""


class FindingCase(NamedTuple):
    """A case of a finding, and the level of its highest operation."""

    finding: str
    level: str
    case: Case


class FindingCaseResults(NamedTuple):
    """The cases that differ, each with its finding, and the cases that could not be played."""

    failing: tuple[tuple[str, FailingCase], ...] = ()
    skipped: tuple[report.Skip, ...] = ()


def findings_folder() -> Path:
    """Return the folder of the findings: of the documentation in a checkout, else the copy in the package.

    Raises:
        UsageError: neither is there.
    """
    package = Path(entrycache_conformance.__file__).parent
    for place in (package / "findings", package.parents[1] / "docs" / "findings"):
        if (place / "README.md").is_file():
            return place
    raise UsageError("the findings are not there; expected a folder of them in the package; install entrycache anew")


def load_finding_cases(system: AnySystem) -> Mapping[str, tuple[FindingCase, ...]]:
    """Read the cases of a system's findings, by finding: `case.json` first, then its other cases."""
    cases: dict[str, tuple[FindingCase, ...]] = {}
    for path in _case_files(system):
        finding, case = path.parent.name, read_case(path, {system.name: system})
        cases[finding] = (*cases.get(finding, ()), FindingCase(finding, _highest_level(case), case))
    return cases


def _case_files(system: AnySystem) -> list[Path]:
    mark = f'"system": "{system.name}"'
    paths = sorted(
        findings_folder().glob("*/*.json"), key=lambda path: (path.parent, path.name != "case.json", path.name)
    )
    return [path for path in paths if mark in path.read_text("utf-8")]


def _highest_level(case: Case) -> str:
    levels = case.system.levels
    return levels[max(levels.index(case.system.ops[type(op).name].level) for op in case.steps)]


def select_finding_cases(
    cases: Mapping[str, tuple[FindingCase, ...]], findings: Collection[str]
) -> tuple[FindingCase, ...]:
    """Return the cases of the requested findings, or of all findings if all are requested."""
    return tuple(one for name, own in cases.items() if {name, ALL_FINDINGS} & set(findings) for one in own)


def related_findings(finding: str) -> tuple[str, ...]:
    """Return the findings whose repairs the repair of a finding needs, by the finding's page."""
    page = findings_folder() / finding / "README.md"
    row = _RELATED_ROW.search(page.read_text("utf-8")) if page.is_file() else None
    return tuple(re.findall(r"\[([\w-]+)\]", row[1])) if row else ()


def explain_related(findings: Collection[str]) -> list[str]:
    """Return a sentence for each of these findings that belongs together with others that are not among them."""
    sentences = []
    for finding in findings:
        missing = [one for one in related_findings(finding) if not {one, ALL_FINDINGS} & set(findings)]
        if missing:
            options = " ".join(f"--unmask {one}" for one in missing)
            sentences.append(
                f"{finding} belongs together with {' and '.join(missing)}: its repair needs theirs. "
                f"A repaired subject conforms with {options} as well"
            )
    return sentences


def play_finding_cases(subject: TestedSubject, cases: Sequence[FindingCase], level: str) -> FindingCaseResults:
    """Play the cases of a level, under the variants that the subject declares and those that the case needs.

    Raises:
        BrokenSubject: a case breaks the subject.
    """
    failing, skipped = [], []
    for own in cases:
        if own.level != level:
            continue
        case = _with_variants(subject.declaration.base_config().variants, own.case)
        try:
            require_supported(case, subject)
        except UsageError as reason:
            skipped.append(report.Skip(f"the case of {own.finding}", str(reason)))
            continue
        steps, answer, difference = judge_case(subject, case)
        if isinstance(answer, SkippedRun):
            skipped.append(report.Skip(f"the case of {own.finding}", answer.reason))
            continue
        if difference is None:
            continue
        unshortened = FailingCase(case, steps, difference)
        shortest = unshortened if difference.is_unanswered else _shorten_and_confirm(subject, unshortened)
        if shortest is not None:
            failing.append((own.finding, shortest))
    return FindingCaseResults(tuple(failing), tuple(skipped))


def _shorten_and_confirm(subject: TestedSubject, failing: FailingCase) -> FailingCase | None:
    """Drop the unneeded steps of a failure whose case was given, and confirm it.

    A shorter case must show the same defect: a subject with several defects may fail on it for another reason.
    """
    origin = failing._replace(case=dataclasses.replace(failing.case, earlier=subject.earlier_runs(failing.case)))
    shape = explain.shape_of(subject, failing)

    def differs(shorter: Case) -> Difference | None:
        difference = find_difference(subject, shorter)
        if difference is None:
            return None
        own = FailingCase(shorter, run_reference(shorter, Coverage()), difference)
        return difference if explain.has_shape(own, subject.declaration, shape) else None

    case, difference = shrink_case(failing.case, failing.difference, differs, MAX_TRIES)
    return shrink.confirm_failure(subject, FailingCase(case, run_reference(case, Coverage()), difference), origin)


def find_repaired(subject: TestedSubject) -> tuple[str, ...]:
    """Return the waived findings that the subject does not show: each of their cases follows the specification.

    A finding without a case that the subject can play counts as unrepaired, and so does one that shares its waiver with
    an unrepaired finding.

    Raises:
        BrokenSubject: a case breaks the subject.
    """
    behind = [set(findings.split(FINDING_SEPARATOR)) for findings in subject.declaration.findings.values()]
    waived = set().union(*behind)
    cases = load_finding_cases(subject.declaration.system) if waived else {}
    repaired = {finding for finding in waived if _is_repaired(subject, finding, cases.get(finding, ()))}
    return tuple(sorted(repaired - set().union(*(group for group in behind if not group <= repaired))))


def _is_repaired(subject: TestedSubject, finding: str, cases: Sequence[FindingCase]) -> bool:
    lifted = lift_waivers(subject, [finding])
    played = False
    for own in cases:
        case = _with_variants(lifted.declaration.base_config().variants, own.case)
        try:
            require_supported(case, lifted)
        except UsageError:
            continue
        _, answer, difference = judge_case(lifted, case)
        if difference is not None:
            return False
        played = played or not isinstance(answer, SkippedRun)
    return played


def explain_by_variants(subject: TestedSubject, failing: FailingCase) -> str:
    """Return a hint if a failing case is right under one other value of a variant; empty if it is not.

    A subject that does not start again is not asked.
    """
    if failing.unconfirmed:
        return ""
    return find_demanded_defect(subject, failing) or find_followed_variant(subject, failing)


def find_followed_variant(subject: TestedSubject, failing: FailingCase) -> str:
    """Return a hint if the subject answers a failing case as a variant does that it does not declare."""
    case, declaration = failing.case, subject.declaration
    if failing.difference.is_unanswered or case.earlier:
        return ""
    answer = subject.play([case])[0]
    declared = case.config.variants
    for name, value in other_values(declared):
        config = dataclasses.replace(case.config, variants=dataclasses.replace(declared, **{name: value}))
        varied = dataclasses.replace(case, config=config)
        if judge(varied, run_reference(varied, Coverage()), answer, declaration) is None:
            return f"the subject answers as the variant {name}={value.value} does, which it does not declare"
    return ""


def other_values(variants: Any) -> Iterator[tuple[str, enum.Enum]]:
    """Yield every variant with each value that is not its present one."""
    kinds: dict[str, Any] = typing.get_type_hints(type(variants))
    for name, kind in kinds.items():
        values: list[enum.Enum] = list(kind) if isinstance(kind, enum.EnumMeta) else []
        yield from ((name, value) for value in values if value != getattr(variants, name))


def find_demanded_defect(subject: TestedSubject, failing: FailingCase) -> str:
    """Return a hint if the failing case follows the specification, and only a declared variant demands otherwise."""
    for waiver, behind in subject.declaration.findings.items():
        if not waiver.startswith("variants.") or failing.difference.is_unanswered:
            continue
        findings = behind.split(FINDING_SEPARATOR)
        lifted = lift_waivers(subject, findings)
        config = dataclasses.replace(failing.case.config, variants=lifted.declaration.base_config().variants)
        if judge_case(lifted, dataclasses.replace(failing.case, config=config)).difference is None:
            unmask = " ".join(f"--unmask {finding}" for finding in findings)
            return (
                f"the subject follows the specification here; {waiver} of its driver demands the defect {behind}. "
                f"If it is repaired, run again with {unmask}"
            )
    return ""


def report_failing_cases(
    subject: TestedSubject,
    results: FindingCaseResults,
    level: str,
    folder: Path,
    rule_minimum: int,
    seconds: float,
) -> report.LevelResult:
    """Return the result of a level at which cases of findings differ. Such a level is not searched.

    `folder` takes the files of the failing cases.
    """
    failures = tuple(
        dataclasses.replace(explain.write_failure(subject, failing, folder, level), finding=finding)
        for finding, failing in results.failing
    )
    rules = report.judge_rules({}, Verdict.VIOLATES, failures, rule_minimum)
    steps = sum(len(failing.case.steps) for _, failing in results.failing)
    judged = dataclasses.replace(
        report.LevelReport(missing=subject.declaration.missing_ops(level)),
        examples=len(failures),
        steps=steps,
        verdict=Verdict.VIOLATES,
        rules=rules,
        seconds=seconds,
    )
    hung = any(failing.is_hang for _, failing in results.failing)
    return report.LevelResult(judged, failures, results.skipped, hung)


def _with_variants(variants: Any, case: Case) -> Case:
    """Return the case under these variants. A variant that the case itself names takes precedence."""
    needed = {name: getattr(case.config.variants, name) for name in variants_to_json(case.config)}
    config = dataclasses.replace(case.config, variants=dataclasses.replace(variants, **needed))
    return Case(case.system, config, case.steps)


def skipped_finding_cases(cases: Sequence[FindingCase], levels: Collection[str]) -> list[report.Skip]:
    """Report the cases whose level was not requested."""
    return [
        report.Skip(f"the case of {own.finding}", f"it is one of level {own.level}, which was not requested")
        for own in cases
        if own.level not in levels
    ]
