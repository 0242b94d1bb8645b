"""Running a campaign: runs go out to every subject at once, answers are compared, what differs is shrunk."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_conformance.campaign.difference import Kept, keep
from entrycache_conformance.campaign.make import make_run
from entrycache_conformance.campaign.played import Run, same, send
from entrycache_conformance.campaign.subjects import artifact_of, common
from entrycache_conformance.judge import Coverage
from entrycache_conformance.subjects.child import Child
from entrycache_protocol.case import variants_to_json
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
    themes = declaration.system.cases.themes
    if plan.theme not in themes:
        raise UsageError(f"{declaration.system.name} has no theme {plan.theme!r}; expected one of: {', '.join(themes)}")
    theme = themes[plan.theme]
    menu = declaration.system.cases.menu(name for name in declaration.system.ops if name in declaration.ops)
    coverage = Coverage()
    judged = dict.fromkeys((subject.name for subject in subjects), 0)
    kept: list[Kept] = []
    underway: deque[tuple[int, Run]] = deque()
    made = checked = 0
    start = time.process_time()

    def wanted() -> bool:
        if plan.cases is not None:
            return made < plan.cases
        return plan.cpu_seconds is None or time.process_time() - start < plan.cpu_seconds

    while (wanted() and len(kept) < plan.differences) or underway:
        if wanted() and len(kept) < plan.differences:
            is_checked = made % CHECKED_ONE_IN == 0
            seed = f"{plan.seed}/{plan.theme}/{made}"
            run = make_run(declaration, menu, theme, seed, plan.steps, coverage if is_checked else None)
            checked += is_checked
            coverage.steps += len(run.case.steps) if is_checked else 0
            for subject in subjects:
                send(subject, run)
            underway.append((made, run))
            made += 1
            if len(underway) <= AHEAD:
                continue
        number, run = underway.popleft()
        for subject in subjects:
            judged[subject.name] += len(run.case.steps)
            if not same(subject, run):
                found = keep(subject.name, run.case, plan.failures)
                kept += [] if found is None else [found._replace(number=number)]
        notify(made, sum(judged.values()))
    return Campaign(
        {
            "schema": 1,
            "system": declaration.system.name,
            "theme": plan.theme,
            "seed": plan.seed,
            "cases": made,
            "steps_a_case": plan.steps,
            "cpu_seconds": round(time.process_time() - start, 1),
            "judged_steps": sum(judged.values()),
            "judged": "every outcome of every step is compared with the reference's; "
            f"the laws are looked at in one case of {CHECKED_ONE_IN}, and the rules below are counted there",
            "subjects": [_told(subject, judged[subject.name]) for subject in subjects],
            "laws": {
                "cases": checked,
                "steps": coverage.steps,
                "rules": {rule.value: coverage.fired[rule] for rule in Rule if coverage.fired.get(rule)},
                "cells": dict(sorted(coverage.cells.items())),
            },
            "differences": [found.to_json() for found in kept],
        },
        kept,
    )


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
