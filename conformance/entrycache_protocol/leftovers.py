"""What is made on the way: taken away at the end, or by the next run where this one is killed.

Whoever works on such a file or folder holds a lock on it, which the system frees however its holder ends. One of these
names that nobody holds is a leftover.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

FILES: Final = ".entrycache-*.partial"
FOLDERS: Final = "entrycache-scratch-*"


class Beside:
    """A new, empty file under a name that lasts until it is whole; it is held as long as it is open.

    Raises:
        OSError: the disk is full or read-only, or something else is in the way.
    """

    def __init__(self, folder: Path) -> None:
        sweep(folder, FILES)
        self.path = folder / FILES.replace("*", secrets.token_hex(4))
        self.file = self.path.open("xb")
        _is_locked(self.file.fileno())
        BEGUN.add(self)

    def end(self) -> None:
        """Let go of it; it goes away, unless it has its final name."""
        BEGUN.discard(self)
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.file.close()


BEGUN: Final[set[Beside]] = set()
"""Those of this process that are not ended: whoever stops it ends them."""


@contextlib.contextmanager
def scratch(parent: Path | None = None) -> Iterator[Path]:
    """A folder of one's own, below the system's for such, or below `parent`; it is gone after the block.

    Raises:
        OSError: the disk is full or read-only, or something else is in the way.
    """
    parent = Path(tempfile.gettempdir()) if parent is None else parent
    sweep(parent, FOLDERS)
    # It is held before it has a name that others sweep.
    new = Path(tempfile.mkdtemp(dir=parent, prefix="entrycache-new-"))
    held = os.open(new, os.O_RDONLY)
    _is_locked(held)
    folder = new.rename(parent / new.name.replace("new", "scratch", 1))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def sweep(folder: Path, pattern: str) -> None:
    """Take away the files and folders of such a name that nobody holds any more, as far as we may."""
    for path in folder.glob(pattern):
        with contextlib.suppress(OSError):
            held = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                if _is_locked(held):
                    _take_away(path)
            finally:
                os.close(held)


def _is_locked(held: int) -> bool:
    """Whether the lock is ours now; some file systems have none, and there nothing is a leftover."""
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _take_away(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
