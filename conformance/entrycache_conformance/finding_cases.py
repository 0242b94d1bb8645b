"""The cases of findings: a run that holds a subject to the norm where a finding stands plays the finding's own first.

A search meets a rare failure only by luck; the shortest sequence of a finding is known. So it is played before the
search of its level, and where it does not differ the search goes on as ever.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import entrycache_conformance
from entrycache_conformance.judge import Coverage, find_difference, judge, play, run_reference
from entrycache_conformance.replay import require_supported
from entrycache_conformance.report import Skip
from entrycache_conformance.shrink import attach_earlier_runs, confirm_failure, shrink_case
from entrycache_conformance.subjects.wrappers import ALL_FINDINGS
from entrycache_protocol.case import Case, read_case, variants_to_json
from entrycache_protocol.errors import UsageError
from entrycache_protocol.subject import FailingCase, SkippedRun, TestedSubject
from entrycache_protocol.system import AnySystem

MAX_TRIES: Final = 60
"""How many shorter cases are tried: on a subject that is not the finding's, less may do."""


class FindingCase(NamedTuple):
    """A case of a finding, and the level of its highest operation."""

    finding: str
    level: str
    case: Case


class FindingCaseResults(NamedTuple):
    """What own cases came to: those that differ, each with its finding, and those that could not be played."""

    failing: tuple[tuple[str, FailingCase], ...] = ()
    skipped: tuple[Skip, ...] = ()


def findings_folder() -> Path:
    """The findings, a folder each: in a checkout those of its documentation, else the copy in the package.

    Raises:
        UsageError: neither is there.
    """
    package = Path(entrycache_conformance.__file__).parent
    for place in (package / "findings", package.parents[1] / "docs" / "findings"):
        if (place / "README.md").is_file():
            return place
    raise UsageError("the findings are not there; expected a folder of them in the package; install entrycache anew")


def load_finding_cases(system: AnySystem) -> Mapping[str, tuple[FindingCase, ...]]:
    """The cases of a system's findings, by their names: `case.json` first, then what else a finding came to."""
    found: dict[str, tuple[FindingCase, ...]] = {}
    for path in _case_files(system):
        finding, case = path.parent.name, read_case(path, {system.name: system})
        found[finding] = (*found.get(finding, ()), FindingCase(finding, _highest_level(case), case))
    return found


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
    """Those of the findings that are asked for and have some; all, where all are asked for."""
    return tuple(one for name, own in cases.items() if {name, ALL_FINDINGS} & set(findings) for one in own)


def play_finding_cases(subject: TestedSubject, cases: Sequence[FindingCase], level: str) -> FindingCaseResults:
    """Play the cases of a level, each under the variants that the subject declares and those that the case needs.

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
            skipped.append(Skip(f"the case of {own.finding}", str(reason)))
            continue
        found = _play_finding_case(subject, case)
        if isinstance(found, SkippedRun):
            skipped.append(Skip(f"the case of {own.finding}", found.reason))
        elif found is not None:
            failing.append((own.finding, found))
    return FindingCaseResults(tuple(failing), tuple(skipped))


def _with_variants(variants: Any, case: Case) -> Case:
    """The case under these variants; where it has been written for one that is not the norm, under that."""
    needed = {name: getattr(case.config.variants, name) for name in variants_to_json(case.config)}
    config = dataclasses.replace(case.config, variants=dataclasses.replace(variants, **needed))
    return Case(case.system, config, case.steps)


def skipped_finding_cases(cases: Sequence[FindingCase], levels: Collection[str]) -> list[Skip]:
    """What a run says of the cases whose level it is not asked for."""
    return [
        Skip(f"the case of {own.finding}", f"it is one of level {own.level}, which was not asked for")
        for own in cases
        if own.level not in levels
    ]


def _play_finding_case(subject: TestedSubject, case: Case) -> FailingCase | SkippedRun | None:
    steps = run_reference(case, Coverage())
    answer = play(subject, case)
    if isinstance(answer, SkippedRun):
        return answer
    difference = judge(case, steps, answer, subject.declaration)
    if difference is None:
        return None
    met = FailingCase(case, steps, difference)
    if difference.is_silent:
        return met
    origin = attach_earlier_runs(subject, met)
    case, difference = shrink_case(case, difference, partial(find_difference, subject), MAX_TRIES)
    return confirm_failure(subject, FailingCase(case, run_reference(case, Coverage()), difference), origin)
