"""Campaigns: long seeded runs of several subjects next to the reference.

Each case is made once and sent to every subject. Several runs are on their way while the next ones are made, and the
answers are compared as they come. A differing case is confirmed on a fresh subject, shortened, and written down. The
result is a `Campaign` with its JSON record.

Some workload profiles are played by a program in the JVM instead (`PROGRAMS`).
"""

from __future__ import annotations

import dataclasses
import hashlib
import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import entrycache_fast
from entrycache_conformance import generate, resolve, unpinned
from entrycache_conformance.java import driver, releases
from entrycache_conformance.judge import Coverage, judge, run_reference
from entrycache_conformance.levels import CONCURRENT_LEVEL
from entrycache_conformance.subjects.child import Child
from entrycache_protocol import errors, files, wire
from entrycache_protocol.case import Case, variants_to_json, write_case
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.subject import Difference, FailingCase, InProcessSubject, RunResult, TestedSubject
from entrycache_protocol.system import AnySystem, seeded_draw
from entrycache_reference.rules import Rule

SILENCE_SECONDS: Final = 120
"""The time after which a silent child is ended, and the campaign with it."""


CampaignSubject: TypeAlias = Child | unpinned.FittedSubject | InProcessSubject
"""A subject of a campaign: ours, a released jar, or jars whose variants were found."""


def open_subject(name: str, system: str | None = None) -> CampaignSubject:
    """Open the subject of that name, one of ours, a released jar or a jar. `system` says which of ours is meant.

    Raises:
        UsageError: there is no such subject.
    """
    if resolve.is_released(name) or resolve.is_jar(name):
        released = resolve.resolve_subject(resolve.SubjectChoice(name, timeout_seconds=SILENCE_SECONDS))
        assert isinstance(released, Child | unpinned.FittedSubject)
        return released
    subject = resolve.open_in_process(name, system)
    if subject is None:
        raise errors.UsageError(
            f"unknown subject {name!r}; a campaign takes fast, "
            f"or released jars such as {releases.example_subjects()[0]}"
        )
    return subject


def artifact_of(name: str) -> dict[str, str]:
    """Return what a subject was played from, with its checksum: its jar, or our package."""
    jar = None
    if resolve.is_jar(name):
        jar = Path(name)
    elif resolve.is_released(name):
        pinned = releases.find_release(name) is not None
        jar = driver.jar_under_test(name) if pinned else unpinned.jar_under_test(name)
    if jar is not None:
        return {"jar": jar.name, "sha256": hashlib.sha256(jar.read_bytes()).hexdigest()}
    return {"package": "entrycache_fast", "sha256": sources_digest(entrycache_fast.__path__[0])}


def common_declaration(subjects: Sequence[CampaignSubject]) -> Declaration:
    """Return what all subjects take: their common operations and settings, under the narrowest of their limits.

    Raises:
        UsageError: two of them follow different variants, or not all of them carry payload.
    """
    first = subjects[0].declaration
    merged = first
    for subject in subjects[1:]:
        other = subject.declaration
        same = (other.system, other.variants, other.payload, other.fixed, other.introspection)
        if same != (first.system, first.variants, first.payload, first.fixed, first.introspection):
            raise errors.UsageError(
                f"{subjects[0].name} and {subject.name} are not alike; give each a campaign of its own"
            )
        merged = dataclasses.replace(
            merged,
            ops=merged.ops & other.ops,
            config=merged.sent_keys & other.sent_keys,
            limits=merged.limits.narrowest(other.limits),
        )
    return merged


def sources_digest(folder: str) -> str:
    """Return one checksum of all Python sources in a folder."""
    content = hashlib.sha256()
    for path in sorted(Path(folder).rglob("*.py")):
        content.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return content.hexdigest()


class Run(NamedTuple):
    """One run in progress: the case, its request as text, the reference's steps, and its answers as JSON."""

    case: Case
    line: str
    steps: list[Any]
    expected_json: list[Any]


def send_run(subject: CampaignSubject, run: Run) -> None:
    """Start a run; a subject of this process plays it when its answer is read."""
    process = _process(subject)
    if process is not None:
        process.send(run.line)


def _process(subject: CampaignSubject) -> Child | None:
    """Return the process of a subject that has one."""
    return (
        subject.process
        if isinstance(subject, unpinned.FittedSubject)
        else subject
        if isinstance(subject, Child)
        else None
    )


def has_same_answers(subject: CampaignSubject, run: Run) -> bool:
    """Return whether the subject answers the oldest sent run as the reference does, typed or as JSON.

    Where a promise allows several answers, each of them is the same.

    Raises:
        BrokenSubject: a child ended, was silent, or answered no JSON.
    """
    process = _process(subject)
    if process is not None:
        answer = process.receive()
        same = are_same_outcomes(run.expected_json, answer.get("outcomes")) and not answer.get("leaked")
        return same or _is_allowed_answer(process.declaration, run, answer)
    played = subject.play([run.case])[0]
    return isinstance(played, RunResult) and judge(run.case, run.steps, played, subject.declaration) is None


def _is_allowed_answer(declaration: Declaration, run: Run, answer: dict[str, Any]) -> bool:
    """Return whether the answer of a process is one of those that the promises allow."""
    try:
        got = wire.read_answer(answer, run.case, 0, declaration)
    except errors.BrokenSubject:
        return False
    return isinstance(got, RunResult) and judge(run.case, run.steps, got, declaration) is None


def are_same_outcomes(expected: list[Any], got: Any) -> bool:
    """Return whether outcomes are the same, apart from error messages and the payload of nothing."""
    if type(got) is not list or len(got) != len(expected):
        return False
    return all(one == other or _is_same_outcome(one, other) for one, other in zip(expected, got, strict=True))


def _is_same_outcome(one: dict[str, Any], other: Any) -> bool:
    if type(other) is not dict:
        return False
    if "tokens" not in one and other.get("tokens") == []:
        other = {name: value for name, value in other.items() if name != "tokens"}
    return bool(_without_messages(other) == one)


def _without_messages(value: Any) -> Any:
    if type(value) is dict:
        left = {name: _without_messages(each) for name, each in value.items()}
        if "error" in left:
            left.pop("message", None)
        return left
    return [_without_messages(each) for each in value] if type(value) is list else value


MAX_CACHED_OUTCOMES: Final = 200_000
"""The number of outcomes that are kept with their JSON; most outcomes are small and recur."""

_OUTCOME_JSON: dict[Any, dict[str, Any]] = {}


def make_run(
    declaration: Declaration,
    menu: Sequence[str],
    workload: Any,
    seed: str,
    steps: int,
    coverage: Coverage | None,
) -> Run:
    """Make a run of that many steps. With `coverage` every law is checked after every step."""
    generated = generate.make_case(seeded_draw(random.Random(seed)), declaration, menu, coverage, steps, workload)
    encoded = [_outcome_json(declaration.system, done.outcome) for done in generated.steps]
    request = wire.encode_request(generated.case, 0, declaration)
    return Run(generated.case, request, generated.steps, encoded)


def _outcome_json(system: AnySystem, outcome: Any) -> dict[str, Any]:
    try:
        known: dict[str, Any] | None = _OUTCOME_JSON.get((type(outcome), outcome))
    except TypeError:  # what `observe` shows holds mappings
        return system.wire.write_outcome(outcome)
    if known is None:
        known = system.wire.write_outcome(outcome)
        if len(_OUTCOME_JSON) < MAX_CACHED_OUTCOMES:
            _OUTCOME_JSON[type(outcome), outcome] = known
    return known


DIFFERENCE_TRIES = 2_000
"""The number of times that a case is played while it is shortened."""


class CampaignDifference(NamedTuple):
    """One difference: the number of its case in the campaign, and the shortened case with both answers.

    `file` is the case file. It is empty if the file could not be written, and `unwritten` says why.
    """

    subject: str
    number: int
    case: Case
    difference: Difference
    file: str
    unwritten: str

    def to_json(self) -> dict[str, Any]:
        """Return the object in the campaign's record."""
        got = self.difference.got
        return {
            "subject": self.subject,
            "case": self.number,
            "steps": len(self.case.steps),
            "op": type(self.case.steps[self.difference.at]).name,
            "expected": self.case.system.wire.write_outcome(self.difference.expected),
            "got": None if got is None else self.case.system.wire.write_outcome(got),
            "file": Path(self.file).name,
        }


def confirm_difference(name: str, case: Case, folder: Path) -> CampaignDifference | None:
    """Return the difference of a subject from the reference on this case; None if a fresh process shows none."""
    subject = resolve.resolve_subject(resolve.SubjectChoice(name))
    try:
        shortest = _shortest_case(subject, case)
    finally:
        subject.close()
    if shortest is None:
        return None
    short, difference = shortest
    reported = FailingCase(short, run_reference(short, Coverage()), difference).as_reported()
    file, unwritten = files.try_write(lambda: write_case(reported, folder, name.replace(":", "-")))
    return CampaignDifference(name, 0, reported, difference, file, unwritten)


def _shortest_case(subject: TestedSubject, case: Case) -> tuple[Case, Difference] | None:
    """Return the shortest case found that still differs, and its difference; None if the case does not differ."""

    def differs(shorter: Case) -> Difference | None:
        return judge(shorter, run_reference(shorter, Coverage()), subject.play([shorter])[0], subject.declaration)

    difference = differs(case)
    return (
        None if difference is None else generate.shrink_case(case, difference, differs, DIFFERENCE_TRIES, forwards=True)
    )


RUNS_AHEAD: Final = 6
"""The number of runs that are in progress while the next ones are made."""

CHECKED_ONE_IN: Final = 50
"""The distance between two cases whose laws are checked: one case in so many."""


class Program(NamedTuple):
    """A workload profile that a program in the JVM plays by itself.

    `play` takes subjects, a seed and a number of cases, and returns the record. `kept` returns the part of it that is
    written.
    """

    play: Callable[[Sequence[str], int, int], dict[str, Any]]
    kept: Callable[[dict[str, Any]], dict[str, Any]] = lambda record: record


PROGRAMS: Final = {"containers": "pulsar_pip430", "promises": "kafka_streams"}
"""The module of each program: the containers of cursors, and the promises that each step of a thread cache keeps."""


def load_program(profile: str) -> Program:
    """Import the program of a workload profile."""
    program: Program = import_module(f"entrycache_conformance.campaign.{PROGRAMS[profile]}").PROGRAM
    return program


class CampaignPlan(NamedTuple):
    """The request for a campaign.

    `workload` names a workload profile of the system. Without `cases` there are as many as fit into `cpu_seconds`.
    Without `level` the cases have operations of all levels alike.
    """

    workload: str
    level: str | None
    seed: int
    steps: int
    cases: int | None
    cpu_seconds: float | None
    differences: int
    failures: Path


class Campaign(NamedTuple):
    """The result of a campaign."""

    json: dict[str, Any]
    kept: list[CampaignDifference]

    def stopped(self) -> Campaign:
        """Return the campaign marked as stopped before its end."""
        return self._replace(json={**self.json, "stopped": True})


def run_campaign(
    subjects: Sequence[CampaignSubject], plan: CampaignPlan, notify: Callable[[int, int], None]
) -> Campaign:
    """Play a campaign. `notify` is called with the numbers of cases and of judged steps so far.

    Raises:
        UsageError: the subjects are not of the same kind, or their system has no such workload profile.
        Interrupted: with the cases that every subject has answered.
    """
    declaration = common_declaration(subjects)
    workload = _require_workload(declaration, plan)
    menu = _menu(declaration, plan.level)
    tally = _CampaignCounts(dict.fromkeys((subject.name for subject in subjects), 0))
    underway: deque[_SentCase] = deque()
    start = time.process_time()

    def wanted() -> bool:
        if len(tally.kept) >= plan.differences:
            return False
        if plan.cases is not None:
            return tally.generated < plan.cases
        return plan.cpu_seconds is None or time.process_time() - start < plan.cpu_seconds

    def partial_result() -> Campaign:
        return Campaign(_campaign_record(declaration, subjects, plan, tally, time.process_time() - start), tally.kept)

    with errors.keep_partial_result(lambda: partial_result().stopped()):
        while wanted() or underway:
            if wanted():
                seed = f"{plan.seed}/{plan.workload}/{tally.generated}"
                laws = Coverage() if tally.generated % CHECKED_ONE_IN == 0 else None
                run = make_run(declaration, menu, workload, seed, plan.steps, laws)
                for subject in subjects:
                    send_run(subject, run)
                underway.append(_SentCase(tally.generated, run, laws))
                tally.generated += 1
                if len(underway) <= RUNS_AHEAD:
                    continue
            _compare_answers(subjects, underway.popleft(), plan, tally)
            notify(tally.compared, sum(tally.judged.values()))
        return partial_result()


class _SentCase(NamedTuple):
    """A case in progress: its number, its run, and the coverage of its laws if they were checked."""

    number: int
    run: Run
    laws: Coverage | None


@dataclass(slots=True)
class _CampaignCounts:
    """The counts so far: cases that were made, and cases that every subject has answered, with their differences.

    `judged` counts steps by subject. `coverage` is that of the cases whose laws were checked.
    """

    judged: dict[str, int]
    kept: list[CampaignDifference] = field(default_factory=list)
    generated: int = 0
    compared: int = 0
    coverage: Coverage = field(default_factory=Coverage)


def _menu(declaration: Declaration, level: str | None) -> Sequence[str]:
    """Return the operations of the cases: of all levels, or of one and those below it as `conform` plays it."""
    if level is None:
        return declaration.system.cases.menu(name for name in declaration.system.ops if name in declaration.ops)
    offered = [each for each in declaration.system.levels if declaration.system.own_ops(each) & declaration.ops]
    if level not in offered or level == CONCURRENT_LEVEL:
        names = ", ".join(each for each in offered if each != CONCURRENT_LEVEL)
        raise errors.UsageError(f"the subjects have no cases of level {level!r}; expected one of: {names}")
    return declaration.system.cases.menu(declaration.ops_up_to(level), level)


def _require_workload(declaration: Declaration, plan: CampaignPlan) -> Any:
    workloads, of_levels = declaration.system.cases.workloads, declaration.system.cases.level_workloads
    if plan.workload in of_levels:
        profile, levels = of_levels[plan.workload]
        if plan.level not in levels:
            raise errors.UsageError(
                f"the workload profile {plan.workload} belongs to some levels; give --level one of: {', '.join(levels)}"
            )
        return profile
    if plan.workload not in workloads:
        names = ", ".join((*workloads, *of_levels))
        raise errors.UsageError(
            f"{declaration.system.name} has no workload profile {plan.workload!r}; expected one of: {names}"
        )
    return workloads[plan.workload]


def _compare_answers(
    subjects: Sequence[CampaignSubject], sent: _SentCase, plan: CampaignPlan, tally: _CampaignCounts
) -> None:
    """Wait for the answers to a run, and keep what differs."""
    steps = len(sent.run.case.steps)
    for subject in subjects:
        if not has_same_answers(subject, sent.run):
            difference = confirm_difference(subject.name, sent.run.case, plan.failures)
            tally.kept += [] if difference is None else [difference._replace(number=sent.number)]
        tally.judged[subject.name] += steps
    tally.compared += 1
    if sent.laws is not None:
        sent.laws.steps = steps
        tally.coverage.add(sent.laws, sent.run.case, ())


def _campaign_record(
    declaration: Declaration,
    subjects: Sequence[CampaignSubject],
    plan: CampaignPlan,
    tally: _CampaignCounts,
    seconds: float,
) -> dict[str, Any]:
    """Return the record of a campaign."""
    fired = tally.coverage.fired
    return {
        "schema": 1,
        "system": declaration.system.name,
        "theme": plan.workload,
        **({} if plan.level is None else {"level": plan.level}),
        "seed": plan.seed,
        "cases": tally.compared,
        "steps_a_case": plan.steps,
        "cpu_seconds": round(seconds, 1),
        "judged_steps": sum(tally.judged.values()),
        "judged": "every outcome of every step is compared with the reference's; "
        f"the laws are looked at in one case of {CHECKED_ONE_IN}, and the rules below are counted there",
        "subjects": [_subject_record(subject, tally.judged[subject.name]) for subject in subjects],
        "laws": {
            "cases": tally.coverage.examples,
            "steps": tally.coverage.steps,
            "rules": {rule.value: fired[rule] for rule in Rule if fired.get(rule)},
            "cells": dict(sorted(tally.coverage.cells.items())),
        },
        "differences": [difference.to_json() for difference in tally.kept],
    }


def _subject_record(subject: CampaignSubject, steps: int) -> dict[str, Any]:
    declaration = subject.declaration
    defaults = type(declaration.limits)()
    return {
        "name": subject.name,
        "artifact": artifact_of(subject.name),
        "steps": steps,
        "variants": variants_to_json(declaration.base_config()),
        "limits": {
            name: getattr(declaration.limits, name)
            for name in defaults.__dataclass_fields__
            if getattr(declaration.limits, name) != getattr(defaults, name)
        },
        "findings": dict(sorted(declaration.findings.items())),
    }
