"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from entrycache_protocol.errors import Unwritten, UsageError
from entrycache_protocol.leftovers import Beside


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Where to write what takes the place of the file at the end of the block; nothing of it stays where that fails.

    A path that is there and is no file, such as /dev/stdout, is written to as it is.

    Raises:
        Unwritten: the disk is full or read-only, or something else is in the way.
    """
    path = path.resolve() if os.path.islink(path) and os.path.isfile(path) else path  # noqa: PTH113, PTH114 - a link stays
    as_it_is = os.path.exists(path) and not os.path.isfile(path)  # noqa: PTH110, PTH113 - Path's raise
    try:
        if as_it_is:
            yield path
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = Beside(path.parent)
        try:
            yield beside.path
            if path.exists():
                shutil.copymode(path, beside.path)
            beside.path.replace(path)
        finally:
            beside.end()
    except OSError as error:
        raise Unwritten(f"cannot write {path}: {reason(error)}") from None


def reason(error: OSError) -> str:
    """What is in the way, in the system's words; libraries put others around them."""
    return os.strerror(error.errno) if error.errno else str(error)


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8, whole or not at all.

    Raises:
        Unwritten: the disk is full or read-only, or something else is in the way.
    """
    with whole(path) as beside:
        beside.write_text(text, encoding="utf-8")


def check_empty(folder: Path, what: str) -> None:
    """Refuse a folder to be written that holds something already.

    Raises:
        UsageError: it does, or something else has its name.
    """
    try:
        held = folder.exists() and any(folder.iterdir())
    except (OSError, ValueError) as error:
        raise UsageError(f"{folder}: {reason(error) if isinstance(error, OSError) else 'no such name'}") from None
    if held:
        raise UsageError(f"{folder} is not empty; expected a new folder for {what}")


def tried(write: Callable[[], Path]) -> tuple[str, str]:
    """The path of a file that is written, and no word; where it cannot be, no path, and why."""
    try:
        return str(write()), ""
    except Unwritten as error:
        return "", str(error)
