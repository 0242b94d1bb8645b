"""The cases of findings: a run that holds a subject to the norm where a finding stands plays the finding's own first.

A search meets a rare failure only by luck; the shortest sequence of a finding is known. So it is played before the
search of its level, and where it does not differ the search goes on as ever.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import entrycache_conformance
from entrycache_conformance.judge import Coverage, differs, judge, play, trajectory
from entrycache_conformance.replay import fit
from entrycache_conformance.report import Skip
from entrycache_conformance.settle import settled, with_earlier_runs
from entrycache_conformance.shrink import shortest
from entrycache_conformance.subjects.narrowed import ALL
from entrycache_protocol.case import Case, read_case
from entrycache_protocol.errors import UsageError
from entrycache_protocol.failure import FailingCase
from entrycache_protocol.subject import Skipped, UnderTest
from entrycache_protocol.system import AnySystem

TRIES: Final = 60
"""How many shorter cases are tried: on a subject that is not the finding's, less may do."""


class OwnCase(NamedTuple):
    """The case of a finding, and the level of its highest operation."""

    finding: str
    level: str
    case: Case


class Tried(NamedTuple):
    """What own cases came to: those that differ, each with its finding, and those that could not be played."""

    failing: tuple[tuple[str, FailingCase], ...] = ()
    skipped: tuple[Skip, ...] = ()


def folder() -> Path:
    """The findings, a folder each: in a checkout those of its documentation, else the copy in the package.

    Raises:
        UsageError: neither is there.
    """
    package = Path(entrycache_conformance.__file__).parent
    for place in (package / "findings", package.parents[1] / "docs" / "findings"):
        if (place / "README.md").is_file():
            return place
    raise UsageError("the findings are not there; expected a folder of them in the package; install entrycache anew")


def own_cases(system: AnySystem) -> Mapping[str, OwnCase]:
    """The cases of a system's findings, by their names."""
    read = {path.parent.name: read_case(path, {system.name: system}) for path in _files(system)}
    return {finding: OwnCase(finding, _level(case), case) for finding, case in read.items()}


def _files(system: AnySystem) -> list[Path]:
    mark = f'"system": "{system.name}"'
    return [path for path in sorted(folder().glob("*/case.json")) if mark in path.read_text("utf-8")]


def _level(case: Case) -> str:
    levels = case.system.levels
    return levels[max(levels.index(case.system.ops[type(op).name].level) for op in case.steps)]


def asked_cases(cases: Mapping[str, OwnCase], findings: Collection[str]) -> tuple[OwnCase, ...]:
    """Those of the findings that are asked for and have one; all, where all are asked for."""
    return tuple(one for name, one in cases.items() if {name, ALL} & set(findings))


def try_own(subject: UnderTest, cases: Sequence[OwnCase], level: str) -> Tried:
    """Play the cases of a level, each under the variants that the subject declares.

    Raises:
        BrokenSubject: a case breaks the subject.
    """
    failing, skipped = [], []
    for own in cases:
        if own.level != level:
            continue
        config = dataclasses.replace(own.case.config, variants=subject.declaration.base_config().variants)
        case = Case(own.case.system, config, own.case.steps)
        try:
            fit(case, subject)
        except UsageError as reason:
            skipped.append(Skip(f"the case of {own.finding}", str(reason)))
            continue
        found = _played(subject, case)
        if isinstance(found, Skipped):
            skipped.append(Skip(f"the case of {own.finding}", found.reason))
        elif found is not None:
            failing.append((own.finding, found))
    return Tried(tuple(failing), tuple(skipped))


def unplayed(cases: Sequence[OwnCase], levels: Collection[str]) -> list[Skip]:
    """What a run says of the cases whose level it is not asked for."""
    return [
        Skip(f"the case of {own.finding}", f"it is one of level {own.level}, which was not asked for")
        for own in cases
        if own.level not in levels
    ]


def _played(subject: UnderTest, case: Case) -> FailingCase | Skipped | None:
    steps = trajectory(case, Coverage())
    answer = play(subject, case)
    if isinstance(answer, Skipped):
        return answer
    difference = judge(case, steps, answer, subject.declaration)
    if difference is None:
        return None
    met = FailingCase(case, steps, difference)
    if difference.is_silent:
        return met
    origin = with_earlier_runs(subject, met)
    case, difference = shortest(case, difference, partial(differs, subject), TRIES)
    return settled(subject, FailingCase(case, trajectory(case, Coverage()), difference), origin)
