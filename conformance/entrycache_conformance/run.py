"""One conformance run: judge every requested level of a system on what the subject declares.

For each level, data flows one way: `search` finds a failing case, `shrink` shortens and confirms it, `explain` names
the rules that it breaks, and the result goes into the report. Before the search the run checks itself on a reference
that is broken on purpose, and plays the cases of findings. A clean run must also have exercised enough rules.

`conform` takes a subject and `Options` and returns a `RunReport`. `conform_to_rules` restricts a run to some rules: it
repeats the run without the operations that showed failures of other rules.
"""

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from entrycache_conformance import explain, finding_cases, judge, shrink
from entrycache_conformance.failure import Failure
from entrycache_conformance.levels import (
    CONCURRENT_LEVEL,
    Profile,
    check_cost,
    check_minimums,
    find_exercising_ops,
    find_shortfall,
    run_self_check,
)
from entrycache_conformance.report import (
    Exemption,
    LevelReport,
    LevelResult,
    RuleReport,
    RunReport,
    Skip,
    build_partial_report,
    build_report,
    judge_rules,
    seconds_since,
)
from entrycache_conformance.search import WAIVED, replace_cut_runs, search_level
from entrycache_conformance.subjects.wrappers import without_operations
from entrycache_protocol.errors import Interrupted, RestartError, Verdict, keep_partial_result, map_partial_result
from entrycache_protocol.subject import SkippedRun, TestedSubject

MAX_RULE_ROUNDS: Final = 6
"""The number of runs without the operations that showed failures of other rules."""


class Options(NamedTuple):
    """The options of a run.

    `failures` is the folder of case files. With `bulk_seconds` random cases follow the search of each level, on `jobs`
    processes. `first` are the cases to play before the search of their level. A `definition` is checked at each step of
    the reference next to its laws; it is for runs whose subject is the reference. Failures of a `known` shape do not
    count.
    """

    levels: tuple[str, ...]
    profile: Profile
    seed: int
    bulk_seconds: float
    failures: Path
    first: tuple[finding_cases.FindingCase, ...] = ()
    definition: judge.Definition | None = None
    known: explain.KnownShapes = explain.KnownShapes()
    jobs: int = 1


class Notify(Protocol):
    """A callback that takes a level, the examples judged so far, and those wanted.

    While a failure is shrunk and confirmed, the wanted number is 0, and `activity` says what is done and how far it is.
    """

    def __call__(self, level: str, done: int, wanted: int, activity: str = "", /) -> None:
        """Take the progress of a run."""


def conform(subject: TestedSubject, options: Options, notify: Notify = lambda *_: None) -> RunReport:
    """Judge a subject at each level.

    Raises:
        BrokenSubject: the subject does not speak the protocol.
        SelfCheckFailed: our error.
        Interrupted: with the report of the levels that were judged.
        UsageError: cases under the settings that the subject fixes would take too long.
    """
    check_cost(subject.declaration, subject.name)
    coverage = judge.Coverage(definition=options.definition)
    parts: dict[str, LevelResult] = {}
    with keep_partial_result(lambda: build_partial_report(subject, coverage, parts, options.levels)):
        return _judge_levels(subject, options, coverage, parts, notify)


def _judge_levels(
    subject: TestedSubject, options: Options, coverage: judge.Coverage, parts: dict[str, LevelResult], notify: Notify
) -> RunReport:
    """Judge the levels one after the other and enter each result into `parts`."""
    for level in options.levels:
        if level != CONCURRENT_LEVEL:
            unplayed = LevelReport(missing=subject.declaration.missing_ops(level))
            with _reporting_restarts(level, unplayed, parts):
                _judge_level(subject, level, options, coverage, notify, unplayed, parts)
    seldom = check_minimums(subject.declaration, parts, options.profile, coverage)
    skipped = [skip for part in parts.values() for skip in part.skipped] + seldom
    skipped += finding_cases.skipped_finding_cases(options.first, options.levels) if options.first else []
    if CONCURRENT_LEVEL in options.levels:
        from entrycache_conformance.histories import judge_histories  # noqa: PLC0415 - only this level needs it

        progress = partial(notify, CONCURRENT_LEVEL)
        profile, seed, folder = options.profile, options.seed, options.failures
        with _reporting_restarts(CONCURRENT_LEVEL, LevelReport(), parts):
            try:
                parts[CONCURRENT_LEVEL] = judge_histories(subject, profile, seed, folder, coverage.fired, progress)
            except Interrupted as stopped:
                parts[CONCURRENT_LEVEL] = stopped.partial_result
                raise
        skipped += parts[CONCURRENT_LEVEL].skipped
    return build_report(subject, coverage, parts, skipped)


def _judge_level(
    subject: TestedSubject,
    level: str,
    options: Options,
    coverage: judge.Coverage,
    notify: Notify,
    unplayed: LevelReport,
    parts: dict[str, LevelResult],
) -> None:
    """Judge one level, if the subject offers something of it, and enter its result into `parts`.

    If the level is stopped, its failures are entered, also one that was not shrunk or confirmed yet.
    """
    declaration = subject.declaration
    menu = declaration.system.cases.menu(declaration.ops_up_to(level), level)
    unjudged = ""
    if any(part.hung for part in parts.values()):
        unjudged = "a run of an earlier level never ended, and this level plays its operations too"
    elif not declaration.system.own_ops(level) & declaration.ops:
        unjudged = "the subject declares no operation of this level"
    elif not run_self_check(declaration, menu, options.seed):
        unjudged = (
            "the operations of this level that the subject declares are never played without others, or answer nothing"
        )
    if unjudged:
        parts[level] = LevelResult(unplayed, skipped=(Skip(f"level {level}", unjudged),))
        return
    started_at = time.monotonic()
    results = finding_cases.FindingCaseResults()
    if options.first:
        results = finding_cases.play_finding_cases(subject, options.first, level)
    if results.failing:
        parts[level] = finding_cases.report_failing_cases(
            subject, results, level, options.failures, options.profile.rule_minimum, seconds_since(started_at)
        )
        return
    covered = judge.Coverage(definition=coverage.definition, detectable=set(coverage.detectable))

    def progress(count: int) -> None:
        notify(level, covered.examples + count, options.profile.examples if count else 0)

    examples = options.profile.examples
    collector = shrink.FailureCollector(
        subject, options.known, lambda activity: notify(level, covered.examples, 0, activity)
    )
    searched = _SearchedLevel(unplayed, level, options, covered, collector, started_at, results.skipped)
    try:
        result = search_level(
            collector, menu, examples, options.seed, options.bulk_seconds, covered, progress, collector.collect,
            options.jobs,
        )  # fmt: skip
        declined = result.skipped
        if declined and covered.examples < examples and not collector.failures:
            declined += replace_cut_runs(
                collector, menu, examples, options.seed, covered, progress, collector.collect
            ).skipped
        collector.collect_behind_silence(menu, examples, options.seed)
    except KeyboardInterrupt:
        if collector.failures:
            parts[level] = _report_level(subject, searched._replace(is_stopped=True), coverage, [])
        raise
    parts[level] = _report_level(subject, searched, coverage, declined)


class _SearchedLevel(NamedTuple):
    """A level whose search has ended or was stopped: what it covered, and the failures that were collected."""

    unplayed: LevelReport
    level: str
    options: Options
    covered: judge.Coverage
    collector: shrink.FailureCollector
    started_at: float
    skipped: tuple[Skip, ...]
    is_stopped: bool = False


def _report_level(
    subject: TestedSubject, searched: _SearchedLevel, coverage: judge.Coverage, declined: Sequence[SkippedRun]
) -> LevelResult:
    """Write the failures of a level, add what it covered to `coverage`, and return its result."""
    level, options, covered = searched.level, searched.options, searched.covered
    declaration, failing_cases = subject.declaration, searched.collector.failures
    coverage.add_all(covered)
    reasons = Counter(run.reason for run in declined if run is not WAIVED or not failing_cases)
    skipped = tuple(Skip(f"{level}: {count} runs", reason) for reason, count in sorted(reasons.items()))
    failures = tuple(
        replace(
            explain.write_failure(subject, failing, options.failures, level, at_once=searched.is_stopped),
            hint="" if searched.is_stopped else finding_cases.explain_by_variants(subject, failing),
        )
        for failing in failing_cases
    )
    shortfall = find_shortfall(declaration, level, options.profile, covered)
    clean = Verdict.NOTHING_CHECKED if shortfall else Verdict.CONFORMS
    skipped += (Skip(f"level {level}", shortfall),) if shortfall and not failures else ()
    judged = replace(
        searched.unplayed,
        examples=covered.examples,
        steps=covered.steps,
        verdict=Verdict.VIOLATES if failures else clean,
    )
    explain.note_detectable(declaration, covered)
    coverage.detectable |= covered.detectable
    undetectable = frozenset(rule.value for rule in covered.fired.keys() - covered.detectable)
    rules = judge_rules(covered.fired, judged.verdict, failures, options.profile.rule_minimum, undetectable)
    judged = replace(judged, rules=rules, seconds=seconds_since(searched.started_at))
    return LevelResult(judged, failures, skipped + searched.skipped, any(failing.is_hang for failing in failing_cases))


@contextmanager
def _reporting_restarts(level: str, unplayed: LevelReport, parts: dict[str, LevelResult]) -> Iterator[None]:
    """Report the level as unplayed if the subject cannot restart, so that earlier failures are reported.

    Raises:
        RestartError: the earlier levels have no failures.
    """
    try:
        yield
    except RestartError as error:
        if not any(part.failures for part in parts.values()):
            raise
        parts[level] = LevelResult(unplayed, skipped=(Skip(f"level {level}", str(error)),))


def conform_to_rules(subject: TestedSubject, rules: Collection[str], options: Options, notify: Notify) -> RunReport:
    """Judge a subject by these rules alone. A failure counts if it may break one of them.

    A level conforms if every requested rule that can fire there fired often enough. If its search ended at a failure
    of another rule, the requested rules that had fired too rarely by then count as `nothing-checked`. So do those that
    an operation could exercise which was left out.
    """
    left_out: set[str] = set()
    merged: RunReport | None = None
    others: dict[str, Failure] = {}
    for _ in range(MAX_RULE_ROUNDS):
        remaining = without_operations(subject, frozenset(left_out)) if left_out else subject
        with map_partial_result(partial(_restrict_partial_report, rules=rules, before=merged)):
            report = conform(remaining, options, notify)
        merged = report if merged is None else merged.merged_with(report)
        unrelated = [failure for failure in report.failures if not set(failure.rules) & set(rules)]
        others |= {failure.case: failure for failure in unrelated}
        failing_ops = {
            type(case.steps[one.step]).name
            for one in unrelated
            if (case := one.failing_case) is not None and case.steps
        }
        rest = remaining.declaration.ops - failing_ops
        if not failing_ops or len(unrelated) < len(report.failures) or not rest or "insert" in failing_ops:
            break
        left_out |= failing_ops
    assert merged is not None
    exercising = find_exercising_ops(subject.declaration.system, options.levels) if left_out else {}
    hidden = {rule: ops for rule in sorted(rules) if (ops := exercising.get(rule, set()) & left_out)}
    return _restrict_report(merged, rules, tuple(others.values()), left_out, hidden)


def _restrict_partial_report(stopped: RunReport, rules: Collection[str], before: RunReport | None) -> RunReport:
    """Restrict the report of a stopped run, after the reports `before` it, to these rules."""
    report = stopped if before is None else before.merged_with(stopped)
    others = [failure for failure in report.failures if not set(failure.rules) & set(rules)]
    return _restrict_report(report, rules, others, (), {})


def _restrict_report(
    report: RunReport, rules: Collection[str], others: Iterable[Failure], left_out: Collection[str],
    hidden: Mapping[str, Collection[str]],
) -> RunReport:  # fmt: skip
    """Restrict a report to these rules. `hidden` are rules that operations which were left out could exercise."""
    files = {failure.case for failure in others}
    failures = tuple(one for one in report.failures if one.case not in files)
    skipped = [Skip(f"a failure of {one.rules[0]}", f"it was not requested; its case is {one.case}") for one in others]
    skipped += [Skip(f"operation {name}", "left out after it had shown a failure of another rule") for name in left_out]
    fired = {rule: count for rule, count in report.rules.items() if rule in rules}
    named = {rule for failure in failures for rule in failure.rules}
    unmet = [rule for rule, count in fired.items() if not count and rule not in named]
    skipped += [Skip(rule, "it was requested, and no judged step exercised it") for rule in unmet]
    levels = {name: restrict_level(hide_rules(level, hidden), rules) for name, level in report.levels.items()}
    skipped += [
        Skip(rule, f"it was requested, and {', '.join(sorted(ops))}, which was left out, could show it broken")
        for rule, ops in hidden.items()
        if rule not in named
    ]
    exercised = {name: level for name, level in levels.items() if level.rules}
    skipped += [
        Skip(f"level {name}", "it exercised none of the requested rules") for name in levels if name not in exercised
    ]
    levels = exercised or levels
    if unmet:
        levels = {name: _mark_unchecked(level) for name, level in levels.items()}
    requested = Exemption("rules", ", ".join(sorted(rules)), "only these rules count")
    exceptions = (*report.exceptions, requested)
    skipped = [*report.skipped, *skipped]
    return replace(report, levels=levels, rules=fired, failures=failures, skipped=tuple(skipped), exceptions=exceptions)


def restrict_level(level: LevelReport, rules: Collection[str]) -> LevelReport:
    """Restrict a level to these rules."""
    restricted = {rule: report for rule, report in level.rules.items() if rule in rules}
    return replace(level, rules=restricted, verdict=_verdict(level, restricted.values()))


def _verdict(level: LevelReport, rules: Iterable[RuleReport]) -> Verdict:
    """Return the verdict of the rules alone. A level that checked nothing as a whole has not checked them either."""
    verdicts = {one.verdict for one in rules}
    if Verdict.VIOLATES in verdicts:
        return Verdict.VIOLATES
    unchecked = level.verdict is Verdict.NOTHING_CHECKED or verdicts != {Verdict.CONFORMS}
    return Verdict.NOTHING_CHECKED if unchecked else Verdict.CONFORMS


def hide_rules(level: LevelReport, rules: Collection[str]) -> LevelReport:
    """Return the level with these rules unchecked where they would conform."""
    hidden = {
        rule: judged._replace(verdict=Verdict.NOTHING_CHECKED)
        for rule, judged in level.rules.items()
        if rule in rules and judged.verdict is Verdict.CONFORMS
    }
    return replace(level, rules={**level.rules, **hidden})


def _mark_unchecked(level: LevelReport) -> LevelReport:
    violates = level.verdict is Verdict.VIOLATES
    return level if violates else replace(level, verdict=Verdict.NOTHING_CHECKED)
