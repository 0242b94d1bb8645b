"""Files: read with a bound, written whole or not at all, and temporary ones that never stay behind.

`read_text`, `read_json` and `read_lines` read regular files of a bounded size. An error is one line that names the
file. `atomic_path` and `write_text` write a file under a temporary name and rename it when it is complete.
`scratch_folder` is a folder that is gone after its block.

The process that works on a temporary file or folder holds a lock on it. The system frees the lock however the process
ends. A temporary name without a lock is a leftover of a killed run, and the next run removes it.
"""

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
    """A new, empty file under a temporary name; it is locked as long as it is open.

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
        """Close the file, and remove it unless it has its final name."""
        OPEN_PARTIAL_FILES.discard(self)
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.file.close()


OPEN_PARTIAL_FILES: Final[set[PartialFile]] = set()
"""The open partial files of this process; its signal handlers end them."""


@contextlib.contextmanager
def scratch_folder(parent: Path | None = None) -> Iterator[Path]:
    """Make a folder in the system's temporary folder, or in `parent`, and remove it after the block.

    Raises:
        OSError: the disk is full or read-only, or something else is in the way.
    """
    parent = Path(tempfile.gettempdir()) if parent is None else parent
    remove_leftovers(parent, SCRATCH_FOLDERS)
    # It is locked before it gets a name that other processes clean up.
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
    """Remove the files and folders that match a pattern and that no process has locked."""
    for path in folder.glob(pattern):
        with contextlib.suppress(OSError):
            held = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                if _acquire_lock(held):
                    _remove(path)
            finally:
                os.close(held)


def _acquire_lock(held: int) -> bool:
    """Return whether the lock is ours now; a file system without locks has no leftovers."""
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


def is_written_directly(path: Path) -> bool:
    """Return whether a path is a device, a pipe, a folder or a standard stream, which no file may replace."""
    if os.path.islink(path) and path.parent.resolve().is_relative_to("/dev"):  # noqa: PTH114 - Path's raise
        return True
    return os.path.exists(path) and not os.path.isfile(path)  # noqa: PTH110, PTH113 - Path's raise


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield the path to write to; at the end of the block its file takes the place of `path`, or nothing stays.

    A path that exists and is no regular file, such as /dev/stdout, is written to directly. A symbolic link is replaced,
    and its target stays as it was.

    Raises:
        WriteError: the disk is full or read-only, or something else is in the way.
    """
    try:
        if is_written_directly(path):
            yield path
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = PartialFile(path.parent)
        try:
            yield partial.path
            if path.exists() and not path.is_symlink():
                shutil.copymode(path, partial.path)
            partial.path.replace(path)
        finally:
            partial.end()
    except OSError as error:
        raise WriteError(f"cannot write {path}: {describe_os_error(error)}") from None


def describe_os_error(error: OSError) -> str:
    """Return the system's own words for an error, without those that a library adds."""
    return os.strerror(error.errno) if error.errno else str(error)


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8, completely or not at all.

    Raises:
        WriteError: the disk is full or read-only, or something else is in the way.
    """
    with atomic_path(path) as partial:
        partial.write_text(text, encoding="utf-8")


def check_empty_folder(folder: Path, what: str) -> None:
    """Refuse an output folder that is not empty.

    Raises:
        UsageError: the folder holds something, or its name belongs to something else.
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
    """Return the path of the file that is written and no reason, or no path and the reason why not."""
    try:
        return str(write()), ""
    except WriteError as error:
        return "", str(error)


MAX_FILE_BYTES: Final = 16 << 20
"""The most bytes of a file that is read whole: more than any case, record or broker.conf needs."""

MAX_LINE_BYTES: Final = 1 << 20
"""The most bytes of one line of a file that is read line by line."""

SPECIAL_FILES: Final = {
    stat.S_IFDIR: os.strerror(errno.EISDIR),
    stat.S_IFIFO: "it is a pipe",
    stat.S_IFSOCK: "it is a socket",
    stat.S_IFCHR: "it is a device",
    stat.S_IFBLK: "it is a device",
    stat.S_IFREG: "it has content and no size, as files below /proc",
}
"""The reasons why a path cannot be read, by its kind. A file below /proc may have no end."""


WOULD_WAIT: Final = "a reader would have to wait; expected a file"
"""The reason for a file such as `/proc/kmsg`, which looks regular and is not."""


def check_regular_file(path: Path, what: str) -> None:
    """Refuse a path that is no regular file, without opening it: a pipe would wait, and a device may act.

    A file without a size has to be empty: the content of a file below /proc may have no end.

    Raises:
        UsageError: the path is something else, or does not exist; `what` names what was to be read.
    """
    try:
        status = path.stat()
        kind = stat.S_IFMT(status.st_mode)
        if kind == stat.S_IFREG and (status.st_size or not _has_content(path)):
            return
        why = SPECIAL_FILES.get(kind, "it is something else") + "; expected a file"
    except BlockingIOError:
        why = WOULD_WAIT
    except OSError as error:
        why = describe_os_error(error)
    except ValueError:
        why = "no file can have such a name"
    raise UsageError(f"cannot read {what} {path}: {why}")


def _has_content(path: Path) -> bool:
    """Return whether a file has any content."""
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return bool(os.read(opened, 4096))
    finally:
        os.close(opened)


def _open_file(path: Path, what: str) -> BinaryIO:
    check_regular_file(path, what)
    try:
        return os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    except OSError as error:
        raise UsageError(f"cannot read {what} {path}: {describe_os_error(error)}") from None


def read_bytes(path: Path, what: str, most: int = MAX_FILE_BYTES) -> bytes:
    """Read the bytes of a file.

    Raises:
        UsageError: the file cannot be read, is no regular file, or is larger than `most`.
    """
    with _open_file(path, what) as file:
        try:
            content: bytes | None = file.read(most + 1)
        except OSError as error:
            raise UsageError(f"cannot read {what} {path}: {describe_os_error(error)}") from None
    if content is None:
        raise UsageError(f"cannot read {what} {path}: {WOULD_WAIT}")
    if len(content) > most:
        raise UsageError(f"cannot read {what} {path}: it has more than {most} bytes")
    return content


def read_text(path: Path, what: str, most: int = MAX_FILE_BYTES) -> str:
    """Read the text of a file in UTF-8; every line ends with a line feed.

    Raises:
        UsageError: see `read_bytes`; or the file is no UTF-8 text.
    """
    return _decode_text(read_bytes(path, what, most), f"cannot read {what} {path}")


def _decode_text(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise UsageError(f"{where}: it is not UTF-8 text") from None


def read_json(path: Path, what: str) -> Any:
    """Read the JSON value in a file.

    Raises:
        UsageError: the file cannot be read, or is no strict JSON.
    """
    return parse_json_text(read_text(path, what), f"{what} {path}")


def read_lines(path: Path, what: str, most: int = MAX_LINE_BYTES) -> Iterator[tuple[int, str]]:
    """Read the lines of a file of any size with their numbers from 1, without empty lines.

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
