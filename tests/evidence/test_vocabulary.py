"""Test that operations are as `spec` states them; a difference is reported with its place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_dev.matrix import detectors
from entrycache_evidence import run
from entrycache_evidence.core import checkout
from entrycache_evidence.core.rule_registry import Problem
from entrycache_evidence.rulebook import agreement
from entrycache_evidence.systems import PROFILES, SYSTEM_EVIDENCE
from entrycache_protocol.system import AnySystem
from entrycache_reference.kafka_streams import Config
from entrycache_reference.kafka_streams.config import CALLS_MAX
from entrycache_reference.vocabulary import Span
from tests.support.evidence.systems import replace_system

KAFKA = SYSTEMS["kafka-streams"]


@pytest.mark.parametrize("name", SYSTEM_EVIDENCE)
def test_the_reference_has_the_vocabulary_of_its_specification(name: str) -> None:
    assert checkout.find_vocabulary_difference(SYSTEMS[name]) == ""


@dataclass(frozen=True, slots=True)
class Other(Config):
    """Another budget."""

    reentry_budget: Annotated[int, Span(0, CALLS_MAX)] = 9


def other(system: AnySystem) -> AnySystem:
    return system._replace(model=system.model._replace(config=Other))


def test_another_default_is_reported_with_its_place_and_fails_prove(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "properties/config/properties/reentry_budget/default is 9 here, 8 in case.schema.json"
    assert checkout.find_vocabulary_difference(other(KAFKA)) == said
    replace_system(monkeypatch, other(KAFKA))
    assert run._check_vocabulary(KAFKA.name) == ([], [f"kafka-streams: {said}"])
    assert agreement._vocabulary() == [Problem("spec/kafka-streams", said)]
    assert detectors.laws(other(KAFKA), detectors.QUICK) == said


def test_every_profile_of_prove_checks_vocabulary_and_large_runs_of_every_system() -> None:
    for profile in PROFILES:
        parts = {what for what, _ in run._parts(profile, ("z3", "crosshair", "tlc"))}
        assert parts >= {
            f"the {what} of {name}"
            for what in ("vocabulary", "large runs", "bounded models")
            for name in SYSTEM_EVIDENCE
        }


def test_the_check_of_the_rules_compares_the_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other checks are replaced, because they take long and have tests of their own."""
    for other_check in ("_links", "_tests", "_fires", "_mutants", "_flips"):
        monkeypatch.setattr(agreement, other_check, lambda *_: [])
    for check_of_examples in ("check_example", "check_strays"):
        monkeypatch.setattr(agreement.examples, check_of_examples, lambda *_: [])
    monkeypatch.setattr(agreement, "build_corpus", lambda *_: SimpleNamespace(recordings=True))
    monkeypatch.setattr(checkout, "find_vocabulary_difference", lambda system: system.name)
    assert agreement.check_rules() == [Problem(f"spec/{name}", name) for name in SYSTEM_EVIDENCE]


def test_an_operation_more_or_less_is_reported() -> None:
    fewer = KAFKA._replace(ops=dict(list(KAFKA.ops.items())[:-1]))
    assert "is not there here, " in checkout.find_vocabulary_difference(fewer)


def test_what_is_written_is_read_as_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / KAFKA.name).mkdir()
    monkeypatch.setattr(checkout, "locate_spec_folder", lambda: tmp_path)
    assert checkout.find_vocabulary_difference(KAFKA) == "kafka-streams/case.schema.json is missing"
    checkout.write_spec_files(KAFKA)
    assert checkout.find_vocabulary_difference(KAFKA) == ""
