"""A waiver is lifted: the subject is held to the specification where its finding is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from entrycache_conformance.finding_cases import load_finding_cases
from entrycache_conformance.levels import PROFILES, Profile
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


FAR = frozenset({"K-LIVENESS-1", "K-LIVENESS-2", "K-WINDOW-13"})


class Searched(NamedTuple):
    """A finding that a search shows without its case: where, the rules that it may name, and the most steps."""

    finding: str
    level: str
    rules: frozenset[str]
    steps: int
    release: str = "4.3.1"
    examples: int = PROFILES["dev"].examples


SEARCHED = [
    Searched("kafka-stale-read-in-forward", "store", frozenset({"K-STORE-1", "K-STORE-4"}), 6),
    Searched("kafka-older-value-written-last", "store", frozenset({"K-STORE-1", "K-STORE-4"}), 6),
    Searched("kafka-failed-flush-leaves-clean", "store", frozenset({"K-FLUSH-3"}), 6),
    Searched("kafka-undelivered-eviction-loses-entry", "store", frozenset({"K-FLUSH-3"}), 6),
    Searched("kafka-rewritten-tombstone-is-dropped", "store", frozenset({"K-FLUSH-4"}), 8),
    Searched("kafka-delete-overwrites-nested-write", "store", frozenset({"K-STORE-7"}), 6),
    Searched("kafka-resize-never-ends", "cache", frozenset({"K-LIVENESS-1", "K-LIVENESS-2"}), 8),
    Searched("kafka-nested-change-counts-twice", "store", frozenset({"K-METRICS-1"}), 6),
    Searched("kafka-reverse-view-shows-deleted", "views", frozenset({"K-VIEW-1", "K-VIEW-6"}), 10),
    Searched("kafka-range-query-skips-cache", "views", frozenset({"K-VIEW-8"}), 4),
    Searched("kafka-iteration-misses-evicted", "views", frozenset({"K-VIEW-6"}), 8),
    Searched("kafka-prefix-scan-throws", "views", frozenset({"K-LIVENESS-2", "K-VIEW-3"}), 3),
    Searched("kafka-iteration-meets-deleted", "views", frozenset({"K-VIEW-6"}), 10, "3.9.2"),
    Searched("kafka-expired-windows-readable", "windows", frozenset({"K-WINDOW-4", "K-WINDOW-5"}), 6),
    Searched("kafka-backward-sessions-missed", "windows", frozenset({"K-WINDOW-2"}), 5),
    Searched("kafka-null-bounds-repeat-windows", "windows", frozenset({"K-WINDOW-2"}), 5),
    Searched("kafka-session-before-gap-throws", "windows", frozenset({"K-WINDOW-2"}), 4),
    Searched("kafka-sessions-of-one-end-repeat", "windows", frozenset({"K-WINDOW-2"}), 6),
    Searched("kafka-in-memory-windows-out-of-order", "windows", frozenset({"K-WINDOW-1", "K-WINDOW-2"}), 6),
    Searched("kafka-put-window-not-in-range", "windows", frozenset({"K-WINDOW-9", "K-FLUSH-1", "K-WINDOW-2"}), 8),
    Searched("kafka-fetch-walks-empty-segments", "windows", FAR, 4, examples=60),
]
"""Each finding for which a release has a variant of the stores or a limit of views, windows and sessions."""


@pytest.mark.long
@pytest.mark.parametrize("row", SEARCHED, ids=[row.finding for row in SEARCHED])
def test_a_search_shows_a_finding_once_its_waiver_is_lifted(
    row: Searched, released_subject: Callable[[str], TestedSubject], tmp_path: Path
) -> None:
    """The finding's page has a case too, which the search does not play."""
    held = lift_waivers(released_subject(f"kafka-streams:{row.release}"), (row.finding,))
    assert row.finding in load_finding_cases(held.declaration.system)
    report = conform(held, Options((row.level,), Profile(row.examples, 0, 0), 0, 0.0, tmp_path), lambda *_: None)
    assert report.verdict is Verdict.VIOLATES
    named = [failure for failure in report.failures if failure.rules[0] in row.rules]
    assert named
    assert all(failure.steps <= row.steps for failure in named)


THREADS = {"concurrent_resize", "crossed_listeners", "concurrent_clear", "exact_counts_under_threads"}
"""The limits of histories: level `concurrent` shows their findings."""


@pytest.mark.long
def test_the_table_has_every_finding_that_a_release_waives_in_cases(
    released_subject: Callable[[str], TestedSubject],
) -> None:
    findings = {
        finding
        for version in ("4.3.1", "3.9.2")
        for waiver, behind in released_subject(f"kafka-streams:{version}").declaration.findings.items()
        if waiver.partition(".")[2] not in THREADS
        for finding in behind.split(", ")
    }
    assert {row.finding for row in SEARCHED} == findings
