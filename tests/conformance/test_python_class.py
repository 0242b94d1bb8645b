"""A Python class in this process whose steps never end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import pytest

from entrycache import Subject
from entrycache_conformance.resolve import PythonSubject, RunClock
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import Case
from entrycache_protocol.subject import RunResult
from entrycache_reference.pulsar_pip430 import Config, ops
from tests.support import signals

ENTRYCACHE: Final = [sys.executable, "-m", "entrycache_cli"]

CLASSES: Final = """
import itertools
import os
import time

from entrycache import Refuse, Subject


class Right(Subject):
    system = "pulsar-pip430"
    settings = ()

    def __init__(self, config):
        self.entries = {}

    def insert(self, cache, pos, size, expected_reads=None):
        if size < 0:
            raise Refuse
        is_new = (cache, pos) not in self.entries
        self.entries[cache, pos] = size
        return {"inserted": is_new}

    def get(self, cache, pos):
        if (cache, pos) in self.entries:
            if os.environ["MARKER"]:
                open(os.environ["MARKER"], "w").close()
            self._hit()
        return {"hit": (cache, pos) in self.entries}

    def _hit(self):
        pass


class Loops(Right):
    def _hit(self):
        while True:
            pass


class CatchesAll(Right):
    def _hit(self):
        while True:
            try:
                time.sleep(1000)
            except BaseException:
                pass


class Sleeps(Right):
    def _hit(self):
        time.sleep(1000)


class InC(Right):
    def _hit(self):
        sum(itertools.repeat(1))


"""


def start(folder: Path, *arguments: str, marker: str = "") -> subprocess.Popen[str]:
    """Start a command in a folder that holds the classes. A step that never ends creates the file `marker`."""
    (folder / "slow.py").write_text(CLASSES, encoding="utf-8")
    return subprocess.Popen(
        [*ENTRYCACHE, *arguments],
        cwd=folder,
        env={**os.environ, "MARKER": marker},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=signals.hears_all,  # noqa: PLW1509 - a test has one thread
    )


def end(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Run a command to its end and return its exit code, stdout and stderr."""
    process = start(folder, *arguments)
    try:
        out, err = process.communicate(timeout=100)
    finally:
        process.kill()
    return process.returncode, out, err


@pytest.mark.parametrize("name", ["Loops", "Sleeps"])
def test_a_step_that_never_ends_is_a_hang(name: str, tmp_path: Path) -> None:
    code, out, _ = end(tmp_path, "smoke", f"slow:{name}", "--timeout", "0.5")
    assert code == 1
    assert "step 3, get" in out
    assert "R-LIVENESS-1" in " ".join(out.split())


@pytest.mark.long
def test_a_hang_is_shrunk_and_its_case_can_be_replayed(tmp_path: Path) -> None:
    arguments = ["slow:Loops", "--timeout", "0.5", "--json"]
    code, out, _ = end(tmp_path, "conform", *arguments, "--level", "range", "--failures", str(tmp_path))
    (failure,) = json.loads(out)["failures"]
    assert (code, failure["rules"]) == (1, ["R-LIVENESS-1"])
    (path,) = tmp_path.glob("r-liveness-1-*.json")
    steps = json.loads(path.read_text("utf-8"))["steps"]
    assert [step["op"] for step in steps] == ["insert", "get"]
    code, out, _ = end(tmp_path, "replay", str(path), *arguments)
    assert (code, json.loads(out)["rules"]) == (1, ["R-LIVENESS-1"])


PRINTS: Final = """
import os
import subprocess
import sys
import threading
import time

from slow import Right


class Prints(Right):
    def _hit(self):
        print("verdict")
        print("verdict", file=sys.__stdout__)
        os.write(1, b"verdict\\n")
        subprocess.run(["echo", "verdict"])


class Closes(Right):
    def _hit(self):
        os.close(1)


class LeavesThreads(Right):
    def _hit(self):
        if threading.active_count() < 9:
            threading.Thread(target=time.sleep, args=(1000,)).start()


class Cancels(Right):
    def _hit(self):
        raise GeneratorExit


print("verdict")
os.write(1, b"verdict\\n")
"""


@pytest.mark.parametrize("how", ["{}", "--command={python} -m entrycache_cli serve {}"])
@pytest.mark.parametrize("name", ["Prints", "Closes"])
def test_a_class_cannot_write_into_our_output(name: str, how: str, tmp_path: Path) -> None:
    (tmp_path / "prints.py").write_text(PRINTS, encoding="utf-8")
    code, out, err = end(tmp_path, "smoke", how.format(f"prints:{name}", python=sys.executable), "--json")
    assert code == 0, err
    assert json.loads(out)["verdict"] == "conforms"


def test_threads_that_a_class_leaves_do_not_hold_the_command(tmp_path: Path) -> None:
    (tmp_path / "prints.py").write_text(PRINTS, encoding="utf-8")
    assert end(tmp_path, "smoke", "prints:LeavesThreads")[0] == 0


def test_an_error_that_is_no_exception_is_an_error_of_the_class(tmp_path: Path) -> None:
    (tmp_path / "prints.py").write_text(PRINTS, encoding="utf-8")
    code, out, err = end(tmp_path, "smoke", "prints:Cancels")
    assert (code, "GeneratorExit" in out, "Traceback" in err) == (1, True, False)


@pytest.mark.long
@pytest.mark.parametrize("name", ["InC", "CatchesAll"])
def test_a_step_that_cannot_be_interrupted_is_named_and_ends_the_command(name: str, tmp_path: Path) -> None:
    code, _, err = end(tmp_path, "smoke", f"slow:{name}", "--timeout", "0.5")
    assert code == -signal.SIGKILL
    assert err.startswith("entrycache: step 3 (get) gives no answer within ")
    assert err.endswith(f'and cannot be interrupted; test it with --command "entrycache serve slow:{name}"\n')
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("name", ["Loops", "CatchesAll"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_names_the_step_that_it_stops(name: str, number: signal.Signals, code: int, tmp_path: Path) -> None:
    marker = tmp_path / "in-step"
    process = start(tmp_path, "smoke", f"slow:{name}", "--timeout", "90", marker=str(marker))
    try:
        while not marker.exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == code
    assert err.splitlines()[-1] == "entrycache: stopped in step 3 (get)"


class Empty(Subject):
    """A cache that holds nothing."""

    system = "pulsar-pip430"
    settings = ()

    def usage(self) -> dict[str, Any]:
        """Return the sums."""
        return {"entries": 0, "bytes": 0}


CASE: Final = Case(SYSTEMS["pulsar-pip430"], Config(), (ops.Usage(),))


def test_a_timer_of_somebody_else_goes_on() -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: came.append(number))
    subject = PythonSubject(Empty, 5.0, lambda: pytest.fail("it needs no child"))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        assert isinstance(subject.play([CASE])[0], RunResult)
        assert came == []
        time.sleep(0.5)
        assert came == [signal.SIGALRM]
        signal.setitimer(signal.ITIMER_REAL, 100)
        subject.play([CASE])
        assert 90 < signal.getitimer(signal.ITIMER_REAL)[0] <= 100
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        subject.close()
    assert RunClock.running is None
