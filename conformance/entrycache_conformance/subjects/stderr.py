"""What a subject writes to stderr: its end is kept for when it fails, and all of it goes where somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, Final

from entrycache_protocol.errors import Unwritten
from entrycache_protocol.output import reason
from entrycache_protocol.telling import telling, thrown

KEPT_BYTES: Final = 64 * 1024
"""How much of the end is kept: a backtrace of Rust stands behind its first lines."""

LOG_MOST_BYTES: Final = 16 * 1024 * 1024
"""The longest log that is written; a subject may write without end."""

Heard = Callable[[bytes], None]
"""Told what a subject has written, as it comes."""


class Stderr:
    """The stderr of one process."""

    def __init__(self, heard: Heard | None) -> None:
        self._heard = heard
        self._end = b""

    def add(self, chunk: bytes) -> None:
        """Something was written."""
        self._end = (self._end + chunk)[-KEPT_BYTES:]
        if chunk and self._heard is not None:
            self._heard(chunk)

    @property
    def telling(self) -> tuple[str, ...]:
        """The lines that tell why the process failed, as they can be shown."""
        return telling(self._end.decode("utf-8", "replace"))

    @property
    def thrown(self) -> tuple[str, ...]:
        """The same, of a process that goes on; nothing where it wrote no panic and no trace."""
        return thrown(self._end.decode("utf-8", "replace"))


class SubjectLog:
    """A file that holds what a subject and all its processes write to stderr, up to `LOG_MOST_BYTES`."""

    def __init__(self, path: Path) -> None:
        """Begin the file.

        Raises:
            Unwritten: it cannot be written.
        """
        self._path = path
        self._bytes = 0
        self._file: IO[bytes] | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("wb", buffering=0)
        except OSError as error:
            raise Unwritten(f"cannot write {path}: {reason(error)}") from None

    def __call__(self, chunk: bytes) -> None:
        """Write what has come; what is too much is left out, and that is said once.

        Raises:
            Unwritten: the disk is full or read-only.
        """
        if self._file is None:
            return
        left = LOG_MOST_BYTES - self._bytes
        self._bytes += len(chunk)
        try:
            self._file.write(chunk[:left])
            if len(chunk) > left:
                self._file.write(f"\n[entrycache: what came after {LOG_MOST_BYTES} bytes is left out]\n".encode())
                self._file.close()
                self._file = None
        except OSError as error:
            self._file = None
            raise Unwritten(f"cannot write {self._path}: {reason(error)}") from None
