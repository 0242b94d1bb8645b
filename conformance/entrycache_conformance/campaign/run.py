"""Running a campaign: runs go out to every subject at once, answers are compared, what differs is shrunk."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_conformance.campaign.difference import Kept, keep
from entrycache_conformance.campaign.make import make_run
from entrycache_conformance.campaign.played import Run, same, send
from entrycache_conformance.campaign.subjects import artifact_of, common
from entrycache_conformance.judge import Coverage
from entrycache_conformance.subjects.child import Child
from entrycache_protocol.case import variants_to_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError
from entrycache_protocol.in_process import InProcess
from entrycache_reference.rules import Rule

AHEAD: Final = 6
"""Runs that are on their way while the next ones are made."""

CHECKED_ONE_IN: Final = 50
"""Of so many cases, one is made with every law looked at."""


class Plan(NamedTuple):
    """What a campaign was asked for.

    `theme` names one of the system's; `cases` None: as many as fit into `cpu_seconds`.
    """

    theme: str
    seed: int
    steps: int
    cases: int | None
    cpu_seconds: float | None
    differences: int
    failures: Path


class Campaign(NamedTuple):
    """What came out."""

    json: dict[str, Any]
    kept: list[Kept]


def run_campaign(subjects: Sequence[Child | InProcess], plan: Plan, notify: Callable[[int, int], None]) -> Campaign:
    """Play a campaign; `notify` is told the cases and the judged steps so far.

    Raises:
        UsageError: the subjects are not alike, or their system has no such theme.
    """
    declaration = common(subjects)
    theme = _theme(declaration, plan)
    menu = declaration.system.cases.menu(name for name in declaration.system.ops if name in declaration.ops)
    tally = _Tally(dict.fromkeys((subject.name for subject in subjects), 0))
    underway: deque[tuple[int, Run]] = deque()
    start = time.process_time()

    def wanted() -> bool:
        if len(tally.kept) >= plan.differences:
            return False
        if plan.cases is not None:
            return tally.made < plan.cases
        return plan.cpu_seconds is None or time.process_time() - start < plan.cpu_seconds

    while wanted() or underway:
        if wanted():
            seed = f"{plan.seed}/{plan.theme}/{tally.made}"
            run = make_run(declaration, menu, theme, seed, plan.steps, tally.coverage_of_next())
            for subject in subjects:
                send(subject, run)
            underway.append((tally.made, run))
            tally.add(run)
            if len(underway) <= AHEAD:
                continue
        _compare(subjects, *underway.popleft(), plan, tally)
        notify(tally.made, sum(tally.judged.values()))
    return Campaign(_record(declaration, subjects, plan, tally, time.process_time() - start), tally.kept)


@dataclass(slots=True)
class _Tally:
    """What was done so far: judged steps by subject, differences, cases, and those made with every law looked at."""

    judged: dict[str, int]
    kept: list[Kept] = field(default_factory=list)
    made: int = 0
    checked: int = 0
    coverage: Coverage = field(default_factory=Coverage)

    def coverage_of_next(self) -> Coverage | None:
        """Where the next case counts its laws, if it is one that does."""
        return self.coverage if self.made % CHECKED_ONE_IN == 0 else None

    def add(self, run: Run) -> None:
        """Count a case that was made."""
        if self.coverage_of_next() is not None:
            self.checked += 1
            self.coverage.steps += len(run.case.steps)
        self.made += 1


def _theme(declaration: Declaration, plan: Plan) -> Any:
    themes = declaration.system.cases.themes
    if plan.theme not in themes:
        raise UsageError(f"{declaration.system.name} has no theme {plan.theme!r}; expected one of: {', '.join(themes)}")
    return themes[plan.theme]


def _compare(subjects: Sequence[Child | InProcess], number: int, run: Run, plan: Plan, tally: _Tally) -> None:
    """Wait for the answers to a run, and keep what differs."""
    for subject in subjects:
        tally.judged[subject.name] += len(run.case.steps)
        if not same(subject, run):
            found = keep(subject.name, run.case, plan.failures)
            tally.kept += [] if found is None else [found._replace(number=number)]


def _record(
    declaration: Declaration, subjects: Sequence[Child | InProcess], plan: Plan, tally: _Tally, seconds: float
) -> dict[str, Any]:
    """The record of a campaign."""
    fired = tally.coverage.fired
    return {
        "schema": 1,
        "system": declaration.system.name,
        "theme": plan.theme,
        "seed": plan.seed,
        "cases": tally.made,
        "steps_a_case": plan.steps,
        "cpu_seconds": round(seconds, 1),
        "judged_steps": sum(tally.judged.values()),
        "judged": "every outcome of every step is compared with the reference's; "
        f"the laws are looked at in one case of {CHECKED_ONE_IN}, and the rules below are counted there",
        "subjects": [_told(subject, tally.judged[subject.name]) for subject in subjects],
        "laws": {
            "cases": tally.checked,
            "steps": tally.coverage.steps,
            "rules": {rule.value: fired[rule] for rule in Rule if fired.get(rule)},
            "cells": dict(sorted(tally.coverage.cells.items())),
        },
        "differences": [found.to_json() for found in tally.kept],
    }


def _told(subject: Child | InProcess, steps: int) -> dict[str, Any]:
    declaration = subject.declaration
    norm = type(declaration.limits)()
    return {
        "name": subject.name,
        "artifact": artifact_of(subject.name),
        "steps": steps,
        "variants": variants_to_json(declaration.base_config()),
        "limits": {
            name: getattr(declaration.limits, name)
            for name in norm.__dataclass_fields__
            if getattr(declaration.limits, name) != getattr(norm, name)
        },
        "findings": dict(sorted(declaration.findings.items())),
    }
