"""`entrycache rules`: one rule with its example, the check, and the option that writes."""

from __future__ import annotations

import json

import pytest

from entrycache_cli.commands import rules
from entrycache_cli.main import main
from entrycache_evidence.core.rule_registry import Problem
from entrycache_reference.rules import Rule


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(["rules", *arguments])
    return int(ended.value.code or 0), capsys.readouterr().out


def test_one_rule_is_printed_with_its_example_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(capsys, "R-EXPIRE-1")
    assert code == 0
    assert "R-EXPIRE-1.json: 1:0 is 11 ns old when the pass begins" in said
    assert "expire, older_than_nanos 10" in said
    assert "Seeded fault: A time pass takes entries as old as the cutoff." in said


def test_in_json_a_rule_is_what_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    _, said = run(capsys, "R-EXPIRE-1", "--json")
    assert [rule["id"] for rule in json.loads(said)["rules"]] == ["R-EXPIRE-1"]


def test_a_file_that_is_not_current_fails_the_check_which_says_what_writes_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = Problem("spec/pulsar-pip430", "is not current; `entrycache rules --write` writes it")
    monkeypatch.setattr(rules.agreement, "check_rules", lambda texts: [stale])
    code, said = run(capsys, "--check")
    assert code == 1
    assert said.splitlines() == [f"spec/pulsar-pip430: {stale.what}", "1 problems"]


def test_write_writes_and_prints_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bool] = []
    monkeypatch.setattr(rules.agreement, "write_rules", lambda: written.append(True))
    assert run(capsys, "--write") == (0, "")
    assert written == [True]


def test_with_a_rule_the_check_is_about_that_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[Rule] = []

    def problems_of(rule: Rule) -> list[Problem]:
        checked.append(rule)
        return [Problem(rule.value, "has no seeded fault")]

    monkeypatch.setattr(rules.agreement, "check_rule", problems_of)
    assert run(capsys, "R-EXPIRE-1", "--check") == (1, "R-EXPIRE-1: has no seeded fault\n1 problems\n")
    assert checked == [Rule.EXPIRE_1]
    assert run(capsys, "R-NONE-1", "--check")[0] == 2
