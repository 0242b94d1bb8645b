"""`conform --rules` counts failures of those rules only, and `--list` prints the operations that they need."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from entrycache_conformance.explain import rules_at_level
from entrycache_conformance.judge import Coverage, run_reference
from entrycache_conformance.levels import levels_of_rules
from entrycache_conformance.report import LevelReport, RuleReport
from entrycache_conformance.run import restrict_level
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import case_from_json
from entrycache_protocol.errors import UsageError, Verdict
from entrycache_protocol.subject import Difference, FailedRun, FailingCase, FailureKind
from entrycache_reference.rules import Rule
from tests.support.command import run

PULSAR = SYSTEMS["pulsar-pip430"]
FAULT = "expire-at-the-cutoff"  # it breaks R-EXPIRE-1


def conform(capsys: pytest.CaptureFixture[str], folder: Path, rules: str, *more: str) -> tuple[int, Any]:
    options = ("--failures", str(folder), "--level", "queue", "--json")
    code, out, _ = run(capsys, "conform", FAULT, "--rules", rules, *options, *more)
    return code, json.loads(out) if out else None


@pytest.mark.long
def test_a_failure_of_an_asked_rule_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = conform(capsys, tmp_path, "R-EXPIRE-1, R-EVICT-8")
    assert (code, said["verdict"]) == (1, "violates")
    assert [failure["rule"] for failure in said["failures"]] == ["R-EXPIRE-1"]
    assert said["levels"]["queue"]["rules"].keys() <= {"R-EXPIRE-1", "R-EVICT-8"}


@pytest.mark.long
def test_a_failure_of_another_rule_is_reported_and_the_search_continues(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = conform(capsys, tmp_path, "R-READ-1")
    assert (code, said["verdict"], said["failures"]) == (0, "conforms", [])
    assert said["levels"]["queue"]["examples"] >= 400
    reasons = {skip["what"]: skip["reason"] for skip in said["skipped"]}
    assert str(tmp_path) in reasons["a failure of R-EXPIRE-1"]
    assert "operation expire" in reasons
    assert said["rules"].keys() == {"R-READ-1"}


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("", "is empty"),
        ("R-NONE-1", "has no rule 'R-NONE-1'"),
        ("K-PUT-1", "has no rule 'K-PUT-1'"),
        ("R-INSERT-7", "a rule of a variant"),
    ],
)
def test_rules_that_cannot_be_asked_are_refused(rules: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    for level in ([], ["--level", "queue"]):
        code, _, err = run(capsys, "conform", "reference", "--system", PULSAR.name, "--rules", rules, *level)
        assert (code, len(err.splitlines())) == (2, 1)
        assert said in err


@pytest.mark.long
def test_a_list_reports_the_needs_of_each_rule(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "conform", "--list", "--json")
    assert code == 0
    systems = json.loads(out)["systems"]
    assert systems.keys() == SYSTEMS.keys()
    levels = systems[PULSAR.name]
    assert tuple(levels) == PULSAR.levels
    assert levels["queue"]["rules"]["R-EXPIRE-1"]["ops"] == ["expire"]
    assert levels["queue"]["ops"] == ["advance", "expire", "evict", "mark_read", "expect_read"]
    rules = [rule for level in levels.values() for rule in level["rules"]]
    assert len(rules) == len(set(rules))
    lost = {rule.value for rule in PULSAR.laws.rules} - set(rules)
    assert lost == {rule.value for rule in PULSAR.laws.of_variants}


def test_a_list_reports_only_the_requested_rules(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "conform", "--list", "--rules", "R-EXPIRE-1", "--json")
    assert code == 0
    systems = json.loads(out)["systems"]
    assert {name: {level: [*of["rules"]] for level, of in levels.items()} for name, levels in systems.items()} == {
        PULSAR.name: {"queue": ["R-EXPIRE-1"]}
    }
    code, _, err = run(capsys, "conform", "--list", "--rules", "R-EXPIRE-99")
    assert code == 2
    assert "no level meets R-EXPIRE-99" in err


def test_a_list_reports_only_the_requested_levels(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "conform", "reference", "--list", "--level", "limits", "--json")
    assert code == 0
    assert {name: [*levels] for name, levels in json.loads(out)["systems"].items()} == {PULSAR.name: ["limits"]}
    code, _, err = run(capsys, "conform", "--list", "--level", "limit")
    assert code == 2
    assert "unknown level 'limit'" in err


def test_a_rule_is_asked_at_the_levels_that_meet_it() -> None:
    assert levels_of_rules(PULSAR, ["R-CURSOR-2"]) == ("cursors", "ledger", "inflight")
    assert levels_of_rules(PULSAR, ["R-CURSOR-2", "R-EVICT-8"]) == (
        *(level for level in PULSAR.levels[1:] if level not in {"limits", "pending"}),
    )
    assert levels_of_rules(PULSAR, ["R-LIMIT-2"])[0] == "limits"
    assert levels_of_rules(PULSAR, ["R-INFLIGHT-2"])[0] == "pending"
    with pytest.raises(UsageError, match="has no rule"):
        levels_of_rules(PULSAR, ["R-CURSOR-99"])


@pytest.mark.parametrize(
    ("level", "explained", "named"),
    [
        ("range", [Rule.CURSOR_2, Rule.METRICS_1], [Rule.METRICS_1]),
        ("range", [Rule.CURSOR_2], [Rule.METRICS_2]),
        ("cursors", [Rule.CURSOR_2], [Rule.CURSOR_2]),
    ],
)
def test_a_rule_of_a_higher_level_is_never_named(level: str, explained: list[Rule], named: list[Rule]) -> None:
    case = case_from_json({"system": PULSAR.name, "steps": [{"op": "usage"}]}, SYSTEMS)
    steps = run_reference(case, Coverage())
    outcome = steps[0].outcome
    assert PULSAR.ops["usage"].rule is Rule.METRICS_2
    assert rules_at_level(level, FailingCase(case, steps, Difference(0, outcome, outcome)), explained) == named
    hangs = Difference(0, outcome, None, FailedRun(FailureKind.HANG, None, "1 s"))
    assert rules_at_level(level, FailingCase(case, steps, hangs), [Rule.LIVENESS_1]) == [Rule.LIVENESS_1]


@pytest.mark.parametrize(
    ("level", "of_rule", "verdict"),
    [
        (Verdict.VIOLATES, Verdict.CONFORMS, Verdict.CONFORMS),
        (Verdict.VIOLATES, Verdict.NOTHING_CHECKED, Verdict.NOTHING_CHECKED),
        (Verdict.CONFORMS, Verdict.CONFORMS, Verdict.CONFORMS),
        (Verdict.NOTHING_CHECKED, Verdict.CONFORMS, Verdict.NOTHING_CHECKED),
    ],
)
def test_a_level_is_judged_by_the_rules_that_are_asked_for(level: Verdict, of_rule: Verdict, verdict: Verdict) -> None:
    rules = {"R-EXPIRE-1": RuleReport(5, Verdict.VIOLATES), "R-EVICT-8": RuleReport(5, of_rule)}
    judged = restrict_level(LevelReport(3, 9, level, (), None, rules), {"R-EVICT-8"})
    assert judged.verdict is verdict
    assert judged.rules == {"R-EVICT-8": RuleReport(5, of_rule)}
