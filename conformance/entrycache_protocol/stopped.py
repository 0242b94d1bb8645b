"""What a run that is stopped has finished reaches whoever asked for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Stopped(KeyboardInterrupt):
    """A run was stopped; `so_far` is what it would have given, of what was finished."""

    def __init__(self, so_far: Any) -> None:
        super().__init__()
        self.so_far = so_far


@contextmanager
def keeping(so_far: Callable[[], Any]) -> Iterator[None]:
    """Where the block is stopped, ask what was finished, and let it go on up.

    Raises:
        Stopped: it was stopped.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped(so_far()) from None
