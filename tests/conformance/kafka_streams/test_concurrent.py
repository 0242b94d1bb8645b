"""Histories of several threads: our own caches keep every promise; seeded faults are caught, shrunk and named."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from entrycache_conformance.failure import FailingHistory
from entrycache_conformance.histories import (
    CorruptionUnseen,
    HistoryCounts,
    check_corrupted_answer,
    conform_histories,
    find_failing_history,
    judge_history,
    max_tries,
)
from entrycache_conformance.resolve import SubjectChoice, open_in_process, resolve_subject
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.kafka_streams.system import write_outcome
from entrycache_conformance.systems.reference import reference_subject
from entrycache_faults.reference.kafka_streams.threads import THREAD_SUBJECTS
from entrycache_protocol.case import History, format_history, history_from_json, read_case, read_case_or_history
from entrycache_protocol.errors import BrokenSubject, UsageError, Verdict
from entrycache_protocol.subject import HistoryEvent, HistoryResult, InProcessSubject, RunResult
from entrycache_protocol.wire import read_answer
from entrycache_reference.kafka_streams import Config, ops, threads
from entrycache_reference.kafka_streams.threads.history import derive_facts
from entrycache_reference.kafka_streams.threads.linearization import TooManyStates, check_one_order
from entrycache_reference.rules import Rule
from tests.support.command import run

SYSTEM: Final = SYSTEMS["kafka-streams"]
STEPS_MAX: Final = 10
HISTORIES: Final = sorted((Path(__file__).parent / "histories").glob("*.json"))
ENDING: Final[Mapping[str, tuple[Rule, ...]]] = {
    "threads-copies-are-old": (Rule.K_CONCURRENCY_6, Rule.K_CONCURRENCY_5),
    "threads-count-lost": (Rule.K_CONCURRENCY_3,),
    "threads-handed-over-twice": (Rule.K_CONCURRENCY_4,),
    "threads-limit-looked-at-first": (Rule.K_CONCURRENCY_7,),
    "threads-total-late": (Rule.K_CONCURRENCY_2,),
    "threads-write-unlocked": (Rule.K_CONCURRENCY_5,),
}
QUICK = {"threads-count-lost", "threads-total-late"}
"""The faults of every run. tests/reference has histories of the other rules."""
"""The seeded faults whose histories end, and the rules of each. An old copy may be an old value or a miss, depending on
the schedule.
"""


def shared(name: str) -> InProcessSubject:
    subject = open_in_process(name, "kafka-streams")
    assert subject is not None
    return subject


@pytest.mark.long
@pytest.mark.parametrize("name", ["reference", "fast"])
def test_our_own_caches_keep_every_promise(name: str, tmp_path: Path) -> None:
    report = conform_histories(shared(name), 210, 1, tmp_path, lambda done, wanted: None)
    assert report.level.verdict is Verdict.CONFORMS
    counts = report.level.threads
    assert counts is not None
    assert counts.histories == 210
    assert counts.threads >= 2 * 210
    assert counts.inconclusive == 0
    assert all(report.fired[rule] for rule in Rule if rule.value.startswith("K-CONCURRENCY-"))


def test_every_seeded_fault_of_threads_has_a_test() -> None:
    assert THREAD_SUBJECTS.keys() == {*ENDING, "threads-locks-crossed"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in ENDING]
)
def test_a_seeded_fault_is_caught_shrunk_and_named(name: str) -> None:
    failing = find_failing_history(shared(name), 140, 0, HistoryCounts())
    assert failing is not None
    assert set(ENDING[name]) & set(failing.rules)
    assert len(failing.history.steps) <= STEPS_MAX
    assert len(failing.history.clients) == 2
    assert 0 < failing.times <= failing.tries


@pytest.mark.long
def test_a_deadlock_that_nobody_reports_is_found_by_the_time_out() -> None:
    history = read_case_or_history(Path(__file__).parent / "histories" / "crossed-listeners.json", SYSTEMS)
    assert isinstance(history, History)
    subject = resolve_subject(SubjectChoice("threads-locks-crossed", system="kafka-streams"))
    try:
        with subject.limit_time(2.0):  # type: ignore[attr-defined]
            answers = subject.play_histories([history] * 3)
    finally:
        subject.close()
    judged = [judge_history(subject, history, answer, HistoryCounts()) for answer in answers]
    assert any(each is not None and each.rules == (Rule.K_CONCURRENCY_1,) for each in judged)


def record_of(clients: list[list[tuple[Any, int, int, dict[str, Any]]]], **more: Any) -> threads.Record:
    events = [
        threads.HistoryStep(client, index, *event)
        for client, events in enumerate(clients)
        for index, event in enumerate(events)
    ]
    return threads.Record(Config(), len(clients), tuple(events), **more)


def put(value: str) -> ops.Put:
    return ops.Put("a", "x", value)


HIT_1: Final = {"hit": True, "value": "1"}
MISS: Final = {"hit": False, "value": None}


@pytest.mark.parametrize(
    ("clients", "explained"),
    [
        ([[(put("1"), 1, 4, {})], [(ops.Get("a", "x"), 2, 3, HIT_1)]], True),
        ([[(put("1"), 1, 4, {})], [(ops.Get("a", "x"), 2, 3, MISS)]], True),
        ([[(put("1"), 1, 2, {})], [(ops.Get("a", "x"), 3, 4, MISS)]], False),
        ([[(put("1"), 3, 4, {})], [(ops.Get("a", "x"), 1, 2, HIT_1)]], False),
        (
            [[(put("1"), 1, 8, {}), ], [(ops.Get("a", "x"), 2, 3, HIT_1), (ops.Get("a", "x"), 4, 5, MISS)]],
            False,
        ),
    ],
)  # fmt: skip
def test_one_order_explains_the_answers_or_none_does(clients: Any, explained: bool) -> None:
    violation = check_one_order(derive_facts(record_of(clients)), write_outcome)
    assert (violation is None) is explained


def test_a_search_that_costs_too_much_is_inconclusive() -> None:
    clients = [
        [(put(str(10 * client + index)), index + 1, 100 + index, {}) for index in range(4)] for client in range(4)
    ]
    clients.append([(ops.Get("a", "x"), 200, 201, {"hit": True, "value": "none"})])
    record = record_of(clients)
    with pytest.raises(TooManyStates):
        check_one_order(derive_facts(record), write_outcome, 50)
    judged = threads.judge_history(record, write_outcome, states_max=50)
    assert "50 states" in judged.undecided
    assert Rule.K_CONCURRENCY_5 not in judged.fired


def test_what_a_listener_did_that_nobody_knows_is_not_judged() -> None:
    listen = ops.Listen("a", (put("1"),))
    judged = threads.judge_history(record_of([[(listen, 1, 2, {})]]), write_outcome)
    assert judged.broken == ()
    assert "not every operation is known" in judged.undecided


def test_a_judge_that_sees_nothing_ends_the_run() -> None:
    history = History(SYSTEM, Config(), (), ((put("1"),), (put("2"),)), (ops.Usage(),))
    subject = reference_subject(SYSTEM)
    answer = subject.play_histories([history])[0]
    assert isinstance(answer, HistoryResult)
    check_corrupted_answer(subject, (history, answer))
    without = dataclasses.replace(history, after=())
    with pytest.raises(CorruptionUnseen):
        check_corrupted_answer(subject, (without, HistoryResult(answer.events[:-1])))


def test_a_history_is_written_and_read() -> None:
    for path in HISTORIES:
        history = read_case_or_history(path, SYSTEMS)
        assert isinstance(history, History)
        assert history_from_json(json.loads(format_history(history)), SYSTEMS) == history
        assert format_history(history) == path.read_text(encoding="utf-8")
        with pytest.raises(UsageError, match="this is a history of several threads"):
            read_case(path, SYSTEMS)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"clients": [[]]}, "has no 'system'"),
        ({"system": "kafka-streams", "clients": []}, "not an array of 1 to 64 arrays"),
        ({"system": "kafka-streams", "clients": [[{"op": "get"}]]}, "step 0 of client 0: op get: the key 'ns' is"),
        ({"system": "kafka-streams", "clients": [[]], "steps": []}, "unknown key 'steps'"),
    ],
)
def test_what_is_wrong_with_a_history_is_reported_in_one_line(value: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        history_from_json(value, SYSTEMS)


def answer(*events: dict[str, Any]) -> HistoryResult | RunResult | object:
    history = History(SYSTEM, Config(), (), ((put("1"),), (put("2"),)), ())
    return read_answer({"id": 0, "events": list(events)}, history, 0, reference_subject(SYSTEM).declaration)


def event(client: int, start: int, end: int, **more: Any) -> dict[str, Any]:
    return {"client": client, "step": 0, "start": start, "end": end, "outcome": {}, **more}


def test_events_are_read_in_the_order_of_the_file() -> None:
    assert answer(event(1, 1, 2), event(0, 3, 4)) == HistoryResult(
        (HistoryEvent(0, 0, 3, 4, {}), HistoryEvent(1, 0, 1, 2, {}))
    )


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([event(0, 1, 2)], "answered 1 events for 2 steps"),
        ([event(0, 1, 2), event(0, 3, 4)], "no event for step 0 of client 1"),
        ([event(0, 2, 2), event(1, 3, 4)], "lies between 2 and 2"),
        ([event(0, 1, 2), event(1, 1, 3)], "two ticks of a history are the same"),
        ([event(0, 1, 2), event(1, 2, 3)], "two ticks of a history are the same"),
        ([event(0, 1, 2, more=1), event(1, 3, 4)], "has not the keys"),
        ([event(0, 1, True), event(1, 3, 4)], "no integer"),
        ([event(0, 1, 2, outcome={"hit": True}), event(1, 3, 4)], "the outcome of step 0 of client 0"),
    ],
)
def test_events_that_cannot_be_are_a_broken_subject(events: Any, said: str) -> None:
    with pytest.raises(BrokenSubject, match=said):
        answer(*events)


@pytest.mark.long
def test_conform_counts_histories_and_names_the_level(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ("--system", "kafka-streams", "--level", "concurrent", "--failures", str(tmp_path), "--json")
    code, out, _ = run(capsys, "conform", "threads-total-late", *options)
    report = json.loads(out)
    assert code == 1
    assert report["levels"]["concurrent"]["verdict"] == "violates"
    failure = report["failures"][0]
    assert failure["rule"] == "K-CONCURRENCY-2"
    assert (failure["expected"], failure["clients"]) == (None, 2)
    code, out, _ = run(capsys, "replay", failure["case"], "threads-total-late", "--json")
    assert code == 1
    assert json.loads(out)["rules"] == ["K-CONCURRENCY-2"]
    code, out, _ = run(capsys, "replay", failure["case"], "threads-total-late")
    assert code == 1
    assert "is broken by a history of 2 clients" in out


def test_who_takes_no_histories_is_not_played(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "conform", "reference", "--level", "concurrent")
    assert code == 2
    assert "unknown level 'concurrent'" in err
    code, _, err = run(capsys, "replay", str(HISTORIES[0]), "evict-handed-over-last", "--system", "kafka-streams")
    assert code == 2
    assert err.count("\n") == 1


@pytest.mark.parametrize(("tries", "times", "played"), [(4, 4, 16), (8, 4, 32), (100, 4, 100), (100, 1, 100)])
def test_a_shorter_history_is_played_as_often_as_it_has_to_be(tries: int, times: int, played: int) -> None:
    history = read_case_or_history(HISTORIES[0], SYSTEMS)
    assert isinstance(history, History)
    failing = FailingHistory(history, (Rule.K_CONCURRENCY_3,), "", None, None, tries, times)
    assert max_tries(failing, 4) == played


@pytest.mark.parametrize(
    ("ticks", "said"),
    [
        ([(1, 2), (3, 6), (4, 5), (7, 8)], ""),
        ([(1, 4), (3, 6), (5, 7), (8, 9)], "the steps of before run alone"),
        ([(5, 6), (1, 2), (3, 4), (7, 8)], "the steps of before run alone"),
        ([(1, 2), (3, 8), (4, 5), (6, 7)], "the steps of after run alone"),
        ([(3, 4), (5, 6), (7, 8), (1, 2)], "the steps of before run alone"),
    ],
)
def test_what_runs_alone_is_reported_to_have_done_so(ticks: list[tuple[int, int]], said: str) -> None:
    history = History(SYSTEM, Config(), (put("0"),), ((put("1"),), (put("2"),)), (put("3"),))
    events = [event(client, *pair) for client, pair in zip(range(-1, 3), ticks, strict=True)]

    def read() -> object:
        return read_answer({"id": 0, "events": events}, history, 0, reference_subject(SYSTEM).declaration)

    if not said:
        assert isinstance(read(), HistoryResult)
        return
    with pytest.raises(BrokenSubject, match=said):
        read()
