"""Files that are read: plain files of a bounded size. What is wrong with one is said in one line that names it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from entrycache_protocol.errors import UsageError
from entrycache_protocol.output import reason
from entrycache_protocol.strict_json import json_of

BYTES_MOST: Final = 16 << 20
"""Of a file that is read whole: more than any case, record or broker.conf needs."""

LINE_BYTES_MOST: Final = 1 << 20
"""Of one line of a file that is read line by line."""

KINDS: Final = {
    stat.S_IFDIR: os.strerror(errno.EISDIR),
    stat.S_IFIFO: "it is a pipe",
    stat.S_IFSOCK: "it is a socket",
    stat.S_IFCHR: "it is a device",
    stat.S_IFBLK: "it is a device",
}


WAITS: Final = "a reader would have to wait; expected a file"
"""What is said of a file of the system's that is none, such as `/proc/kmsg`."""


def check_plain(path: Path, what: str) -> None:
    """Refuse what is no plain file, without opening it: a pipe would wait, and a device may do something.

    Raises:
        UsageError: it is something else, or not there; `what` says what was to be read.
    """
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
        if kind == stat.S_IFREG:
            return
        why = f"{KINDS.get(kind, 'it is something else')}; expected a file"
    except OSError as error:
        why = reason(error)
    except ValueError:
        why = "no file can have such a name"
    raise UsageError(f"cannot read {what} {path}: {why}")


def _open(path: Path, what: str) -> BinaryIO:
    check_plain(path, what)
    try:
        return os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    except OSError as error:
        raise UsageError(f"cannot read {what} {path}: {reason(error)}") from None


def read_bytes(path: Path, what: str, most: int = BYTES_MOST) -> bytes:
    """The bytes of a file.

    Raises:
        UsageError: it cannot be read, is no plain file, or is larger.
    """
    with _open(path, what) as file:
        try:
            found: bytes | None = file.read(most + 1)
        except OSError as error:
            raise UsageError(f"cannot read {what} {path}: {reason(error)}") from None
    if found is None:
        raise UsageError(f"cannot read {what} {path}: {WAITS}")
    if len(found) > most:
        raise UsageError(f"cannot read {what} {path}: it has more than {most} bytes")
    return found


def read_text(path: Path, what: str, most: int = BYTES_MOST) -> str:
    """The text of a file, in UTF-8; ends of lines are one sign.

    Raises:
        UsageError: see `read_bytes`; or it is no such text.
    """
    return _text(read_bytes(path, what, most), f"cannot read {what} {path}")


def _text(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise UsageError(f"{where}: it is not UTF-8 text") from None


def read_json(path: Path, what: str) -> Any:
    """The JSON value in a file.

    Raises:
        UsageError: the file cannot be read, or is not JSON; see `strict_json`.
    """
    return json_of(read_text(path, what), f"{what} {path}")


def read_lines(path: Path, what: str, most: int = LINE_BYTES_MOST) -> Iterator[tuple[int, str]]:
    """The lines of a file of any size, each with its number from 1; empty ones are left out.

    Raises:
        UsageError: the file cannot be read, or a line is no UTF-8 text or has more bytes than `most`.
    """
    with _open(path, what) as file:
        number = 0
        while True:
            try:
                line: bytes | None = file.readline(most + 1)
            except OSError as error:
                raise UsageError(f"cannot read {what} {path}: {reason(error)}") from None
            if line is None:
                raise UsageError(f"cannot read {what} {path}: {WAITS}")
            if not line:
                return
            number += 1
            if len(line) > most:
                raise UsageError(f"{path}, line {number}: more than {most} bytes")
            if line.strip():
                yield number, _text(line, f"{path}, line {number}").rstrip("\n")
