"""A rule file with `as RULE of SYSTEM` states that rule, and may add to it."""

from __future__ import annotations

import pytest

from entrycache_spark.common.rule_files import RuleFile, all_rules, referenced_views, shared_view

THEIRS = {rule.id: rule for rule in all_rules("pulsar-pip430")}
OURS = {rule.id: rule for rule in all_rules("pulsar-legacy")}


def queries_of(rule: RuleFile) -> tuple[object, ...]:
    return rule.checked, rule.needs, rule.window, rule.conditions


@pytest.mark.parametrize(("ours", "theirs"), [("L-STATE-1", "R-STATE-1"), ("L-INVALIDATE-3", "R-INVALIDATE-7")])
def test_a_file_that_adds_nothing_is_the_same_rule(ours: str, theirs: str) -> None:
    assert queries_of(OURS[ours]) == queries_of(THEIRS[theirs])


def test_added_conditions_are_checked_as_well() -> None:
    ours, theirs = OURS["L-TRIGGER-1"], THEIRS["R-TRIGGER-1"]
    assert set(theirs.conditions) < set(ours.conditions)


def test_several_rules_are_combined() -> None:
    ours, frame, lives = OURS["L-LIVENESS-1"], THEIRS["R-STATE-4"], THEIRS["R-STATE-8"]
    assert (ours.conditions, ours.window) == (frame.conditions, lives.window)
    assert ours.checked != frame.checked


def test_a_view_is_the_systems_own_or_that_of_the_first_system() -> None:
    assert shared_view("pulsar-legacy", "survivors") == shared_view("pulsar-pip430", "survivors")
    assert shared_view("pulsar-legacy", "removal_calls") != shared_view("pulsar-pip430", "removal_calls")
    assert referenced_views(shared_view("pulsar-legacy", "survivors")) == ("removal_calls",)
