"""Reading files of Java properties as Java does: ISO-8859-1."""

from __future__ import annotations

import codecs
import io
from pathlib import Path
from typing import Final, NamedTuple

from javaproperties import InvalidUEscapeError, KeyValue, parse

from entrycache_protocol.errors import UsageError

MARKS: Final = {
    codecs.BOM_UTF8: "it begins with a UTF-8 byte order mark",
    codecs.BOM_UTF16_LE: "it is UTF-16 text",
    codecs.BOM_UTF16_BE: "it is UTF-16 text",
}
"""Beginnings that make every Java program misread the file."""


class Given(NamedTuple):
    """A setting as a file gives it: its text, and the number of its line."""

    name: str
    text: str
    line: int


def read_properties(path: Path, what: str, reader: str) -> list[Given]:
    """Every setting of a file of Java properties in its own order, duplicates included; `reader`: who else reads it.

    Raises:
        UsageError: the file cannot be read, is no ISO-8859-1 text, or holds a wrong escape; the line says where.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {what} {path}: {error.strerror}") from None
    wrong = next((why for mark, why in MARKS.items() if raw.startswith(mark)), None)
    if wrong is None and b"\0" in raw:
        wrong = "it holds a zero byte"
    if wrong is not None:
        raise UsageError(f"cannot read {path}: {wrong}; {reader} reads ISO-8859-1 (plain ASCII is safe)")
    found: list[Given] = []
    line = 1
    text = raw.decode("iso-8859-1").replace("\r\n", "\n").replace("\r", "\n")
    try:
        for part in parse(io.StringIO(text, newline="\n")):
            if isinstance(part, KeyValue):
                found.append(Given(part.key, part.value, line))
            line += part.source.count("\n")
    except InvalidUEscapeError as error:
        raise UsageError(
            f"{path}: line {line} or below: {error.escape} is no Unicode escape; expected \\uXXXX"
        ) from None
    return found
