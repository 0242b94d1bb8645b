"""A stopped command prints and keeps its finished results, and says that they are not complete."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import signal
import time
from pathlib import Path
from typing import Any

import click
import pytest

from entrycache_cli.commands.exit_codes import OneLineErrors
from entrycache_conformance import histories, replay, shrink
from entrycache_conformance.campaign import behaviour, kafka_streams
from entrycache_conformance.campaign import run as campaign
from entrycache_dev.bench import result as bench
from entrycache_dev.bench.measurement import Measurement
from entrycache_dev.bench.pulsar_cursors import JUDGED_SIZES, MOVE_RANK, CursorCost
from entrycache_evidence import run as evidence
from entrycache_evidence.core import scheduler
from entrycache_evidence.core.results import Evidence
from entrycache_evidence.core.scheduler import single_call
from entrycache_protocol.errors import Interrupted, UsageError, WriteError
from entrycache_reference.rules import Rule
from entrycache_spark import folders, plan
from tests.support.command import run

STOPPED_RUN = ("conform", "expire-at-the-cutoff", "--level", "queue", "--failures", "failures", "--json")


@pytest.mark.parametrize(
    ("method", "rules"),
    [
        ("play", ()),
        pytest.param("restart", ("--rules", "R-EXPIRE-1"), marks=pytest.mark.long),
        pytest.param("restart", ("--rules", "R-EVICT-8"), marks=pytest.mark.long),
    ],
)
def test_a_run_that_is_stopped_while_it_shrinks_reports_the_failure(
    method: str, rules: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shrink.WatchedSubject, method, StoppedAt(None, 1))
    code, out, err = run(capsys, *STOPPED_RUN, *rules)
    assert (code, err.strip()) == (130, "")
    if rules[1:] == ("R-EVICT-8",):  # the failure breaks another rule
        assert "violates" not in out
        return
    result = json.loads(out)
    (failure,) = result["failures"]
    assert (result["verdict"], failure["rules"][0], failure["unconfirmed"]) == (
        "violates",
        "R-EXPIRE-1",
        shrink.STOPPED,
    )
    monkeypatch.undo()
    assert run(capsys, "replay", str(tmp_path / failure["case"]), "expire-at-the-cutoff")[0] == 1


def test_a_run_that_is_stopped_later_reports_the_failures_before(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shrink.FailureCollector, "collect_behind_silence", StoppedAt(None, 1))
    code, out, _ = run(capsys, *STOPPED_RUN)
    (failure,) = json.loads(out)["failures"]
    assert (code, failure["rules"][0], "unconfirmed" in failure) == (130, "R-EXPIRE-1", False)


def test_threads_that_are_stopped_while_a_history_shrinks_report_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(histories, "shrink_history", StoppedAt(None, 1))
    options = ("--system", "kafka-streams", "--level", "concurrent", "--failures", "failures", "--json")
    code, out, _ = run(capsys, "conform", "threads-total-late", *options)
    result = json.loads(out)
    assert (code, result["verdict"], len(result["failures"])) == (130, "violates", 1)


class StoppedAt:
    """A function that is interrupted at a given call."""

    def __init__(self, call: Any, at: int) -> None:
        self._call, self._left = call, at

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self._left -= 1
        if self._left == 0:
            raise KeyboardInterrupt
        return self._call(*arguments, **named)


CAMPAIGN = ("campaign", "fast", "--cases", "9", "--steps", "30", "--out", "record.json", "--json")


def test_a_campaign_reports_and_writes_the_cases_that_were_answered(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(campaign, "has_same_answers", StoppedAt(campaign.has_same_answers, 4))
    code, out, err = run(capsys, *CAMPAIGN)
    record = json.loads(out)
    assert (code, err.strip()) == (130, "")
    assert (record["cases"], record["judged_steps"], record["laws"]["cases"]) == (3, 90, 1)
    assert record["stopped"]
    assert json.loads(Path("record.json").read_text()) == record
    monkeypatch.setattr(campaign, "has_same_answers", lambda *_: True)
    assert run(capsys, *CAMPAIGN)[0] == 0
    whole = json.loads(Path("record.json").read_text())
    assert (whole["cases"], whole.get("stopped")) == (9, None)


def test_a_campaign_that_has_judged_nothing_writes_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(campaign, "has_same_answers", StoppedAt(campaign.has_same_answers, 1))
    code, out, _ = run(capsys, *CAMPAIGN)
    assert (code, out) == (130, "")
    assert not Path("record.json").exists()


def test_the_programs_of_a_campaign_keep_the_subjects_that_are_over(monkeypatch: pytest.MonkeyPatch) -> None:
    over = {"cpu_seconds": 1.0, "steps": 7, "cells": []}
    monkeypatch.setattr(kafka_streams, "_run_on_subject", StoppedAt(lambda name, *_: {"name": name, **over}, 2))
    with pytest.raises(Interrupted) as stopped:
        kafka_streams.run_promise_campaign(["one", "two"], 1, 1)
    assert [subject["name"] for subject in stopped.value.partial_result["subjects"]] == ["one"]
    assert stopped.value.partial_result["stopped"]


@pytest.mark.long
def test_a_diff_prints_what_it_has_found_and_writes_no_page(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(behaviour, "make_run", StoppedAt(behaviour.make_run, 160))
    code, out, _ = run(capsys, "diff", "fast", "count-stops-at-zero", "--out", "page.md")
    assert code == 130
    assert "--cases 200, stopped" in out
    assert "Met in" in out
    assert list(tmp_path.iterdir()) == []


def test_a_stopped_diff_that_found_nothing_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(behaviour, "make_run", StoppedAt(behaviour.make_run, 9))
    code, out, _ = run(capsys, "diff", "fast", "fast")
    assert code == 130
    assert "--cases 200, stopped" in out
    monkeypatch.setattr(behaviour, "make_run", StoppedAt(behaviour.make_run, 9))
    code, out, _ = run(capsys, "diff", "fast", "fast", "--json")
    value = json.loads(out)
    assert (code, value["differences"], value["stopped"]) == (130, [], True)


def measured(what: str) -> Measurement:
    return Measurement(what, 1.0, "", at_least=0.5)


@pytest.fixture
def three_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the measurements of `bench` by quick ones."""
    cost = CursorCost("tailing", MOVE_RANK, JUDGED_SIZES[0], 1.0, 9.0)
    monkeypatch.setattr(bench.pulsar_pip430, "measure_caches", lambda *_: map(measured, ("one", "two")))
    monkeypatch.setattr(bench, "measure_suite", lambda *_: map(measured, ("three",)))
    monkeypatch.setattr(bench.pulsar_cursors, "measure_cursors", lambda *_: iter([cost] * 2))


@pytest.mark.usefixtures("three_parts")
def test_a_bench_reports_its_measurements(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    argv = ("bench", "--json")
    code, out, _ = run(capsys, *argv)
    whole = json.loads(out)
    assert (code, whole["verdict"], len(whole["measurements"])) == (0, "conforms", 5)
    monkeypatch.setattr(bench, "measure_suite", lambda *_: map(StoppedAt(measured, 1), ("three",)))
    code, out, _ = run(capsys, *argv, "--page", "page.md")
    value = json.loads(out)
    assert (code, value["verdict"], value["stopped"]) == (130, "nothing-checked", True)
    assert [item["what"] for item in value["measurements"]] == ["one", "two"]
    assert list(tmp_path.iterdir()) == []
    Path("numbers.json").write_text(out)
    with pytest.raises(UsageError, match=r"not a complete result .* at \$\.stopped"):
        bench.read_result(Path("numbers.json"))


@pytest.mark.usefixtures("three_parts")
def test_a_bench_that_is_stopped_beside_a_thread_has_the_rest(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.kafka_streams, "measure_streams", StoppedAt(list, 1))
    code, out, _ = run(capsys, "bench", "--streams", "4.3.1", "--json")
    assert (code, len(json.loads(out)["measurements"])) == (130, 5)


@pytest.mark.parametrize(("failures", "verdict"), [([], "nothing-checked"), (["wrong"], "violates")])
def test_prove_reports_the_results_of_the_parts_before(
    failures: list[str], verdict: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    proved = [Evidence(Rule.STATE_1, "proved", "bounds", "a fault")]
    parts = [
        (what, single_call(what, call))
        for what, call in (("one", lambda: (proved, failures)), ("two", StoppedAt(list, 1)), ("three", list))
    ]
    monkeypatch.setattr(evidence, "_parts", lambda *_: iter(parts))
    code, out, _ = run(capsys, "prove", "--json")
    value = json.loads(out)
    assert (code, value["verdict"], value["problems"]) == (130, verdict, failures)
    assert [item["rule"] for item in value["evidence"]] == ["R-STATE-1"]
    assert [item["what"] for item in value["skipped"][-2:]] == ["two", "three"]


def test_processes_end_at_once_with_what_they_are_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler.os, "sched_getaffinity", lambda _: {0, 1})
    before, began = set(multiprocessing.active_children()), time.monotonic()
    counter = itertools.count()

    def stop(_: int) -> None:
        next(counter)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scheduler.map_in_processes(time.sleep, [0, 60, 60], stop)
    assert time.monotonic() - began < 30
    assert next(counter) == 1
    assert set(multiprocessing.active_children()) <= before


def test_what_cannot_be_kept_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    @click.command(cls=OneLineErrors)
    def writes() -> None:
        raise WriteError("cannot write record.json: No space left on device")

    assert writes._code([signal.SIGTERM], ([],), {"standalone_mode": False}) == 143
    assert capsys.readouterr().err == "entrycache: cannot write record.json: No space left on device\n"


def test_a_signal_whose_exception_a_library_drops_ends_the_command_all_the_same() -> None:
    @click.command(cls=OneLineErrors)
    def goes_on() -> None:
        """Run to the end."""

    assert goes_on._code([signal.SIGHUP], ([],), {"standalone_mode": False}) == 129
    assert goes_on._code([], ([],), {"standalone_mode": False}) == 0


def test_smoke_reports_the_operations_that_were_judged(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "_play_smoke_case", StoppedAt(replay._play_smoke_case, 3))
    code, out, err = run(capsys, "smoke", "fast", "--json")
    assert (code, err.strip()) == (130, "")
    assert [result["verdict"] for result in json.loads(out)["ops"].values()] == ["passed", "passed"]
    monkeypatch.setattr(replay, "_play_smoke_case", StoppedAt(replay._play_smoke_case, 1))
    assert run(capsys, "smoke", "fast")[:2] == (130, "")


def test_an_audit_reports_the_rules_that_were_decided_and_writes_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trace, out = str(tmp_path / "trace"), tmp_path / "out"
    assert run(capsys, "trace", "generate", "tail-fanout", "--events", "200", "--out", trace)[0] == 0
    argv = ("audit", trace, "--backend", "local", "--out", str(out), "--json")
    every = json.loads(run(capsys, *argv)[1])["rules"]
    (out / folders.VIOLATIONS_NAME).unlink()
    monkeypatch.setattr(plan, "first_rows", StoppedAt(plan.first_rows, 5))
    code, said, err = run(capsys, *argv)
    decided = json.loads(said)["rules"]
    assert (code, err.strip()) == (130, "")
    assert 0 < len(decided) < len(every)
    assert decided.items() <= every.items()
    assert not any(out.iterdir())
    monkeypatch.setattr(plan, "survey_brokers", StoppedAt(plan.survey_brokers, 1))
    assert run(capsys, *argv)[:2] == (130, "")
