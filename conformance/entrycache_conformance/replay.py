"""Replaying one case file: whether it still fails, and what the reference says of it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

from entrycache_conformance.explain import explain
from entrycache_conformance.failures import Failure
from entrycache_conformance.judge import Coverage, judge, play, trajectory
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import Case, read_case
from entrycache_protocol.errors import UsageError
from entrycache_protocol.failure import FailingCase
from entrycache_protocol.history import History
from entrycache_protocol.strict_json import same_json
from entrycache_protocol.subject import Skipped, UnderTest
from entrycache_protocol.verdict import Verdict


class Replayed(NamedTuple):
    """What a replay shows. `failure` None: subject and reference agree. `stale`: steps at which the outcomes
    written into the file are not the reference's."""

    case: Case
    failure: Failure | None
    skipped: Skipped | None
    stale: list[int]

    @property
    def verdict(self) -> Verdict:
        """What it comes to."""
        if self.skipped is not None:
            return Verdict.NOTHING_CHECKED
        return Verdict.CONFORMS if self.failure is None else Verdict.VIOLATES


def replay(path: Path, subject: UnderTest) -> Replayed:
    """Play the case of a file on a subject and judge it.

    Raises:
        UsageError: no readable case, or one that the subject cannot be asked.
    """
    case = read_case(path, SYSTEMS)
    for run in (*case.earlier, case):
        fit(run, subject)
    steps = trajectory(case, Coverage())
    answer = play(subject, case)
    expected = [case.system.wire.write_outcome(done.outcome) for done in steps]
    stale = [
        index
        for index, outcome in enumerate(case.outcomes)
        if index >= len(expected) or not same_json(outcome, expected[index])
    ]
    if isinstance(answer, Skipped):
        return Replayed(case, None, answer, stale)
    difference = judge(case, steps, answer, subject.declaration)
    if difference is None:
        return Replayed(case, None, None, stale)
    rules = tuple(rule.value for rule in explain(subject, case, steps, difference))
    return Replayed(case, Failure.of(FailingCase(case, steps, difference), rules, str(path)), None, stale)


def fit(case: Case | History, subject: UnderTest) -> None:
    """Refuse a case that asks for what the subject does not offer.

    Raises:
        UsageError: another system, an operation that is not declared, a setting that is fixed otherwise.
    """
    declaration = subject.declaration
    if case.system is not declaration.system:
        raise UsageError(f"the case is about {case.system.name}, {subject.name} offers {declaration.system.name}")
    missing = sorted({type(op).name for op in case.steps} - declaration.ops)
    if missing:
        raise UsageError(f"{subject.name} does not offer {', '.join(missing)}, which the case needs")
    reason = declaration.system.cases.unfit(declaration, case.config, case.steps)
    if reason:
        raise UsageError(f"{subject.name}: {reason}")
    base: Any = declaration.base_config()
    for field in dataclasses.fields(base):
        if field.name == "variants" or getattr(base, field.name) is None or declaration.varies(field.name):
            continue
        wanted, has = getattr(case.config, field.name), getattr(base, field.name)
        if field.name in declaration.fixed and wanted != has:
            raise UsageError(f"{subject.name} has {field.name} fixed to {has!r}, the case needs {wanted!r}")
