"""Whoever starts a process group is watched: when it is gone, however it went, so is the group."""

from __future__ import annotations

import contextlib
import subprocess
from typing import Final

SCRIPT: Final = 'read -r _ || kill -9 "-$1"'
"""A line says that all is over; the end of the pipe without one, that the runner has died."""


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
