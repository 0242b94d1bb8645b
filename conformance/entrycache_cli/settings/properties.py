"""Reading files of Java properties as Java does: ISO-8859-1."""

from __future__ import annotations

import codecs
import io
from pathlib import Path
from typing import Final, NamedTuple

from javaproperties import InvalidUEscapeError, KeyValue, parse

from entrycache_protocol.errors import UsageError
from entrycache_protocol.input import read_bytes

MARKS: Final = {
    codecs.BOM_UTF8: "it begins with a UTF-8 byte order mark",
    codecs.BOM_UTF16_LE: "it is UTF-16 text",
    codecs.BOM_UTF16_BE: "it is UTF-16 text",
}
"""Beginnings that make every Java program misread the file."""


BYTES_MOST: Final = 1 << 20
"""Of a file; that of a broker as shipped has a tenth of it."""

LINES_MOST: Final = 1_000
"""Lines that a backslash at their ends makes one: reading them takes time with their square."""


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
    raw = read_bytes(path, what, BYTES_MOST)
    wrong = next((why for mark, why in MARKS.items() if raw.startswith(mark)), None)
    if wrong is None and b"\0" in raw:
        wrong = "it holds a zero byte"
    if wrong is not None:
        raise UsageError(f"cannot read {path}: {wrong}; {reader} reads ISO-8859-1 (plain ASCII is safe)")
    found: list[Given] = []
    line = 1
    text = raw.decode("iso-8859-1").replace("\r\n", "\n").replace("\r", "\n")
    _check_lengths(path, text)
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


def _check_lengths(path: Path, text: str) -> None:
    """Refuse a setting that goes on for too many lines.

    Raises:
        UsageError: there is one; the line says where it begins.
    """
    begun = 1
    for number, line in enumerate(text.split("\n"), 1):
        if number - begun >= LINES_MOST:
            raise UsageError(f"{path}: line {begun}: it goes on for more than {LINES_MOST} lines")
        if (len(line) - len(line.rstrip("\\"))) % 2 == 0:
            begun = number + 1
