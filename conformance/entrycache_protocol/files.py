"""What is made on the way: taken away at the end, or by the next run where this one is killed.

Whoever works on such a file or folder holds a lock on it, which the system frees however its holder ends. One of these
names that nobody holds is a leftover.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from entrycache_protocol.errors import UsageError, WriteError
from entrycache_protocol.strict_json import parse_json_text

PARTIAL_FILES: Final = ".entrycache-*.partial"
SCRATCH_FOLDERS: Final = "entrycache-scratch-*"


class PartialFile:
    """A new, empty file under a name that lasts until it is whole; it is held as long as it is open.

    Raises:
        OSError: the disk is full or read-only, or something else is in the way.
    """

    def __init__(self, folder: Path) -> None:
        remove_leftovers(folder, PARTIAL_FILES)
        self.path = folder / PARTIAL_FILES.replace("*", secrets.token_hex(4))
        self.file = self.path.open("xb")
        _acquire_lock(self.file.fileno())
        OPEN_PARTIAL_FILES.add(self)

    def end(self) -> None:
        """Let go of it; it goes away, unless it has its final name."""
        OPEN_PARTIAL_FILES.discard(self)
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.file.close()


OPEN_PARTIAL_FILES: Final[set[PartialFile]] = set()
"""Those of this process that are not ended: whoever stops it ends them."""


@contextlib.contextmanager
def scratch_folder(parent: Path | None = None) -> Iterator[Path]:
    """A folder of one's own, below the system's for such, or below `parent`; it is gone after the block.

    Raises:
        OSError: the disk is full or read-only, or something else is in the way.
    """
    parent = Path(tempfile.gettempdir()) if parent is None else parent
    remove_leftovers(parent, SCRATCH_FOLDERS)
    # It is held before it has a name that others sweep.
    new = Path(tempfile.mkdtemp(dir=parent, prefix="entrycache-new-"))
    held = os.open(new, os.O_RDONLY)
    _acquire_lock(held)
    folder = new.rename(parent / new.name.replace("new", "scratch", 1))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def remove_leftovers(folder: Path, pattern: str) -> None:
    """Take away the files and folders of such a name that nobody holds any more, as far as we may."""
    for path in folder.glob(pattern):
        with contextlib.suppress(OSError):
            held = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                if _acquire_lock(held):
                    _remove(path)
            finally:
                os.close(held)


def _acquire_lock(held: int) -> bool:
    """Whether the lock is ours now; some file systems have none, and there nothing is a leftover."""
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


# --- output
# Files that are written whole or not at all.


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
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
        beside = PartialFile(path.parent)
        try:
            yield beside.path
            if path.exists():
                shutil.copymode(path, beside.path)
            beside.path.replace(path)
        finally:
            beside.end()
    except OSError as error:
        raise WriteError(f"cannot write {path}: {describe_os_error(error)}") from None


def describe_os_error(error: OSError) -> str:
    """What is in the way, in the system's words; libraries put others around them."""
    return os.strerror(error.errno) if error.errno else str(error)


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8, whole or not at all.

    Raises:
        Unwritten: the disk is full or read-only, or something else is in the way.
    """
    with atomic_path(path) as beside:
        beside.write_text(text, encoding="utf-8")


def check_empty_folder(folder: Path, what: str) -> None:
    """Refuse a folder to be written that holds something already.

    Raises:
        UsageError: it does, or something else has its name.
    """
    try:
        held = folder.exists() and any(folder.iterdir())
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{folder}: {describe_os_error(error) if isinstance(error, OSError) else 'no such name'}"
        ) from None
    if held:
        raise UsageError(f"{folder} is not empty; expected a new folder for {what}")


def try_write(write: Callable[[], Path]) -> tuple[str, str]:
    """The path of a file that is written, and no word; where it cannot be, no path, and why."""
    try:
        return str(write()), ""
    except WriteError as error:
        return "", str(error)


# --- input
# Files that are read: plain files of a bounded size. What is wrong with one is said in one line that names it.

MAX_FILE_BYTES: Final = 16 << 20
"""Of a file that is read whole: more than any case, record or broker.conf needs."""

MAX_LINE_BYTES: Final = 1 << 20
"""Of one line of a file that is read line by line."""

SPECIAL_FILES: Final = {
    stat.S_IFDIR: os.strerror(errno.EISDIR),
    stat.S_IFIFO: "it is a pipe",
    stat.S_IFSOCK: "it is a socket",
    stat.S_IFCHR: "it is a device",
    stat.S_IFBLK: "it is a device",
}


WOULD_WAIT: Final = "a reader would have to wait; expected a file"
"""What is said of a file of the system's that is none, such as `/proc/kmsg`."""


def check_regular_file(path: Path, what: str) -> None:
    """Refuse what is no plain file, without opening it: a pipe would wait, and a device may do something.

    Raises:
        UsageError: it is something else, or not there; `what` says what was to be read.
    """
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
        if kind == stat.S_IFREG:
            return
        why = f"{SPECIAL_FILES.get(kind, 'it is something else')}; expected a file"
    except OSError as error:
        why = describe_os_error(error)
    except ValueError:
        why = "no file can have such a name"
    raise UsageError(f"cannot read {what} {path}: {why}")


def _open_file(path: Path, what: str) -> BinaryIO:
    check_regular_file(path, what)
    try:
        return os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    except OSError as error:
        raise UsageError(f"cannot read {what} {path}: {describe_os_error(error)}") from None


def read_bytes(path: Path, what: str, most: int = MAX_FILE_BYTES) -> bytes:
    """The bytes of a file.

    Raises:
        UsageError: it cannot be read, is no plain file, or is larger.
    """
    with _open_file(path, what) as file:
        try:
            found: bytes | None = file.read(most + 1)
        except OSError as error:
            raise UsageError(f"cannot read {what} {path}: {describe_os_error(error)}") from None
    if found is None:
        raise UsageError(f"cannot read {what} {path}: {WOULD_WAIT}")
    if len(found) > most:
        raise UsageError(f"cannot read {what} {path}: it has more than {most} bytes")
    return found


def read_text(path: Path, what: str, most: int = MAX_FILE_BYTES) -> str:
    """The text of a file, in UTF-8; ends of lines are one sign.

    Raises:
        UsageError: see `read_bytes`; or it is no such text.
    """
    return _decode_text(read_bytes(path, what, most), f"cannot read {what} {path}")


def _decode_text(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise UsageError(f"{where}: it is not UTF-8 text") from None


def read_json(path: Path, what: str) -> Any:
    """The JSON value in a file.

    Raises:
        UsageError: the file cannot be read, or is not JSON; see `strict_json`.
    """
    return parse_json_text(read_text(path, what), f"{what} {path}")


def read_lines(path: Path, what: str, most: int = MAX_LINE_BYTES) -> Iterator[tuple[int, str]]:
    """The lines of a file of any size, each with its number from 1; empty ones are left out.

    Raises:
        UsageError: the file cannot be read, or a line is no UTF-8 text or has more bytes than `most`.
    """
    with _open_file(path, what) as file:
        number = 0
        while True:
            try:
                line: bytes | None = file.readline(most + 1)
            except OSError as error:
                raise UsageError(f"cannot read {what} {path}: {describe_os_error(error)}") from None
            if line is None:
                raise UsageError(f"cannot read {what} {path}: {WOULD_WAIT}")
            if not line:
                return
            number += 1
            if len(line) > most:
                raise UsageError(f"{path}, line {number}: more than {most} bytes")
            if line.strip():
                yield number, _decode_text(line, f"{path}, line {number}").rstrip("\n")
