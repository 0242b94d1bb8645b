"""A concurrent subject that gives no answer to some histories does not conform, whichever these are."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from entrycache_conformance.histories import SILENT_REPLAYS, HistoryLevelResult, conform_histories
from entrycache_conformance.replay import MAX_HISTORY_TRIES, replay_history
from entrycache_conformance.subjects.child import Child
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.reference import reference_subject
from entrycache_protocol.case import History, history_from_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import Verdict
from entrycache_protocol.subject import Answer, FailedRun, FailureKind, HistoryAnswer, TestedSubject
from tests.support import silent


def judged(kind: str, folder: Path) -> HistoryLevelResult:
    argv = [sys.executable, silent.__file__, kind, str(folder)]
    subject = Child(argv, "kafka-streams")
    try:
        with subject.limit_time(1.5):
            return conform_histories(subject, 140, 0, folder, lambda done, wanted: None)
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
    report = judged(kind, tmp_path)
    assert report.level.verdict is Verdict.VIOLATES
    (failure,) = report.failures
    assert failure.rules == ("K-CONCURRENCY-1",)
    assert failure.schedules is not None
    assert (failure.schedules.times > 1) == repeats
    assert Path(failure.case).exists()


@pytest.mark.parametrize(
    ("kind", "verdict"), [("hangs-one-in-fifty", Verdict.VIOLATES), ("hangs-once", Verdict.NOTHING_CHECKED)]
)
def test_one_that_is_late_once_is_not_judged_and_twice_violates(kind: str, verdict: Verdict, tmp_path: Path) -> None:
    report = judged(kind, tmp_path)
    assert report.level.verdict is verdict
    assert bool(report.failures) == (verdict is Verdict.VIOLATES)
    assert any("is the machine busy?" in skip.reason for skip in report.skipped) == (not report.failures)


@pytest.mark.long
def test_without_such_histories_it_conforms(tmp_path: Path) -> None:
    assert judged("right", tmp_path).level.verdict is Verdict.CONFORMS


PUT: Final = {"op": "put", "ns": "n", "key": "k", "value": "v"}
GET: Final = {"op": "get", "ns": "n", "key": "k"}
HISTORY: Final = history_from_json(
    {
        "system": "kafka-streams", "config": {}, "before": [{"op": "listen", "ns": "n"}],
        "clients": [[PUT], [GET]], "after": [{"op": "usage"}],
    },
    SYSTEMS,
)  # fmt: skip


class Silent(TestedSubject):
    """The reference without answers to some tries; `played` counts its histories."""

    name = "silent"

    def __init__(self, trouble: FailureKind, tries: range) -> None:
        self._inner = reference_subject(SYSTEMS["kafka-streams"])
        self._failed = FailedRun(trouble, None, "10 s")
        self._tries = tries
        self.played = 0

    @property
    def declaration(self) -> Declaration:
        return self._inner.declaration

    def play(self, cases: Sequence[object]) -> list[Answer]:
        raise NotImplementedError

    def play_histories(self, histories: Sequence[History]) -> list[HistoryAnswer]:
        answers: list[HistoryAnswer] = []
        for history in histories:
            self.played += 1
            answers += [self._failed] if self.played in self._tries else self._inner.play_histories([history])
        return answers

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("trouble", "tries", "verdict", "played"),
    [
        (FailureKind.HANG, range(1, 2), Verdict.NOTHING_CHECKED, 1 + SILENT_REPLAYS),
        (FailureKind.HANG, range(2, 3), Verdict.NOTHING_CHECKED, 2 + SILENT_REPLAYS + 1),
        (FailureKind.HANG, range(1, MAX_HISTORY_TRIES), Verdict.VIOLATES, 2),
        (FailureKind.HANG, range(2, MAX_HISTORY_TRIES), Verdict.VIOLATES, 3),
        (FailureKind.DEATH, range(1, 2), Verdict.VIOLATES, 1),
    ],
)
def test_a_replay_waits_for_few_that_do_not_answer(
    trouble: FailureKind, tries: range, verdict: Verdict, played: int
) -> None:
    """Each costs a time-out; a single one says as little as in a search."""
    subject = Silent(trouble, tries)
    replayed = replay_history(HISTORY, subject)
    assert replayed.verdict is verdict
    assert subject.played <= played
    assert ("is the machine busy?" in replayed.unjudged) is (verdict is Verdict.NOTHING_CHECKED)
