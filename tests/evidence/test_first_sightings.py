"""Test the names of models that detect a fault first: they save time, and results do not depend on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from entrycache_dev.pages import model_counts as command
from entrycache_evidence.core import checkout
from entrycache_evidence.model_checker import evidence
from entrycache_evidence.model_checker.evidence import refute
from entrycache_evidence.pulsar_pip430 import bounded_models
from entrycache_evidence.systems import SYSTEM_EVIDENCE
from entrycache_reference.rules import Rule

SHALLOW = replace(bounded_models.PAIR, name="shallow", depth=1)
"""No fault of a requeue shows in one step."""


def test_each_committed_name_is_a_model_of_a_pull_request() -> None:
    names = {scope.name for entry in SYSTEM_EVIDENCE.values() for scope in entry.ci}
    held = evidence.load_first_sightings()
    assert held
    assert set(held.values()) <= names


def test_a_fault_is_searched_for_in_the_named_model_first() -> None:
    refutation = refute(Rule.STATE_2, (bounded_models.ACCESS_OFF, bounded_models.PAIR))
    named = refute(Rule.STATE_2, (bounded_models.ACCESS_OFF, bounded_models.PAIR), bounded_models.PAIR.name)
    assert refutation is not None
    assert named is not None
    assert (refutation.scope, named.scope) == (bounded_models.ACCESS_OFF, bounded_models.PAIR)


def test_if_the_named_model_does_not_show_the_fault_all_are_searched() -> None:
    refutation = refute(Rule.STATE_2, (SHALLOW, bounded_models.PAIR), SHALLOW.name)
    assert refutation is not None
    assert refutation.scope is bounded_models.PAIR
    assert refute(Rule.STATE_2, (SHALLOW,), SHALLOW.name) is None


def test_what_is_written_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "locate_first_sightings", lambda: tmp_path / "soonest.json")
    assert evidence.load_first_sightings() == {}
    held = {Rule.STATE_2: "two", Rule.STATE_1: "one"}
    evidence.write_first_sightings(held)
    assert evidence.load_first_sightings() == held
    assert list(evidence.load_first_sightings()) == [Rule.STATE_1, Rule.STATE_2]


def test_the_command_writes_where_each_fault_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(evidence, "locate_first_sightings", lambda: tmp_path / "soonest.json")
    entry = SYSTEM_EVIDENCE["pulsar-pip430"]._replace(ci=(bounded_models.CACHING_OFF, SHALLOW))
    monkeypatch.setattr(command, "SYSTEM_EVIDENCE", {"pulsar-pip430": entry})
    assert command.main(["ci", "--soonest"]) == 0
    held = evidence.load_first_sightings()
    assert held[Rule.STATE_9] == bounded_models.CACHING_OFF.name
    assert held[Rule.INSERT_1] == SHALLOW.name
    assert Rule.REQUEUE_2 not in held
    assert f"R-STATE-9: {bounded_models.CACHING_OFF.name}\n" in capsys.readouterr().out
    evidence.write_first_sightings({rule: name for rule, name in held.items() if rule is not Rule.STATE_9})
    assert command.main(["ci", "--soonest", "--missing"]) == 0
    assert evidence.load_first_sightings() == held
    assert capsys.readouterr().out == f"R-STATE-9: {bounded_models.CACHING_OFF.name}\n"


def test_outside_of_a_source_checkout_nothing_is_committed_nor_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkout, "locate_checkout", lambda: None)
    assert evidence.load_first_sightings() == {}
    with pytest.raises(FileNotFoundError, match=r"soonest\.json is written in a source checkout only"):
        evidence.write_first_sightings({Rule.STATE_1: "one"})
