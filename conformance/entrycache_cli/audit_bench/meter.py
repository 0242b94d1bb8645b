"""Processor time and memory of this process and all below it: the JVM of Spark and its workers are among them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

import psutil

SAMPLE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Cost:
    """What some work took: seconds of processors and of the wall, and the most memory of the processes below, in MiB.

    `workers_mib` are those that are no JVM.
    """

    cpu_seconds: float
    wall_seconds: float
    workers_mib: float
    jvm_mib: float


def cost_of(work: Callable[[], object]) -> Cost:
    """Do some work once."""
    ended = threading.Event()
    most = {"java": 0.0, "": 0.0}

    def watch() -> None:
        while not ended.wait(SAMPLE_SECONDS):
            most.update({kind: max(mib, _resident_mib(kind)) for kind, mib in most.items()})

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    cpu, wall = cpu_seconds(), monotonic()
    try:
        work()
    finally:
        ended.set()
        watcher.join()
    return Cost(cpu_seconds() - cpu, monotonic() - wall, most[""], most["java"])


def cpu_seconds() -> float:
    """Of this process and those below it, ended ones that were waited for included."""
    total = 0.0
    for process in _tree():
        with suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system
            total += getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
    return total


def _tree() -> Iterator[psutil.Process]:
    own = psutil.Process()
    yield own
    yield from own.children(recursive=True)


def _resident_mib(kind: str) -> float:
    total = 0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if (process.name() == "java") == (kind == "java"):
                total += process.memory_info().rss
    return total / (1 << 20)
