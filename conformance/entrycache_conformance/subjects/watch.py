"""Whoever starts a process group is watched: when it is gone, however it went, so is the group."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Final

import psutil

MARK: Final = "ENTRYCACHE_STARTED"
"""The variable whose value all inherit that a program starts, and what these start: so they are found wherever they
have gone, but for who clears its environment."""

SCRIPT: Final = """read -r _ || { kill -9 "-$1"; pkill -9 -s "$1"
  for of in /proc/[0-9]*; do grep -qsF "$2" "$of/environ" && kill -9 "${of#/proc/}"; done; }"""
"""A line says that all is over; the end of the pipe without one, that the runner has died. Whoever began a group of
its own is found by the session, where there is a pkill, and by the mark, where there is a /proc."""


_TOKEN: Final = secrets.token_hex(16)
_numbers = itertools.count(1)


def _own() -> str:
    """What the marks of this process begin with; those of one that was forked from it begin otherwise."""
    return f"{_TOKEN}.{os.getpid()}."


def marked(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment with a mark of its own; of the one that is given, else of this process."""
    return {**(os.environ if env is None else env), MARK: f"{_own()}{next(_numbers)}."}


class Watch:
    """A shell that waits at the other end of a pipe; it knows nothing but the number of the group, and its mark."""

    def __init__(self, group: int, mark: str) -> None:
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", SCRIPT, "sh", str(group), mark],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def over(self) -> None:
        """The group has been ended; nobody has to watch it any more."""
        with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired):
            self._shell.communicate(b"over\n", timeout=5)


def end(leader: int, mark: str) -> None:
    """End whoever leads a session, and all that it has started, at once.

    What has left the session is found by its mark; who has cleared it, as long as those live that have started it.
    """
    halted: set[psutil.Process] = set()
    with contextlib.suppress(psutil.Error):
        if _may_have_children(leader):
            halted |= halt_descendants(psutil.Process(leader))
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    for number in psutil.pids():
        with contextlib.suppress(OSError):
            if os.getsid(number) == leader:
                os.kill(number, signal.SIGKILL)
    kill(halted | with_mark(mark))


def with_mark(mark: str | None = None) -> set[psutil.Process]:
    """All whose mark begins so; None: all that this process has started, and what these have."""
    found = set()
    mark = mark or _own()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK, "").startswith(mark):
                found.add(process)
    return found


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


@contextlib.contextmanager
def begun(
    argv: Sequence[str | Path],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    out: int | IO[str] = subprocess.PIPE,
    err: int | IO[str] = subprocess.PIPE,
) -> Iterator[subprocess.Popen[str]]:
    """A program that runs without input; it and all of its group have ended after the block, however this process ends.

    Raises:
        OSError: it cannot be started.
    """
    env = marked(env)
    with subprocess.Popen(
        argv,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        watch = Watch(process.pid, env[MARK])
        try:
            yield process
        finally:
            end(process.pid, env[MARK])
            watch.over()


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
    with begun(argv, cwd, env) as process:
        out, err = process.communicate(timeout=timeout_seconds)
    return subprocess.CompletedProcess(argv, process.returncode, out, err)
