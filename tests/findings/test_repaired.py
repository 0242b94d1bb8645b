"""Findings that a subject does not show any more: a run notices them, and a failure names the variant behind it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from entrycache_conformance.finding_cases import find_repaired
from entrycache_conformance.levels import Profile
from entrycache_conformance.run import Options, conform
from entrycache_conformance.subjects.wrappers import NarrowedSubject, lift_waivers
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.reference import reference_subject
from entrycache_protocol.case import Case
from entrycache_protocol.errors import Verdict
from entrycache_protocol.subject import Answer
from entrycache_reference.kafka_streams.config import FlushedTombstone, Variants

FINDING: Final = "kafka-rewritten-tombstone-is-dropped"
DEFECT: Final = Variants(flushed_tombstone=FlushedTombstone.ANY_WRITE)


class Release(NarrowedSubject):
    """The reference of Kafka Streams with fixed variants of its own, whose driver declares the defect."""

    def __init__(self, own: Variants) -> None:
        inner = reference_subject(SYSTEMS["kafka-streams"])
        waived = {"variants.flushed_tombstone": FINDING}
        super().__init__(inner, replace(inner.declaration, variants=DEFECT, findings=waived))
        self._own = own

    def play(self, cases: Sequence[Case]) -> list[Answer]:
        return self.subject.play([replace(case, config=replace(case.config, variants=self._own)) for case in cases])


def test_a_finding_is_repaired_if_its_cases_follow_the_specification() -> None:
    assert find_repaired(Release(Variants())) == (FINDING,)
    assert find_repaired(Release(DEFECT)) == ()


@pytest.mark.long
def test_a_failure_that_only_a_variant_demands_names_the_option(tmp_path: Path) -> None:
    repaired = Release(Variants())
    options = Options(("cache",), Profile(200, 0, 0), 0, 0.0, tmp_path)
    report = conform(repaired, options)
    assert report.verdict is Verdict.VIOLATES
    assert all(f"--unmask {FINDING}" in failure.hint for failure in report.failures)
    assert conform(lift_waivers(repaired, [FINDING]), options).verdict is Verdict.CONFORMS
    assert conform(Release(DEFECT), options).verdict is Verdict.CONFORMS


@pytest.mark.long
def test_a_failure_that_a_variant_explains_names_it(tmp_path: Path) -> None:
    changed = NarrowedSubject(
        release := Release(DEFECT), replace(release.declaration, variants=Variants(), findings={})
    )
    report = conform(changed, Options(("cache",), Profile(200, 0, 0), 0, 0.0, tmp_path))
    assert report.verdict is Verdict.VIOLATES
    assert {failure.hint for failure in report.failures} == {
        "the subject answers as the variant flushed_tombstone=any-write does, which it does not declare"
    }
