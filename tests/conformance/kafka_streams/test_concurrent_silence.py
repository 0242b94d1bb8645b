"""A concurrent subject that gives no answer to some histories does not conform, whichever these are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from entrycache_conformance.concurrent.run import Threaded, conform_concurrent
from entrycache_conformance.subjects.child import Child
from entrycache_protocol.verdict import Verdict
from tests.support import silent


def judged(kind: str, folder: Path) -> Threaded:
    argv = [sys.executable, silent.__file__, kind, str(folder)]
    subject = Child(argv, "kafka-streams")
    try:
        with subject.hurried(1.5):
            return conform_concurrent(subject, 140, 0, folder, lambda done, wanted: None)
    finally:
        subject.close()


@pytest.mark.parametrize(
    ("kind", "repeats"),
    [
        pytest.param("hangs-on-the-same", True, marks=pytest.mark.long),
        pytest.param("dies-on-the-same", True, marks=pytest.mark.long),
        pytest.param("dies-one-in-fifty", False, marks=pytest.mark.long),
        ("dies-once", False),
    ],
)
def test_a_history_without_an_answer_is_a_violation(kind: str, repeats: bool, tmp_path: Path) -> None:
    found = judged(kind, tmp_path)
    assert found.level.verdict is Verdict.VIOLATES
    (failure,) = found.failures
    assert failure.rules == ("K-CONCURRENCY-1",)
    assert failure.schedules is not None
    assert (failure.schedules.times > 1) == repeats
    assert Path(failure.case).exists()


@pytest.mark.parametrize(
    ("kind", "verdict"), [("hangs-one-in-fifty", Verdict.VIOLATES), ("hangs-once", Verdict.NOTHING_CHECKED)]
)
def test_one_that_is_late_once_is_not_judged_and_twice_violates(kind: str, verdict: Verdict, tmp_path: Path) -> None:
    found = judged(kind, tmp_path)
    assert found.level.verdict is verdict
    assert bool(found.failures) == (verdict is Verdict.VIOLATES)
    assert any("is the machine busy?" in skip.reason for skip in found.skipped) == (not found.failures)


def test_without_such_histories_it_conforms(tmp_path: Path) -> None:
    assert judged("right", tmp_path).level.verdict is Verdict.CONFORMS
