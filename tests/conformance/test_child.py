"""A subject in a child process that starts again."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Final

import pytest

from entrycache_conformance.levels import PROFILES
from entrycache_conformance.run import Options, conform
from entrycache_conformance.subjects.child import Child
from entrycache_conformance.subjects.processes import ChildProcess
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import Case
from entrycache_protocol.errors import BrokenAdapter, BrokenSubject
from entrycache_protocol.subject import FailedRun, RunResult
from entrycache_protocol.wire import encode_request, parse_line
from entrycache_reference.pulsar_pip430 import Config, ops
from tests.support.command import run

USAGE: Final = Case(SYSTEMS["pulsar-pip430"], Config(), (ops.Usage(),))

SUBJECT: Final = """
import json, pathlib, sys, time
starts = pathlib.Path(sys.argv[1])
count = len(starts.read_text()) if starts.exists() else 0
starts.write_text("x" * (count + 1))
for line in sys.stdin:
    request = json.loads(line)
    if request["cmd"] == "start":
        time.sleep(8 if count == 1 else 0)
        offer = {"pulsar-pip430": {"ops": ["usage"]}}
        print(json.dumps({"version": 1, "systems": offer}), flush=True)
    elif request["cmd"] == "run":
        if count == 0:
            sys.exit(1)
        print(json.dumps({"id": request["id"], "outcomes": [{"entries": 0, "bytes": 0}]}), flush=True)
"""


def test_what_a_late_start_says_is_taken_for_no_answer(tmp_path: Path) -> None:
    child = Child([sys.executable, "-c", SUBJECT, str(tmp_path / "starts")], timeout_seconds=5)
    try:
        with pytest.raises(BrokenSubject, match="no answer to start within 5 s"):
            child.play([USAGE])
        assert isinstance(child.play([USAGE])[0], RunResult)
    finally:
        child.close()


@pytest.mark.parametrize("line", ['{"id":0,"hit":1,"hit":2}', '{"id":0,"outcomes":[{"hit":true,"hit":true}]}'])
def test_a_key_that_is_reported_twice_is_named(line: str) -> None:
    with pytest.raises(BrokenSubject, match="the key 'hit' twice in one object: "):
        parse_line(line.encode())


OFFERS: Final = """
import json, pathlib, sys
starts, second = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])
offers = second if starts.exists() else {"pulsar-pip430": {"ops": ["usage"]}}
starts.touch()
for line in sys.stdin:
    request = json.loads(line)
    if request["cmd"] == "start":
        print(json.dumps({"version": 1, "systems": offers}), flush=True)
    elif request["cmd"] == "run":
        print(json.dumps({"id": request["id"], "outcomes": [{"entries": 0, "bytes": 0}] * len(request["steps"])}))
        print(EXTRA, end="", flush=True)
"""


@pytest.mark.parametrize(
    "second",
    [
        '{"pulsar-pip430": {"ops": ["usage"], "order_slack": 1}}',
        '{"pulsar-pip430": {"ops": ["usage"], "order_slack": -1}}',
        '{"pulsar-pip430": {"ops": ["usage", "evict"]}}',
        '{"kafka-share": {"ops": ["usage"]}}',
        "{}",
    ],
)
def test_a_subject_that_declares_something_else_when_it_starts_again_is_broken(tmp_path: Path, second: str) -> None:
    program = OFFERS.replace("EXTRA", "''")
    child = Child([sys.executable, "-I", "-S", "-c", program, str(tmp_path / "starts"), second])
    child.restart()
    with pytest.raises(BrokenSubject, match=r"started again|started once"):
        child.play([USAGE])
    child.close()


def test_a_program_that_is_gone_when_it_starts_again_is_broken(tmp_path: Path) -> None:
    program = tmp_path / "subject"
    program.write_text(f"#!{sys.executable} -IS\n{OFFERS}", encoding="utf-8")
    program.chmod(0o755)
    child = Child([str(program), str(tmp_path / "starts"), "{}"])
    program.unlink()
    child.restart()
    with pytest.raises(BrokenSubject, match="started once, and not again: cannot start"):
        child.play([USAGE])


@pytest.mark.parametrize("extra", ['{"id": 1, "outcomes": []}\\n', "half a line"])
def test_a_line_after_the_last_answer_is_a_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], extra: str
) -> None:
    program = tmp_path / "subject.py"
    program.write_text(OFFERS.replace("EXTRA", f"'{extra}'"), encoding="utf-8")
    case = tmp_path / "case.json"
    case.write_text('{"system": "pulsar-pip430", "config": {}, "steps": [{"op": "usage"}]}', encoding="utf-8")
    command = shlex.join([sys.executable, "-I", "-S", str(program), str(tmp_path / "starts"), "{}"])
    code, out, err = run(capsys, "replay", str(case), "--command", command)
    assert (code, out) == (3, ""), err
    assert "the subject wrote a line after the answer to the last request: '" in err
    assert len(err.splitlines()) == 1


def test_a_start_that_a_signal_stops_is_no_mistake_of_the_subject(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = OFFERS.replace("EXTRA", "''")
    offer = '{"pulsar-pip430": {"ops": ["usage"]}}'
    child = Child([sys.executable, "-I", "-S", "-c", program, str(tmp_path / "starts"), offer])
    child.restart()

    def stop(process: ChildProcess, seconds: float) -> None:
        process._move(seconds)  # the answer has come
        raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr(ChildProcess, "receive", stop)
        with pytest.raises(KeyboardInterrupt):
            child.play([USAGE])
    child.close()


@pytest.mark.parametrize(
    ("ending", "note"), [("sys.exit(9)", "exit code 9"), ("os.kill(os.getpid(), 11)", "signal 11"), ("sys.exit(0)", "")]
)
def test_a_program_that_fails_when_it_is_stopped_has_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str, note: str
) -> None:
    program = tmp_path / "subject.py"
    program.write_text(f"import os\n{OFFERS.replace('EXTRA', repr(''))}        continue\n    else:\n        {ending}\n")
    case = tmp_path / "case.json"
    case.write_text('{"system": "pulsar-pip430", "config": {}, "steps": [{"op": "usage"}]}', encoding="utf-8")
    command = shlex.join([sys.executable, "-I", "-S", str(program), str(tmp_path / "starts"), "{}"])
    code, out, err = run(capsys, "replay", str(case), "--command", command)
    assert (code, bool(out)) == (0, True), err
    assert err.count(f"the subject ended with {note} after it was asked to stop") == bool(note), err


FLUSHES_WHEN_IDLE: Final = """
import json, select, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["cmd"] == "start":
        print(json.dumps({"version": 1, "systems": {"pulsar-pip430": {"ops": ["usage"]}}}), flush=True)
    elif request["cmd"] == "run":
        if len(request["steps"]) == 2:
            import os
            os._exit(1)
        print(json.dumps({"id": request["id"], "outcomes": [{"entries": 0, "bytes": 0}]}))
        if request["id"] % 2 or not select.select([sys.stdin], [], [], 0.2)[0]:
            sys.stdout.flush()
"""


def test_a_run_whose_answer_was_lost_by_a_later_death_is_not_blamed() -> None:
    """The program writes its answers when it has nothing to do, and a run of two steps ends it at once."""
    two_steps = Case(USAGE.system, Config(), (ops.Usage(), ops.Usage()))
    cases = [USAGE, USAGE, USAGE, two_steps, USAGE]
    child = Child([sys.executable, "-I", "-S", "-c", FLUSHES_WHEN_IDLE])
    try:
        first, second, lost, dead, last = child.play(cases)
    finally:
        child.close()
    assert all(isinstance(answer, RunResult) for answer in (first, second, lost, last))
    assert isinstance(dead, FailedRun)


def test_answers_that_nobody_waited_for_are_no_mistake(tmp_path: Path) -> None:
    program = OFFERS.replace("EXTRA", "''")
    child = Child([sys.executable, "-I", "-S", "-c", program, str(tmp_path / "starts"), "{}"])
    for number in range(3):
        child.send(encode_request(USAGE, number, child.declaration))
    assert child.receive()["id"] == 0
    child.close()


BROKEN: Final = """
import json, sys
answers = iter(sys.argv[1:])
for line in sys.stdin:
    print("a log line", file=sys.stderr)
    print(next(answers).replace("ID", str(json.loads(line).get("id"))), flush=True)
"""

OFFER: Final = '{"version": 1, "systems": {"pulsar-pip430": {"ops": ["usage"]}}}'

RUN: Final = '{"id": ID, "broken": {"message": "the library is missing"}}'


def test_a_broken_adapter_is_no_violation_and_is_not_tried_again() -> None:
    start = '{"broken": {"message": "the library is missing"}}'
    with pytest.raises(BrokenAdapter, match=r"^the library is missing$"):
        Child([sys.executable, "-c", BROKEN, start])
    case = Case(SYSTEMS["pulsar-pip430"], Config(), (ops.Usage(),))
    child = Child([sys.executable, "-c", BROKEN, OFFER, RUN])
    with pytest.raises(BrokenAdapter, match=r"^the library is missing$"):
        child.play([case, case])


THROWS: Final = """
import json, pathlib, sys
starts = pathlib.Path(sys.argv[1])
starts.write_text(f"x{starts.read_text() if starts.exists() else ''}")
for line in sys.stdin:
    request = json.loads(line)
    if request["cmd"] == "start":
        print(json.dumps({"version": 1, "systems": {"pulsar-pip430": {"ops": ["usage"]}}}), flush=True)
    elif request["cmd"] == "run":
        print(json.dumps({"id": request["id"], "errored": {"step": 0, "message": "ValueError: 7"}}), flush=True)
"""


@pytest.mark.parametrize(("name", "answers", "starts"), [("play_to_failure", 1, 2), ("play", 4, 8)])
def test_runs_behind_one_that_fails_cost_processes_only_if_they_are_wanted(
    tmp_path: Path, name: str, answers: int, starts: int
) -> None:
    child = Child([sys.executable, "-c", THROWS, str(tmp_path / "starts")])
    try:
        played = getattr(child, name)([USAGE] * 4)
    finally:
        child.close()
    assert [type(answer) for answer in played] == [FailedRun] * answers
    assert len((tmp_path / "starts").read_text()) == starts


THROWING_RELEASE: Final = """
import pathlib, sys
from entrycache_cli.main import main
from entrycache_fast import BrokerCache

def mark_read(*arguments):
    raise RuntimeError("7")

starts = pathlib.Path(sys.argv[1])
starts.write_text(f"x{starts.read_text() if starts.exists() else ''}")
BrokerCache.mark_read = mark_read
main(["serve", "fast"])
"""


@pytest.mark.long
def test_a_subject_that_throws_is_judged_with_few_processes(tmp_path: Path) -> None:
    child = Child([sys.executable, "-c", THROWING_RELEASE, str(tmp_path / "starts")], "pulsar-pip430")
    try:
        report = conform(child, Options(("queue",), PROFILES["dev"], 0, 0.0, tmp_path))
    finally:
        child.close()
    assert [failure.rules[0] for failure in report.failures] == ["R-LIVENESS-2"]
    assert len((tmp_path / "starts").read_text()) <= 30
