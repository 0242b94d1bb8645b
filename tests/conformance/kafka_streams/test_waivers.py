"""A waiver is lifted: the subject is held to the specification where its finding is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from entrycache_conformance.java.releases import newest_release
from entrycache_conformance.levels import PROFILES
from entrycache_conformance.run import Options, conform
from entrycache_conformance.subjects.wrappers import NarrowedSubject, lift_waivers
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.pulsar_pip430.workload import Limits
from entrycache_conformance.systems.reference import reference_subject
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError, Verdict
from entrycache_protocol.subject import InProcessSubject, TestedSubject
from entrycache_reference.kafka_streams.config import FlushedTombstone, Total, Variants

VARIANTS = Variants(total=Total.RUNNING, flushed_tombstone=FlushedTombstone.ANY_WRITE)
TOMBSTONE = Variants(flushed_tombstone=FlushedTombstone.ANY_WRITE)
LIMITS = Limits(tail_ties=False)
FINDINGS = {"variants.total": "twice, endless", "variants.flushed_tombstone": "dropped", "limits.tail_ties": "ties"}


def waiving() -> NarrowedSubject:
    subject: InProcessSubject = reference_subject(SYSTEMS["kafka-streams"])
    declared = subject.declaration
    return NarrowedSubject(
        subject,
        Declaration(
            declared.system, declared.ops, variants=VARIANTS, limits=Limits(tail_ties=False), findings=FINDINGS
        ),
    )


@pytest.mark.parametrize(
    ("finding", "variants", "ties", "left"),
    [
        ("dropped", Variants(total=Total.RUNNING), False, {"variants.total", "limits.tail_ties"}),
        (
            "endless",
            Variants(flushed_tombstone=FlushedTombstone.ANY_WRITE),
            False,
            FINDINGS.keys() - {"variants.total"},
        ),
        ("ties", VARIANTS, True, {"variants.total", "variants.flushed_tombstone"}),
        ("all", Variants(), True, set()),
    ],
)
def test_what_stands_for_a_finding_is_taken_off(finding: str, variants: Variants, ties: bool, left: set[str]) -> None:
    declaration = lift_waivers(waiving(), (finding,)).declaration
    assert declaration.variants == variants
    assert declaration.limits.tail_ties is ties
    assert declaration.findings.keys() == left


def test_a_finding_that_nothing_stands_for_is_refused() -> None:
    with pytest.raises(UsageError, match=r"waives no finding 'nope'; it waives: dropped, endless, ties, twice"):
        lift_waivers(waiving(), ("nope",))


@pytest.mark.long
def test_a_release_violates_where_a_waiver_is_lifted(
    released_subject: Callable[[str], TestedSubject], tmp_path: Path
) -> None:
    subject = released_subject(newest_release("kafka-streams").subject)
    held = lift_waivers(subject, ("kafka-rewritten-tombstone-is-dropped",))
    report = conform(held, Options(("cache",), PROFILES["dev"], 0, 0.0, tmp_path), lambda *_: None)
    assert report.verdict is Verdict.VIOLATES
    assert {failure.rules[0] for failure in report.failures} <= {"K-FLUSH-4", "K-PUT-1", "K-LIVENESS-2"}
    assert all(failure.steps <= 8 for failure in report.failures)


SEARCHED = [
    ("kafka-put-window-not-in-range", {"K-WINDOW-9", "K-FLUSH-1", "K-WINDOW-2"}, 8),
    ("kafka-fetch-walks-empty-segments", {"K-LIVENESS-1", "K-WINDOW-13"}, 4),
]
"""Findings that a search shows without their cases: the rules that it may name first, and the most steps."""


@pytest.mark.long
@pytest.mark.parametrize(("finding", "rules", "steps"), SEARCHED, ids=[finding for finding, _, _ in SEARCHED])
def test_a_search_shows_a_finding_about_windows_once_its_limit_is_lifted(
    finding: str, rules: set[str], steps: int, released_subject: Callable[[str], TestedSubject], tmp_path: Path
) -> None:
    held = lift_waivers(released_subject("kafka-streams:4.3.1"), (finding,))
    report = conform(held, Options(("windows",), PROFILES["dev"], 0, 0.0, tmp_path), lambda *_: None)
    assert report.verdict is Verdict.VIOLATES
    assert {failure.rules[0] for failure in report.failures} <= rules
    assert all(failure.steps <= steps for failure in report.failures)
