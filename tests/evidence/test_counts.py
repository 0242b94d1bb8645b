"""Test the committed counts of bounded models, and the message about different ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from entrycache_dev.pages import model_counts as command
from entrycache_evidence.core.scheduler import run_alone
from entrycache_evidence.model_checker import evidence
from entrycache_evidence.model_checker import evidence as model_evidence
from entrycache_evidence.model_checker.evidence import Counts, Key
from entrycache_evidence.pulsar_pip430 import bounded_models
from entrycache_evidence.systems import PROFILES, SYSTEM_EVIDENCE

OFF = Key("pulsar-pip430", bounded_models.CACHING_OFF.name, None)


def test_the_counts_of_all_models_are_committed_and_no_others() -> None:
    every = {
        evidence.counts_key(scope)
        for entry in SYSTEM_EVIDENCE.values()
        for profile in PROFILES
        for scope in entry.models_of(profile)
    }
    assert every == evidence.load_counts().keys()


def test_other_counts_are_a_failure_that_says_how_to_accept_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert evidence.load_counts()[OFF] == Counts(2, 58, 2, True)
    monkeypatch.setattr(model_evidence, "load_counts", lambda: {OFF: Counts(2, 57, 2, True)})
    failures = run_alone(model_evidence.exhaust((bounded_models.CACHING_OFF,)))[1]
    assert [line for line in failures if "worlds.json" in line] == [
        "the bounded model 'caching switched off' of pulsar-pip430: 2 states and 58 transitions, closed now, 2 states "
        "and 57 transitions, closed, in worlds.json; if the change is intended: "
        "python -m entrycache_dev.pages.model_counts PROFILE"
    ]


def test_what_is_written_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "locate_counts", lambda: tmp_path / "worlds.json")
    assert evidence.load_counts() == {}
    held = {OFF: Counts(2, 58, 2, True), Key("kafka-streams", "one", 3): Counts(1, 2, 3, False)}
    evidence.write_counts(held)
    assert evidence.load_counts() == held


def test_with_missing_only_models_without_counts_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(evidence, "locate_counts", lambda: tmp_path / "worlds.json")
    entry = SYSTEM_EVIDENCE["pulsar-pip430"]._replace(ci=(bounded_models.CACHING_OFF, bounded_models.NO_BUDGET))
    monkeypatch.setattr(command, "SYSTEM_EVIDENCE", {"pulsar-pip430": entry})
    evidence.write_counts({OFF: Counts(1, 1, 1, True)})
    assert command.main(["ci", "--missing"]) == 0
    assert capsys.readouterr().out == "no budget: 544 states and 4308 transitions, closed\n"
    assert evidence.load_counts()[OFF] == Counts(1, 1, 1, True)
    assert command.main(["ci"]) == 0
    assert evidence.load_counts()[OFF] == Counts(2, 58, 2, True)
    assert command.main(["soon"]) == 2
