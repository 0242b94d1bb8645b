"""The outcomes of steps of `pulsar-segmented`: one frozen dataclass for each shape of answer."""

from dataclasses import dataclass
from enum import Enum

from entrycache_reference.vocabulary import CacheName, Position


class ErrorKind(Enum):
    """The reason why a step was refused."""

    ILLEGAL_ARGUMENT = "illegal-argument"


@dataclass(frozen=True, slots=True)
class Refused:
    """The step was refused; nothing has changed."""

    error: ErrorKind


@dataclass(frozen=True, slots=True)
class Inserted:
    """The answer whether the entry was accepted."""

    inserted: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """The answer whether the position was cached; `tokens` holds the payload of a hit if payloads are carried."""

    hit: bool
    tokens: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Hits:
    """The positions of a range, ascending, or none; `tokens` runs parallel if payloads are carried."""

    hits: tuple[Position, ...]
    tokens: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """The number and the bytes of the cached entries."""

    entries: int
    bytes: int


@dataclass(frozen=True, slots=True)
class EntryView:
    """One entry as `observe` shows it."""

    cache: CacheName
    pos: Position


@dataclass(frozen=True, slots=True)
class SegmentView:
    """One segment as `observe` shows it: its offset, and its entries in the order of their inserts."""

    bytes: int
    entries: tuple[EntryView, ...]


@dataclass(frozen=True, slots=True)
class Observed:
    """The whole ring, from its first segment on, and the index of the current one."""

    segments: tuple[SegmentView, ...]
    current: int


Outcome = Refused | Inserted | Hit | Hits | Usage | Observed
