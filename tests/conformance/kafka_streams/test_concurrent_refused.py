"""Histories whose steps are refused, or do not overlap, say nothing; if most are like that, nothing was checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from entrycache_conformance.histories import conform_histories
from entrycache_conformance.resolve import open_in_process
from entrycache_conformance.subjects.wrappers import NarrowedSubject
from entrycache_protocol.case import Case, History
from entrycache_protocol.errors import Verdict
from entrycache_protocol.subject import HistoryAnswer, HistoryEvent, HistoryResult, RunResult


class Refusing(NarrowedSubject):
    """Our fast cache with some answers replaced by refusals."""

    def __init__(self, error: str, refuses: Callable[[int, History, HistoryEvent], bool]) -> None:
        inner = open_in_process("fast", "kafka-streams")
        assert inner is not None
        super().__init__(inner, inner.declaration)
        self._error, self._refuses = error, refuses
        self._asked = 0

    def play_histories(self, histories: Sequence[History]) -> list[HistoryAnswer]:
        return [self._refused(history) for history in histories]

    def _refused(self, history: History) -> HistoryAnswer:
        (answer,) = self.subject.play_histories([history])
        assert isinstance(answer, HistoryResult)
        self._asked += 1
        read = history.system.wire.read_outcome
        events = [
            event._replace(outcome=read(op, {"error": self._error}, self.declaration))
            if self._refuses(self._asked, history, event)
            else event
            for op, event in zip(history.steps, answer.events, strict=True)
        ]
        return HistoryResult(tuple(events))


def in_a_thread(history: History, event: HistoryEvent) -> bool:
    return 0 <= event.client < len(history.clients)


@pytest.mark.parametrize("error", ["illegal-argument", "illegal-state", "listener-failed"])
@pytest.mark.parametrize(
    ("which", "refuses"),
    [
        ("all steps", lambda number, history, event: True),
        ("all steps of threads", lambda number, history, event: in_a_thread(history, event)),
        ("one step of most", lambda number, history, event: number % 3 > 0 and (event.client, event.step) == (0, 0)),
    ],
)
def test_what_is_refused_does_not_conform(
    error: str, which: str, refuses: Callable[[int, History, HistoryEvent], bool], tmp_path: Path
) -> None:
    subject: Any = Refusing(error, refuses)
    report = conform_histories(subject, 70, 0, tmp_path, lambda done, wanted: None)
    assert report.level.verdict is not Verdict.CONFORMS
    if report.level.verdict is Verdict.NOTHING_CHECKED:
        assert any("too few to say anything" in skip.reason for skip in report.skipped)


@pytest.mark.long
def test_without_refusals_it_conforms(tmp_path: Path) -> None:
    subject: Any = Refusing("illegal-state", lambda number, history, event: False)
    assert conform_histories(subject, 140, 0, tmp_path, lambda done, wanted: None).level.verdict is Verdict.CONFORMS


class OneThread(NarrowedSubject):
    """Our fast cache, which plays a history as one run, the clients in turn."""

    def __init__(self) -> None:
        inner = open_in_process("fast", "kafka-streams")
        assert inner is not None
        super().__init__(inner, inner.declaration)

    def play_histories(self, histories: Sequence[History]) -> list[HistoryAnswer]:
        return [self._played(history) for history in histories]

    def _played(self, history: History) -> HistoryAnswer:
        places = [(client, at) for client, part in history.parts() for at in range(len(part))]
        turns = sorted(
            range(len(places)), key=lambda n: (places[n][0] == len(history.clients), places[n][0] >= 0, places[n][1])
        )
        steps = tuple(history.steps[n] for n in turns)
        (answer,) = self.subject.play([Case(history.system, history.config, steps)])
        assert isinstance(answer, RunResult)
        events = {
            n: HistoryEvent(*places[n], 2 * turn, 2 * turn + 1, answer.outcomes[turn]) for turn, n in enumerate(turns)
        }
        return HistoryResult(tuple(events[n] for n in range(len(places))))


def test_histories_on_one_thread_are_not_concurrent(tmp_path: Path) -> None:
    subject: Any = OneThread()
    report = conform_histories(subject, 70, 0, tmp_path, lambda done, wanted: None)
    assert report.level.verdict is Verdict.NOTHING_CHECKED
    assert "steps of two clients overlapped in 0 of 70 histories" in report.skipped[-1].reason
