"""A bound on what a faulty model may do in one step: some come to no end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class NoEnd(Exception):
    """A block made more calls than it was given."""


@contextmanager
def within_calls(most: int) -> Iterator[None]:
    """At most so many calls and returns of functions inside this block, then NoEnd; a count, so the same everywhere."""
    left = most

    def counted(frame: Any, event: str, arg: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise NoEnd(f"more than {most} calls")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        yield
    finally:
        sys.setprofile(before)
