"""The subject's stderr: kept, shown on request, and its relevant part reported once beside a failure."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from entrycache_conformance.subjects import processes
from tests.support.command import run

PANICS = r"""
import json, os, sys
offer = {"ops": ["insert", "get", "exists", "advance", "mark_read"], "config": []}
for line in sys.stdin:
    asked = json.loads(line)
    if asked["cmd"] == "start":
        print("hello\x1b[31m", file=sys.stderr, flush=True)
        answer = {"version": 1, "implementation": {"name": "panics"}, "systems": {"pulsar-pip430": offer}}
        print(json.dumps(answer), flush=True)
    elif asked["cmd"] == "run":
        own = os.getpid()  # text that differs from process to process makes no second failure
        print(f"thread 'main' ({own}) panicked at src/main.rs:41:9:\nno such slot\nat 0x{own:x}", file=sys.stderr)
        print("stack backtrace:\n" + "   at somewhere\n" * 50, file=sys.stderr, flush=True)
        sys.exit(101)
"""

PANIC = "thread 'main' (7) panicked at src/main.rs:41:9:\nno such slot\nstack backtrace:\n   0: std"
RECOVERS = """
import json, sys
offer = {{"ops": ["insert", "get"], "config": []}}
for line in sys.stdin:
    asked = json.loads(line)
    if asked["cmd"] == "start":
        answer = {{"version": 1, "implementation": {{"name": "recovers"}}, "systems": {{"pulsar-pip430": offer}}}}
    else:
        print({said!r}, file=sys.stderr, flush=True)
        answer = {{"id": asked["id"], "errored": {{"step": 0, "message": "no such slot"}}}}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def panics(tmp_path: Path) -> list[str]:
    program = tmp_path / "panics.py"
    program.write_text(PANICS)
    command = shlex.join([sys.executable, "-I", "-S", str(program)])
    return ["conform", "--command", command, "--failures", str(tmp_path / "failures")]


@pytest.mark.long
def test_a_panic_is_reported_once_with_its_first_lines(panics: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *panics)
    assert code == 1
    assert out.count("stderr: thread 'main' panicked at src/main.rs:41:9:\nstderr: no such slot\nstderr: at 0x") == 1
    assert out.count("replay it: ") == 1
    assert "the same failure was found at level queue" in out
    _, said, _ = run(capsys, *panics, "--json")
    failures = json.loads(said)["failures"]
    assert {failure["level"] for failure in failures} == {"range", "queue"}
    assert {failure["log"].splitlines()[1] for failure in failures} == {"no such slot"}


@pytest.mark.long
@pytest.mark.parametrize(("said", "is_quoted"), [(PANIC, True), ("slow today", False)])
def test_the_stderr_of_a_subject_that_answers_after_a_panic_is_quoted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], said: str, is_quoted: bool
) -> None:
    """Check that other log lines are not taken for the cause."""
    program = tmp_path / "recovers.py"
    program.write_text(RECOVERS.format(said=said))
    command = shlex.join([sys.executable, "-I", "-S", str(program)])
    code, out, _ = run(capsys, "conform", "--command", command, "--failures", str(tmp_path / "failures"))
    assert (code, "stderr: " in out) == (1, is_quoted)
    assert ("stderr: thread 'main' panicked at src/main.rs:41:9:\nstderr: no such slot\n" in out) is is_quoted


@pytest.mark.long
def test_quiet_is_a_line_a_failure_and_the_verdict(panics: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *panics, "-q", "--level", "range")
    assert code == 1
    first, last = out.splitlines()
    assert first.startswith("R-LIVENESS-2 at step 0, level range: entrycache replay ")
    assert last.startswith("panics: violates (range violates); except not offered ")


@pytest.mark.long
def test_the_whole_stderr_is_kept_and_shown_where_that_is_asked_for(
    panics: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "deep" / "subject.log"
    _, _, err = run(capsys, *panics, "--level", "range", "--subject-log", str(log), "-v")
    assert log.read_bytes().startswith(b"hello\x1b[31m\n")
    assert log.read_bytes().count(b"no such slot") >= 2
    assert "subject: hello\\x1b[31m\n" in err
    assert all(line.isprintable() for line in err.splitlines())


def test_the_log_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "MAX_LOG_BYTES", 10)
    log = processes.SubjectLog(tmp_path / "log")
    for _ in range(3):
        log(b"123456")
    text = (tmp_path / "log").read_text()
    assert text.startswith("1234561234\n[entrycache: what came after 10 bytes is left out]\n")
    assert text.count("\n") == 2


def test_a_log_that_cannot_be_written_is_one_line(
    panics: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, *panics, "--subject-log", str(tmp_path))
    assert (code, len(err.splitlines())) == (2, 1)
    assert "cannot write" in err
