"""The released stores differ from a plain map: the rule is named, and a declared variant is followed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from entrycache_conformance.java.releases import release_versions
from entrycache_conformance.judge import Coverage, answer_case, judge, run_reference
from entrycache_conformance.replay import replay_case
from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.kafka_streams.runs import RELEASED
from entrycache_protocol.case import read_case
from entrycache_protocol.subject import TestedSubject
from tests.support.jvm.params import newest_in_every_run

CASES: Final = sorted((Path(__file__).parent / "store_cases").glob("*.json"))
STEPS_MAX: Final = 8


@pytest.fixture(scope="module", params=newest_in_every_run(release_versions("kafka-streams")))
def released(request: pytest.FixtureRequest, released_subject: Callable[[str], TestedSubject]) -> TestedSubject:
    return released_subject(f"kafka-streams:{request.param}")


def test_there_are_cases() -> None:
    assert len(CASES) == 4


@pytest.mark.long
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_release_breaks_the_rule_of_the_case(path: Path, released: TestedSubject) -> None:
    case = read_case(path, SYSTEMS)
    replayed = replay_case(path, released)
    assert replayed.stale == []
    assert replayed.failure is not None
    assert set(case.rules) <= set(replayed.failure.rules)
    assert len(case.steps) <= STEPS_MAX


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_reference_follows_the_release_where_its_variants_are_declared(path: Path, released: TestedSubject) -> None:
    case = read_case(path, SYSTEMS)
    followed = replace(case, config=replace(case.config, variants=RELEASED), outcomes=())
    steps = run_reference(followed, Coverage())
    assert judge(followed, steps, answer_case(released, followed), released.declaration) is None


def test_a_release_declares_its_variants_with_findings(released: TestedSubject) -> None:
    declared = released.declaration
    assert declared.variants == RELEASED
    assert {"variants.delivery", "variants.delete_read"} <= declared.findings.keys()
