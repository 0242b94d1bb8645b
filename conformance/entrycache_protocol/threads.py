"""Playing a history on an instance in this process: each client's steps on a thread of its own."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from entrycache_protocol.errors import EntrycacheError
from entrycache_protocol.subject import Event

SWITCH_SECONDS: Final = 1e-6
"""How soon the interpreter gives the next thread its turn while a history is played."""

THROWN: Final = (Exception, SystemExit)
"""What an implementation may throw. One that calls `sys.exit` would end its judge with an exit code of its own."""


class StepFailed(Exception):
    """A step of a history threw what the protocol does not name; the cause is what it threw."""


def play(instance: Callable[[Any], Any], parts: Sequence[tuple[int, Sequence[Any]]]) -> tuple[Event, ...]:
    """Every step of the parts of a history with its outcome, in their order: see `History.parts`.

    The threads are daemons: where they wait for one another for ever, whoever waits here can still be ended.

    Raises:
        StepFailed: a step threw; the first one is told.
    """
    ticks = itertools.count(1)
    failures: list[StepFailed] = []
    events: dict[int, list[Event]] = {}

    def client(number: int, steps: Sequence[Any], begin: Callable[[], object] = lambda: None) -> None:
        done = events.setdefault(number, [])
        begin()
        for index, op in enumerate(steps):
            if failures:
                return
            start = next(ticks)
            try:
                outcome = instance(op)
            except EntrycacheError as error:
                failures.append(_failed(number, index, op, error))
                return
            except THROWN as error:  # any error of an implementation is its answer
                failures.append(_failed(number, index, op, error))
                return
            done.append(Event(number, index, start, next(ticks), outcome))

    before, *clients, after = parts
    client(*before)
    together = threading.Barrier(len(clients))
    with _eager_switches():
        threads = [
            threading.Thread(target=client, args=(number, steps, together.wait), name=f"client {number}", daemon=True)
            for number, steps in clients
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    client(*after)
    if failures:
        raise failures[0]
    return tuple(event for number, _ in parts for event in events[number])


def _failed(number: int, index: int, op: Any, error: BaseException) -> StepFailed:
    name = op["op"] if isinstance(op, dict) else type(op).name
    failed = StepFailed(f"client {number}, step {index} ({name}): {type(error).__name__}: {error}")
    failed.__cause__ = error
    return failed


@contextmanager
def _eager_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
