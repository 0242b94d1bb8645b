"""The released caches differ from the protocol on cases that were found and shrunk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from entrycache_conformance.java.releases import release_versions
from entrycache_conformance.replay import ReplayResult, replay_case
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import read_case
from entrycache_protocol.subject import TestedSubject
from tests.support.jvm.params import newest_in_every_run

CASES: Final = sorted((Path(__file__).parent / "cases").glob("*.json"))
RELEASES: Final = newest_in_every_run(release_versions("kafka-streams"))


@pytest.fixture(scope="module", params=RELEASES)
def released(request: pytest.FixtureRequest, released_subject: Callable[[str], TestedSubject]) -> TestedSubject:
    return released_subject(f"kafka-streams:{request.param}")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_release_differs_where_the_case_says_so_and_its_rule_is_named(path: Path, released: TestedSubject) -> None:
    replayed = replay_case(path, released)
    assert replayed.stale == []
    assert replayed.failure is not None
    # Other seeded faults may give the same answers: the case's own rule is named, but not always first.
    assert {*read_case(path, SYSTEMS).rules} <= {*replayed.failure.rules}


def _of(name: str, subject: TestedSubject) -> ReplayResult:
    return replay_case(Path(__file__).parent / "cases" / f"{name}.json", subject)


def test_a_dirty_entry_whose_eviction_cannot_be_delivered_is_lost_and_still_counted(released: TestedSubject) -> None:
    failure = _of("undeliverable-eviction", released).failure
    assert failure is not None
    assert failure.got == {"entries": 0, "bytes": 0, "tracked": 47}


@pytest.mark.long
def test_a_limit_that_cannot_be_reached_is_tried_for_ever(released: TestedSubject) -> None:
    failure = _of("resize-never-ends", released).failure
    assert failure is not None
    assert "the step does not end" in failure.got["message"]
