"""Work of many equal parts, by as many processes as there are cores."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import active_children, get_context, parent_process
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_held: dict[str, Any] = {}
"""In a child: what to call, and on what. Children inherit it, so neither has to be pickled; results have."""


def each(
    call: Callable[[T], R],
    items: Sequence[T],
    told: Callable[[int], None] = lambda _: None,
    found: list[R] | None = None,
    apart: bool = False,
) -> list[R]:
    """What a call gives for each item, in order; `told` hears how many are done, and `found` is added to before.

    One item, or one core, needs no other process, unless it has to be kept `apart` from this one.

    Raises:
        concurrent.futures.process.BrokenProcessPool: one of the processes was ended from outside.
    """
    workers = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1, len(items))
    found = [] if found is None else found
    if (workers < 2 and not (apart and items)) or not hasattr(os, "fork"):
        for item in items:
            found.append(call(item))
            told(len(found))
        return found
    others = set(active_children())
    with ProcessPoolExecutor(workers, get_context("fork"), _hold, (call, items)) as pool:
        try:
            # Not `map`, which cancels what is left: a pool whose processes are gone cannot end what is cancelled.
            for begun in [pool.submit(_one, at) for at in range(len(items))]:
                found.append(begun.result())
                told(len(found))
        except BaseException:
            # Else they would first end what they are at, which may be for ever.
            for child in set(active_children()) - others:
                child.kill()
            raise
    return found


def _hold(call: Callable[[Any], Any], items: Sequence[Any]) -> None:
    """Begin in a child. Signals are its parent's to hear; where that has died, so does the child."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    _held.update(call=call, items=items)


def _end_with_the_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGKILL)


def _one(at: int) -> Any:
    return _held["call"](_held["items"][at])
