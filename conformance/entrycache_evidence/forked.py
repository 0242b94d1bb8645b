"""Work of many equal parts, by as many processes as there are cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_held: dict[str, Any] = {}
"""In a child: what to call, and on what. Children inherit it, so neither has to be pickled; results have."""


def each(call: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """What a call gives for each item, in order."""
    workers = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1, len(items))
    if workers < 2 or not hasattr(os, "fork"):
        return [call(item) for item in items]
    with ProcessPoolExecutor(workers, get_context("fork"), _hold, (call, items)) as pool:
        return list(pool.map(_one, range(len(items))))


def _hold(call: Callable[[Any], Any], items: Sequence[Any]) -> None:
    _held.update(call=call, items=items)


def _one(at: int) -> Any:
    return _held["call"](_held["items"][at])
