"""A run that asks for some rules only: failures of others are told, not counted, and the search goes on behind them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from entrycache_conformance.failure import Failure
from entrycache_conformance.known import failing_case, merge_reports
from entrycache_conformance.report import LevelReport, RuleReport, RunReport, Skip
from entrycache_conformance.run import Notify, Options, conform
from entrycache_conformance.subjects.wrappers import without_operations
from entrycache_protocol.errors import Verdict
from entrycache_protocol.subject import TestedSubject

MAX_RULE_ROUNDS: Final = 6
"""How often a run goes on behind failures of other rules, each time without the operations that showed them."""


def conform_to_rules(subject: TestedSubject, rules: Collection[str], options: Options, notify: Notify) -> RunReport:
    """Judge a subject by these rules: a failure counts that names one of them, as one that it may break.

    A level conforms where every rule that was asked for, and is met there at all, was met often enough; where its
    search ended at a failure of another rule it has checked nothing of those that it had met too seldom by then.
    """
    left_out: set[str] = set()
    whole: RunReport | None = None
    others: dict[str, Failure] = {}
    for _ in range(MAX_RULE_ROUNDS):
        narrowed = without_operations(subject, frozenset(left_out)) if left_out else subject
        report = conform(narrowed, options, notify)
        whole = report if whole is None else merge_reports(whole, report)
        beside = [failure for failure in report.failures if not set(failure.rules) & set(rules)]
        others |= {failure.case: failure for failure in beside}
        shown = {
            type(case.steps[one.step]).name for one in beside if (case := failing_case(one)) is not None and case.steps
        }
        rest = narrowed.declaration.ops - shown
        if not shown or len(beside) < len(report.failures) or not rest or "insert" in shown:
            break
        left_out |= shown
    assert whole is not None
    return _restrict_report(whole, rules, tuple(others.values()), left_out)


def _restrict_report(
    report: RunReport, rules: Collection[str], others: Iterable[Failure], left_out: set[str]
) -> RunReport:
    """The report as far as it is about these rules."""
    files = {failure.case for failure in others}
    failures = tuple(one for one in report.failures if one.case not in files)
    skipped = [Skip(f"a failure of {one.rules[0]}", f"it was not asked for; its case is {one.case}") for one in others]
    skipped += [Skip(f"operation {name}", "left out after it had shown a failure not asked for") for name in left_out]
    fired = {rule: count for rule, count in report.rules.items() if rule in rules}
    named = {rule for failure in failures for rule in failure.rules}
    unmet = [rule for rule, count in fired.items() if not count and rule not in named]
    skipped += [Skip(rule, "it was asked for, and no judged step met it") for rule in unmet]
    levels = {name: restrict_level(level, rules) for name, level in report.levels.items()}
    met = {name: level for name, level in levels.items() if level.rules}
    skipped += [Skip(f"level {name}", "it met none of the rules asked for") for name in levels if name not in met]
    levels = met or levels
    if unmet:
        levels = {name: _mark_unchecked(level) for name, level in levels.items()}
    return replace(report, levels=levels, rules=fired, failures=failures, skipped=(*report.skipped, *skipped))


def restrict_level(level: LevelReport, rules: Collection[str]) -> LevelReport:
    """A level as far as it is about these rules."""
    met = {rule: told for rule, told in level.rules.items() if rule in rules}
    return replace(level, rules=met, verdict=_verdict(level, met.values()))


def _verdict(level: LevelReport, met: Iterable[RuleReport]) -> Verdict:
    """Of the rules alone; a level that has checked nothing as a whole has not checked them either."""
    found = {one.verdict for one in met}
    if Verdict.VIOLATES in found:
        return Verdict.VIOLATES
    unchecked = level.verdict is Verdict.NOTHING_CHECKED or found != {Verdict.CONFORMS}
    return Verdict.NOTHING_CHECKED if unchecked else Verdict.CONFORMS


def _mark_unchecked(level: LevelReport) -> LevelReport:
    violates = level.verdict is Verdict.VIOLATES
    return level if violates else replace(level, verdict=Verdict.NOTHING_CHECKED)
