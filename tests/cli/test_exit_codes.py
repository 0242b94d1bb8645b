"""The ends of commands: a documented exit code, one line, the finished results, and no process left behind."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from entrycache_cli.commands import exit_codes
from entrycache_cli.main import main
from entrycache_conformance.levels import PROFILES
from entrycache_conformance.report import LevelReport, RunReport, Skip
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.run import Options, conform
from entrycache_protocol.errors import Interrupted, Verdict
from tests.support.command import run
from tests.support.traces import plant

ENTRYCACHE = [sys.executable, "-m", "entrycache_cli"]
BUSY_SECONDS = 8
"""The time that a command may take to end; two seconds on a quiet machine."""


def test_what_is_unforeseen_is_one_line_a_file_and_exit_70(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(**_: Any) -> None:
        raise KeyError("a \x1b[31mname\nof two lines")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("entrycache_cli.commands.faults.command.callback", broken)
    code, out, err = run(capsys, "faults")
    assert (code, out) == (70, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("entrycache: an error of entrycache itself, not of the subject; report it: KeyError: ")
    assert "\x1b" not in err
    (report,) = tmp_path.iterdir()
    assert str(report) in err
    assert "in broken" in report.read_text("utf-8")


def test_a_full_disk_does_not_hide_what_is_unforeseen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(**_: Any) -> None:
        raise ValueError("odd")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    monkeypatch.setattr("entrycache_cli.commands.faults.command.callback", broken)
    code, _, err = run(capsys, "faults")
    assert code == 70
    assert "ValueError: odd (its traceback could not be written" in err


@pytest.mark.parametrize(
    ("closed", "code"), [("<&-", 0), ("2>&-", 0), (">&-", 2), ("1</dev/null", 2), ("<&- >&- 2>&-", 2)]
)
def test_a_standard_stream_may_be_closed(closed: str, code: int) -> None:
    """Exit 2 without stdout, because nobody could read the result."""
    argv = ["/bin/sh", "-c", f'"$@" {closed}', "sh", *ENTRYCACHE, "faults"]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == code
    assert bool(ended.stdout) is (code == 0)
    message = "entrycache: cannot write the output: stdout is closed, or open only for reading\n"
    assert ended.stderr == (message if closed in {">&-", "1</dev/null"} else "")


def test_a_name_that_is_no_text_is_reported(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = plant.honest(tmp_path / "honest", 300, 1)["broker-0"]
    trace = str(plant.write(tmp_path / "trace", rows))
    with pytest.raises(SystemExit) as ended:
        main(["audit", trace, "--backend", "local", "--rules", "R-EVICT-8", "--out", str(tmp_path / "caf\udce9")])
    assert ended.value.code == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert line.endswith("caf\\udce9' is not UTF-8 text; expected file names in UTF-8")


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    argv = ["/bin/sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && "$@"', "sh", *ENTRYCACHE, "conform", "fast"]
    ended = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "entrycache: cannot run in the current folder: No such file or directory\n"


@pytest.mark.long
def test_where_stderr_takes_nothing_the_code_stays() -> None:
    """Keep the exit code, although Python would end with 120 when it writes the rest at its end."""
    argv = [*ENTRYCACHE, "rules", "R-NONE-1"]
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        ended = subprocess.run(argv, stdout=subprocess.PIPE, stderr=full, env=plain, check=False, timeout=120)
    assert ended.returncode == 2


@pytest.mark.long
@pytest.mark.parametrize("arguments", [["faults"], ["rules"], ["rules", "R-EVICT-3"]])
def test_a_reader_that_has_gone_is_exit_141(arguments: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    argv = [*ENTRYCACHE, *arguments]
    ended = subprocess.run(argv, stdout=write, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    os.close(write)
    assert (ended.returncode, ended.stderr) == (141, "")


def hears_ctrl_c() -> None:
    """Let a child hear Ctrl-C, which is ignored if these tests run in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [*ENTRYCACHE, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hears_ctrl_c,  # noqa: PLW1509 - a test has one thread
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                for one in psutil.Process(process.pid).children(recursive=True):
                    one.kill()
                process.kill()


def at_work(process: subprocess.Popen[str], children: int) -> list[psutil.Process]:
    """Return the children of a process as soon as there are enough."""
    own, end = psutil.Process(process.pid), time.monotonic() + 90
    while time.monotonic() < end:
        processes = own.children(recursive=True)
        if len(processes) >= children:
            return processes
        time.sleep(0.02)
    raise AssertionError("it did not begin")


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.long)]
)
@pytest.mark.parametrize(
    ("arguments", "children"),
    [
        (["conform", "fast", "--bulk", "60", "--level", "range", "--jobs", "2"], 2),
        (["conform", "expire-at-the-cutoff", "--profile", "nightly", "--level", "range"], 1),
        (["conform", "--command", "sleep 1000"], 1),
        (["prove"], 2),
    ],
    ids=["workers", "child", "deaf-child", "prove"],
)
def test_a_signal_ends_a_command_in_time_and_nothing_stays(
    number: signal.Signals, code: int, arguments: list[str], children: int, tmp_path: Path
) -> None:
    more = ["--failures", str(tmp_path)] if arguments[0] == "conform" else []
    with started(*arguments, *more) as process:
        processes = at_work(process, children)
        time.sleep(1)
        began = time.monotonic()
        process.send_signal(number)
        _, err = process.communicate(timeout=20)
    assert process.returncode == code
    assert time.monotonic() - began < BUSY_SECONDS
    assert "Traceback" not in err
    _, alive = psutil.wait_procs(processes, timeout=2)
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == [], "or init has not looked"


DEAF = "import time; time.sleep(1000)"
BUSY = "import sys\nfor line in sys.stdin:\n    while True: pass"
STARTS_ANOTHER = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(1000)'])"


@pytest.mark.parametrize("subject", [DEAF, BUSY, STARTS_ANOTHER], ids=["deaf", "busy", "starts-another"])
def test_no_subject_outlives_a_runner_that_is_killed(subject: str) -> None:
    command = shlex.join([sys.executable, "-c", subject])
    with started("smoke", "--command", command, "--timeout", "100") as process:
        processes = at_work(process, 3 if subject == STARTS_ANOTHER else 2)
        time.sleep(0.5)
        process.kill()
        process.communicate(timeout=20)
    _, alive = psutil.wait_procs(processes, timeout=BUSY_SECONDS)
    assert alive == []


LEAVES_A_DAEMON = """import os, time
if os.fork() == 0:
    os.setsid()
    os._exit(0) if os.fork() else time.sleep(1000)
time.sleep(1000)"""


@pytest.mark.parametrize(
    "numbers", [(signal.SIGKILL,), (signal.SIGTERM, signal.SIGTERM)], ids=["killed", "two signals"]
)
def test_nor_does_what_it_has_begun_outside_of_its_session(numbers: tuple[signal.Signals, ...], tmp_path: Path) -> None:
    command = shlex.join([sys.executable, "-c", LEAVES_A_DAEMON, str(tmp_path)])
    with started("smoke", "--command", command, "--timeout", "100") as process:
        own = at_work(process, 2)
        while not (daemons := [each for each in psutil.process_iter() if is_orphan(each, tmp_path, own)]):
            time.sleep(0.05)
        for number in numbers:
            process.send_signal(number)
            time.sleep(0.02)
        process.communicate(timeout=20)
    _, alive = psutil.wait_procs(daemons, timeout=BUSY_SECONDS)
    assert [left for left in alive if left.status() != psutil.STATUS_ZOMBIE] == []


def is_orphan(process: psutil.Process, folder: Path, own: list[psutil.Process]) -> bool:
    """Return whether a process has the folder as its last argument while none of its parents is one of these."""
    with contextlib.suppress(psutil.Error):
        return process.cmdline()[-1:] == [str(folder)] and not {process, process.parent()} & set(own)
    return False


def test_what_was_finished_is_said(tmp_path: Path) -> None:
    """Stop the second of two levels: the first is reported, and the run does not conform."""

    def notify(level: str, done: int, wanted: int) -> None:
        if level == "queue":
            raise KeyboardInterrupt

    options = Options(("range", "queue"), PROFILES["dev"], 0, 0.0, tmp_path)
    with closing(resolve_subject(SubjectChoice("fast"))) as fast, pytest.raises(Interrupted) as stopped:
        conform(fast, options, notify)
    report = stopped.value.partial_result
    assert {level: level_report.verdict for level, level_report in report.levels.items()} == {
        "range": Verdict.CONFORMS,
        "queue": Verdict.NOTHING_CHECKED,
    }
    assert report.verdict is Verdict.NOTHING_CHECKED
    assert Skip("level queue", "stopped before it was judged") in report.skipped


def test_a_stopped_run_prints_what_was_finished(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = RunReport("s", None, "pulsar-pip430", {"range": LevelReport(9, 99, Verdict.CONFORMS)}, {}, {}, (), ())

    def stop(*_: Any) -> None:
        raise Interrupted(report)

    monkeypatch.setattr("entrycache_cli.commands.conform.conform", stop)
    code, out, _ = run(capsys, "conform", "fast", "--json")
    assert code == 130
    assert json.loads(out)["levels"]["range"]["verdict"] == "conforms"


def test_what_is_in_the_background_goes_on_when_others_are_stopped() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with exit_codes.stopped_by_signals() as came:
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    finally:
        signal.signal(signal.SIGINT, before)
    assert came == []


COLLECTED = """
def collected(phase, info):
    if phase == "start" and not sent:
        sent.append(1)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.001)

sent = []
gc.callbacks.append(collected)
meet = gc.collect
"""
OVER = """
class Ends:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.001)

meet = Ends
"""
MEETS = """
with ending.stopped_by_signals() as came:
    try:
        meet()
        time.sleep(60)
    except KeyboardInterrupt:
        print("heard", *came, flush=True)
"""


@pytest.mark.parametrize("moment", [COLLECTED, OVER], ids=["garbage-collector", "end-of-an-object"])
def test_a_signal_is_not_lost_where_an_exception_would_be(moment: str) -> None:
    """Use a process of its own; a lost signal would end it with the grace."""
    program = "import gc, os, signal, time\nfrom entrycache_cli.commands import exit_codes as ending\n" + moment + MEETS
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert (ended.returncode, ended.stdout) == (0, "heard 15\n"), ended.stderr


def test_without_a_signal_handlers_stay_as_they_were(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    assert run(capsys, "rules", "R-EVICT-3")[0] == 0
    assert signal.getsignal(signal.SIGINT) is before


def test_a_library_that_keeps_python_waiting_does_not_keep_the_command() -> None:
    program = (
        "import ctypes, time\n"
        "from entrycache_cli.commands.exit_codes import stopped_by_signals\n"
        "with stopped_by_signals():\n"
        "    print(flush=True)\n"
        "    end = time.monotonic() + 30\n"
        "    while time.monotonic() < end:\n"
        "        try:\n"
        "            ctypes.CDLL(None).poll(None, 0, 30_000)\n"
        "            ctypes.CDLL(None).usleep(30_000_000)\n"
        "        except KeyboardInterrupt:\n"
        "            pass\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(1)  # until it waits
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 143
    assert time.monotonic() - began < BUSY_SECONDS
