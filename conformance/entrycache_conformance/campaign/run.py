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
from entrycache_protocol.stopped import keeping
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

    def stopped(self) -> Campaign:
        """The same, and that it was stopped before it was over."""
        return self._replace(json={**self.json, "stopped": True})


def run_campaign(subjects: Sequence[Child | InProcess], plan: Plan, notify: Callable[[int, int], None]) -> Campaign:
    """Play a campaign; `notify` is told the cases and the judged steps so far.

    Raises:
        UsageError: the subjects are not alike, or their system has no such theme.
        Stopped: with the cases that every subject has answered.
    """
    declaration = common(subjects)
    theme = _theme(declaration, plan)
    menu = declaration.system.cases.menu(name for name in declaration.system.ops if name in declaration.ops)
    tally = _Tally(dict.fromkeys((subject.name for subject in subjects), 0))
    underway: deque[_Made] = deque()
    start = time.process_time()

    def wanted() -> bool:
        if len(tally.kept) >= plan.differences:
            return False
        if plan.cases is not None:
            return tally.made < plan.cases
        return plan.cpu_seconds is None or time.process_time() - start < plan.cpu_seconds

    def so_far() -> Campaign:
        return Campaign(_record(declaration, subjects, plan, tally, time.process_time() - start), tally.kept)

    with keeping(lambda: so_far().stopped()):
        while wanted() or underway:
            if wanted():
                seed = f"{plan.seed}/{plan.theme}/{tally.made}"
                laws = Coverage() if tally.made % CHECKED_ONE_IN == 0 else None
                run = make_run(declaration, menu, theme, seed, plan.steps, laws)
                for subject in subjects:
                    send(subject, run)
                underway.append(_Made(tally.made, run, laws))
                tally.made += 1
                if len(underway) <= AHEAD:
                    continue
            _compare(subjects, underway.popleft(), plan, tally)
            notify(tally.compared, sum(tally.judged.values()))
        return so_far()


class _Made(NamedTuple):
    """A case on its way: its number, its run, and the laws that were met in it where they were looked at."""

    number: int
    run: Run
    laws: Coverage | None


@dataclass(slots=True)
class _Tally:
    """What was done so far: cases that were made; those that every subject has answered, with what was found in them.

    `judged`: steps by subject; `coverage`: of the cases that were made with every law looked at.
    """

    judged: dict[str, int]
    kept: list[Kept] = field(default_factory=list)
    made: int = 0
    compared: int = 0
    coverage: Coverage = field(default_factory=Coverage)


def _theme(declaration: Declaration, plan: Plan) -> Any:
    themes = declaration.system.cases.themes
    if plan.theme not in themes:
        raise UsageError(f"{declaration.system.name} has no theme {plan.theme!r}; expected one of: {', '.join(themes)}")
    return themes[plan.theme]


def _compare(subjects: Sequence[Child | InProcess], made: _Made, plan: Plan, tally: _Tally) -> None:
    """Wait for the answers to a run, and keep what differs."""
    steps = len(made.run.case.steps)
    for subject in subjects:
        if not same(subject, made.run):
            found = keep(subject.name, made.run.case, plan.failures)
            tally.kept += [] if found is None else [found._replace(number=made.number)]
        tally.judged[subject.name] += steps
    tally.compared += 1
    if made.laws is not None:
        made.laws.steps = steps
        tally.coverage.add(made.laws)


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
        "cases": tally.compared,
        "steps_a_case": plan.steps,
        "cpu_seconds": round(seconds, 1),
        "judged_steps": sum(tally.judged.values()),
        "judged": "every outcome of every step is compared with the reference's; "
        f"the laws are looked at in one case of {CHECKED_ONE_IN}, and the rules below are counted there",
        "subjects": [_told(subject, tally.judged[subject.name]) for subject in subjects],
        "laws": {
            "cases": tally.coverage.examples,
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
