"""Signals at random moments end every command as documented; a pull request tries a few quick ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from entrycache_cli.main import main
from tests.support import signals
from tests.support.signals import COMMANDS, chosen, prepared, try_program, try_signal

COUNT = int(os.environ.get("ENTRYCACHE_SIGNALS", "100"))
SEED = int(os.environ.get("ENTRYCACHE_SEED", "1"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared(tmp_path_factory.mktemp("signals"), with_trace=False)


@pytest.mark.parametrize(
    ("command", "number", "after", "group"),
    [
        ("import", signal.SIGINT, 0.0, True),
        ("tour", signal.SIGHUP, 0.0, False),
        ("tour", signal.SIGTERM, 1.5, False),
        ("generate", signal.SIGINT, 1.0, True),
        ("record", signal.SIGTERM, 1.0, False),
    ],
)
def test_a_signal_ends_a_command(command: str, number: signal.Signals, after: float, group: bool, folder: Path) -> None:
    ended = try_signal(command, number, after, group, folder)
    assert not ended.wrong, str(ended)
    assert ended.seconds >= 0, "it was over before"


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_a_hundred_signals(tmp_path: Path) -> None:
    work = prepared(tmp_path)
    endings = [try_signal(*each, work) for each in chosen(SEED, COUNT, list(COMMANDS))]
    assert [str(each) for each in endings if each.wrong] == [], f"seed {SEED}"
    assert sum(each.seconds >= 0 for each in endings) > COUNT / 2


def test_every_command_is_tried() -> None:
    words = {line.split()[0] for line in COMMANDS.values()}
    assert words >= set(main.list_commands(None)) - {"findings", "report", "settings", "share", "TOUR"}  # type: ignore[arg-type]


DEAF = "import signal, subprocess, time\nsignal.signal(15, signal.SIG_IGN)\nsubprocess.run(['sleep', '60'])"
LOUD = "import time\ntime.sleep(60)"


@pytest.mark.parametrize(
    ("program", "number", "wrongs"),
    [
        (DEAF, signal.SIGTERM, ("expected exit 143", "it took", "left behind: ['sleep 60']")),
        (LOUD, signal.SIGINT, ("expected exit 130", "on stderr: ")),
    ],
)
def test_the_harness_sees_what_ends_otherwise(
    program: str, number: signal.Signals, wrongs: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("WAITS_SECONDS", "BUSY_SECONDS", "GONE_SECONDS"):
        monkeypatch.setattr(signals, name, 0.5)
    monkeypatch.setattr(signals, "handles_sigterm", lambda process: True)
    ended = try_program("planted", [sys.executable, "-c", program], number, 0.5, False, tmp_path)
    assert all(wrong in ended.wrong for wrong in wrongs), str(ended)


POOL = (
    "import time\n"
    "from entrycache_cli.commands.exit_codes import stopped_by_signals\n"
    "from entrycache_evidence.core import scheduler\n"
    "scheduler.os.sched_getaffinity = lambda pid: {0, 1}\n"
    "with stopped_by_signals():\n"
    "    scheduler.map_in_processes(time.sleep, [100, 100])\n"
)
RUNS = "from entrycache_conformance.subjects import watch\nwatch.run(['sleep', '100'])"


@pytest.mark.parametrize(
    ("program", "number"),
    [(POOL, 9), pytest.param(RUNS, 9, marks=pytest.mark.long), (POOL, 2)],
    ids=["pool", "program", "ctrl-c"],
)
def test_no_child_outlives_its_parent(program: str, number: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=signals.hears_all,  # noqa: PLW1509 - a test has one thread
    ) as process:
        own, end = psutil.Process(process.pid), time.monotonic() + 60
        while len(children := own.children(recursive=True)) < 2 and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(0.3)
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        _, err = process.communicate(timeout=20)
    _, alive = psutil.wait_procs(children, timeout=signals.BUSY_SECONDS)
    assert alive == []
    assert "Process" not in err


LAST = (
    "import atexit, sys\n"
    "from entrycache_cli.__main__ import begin\n"
    "class Late:\n"
    "    def __del__(self):\n"
    "        __import__('os').write(1, b'taken apart')\n"
    "def main():\n"
    "    atexit.register(print, 'at exit')\n"
    "    print('said', flush=False)\n"
    "    sys.exit(3)\n"
    "kept = Late()\n"
    "begin('__main__')\n"
)


def test_a_command_ends_before_python_takes_itself_apart() -> None:
    done = subprocess.run([sys.executable, "-c", LAST], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, "said\nat exit\n", "")


WRITES = """
import contextlib, os, signal, time
from entrycache_cli.commands import exit_codes
exit_codes.GRACE_SECONDS = {grace}
with exit_codes.stopped_by_signals():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(9)
    except KeyboardInterrupt:
        with {context}():
            time.sleep({grace} + 0.5)
            print("written", flush=True)
"""


@pytest.mark.parametrize(
    ("context", "grace", "said"),
    [("exit_codes.writing_report", 4, "written\n"), ("contextlib.nullcontext", 0.5, "")],
)
def test_a_report_that_is_written_when_a_command_is_stopped_is_finished(context: str, grace: float, said: str) -> None:
    """Anything else has to end within the grace."""
    program = WRITES.format(context=context, grace=grace)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == (said, "")
