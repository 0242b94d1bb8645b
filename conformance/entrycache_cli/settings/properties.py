"""Files of Java properties, and the kinds of values in them.

`read_properties` reads a file as Java does, in ISO-8859-1, and returns each setting with its line. A `Kind` reads the
text of a value as the broker's FieldParser does, but strictly: a value that is malformed or out of range is an error.
"""

import codecs
import io
import re
from pathlib import Path
from typing import Final, NamedTuple

from javaproperties import InvalidUEscapeError, KeyValue, parse

from entrycache_protocol import errors, files

ENCODING_MARKS: Final = {
    codecs.BOM_UTF8: "it begins with a UTF-8 byte order mark",
    codecs.BOM_UTF16_LE: "it is UTF-16 text",
    codecs.BOM_UTF16_BE: "it is UTF-16 text",
}
"""Beginnings of a file that make every Java program misread it."""


BYTES_MOST: Final = 1 << 20
"""The largest size of a file; a broker.conf as shipped has a tenth of it."""

LINES_MOST: Final = 1_000
"""The largest number of lines that backslashes join; the time to read them grows with its square."""


class GivenSetting(NamedTuple):
    """A setting of a file: its name, its text, and the number of its line."""

    name: str
    text: str
    line: int


def read_properties(path: Path, what: str, reader: str) -> list[GivenSetting]:
    """Read every setting of a file of Java properties in order, duplicates included; `reader` names its real reader.

    Raises:
        UsageError: the file cannot be read, is not ISO-8859-1 text, or holds a wrong escape; the message names the
        line.
    """
    raw = files.read_bytes(path, what, BYTES_MOST)
    problem = next((why for mark, why in ENCODING_MARKS.items() if raw.startswith(mark)), None)
    if problem is None and b"\0" in raw:
        problem = "it holds a zero byte"
    if problem is not None:
        raise errors.UsageError(f"cannot read {path}: {problem}; {reader} reads ISO-8859-1 (plain ASCII is safe)")
    settings: list[GivenSetting] = []
    line = 1
    text = raw.decode("iso-8859-1").replace("\r\n", "\n").replace("\r", "\n")
    _check_lengths(path, text)
    try:
        for part in parse(io.StringIO(text, newline="\n")):
            if isinstance(part, KeyValue):
                settings.append(GivenSetting(part.key, part.value, line))
            line += part.source.count("\n")
    except InvalidUEscapeError as error:
        raise errors.UsageError(
            f"{path}: line {line} or below: {error.escape} is no Unicode escape; expected \\uXXXX"
        ) from None
    return settings


def _check_lengths(path: Path, text: str) -> None:
    """Refuse a setting that goes on for too many lines.

    Raises:
        UsageError: there is one; the line says where it begins.
    """
    first_line = 1
    for number, line in enumerate(text.split("\n"), 1):
        if number - first_line >= LINES_MOST:
            raise errors.UsageError(f"{path}: line {first_line}: it goes on for more than {LINES_MOST} lines")
        if (len(line) - len(line.rstrip("\\"))) % 2 == 0:
            first_line = number + 1


Value = bool | int | float | None
"""The value of a setting; None if it is not set and that has a meaning of its own."""

INT_MAX: Final = 2**31 - 1
LONG_MAX: Final = 2**63 - 1
INTEGER: Final = re.compile(r"[+-]?[0-9]+")
FRACTION: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


DIGITS_MOST: Final = 1_000
"""The largest length of a number in a file."""


class Kind(NamedTuple):
    """A type with its least and greatest value; `name` describes it in messages."""

    name: str
    least: float
    greatest: float

    def read(self, setting: str, text: str, where: str) -> Value:
        """Return the value of a text.

        Raises:
            UsageError: the text has no value, or one out of range.
        """
        if self is FLAG:
            if text.lower() not in {"true", "false"}:
                raise errors.UsageError(f"{where}: {setting} is {errors.describe_value(text)}; expected true or false")
            return text.lower() == "true"
        pattern = FRACTION if self.name == "number" else INTEGER
        if len(text) > DIGITS_MOST or pattern.fullmatch(text) is None:
            raise errors.UsageError(f"{where}: {setting} is {errors.describe_value(text)}; expected a {self.name}")
        value = float(text) if self.name == "number" else int(text)
        if not self.least <= value <= self.greatest:
            span = f"{_bound_text(self.least)} to {_bound_text(self.greatest)}"
            raise errors.UsageError(f"{where}: {setting} is {text}, out of range; expected {span}")
        return value


def _bound_text(bound: float) -> str:
    return f"{bound:.0f}" if isinstance(bound, float) and bound.is_integer() else str(bound)


FLAG: Final = Kind("truth value", 0, 1)
SHARE: Final = Kind("number", 0, 1)
RATE: Final = Kind("number", 0, 1e308)
COUNT: Final = Kind("whole number", 0, INT_MAX)
LONG: Final = Kind("whole number", 0, LONG_MAX)
THRESHOLD: Final = Kind("whole number", -1, LONG_MAX)
INTERVAL: Final = Kind("whole number", 1, LONG_MAX)
"""A period; the broker's scheduled executor refuses 0."""

LIMIT: Final = Kind("whole number", 0, 2**33)
"""A number of megabytes that a case can hold as bytes."""

MILLIS: Final = Kind("whole number", 0, (2**53 - 1) // 1_000_000)
"""A number of milliseconds that a case can hold as nanoseconds."""
