"""Several threads on the released caches: which failures findings waive, and which appear without the waivers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from entrycache_conformance.histories import conform_histories
from entrycache_conformance.java.releases import release_versions
from entrycache_conformance.replay import replay_history
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.subjects.wrappers import lift_waivers
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import History, read_case_or_history
from entrycache_protocol.errors import MissingPrerequisite, Verdict
from entrycache_protocol.subject import TestedSubject
from tests.support.jvm.params import newest_in_every_run

HISTORIES: Final = sorted((Path(__file__).parent / "histories").glob("*.json"))
RELEASES: Final = release_versions("kafka-streams")
TAKEN_OFF: Final = {
    "kafka-query-and-resize-deadlock": "K-CONCURRENCY-1",
    "kafka-crossed-listeners-deadlock": "K-CONCURRENCY-1",
}
"""Findings whose waiver is lifted. Lost counts are left out: a warm JVM loses one too rarely for a test."""
SEEDS: Final = (0, 1, 2)
"""The number of seeds to try: a busy machine may let no two threads meet."""


AGAIN: Final = range(8)
"""The number of replays of a written history, for the same reason."""


@contextmanager
def resolved(release: str) -> Iterator[TestedSubject]:
    try:
        subject = resolve_subject(SubjectChoice(f"kafka-streams:{release}", timeout_seconds=60))
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    try:
        yield subject
    finally:
        subject.close()


@pytest.fixture(scope="module", params=newest_in_every_run(RELEASES))
def released(request: pytest.FixtureRequest) -> Iterator[TestedSubject]:
    with resolved(request.param) as subject:
        yield subject


def test_some_hundred_histories_keep_every_promise_that_no_finding_waives(
    released: TestedSubject, tmp_path: Path
) -> None:
    report = conform_histories(released, 350, 0, tmp_path, lambda done, wanted: None)
    assert report.level.verdict is Verdict.CONFORMS, report.failures
    assert report.level.examples == 350


WAITING = "crossed-listeners"
"""The deadlock history that takes longest."""


@pytest.mark.long
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=pytest.mark.long if path.stem == WAITING else ()) for path in HISTORIES],
)
def test_a_release_breaks_the_rule_of_a_written_history(path: Path, released: TestedSubject) -> None:
    history = read_case_or_history(path, SYSTEMS)
    assert isinstance(history, History)
    for _ in AGAIN:
        replayed = replay_history(history, released)
        if replayed.failing is not None:
            break
    assert replayed.failing is not None
    assert history.rules[0] in {rule.value for rule in replayed.failing.rules}
    if history.rules[0] == "K-CONCURRENCY-1":
        assert replayed.failing.said.startswith("deadlock: client 0, in ThreadCache.")
        assert "waits for" in replayed.failing.said


@pytest.mark.long
@pytest.mark.parametrize("finding", TAKEN_OFF)
def test_without_its_waiver_a_finding_is_found_again(finding: str, tmp_path: Path) -> None:
    """Play the written histories, which show the finding in each release, on the newest one."""
    with resolved(RELEASES[-1]) as released:
        subject = lift_waivers(released, (finding,))
        for seed in SEEDS:
            report = conform_histories(subject, 1_400, seed, tmp_path, lambda done, wanted: None)
            if report.failures:
                break
    assert report.level.verdict is Verdict.VIOLATES
    assert report.failures[0].rules[0] == TAKEN_OFF[finding]
    schedules = report.failures[0].schedules
    assert schedules is not None
    assert schedules.said.startswith("deadlock:")
