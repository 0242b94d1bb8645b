"""A failure that a search has found, with its rules and its case file; and the verdict of each rule at a level."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from entrycache_conformance.explain import explain
from entrycache_conformance.failures import Failure
from entrycache_conformance.judge import Coverage, trajectory
from entrycache_conformance.profiles import Profile
from entrycache_conformance.report import RuleReport
from entrycache_conformance.rule_levels import up_to
from entrycache_protocol.case import write_case
from entrycache_protocol.failure import FailingCase
from entrycache_protocol.output import tried
from entrycache_protocol.subject import UnderTest
from entrycache_protocol.verdict import Verdict
from entrycache_reference.rules import Rule


def explained(subject: UnderTest, failing: FailingCase) -> tuple[Rule, ...]:
    """The rules that a failure breaks, the likeliest first."""
    return explain(subject, failing.case, failing.steps, failing.difference)


def named_at(level: str, failing: FailingCase, rules: Sequence[Rule]) -> Sequence[Rule]:
    """Those of the rules that a case of this level can be about; where there is none, the rule of its operation."""
    system, met = failing.case.system, Coverage()
    if level == system.levels[-1] or failing.difference.is_silent:
        return rules
    trajectory(dataclasses.replace(failing.case, earlier=()), met)
    if all(met.fired.get(rule) for rule in rules):
        return rules
    own: Rule = type(failing.case.steps[failing.difference.at]).rule if failing.case.steps else rules[0]
    return up_to(system, level, rules) or [own]


def written(subject: UnderTest, failing: FailingCase, folder: Path, level: str) -> Failure:
    """A failure with its rules, and the case file that replays it."""
    rules = tuple(rule.value for rule in named_at(level, failing, explained(subject, failing)))
    path, unwritten = tried(lambda: write_case(failing.as_reported(rules), folder, rules[0].lower()))
    return dataclasses.replace(Failure.of(failing, rules, path, unwritten), level=level)


def rules_met(met: Coverage, verdict: Verdict, failures: Sequence[Failure], profile: Profile) -> dict[str, RuleReport]:
    """The verdict of each rule that fired at a level, or that a failure of it names; see `RuleReport`."""
    named = dict.fromkeys(rule for failure in failures for rule in failure.rules)
    fired = {rule.value: count for rule, count in met.fired.items() if count}
    enough = 1 if verdict is Verdict.CONFORMS else max(1, profile.rule_minimum)

    def judged(rule: str) -> RuleReport:
        count = fired.get(rule, 0)
        found = Verdict.CONFORMS if count >= enough else Verdict.NOTHING_CHECKED
        return RuleReport(count, Verdict.VIOLATES if rule in named else found)

    return {rule: judged(rule) for rule in sorted({*fired, *named}, key=in_their_order)}


def in_their_order(rule: str) -> tuple[str, int]:
    """The themes of rules by name, the rules of one by number."""
    theme, _, number = rule.rpartition("-")
    return theme, int(number)
