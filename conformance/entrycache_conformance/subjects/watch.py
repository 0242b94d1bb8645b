"""Whoever starts a process group is watched: when it is gone, however it went, so is the group."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import psutil

SCRIPT: Final = 'read -r _ || { kill -9 "-$1"; pkill -9 -s "$1"; }'
"""A line says that all is over; the end of the pipe without one, that the runner has died. Whoever began a group of
its own is found by the session, where there is a pkill."""


class Watch:
    """A shell that waits at the other end of a pipe; it knows nothing but the number of the group."""

    def __init__(self, group: int) -> None:
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", SCRIPT, "sh", str(group)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def over(self) -> None:
        """The group has been ended; nobody has to watch it any more."""
        with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired):
            self._shell.communicate(b"over\n", timeout=5)


def end(leader: int, known: Collection[psutil.Process] = ()) -> None:
    """End whoever leads a session, and all that it has started and that can be found, at once.

    What has left the session is found as long as those live that have started it; else it has to be `known`.
    """
    halted = set(known)
    with contextlib.suppress(psutil.Error):
        if _may_have_children(leader):
            halted |= halt_descendants(psutil.Process(leader))
    for process in known:
        with contextlib.suppress(psutil.Error):
            halted |= halt_descendants(process)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    for number in psutil.pids():
        with contextlib.suppress(OSError):
            if os.getsid(number) == leader:
                os.kill(number, signal.SIGKILL)
    kill(halted)


def descendants(of: int) -> set[psutil.Process]:
    """All that a process has started, as far as it can be found now."""
    with contextlib.suppress(psutil.Error):
        if _may_have_children(of):
            return set(psutil.Process(of).children(recursive=True))
    return set()


def _may_have_children(of: int) -> bool:
    """Looking through all processes of a machine takes long, and most have none; some systems do not say."""
    try:
        return any(task.joinpath("children").read_bytes() for task in Path(f"/proc/{of}/task").iterdir())
    except OSError:
        return True


def halt_descendants(of: psutil.Process) -> set[psutil.Process]:
    """Halt all that a process has started, and what those have: none starts another while it is not looked at."""
    halted: set[psutil.Process] = set()
    while begun := set(of.children(recursive=True)) - halted:
        for process in begun:
            with contextlib.suppress(psutil.Error):
                process.suspend()
        halted |= begun
    return halted


def kill(processes: Iterable[psutil.Process]) -> None:
    """End each at once."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()


def run(
    argv: Sequence[str | Path],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_seconds: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end without input; it and all of its group end with this process, however that ends.

    Raises:
        OSError: it cannot be started.
        subprocess.TimeoutExpired: it took longer; it has been ended.
    """
    with subprocess.Popen(
        argv,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        watch = Watch(process.pid)
        try:
            out, err = process.communicate(timeout=timeout_seconds)
        finally:
            end(process.pid)
            watch.over()
    return subprocess.CompletedProcess(argv, process.returncode, out, err)
