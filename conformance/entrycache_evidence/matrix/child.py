"""Work in a forked process of its own, within so many seconds of its own time."""

from __future__ import annotations

import gc
import os
import pickle
import resource
import signal
from collections.abc import Callable
from typing import Any, Final

MEMORY_BYTES: Final = 3 << 30
"""What a changed reference may take before it fails."""


class TooLong(BaseException):
    """The time is over; no code under test catches it."""


class Died(Exception):
    """The process ended without an answer."""


def _over(number: int, frame: Any) -> None:
    raise TooLong


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """What the work gives.

    Raises:
        TooLong: it took more than these seconds of the process's own time.
    """
    signal.signal(signal.SIGVTALRM, _over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        return work()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def in_child(work: Callable[[], Any], seconds_most: int | None = None) -> Any:
    """What the work gives, done in a fork of this process.

    Args:
        work: What is done.
        seconds_most: Of the fork's own time, after which it is killed, also where no signal of Python's is heard.

    Raises:
        Died: the fork ended without an answer.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            gc.disable()
            os.close(reading)
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
            if seconds_most is not None:
                resource.setrlimit(resource.RLIMIT_CPU, (seconds_most, seconds_most))
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(work(), pipe)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    _, ended = os.waitpid(pid, 0)
    if ended or not told:
        raise Died
    return pickle.loads(told)
