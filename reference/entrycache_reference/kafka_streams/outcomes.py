"""What a step of `kafka-streams` answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ErrorKind(Enum):
    """Why a step failed half-way: what has changed until then stays."""

    ILLEGAL_STATE = "illegal-state"
    ILLEGAL_ARGUMENT = "illegal-argument"
    LISTENER_FAILED = "listener-failed"


Pair = tuple[str, str | None]
"""A key and its value; None: a tombstone."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The step failed half-way."""

    error: ErrorKind


@dataclass(frozen=True, slots=True)
class Done:
    """The step has nothing to tell."""


@dataclass(frozen=True, slots=True)
class Offered:
    """Whether the key was there, and its value."""

    present: bool
    existing: str | None


@dataclass(frozen=True, slots=True)
class Got:
    """Whether the key is cached, and its value; a tombstone is a hit with the value None."""

    hit: bool
    value: str | None


@dataclass(frozen=True, slots=True)
class Deleted:
    """Whether the key was there, and its value."""

    present: bool
    value: str | None


@dataclass(frozen=True, slots=True)
class Listed:
    """Keys with their values, in the order of the lookup."""

    entries: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Used:
    """Entries and bytes: exact sums. `tracked`: the running total, where one is kept."""

    entries: int
    bytes: int
    tracked: int | None = None


@dataclass(frozen=True, slots=True)
class ThreadCounters:
    """The counters of the thread's cache."""

    puts: int
    gets: int
    evicts: int
    flushes: int


@dataclass(frozen=True, slots=True)
class NamespaceCounters:
    """The counters of one namespace, its dirty keys in their order, its keys from most to least recent."""

    hits: int
    misses: int
    overwrites: int
    flushes: int
    dirty: tuple[str, ...]
    lru: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a key in a store; None: there is none."""

    value: str | None


@dataclass(frozen=True, slots=True)
class Shared:
    """The bytes of one thread's cache."""

    bytes: int


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Under a variant the step gives no answer: it does not end, or throws what the protocol does not name."""

    reason: str


Answer = (
    Failed
    | Unanswered
    | Done
    | Offered
    | Got
    | Deleted
    | Listed
    | Used
    | ThreadCounters
    | NamespaceCounters
    | Value
    | Shared
)


@dataclass(frozen=True, slots=True)
class Context:
    """What the write of an entry carried; None: it did not."""

    timestamp: int | None = None
    offset: int | None = None
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class Handed:
    """One entry as a listener gets it."""

    key: str
    value: str | None
    context: Context = Context()


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a listener: what it got, and what its steps answered."""

    ns: str
    entries: tuple[Handed, ...]
    inner: tuple[Answer, ...] = ()


@dataclass(frozen=True, slots=True)
class Forward:
    """One entry that a store passed on downstream, and what the steps there answered."""

    store: str
    key: str
    value: str | None
    inner: tuple[Answer, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of a step with the calls that were made during it, in the order in which they began."""

    answer: Answer
    flushed: tuple[Call, ...] = ()
    forwarded: tuple[Forward, ...] = ()
