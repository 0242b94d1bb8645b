"""A bound on what a faulty model may do in one step: some come to no end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class NoEnd(Exception):
    """A block made more calls than it was given."""


@contextmanager
def within_calls(most: int) -> Iterator[None]:
    """At most so many calls and returns of functions inside this block, then NoEnd; a count, so the same everywhere.

    Under a profiler there is no bound: Python has room for one. What a garbage collector calls meanwhile is never what
    is stopped: Python would drop the exception there, and the bound with it.
    """
    left = most

    def counted(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0 and event == "call" and str(frame.f_globals.get("__name__")).startswith("entrycache_"):
            raise NoEnd(f"more than {most} calls")

    if sys.getprofile() is not None:
        yield
        return
    sys.setprofile(counted)
    try:
        yield
    finally:
        sys.setprofile(None)
