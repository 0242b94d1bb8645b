"""Conformance runs of kafka-streams: the reference passes; seeded faults are caught, shrunk and named."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from entrycache_conformance.levels import Profile
from entrycache_conformance.run import Options, conform
from entrycache_conformance.search import OMITTING_ONE_TO, profile_case_count
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.reference import open_reference, reference_offer, reference_subject
from entrycache_evidence.core.models import FAULT_OF
from entrycache_faults.model import Fault
from entrycache_protocol.errors import Verdict
from entrycache_protocol.subject import InProcessSubject
from entrycache_reference.rules import Rule

SYSTEM: Final = SYSTEMS["kafka-streams"]
STEPS_MAX: Final = 8
FAULTS: Final = (
    Rule.K_PUT_3,
    Rule.K_GET_1,
    Rule.K_EVICT_3,
    Rule.K_FLUSH_3,
    Rule.K_LISTEN_2,
    Rule.K_STORE_1,
)


@pytest.mark.long
def test_the_reference_conforms_at_every_level_with_a_thousand_examples(tmp_path: Path) -> None:
    options = Options(SYSTEM.levels, Profile(1_000, 20, 0), 0, 0.0, tmp_path)
    report = conform(reference_subject(SYSTEM), options).to_json()
    assert report["verdict"] == "conforms"
    further = (*SYSTEM.cases.extra_workloads.values(), OMITTING_ONE_TO)
    examples = 1_000 + sum(profile_case_count(1_000, one_to) for one_to in further)
    assert {name: level["examples"] for name, level in report["levels"].items()} == dict.fromkeys(
        SYSTEM.levels, examples
    )
    assert report["rules"].keys() == {rule.value for rule in Rule if rule.value.startswith("K-")}
    assert report["skipped"] == []


def faulty(fault: Fault) -> InProcessSubject:
    """Return the reference with a seeded fault as a subject; the judge has none."""
    return InProcessSubject("faulty", SYSTEM, open_reference(fault.model), reference_offer(SYSTEM))


@pytest.mark.long
@pytest.mark.parametrize("rule", FAULTS, ids=lambda rule: rule.value)
def test_a_seeded_fault_is_caught_shrunk_and_named(rule: Rule, tmp_path: Path) -> None:
    level = "store" if rule is Rule.K_STORE_1 else "cache"
    report = conform(faulty(FAULT_OF[rule]), Options((level,), Profile(1_500, 0, 0), 0, 0.0, tmp_path))
    assert report.verdict is Verdict.VIOLATES
    failure = report.failures[0]
    assert failure.steps <= STEPS_MAX
    assert rule.value in failure.rules
