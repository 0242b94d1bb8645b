"""Names, units and bounds that all systems share.

The types of positions, names and units annotate the fields of operations and configurations. A `Span` in an annotation
bounds the numbers that the JSON schema lets through; schemas, generators and tables read it from there. `ABSENT` is the
value of an argument that was not given, where null has a meaning of its own.
"""

from enum import Enum
from typing import Annotated, Final, NamedTuple, NewType

INTEGER_MAX: Final = 2**53 - 1
"""The bound of all numbers in a case: an integer within +-INTEGER_MAX is exact in every language's double."""

COUNT_MAX: Final = 2**31 - 1
"""The bound of expected reads and requeues."""

CacheName = NewType("CacheName", str)
"""The name of a managed ledger, and so of its cache."""


CursorName = NewType("CursorName", str)
"""The name of a cursor of one managed ledger."""

HoldName = NewType("HoldName", str)
"""The name under which a read holds what it was handed, until it is released."""


RequestName = NewType("RequestName", str)
"""The name of a request for permits, until it gives them back."""

ReadName = NewType("ReadName", str)
"""The name of a read until it has ended; then of the hold of what it was handed."""


class Position(NamedTuple):
    """The place of an entry in a managed ledger, ordered by ledger, then by entry."""

    ledger: int
    entry: int


class Span(NamedTuple):
    """The least and the greatest value that the schema lets through, for each part of a position."""

    least: int
    greatest: int


class StepsOf(NamedTuple):
    """The mark of a field that holds operations: those that a module of the reference lists as `OPS`."""

    package: str


class Absent(Enum):
    """The value of an argument that was not given, where null has a meaning of its own."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT

Bytes = Annotated[int, Span(-INTEGER_MAX, INTEGER_MAX)]
Nanos = Annotated[int, Span(-INTEGER_MAX, INTEGER_MAX)]
Reads = Annotated[int, Span(-COUNT_MAX, COUNT_MAX)]
AskNumber = Annotated[int, Span(0, COUNT_MAX)]
Token = Annotated[int, Span(-INTEGER_MAX, INTEGER_MAX)]
EntryPosition = Annotated[Position, Span(0, INTEGER_MAX)]
BoundPosition = Annotated[Position, Span(-1, INTEGER_MAX)]
LedgerBound = Annotated[int, Span(-1, INTEGER_MAX)]
Number = Annotated[float, Span(-INTEGER_MAX, INTEGER_MAX)]
