"""Names, units and bounds that all systems share."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Final, NamedTuple, NewType

INTEGER_MAX: Final = 2**53 - 1
"""Numbers of a case are integers within +-INTEGER_MAX (exact in every language's double)."""

COUNT_MAX: Final = 2**31 - 1
"""Expected reads and requeues lie within +-COUNT_MAX."""

CacheName = NewType("CacheName", str)
"""The name of a managed ledger, and so of its cache."""


CursorName = NewType("CursorName", str)
"""The name of a cursor of one managed ledger."""

HoldName = NewType("HoldName", str)
"""The name under which a read keeps what it was handed, until it is released."""


class Position(NamedTuple):
    """The place of an entry in a managed ledger; ordered by ledger, then entry."""

    ledger: int
    entry: int


class Span(NamedTuple):
    """The least and the greatest value that the schema lets through (of each part of a position)."""

    least: int
    greatest: int


class StepsOf(NamedTuple):
    """Marks a field that holds operations: those that a package of the reference lists as `OPS`."""

    package: str


class Absent(Enum):
    """The value of an argument that was not given, where null means something of its own."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT

Bytes = Annotated[int, Span(-INTEGER_MAX, INTEGER_MAX)]
Nanos = Annotated[int, Span(-INTEGER_MAX, INTEGER_MAX)]
Reads = Annotated[int, Span(-COUNT_MAX, COUNT_MAX)]
Token = Annotated[int, Span(-INTEGER_MAX, INTEGER_MAX)]
EntryPosition = Annotated[Position, Span(0, INTEGER_MAX)]
BoundPosition = Annotated[Position, Span(-1, INTEGER_MAX)]
LedgerBound = Annotated[int, Span(-1, INTEGER_MAX)]
Number = Annotated[float, Span(-INTEGER_MAX, INTEGER_MAX)]
