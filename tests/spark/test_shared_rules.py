"""A rule file with `as RULE of SYSTEM` states that rule, and takes over its proof only if it adds nothing."""

from __future__ import annotations

import pytest

from entrycache_spark.common.rule_files import RuleFile, all_rules, parse_rule, referenced_views, shared_view

THEIRS = {rule.id: rule for rule in all_rules("pulsar-pip430")}
OURS = {rule.id: rule for rule in all_rules("pulsar-legacy")}


def queries_of(rule: RuleFile) -> tuple[object, ...]:
    return rule.checked, rule.needs, rule.window, rule.conditions, rule.witness, rule.balance


@pytest.mark.parametrize(("ours", "theirs"), [("L-STATE-1", "R-STATE-1"), ("L-INVALIDATE-3", "R-INVALIDATE-7")])
def test_a_file_that_adds_nothing_is_the_same_rule(ours: str, theirs: str) -> None:
    assert queries_of(OURS[ours]) == queries_of(THEIRS[theirs])
    assert OURS["L-STATE-1"].witness is not None


def test_added_conditions_are_checked_as_well() -> None:
    ours, theirs = OURS["L-TRIGGER-1"], THEIRS["R-TRIGGER-1"]
    assert set(theirs.conditions) < set(ours.conditions)
    assert ours.witness is not None
    assert all(condition.fails in ours.witness for condition in ours.conditions)


def test_several_rules_are_combined_and_no_single_witness_proves_them() -> None:
    ours, frame, lives = OURS["L-LIVENESS-1"], THEIRS["R-STATE-4"], THEIRS["R-STATE-8"]
    assert frame.witness is not None
    assert (ours.conditions, ours.window, ours.witness) == (frame.conditions, lives.window, None)
    assert ours.checked != frame.checked


def test_a_witness_is_dropped_if_the_file_adds_something() -> None:
    text = "-- as R-STATE-1 of pulsar-pip430\n\n-- over ordered\nfalse\n\n-- expected\n''\n\n-- observed\n''\n"
    assert parse_rule("L-X-1", text).witness is None


def test_a_view_is_the_systems_own_or_that_of_the_first_system() -> None:
    assert shared_view("pulsar-legacy", "survivors") == shared_view("pulsar-pip430", "survivors")
    assert shared_view("pulsar-legacy", "removal_calls") != shared_view("pulsar-pip430", "removal_calls")
    assert referenced_views(shared_view("pulsar-legacy", "survivors")) == ("removal_calls",)
