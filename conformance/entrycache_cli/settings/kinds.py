"""The values that settings have, read as the broker's FieldParser reads them, but without its leniency."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from entrycache_protocol.errors import UsageError
from entrycache_protocol.shown import shown

Value = bool | int | float | None
"""The value of a setting; None: not set, where that means something of its own."""

INT_MAX: Final = 2**31 - 1
LONG_MAX: Final = 2**63 - 1
WHOLE: Final = re.compile(r"[+-]?[0-9]+")
FRACTION: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


DIGITS_MOST: Final = 1_000
"""Of a number as it is written."""


class Kind(NamedTuple):
    """A type with its least and greatest value; `name` says it to a person."""

    name: str
    least: float
    greatest: float

    def read(self, setting: str, text: str, where: str) -> Value:
        """The value that a text stands for.

        Raises:
            UsageError: it stands for none, or for one out of range.
        """
        if self is FLAG:
            if text.lower() not in {"true", "false"}:
                raise UsageError(f"{where}: {setting} is {shown(text)}; expected true or false")
            return text.lower() == "true"
        pattern = FRACTION if self.name == "number" else WHOLE
        if len(text) > DIGITS_MOST or pattern.fullmatch(text) is None:
            raise UsageError(f"{where}: {setting} is {shown(text)}; expected a {self.name}")
        value = float(text) if self.name == "number" else int(text)
        if not self.least <= value <= self.greatest:
            span = f"{_plain(self.least)} to {_plain(self.greatest)}"
            raise UsageError(f"{where}: {setting} is {text}, out of range; expected {span}")
        return value


def _plain(bound: float) -> str:
    return f"{bound:.0f}" if isinstance(bound, float) and bound.is_integer() else str(bound)


FLAG: Final = Kind("truth value", 0, 1)
SHARE: Final = Kind("number", 0, 1)
RATE: Final = Kind("number", 0, 1e308)
COUNT: Final = Kind("whole number", 0, INT_MAX)
LONG: Final = Kind("whole number", 0, LONG_MAX)
THRESHOLD: Final = Kind("whole number", -1, LONG_MAX)
INTERVAL: Final = Kind("whole number", 1, LONG_MAX)
"""A period of 0 is refused by the broker's scheduled executor."""

LIMIT: Final = Kind("whole number", 0, 2**33)
"""Megabytes that a case can hold as bytes."""

MILLIS: Final = Kind("whole number", 0, (2**53 - 1) // 1_000_000)
"""Milliseconds that a case can hold as nanoseconds."""
