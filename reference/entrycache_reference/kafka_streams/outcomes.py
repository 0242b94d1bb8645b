"""The outcomes of steps of `kafka-streams`: one frozen dataclass for each shape of answer.

An `Outcome` holds the answer of the step and the calls that it made: `Call` for a listener, `Forward` for a processor
downstream, each with the answers of the steps inside it.
"""

from dataclasses import dataclass
from enum import Enum

from entrycache_reference.vocabulary import ABSENT, Absent


class ErrorKind(Enum):
    """The reason why a step failed half-way; the changes made until then stay."""

    ILLEGAL_STATE = "illegal-state"
    ILLEGAL_ARGUMENT = "illegal-argument"
    LISTENER_FAILED = "listener-failed"


Pair = tuple[str, str | None]
"""A key and its value; None: a tombstone."""

WindowEntry = tuple[int, str | None] | tuple[str, int, str | None] | tuple[str, int, int, str | None]
"""A window with its value: its start, behind its key in a view of several keys; or a session: key, start, end."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The step failed half-way."""

    error: ErrorKind


@dataclass(frozen=True, slots=True)
class Done:
    """The answer of a step that has nothing to report."""


@dataclass(frozen=True, slots=True)
class Offered:
    """The answer whether the key was there, and its value."""

    present: bool
    existing: str | None


@dataclass(frozen=True, slots=True)
class Lookup:
    """The answer whether the key is cached, and its value; a tombstone is a hit with the value None."""

    hit: bool
    value: str | None


@dataclass(frozen=True, slots=True)
class Deleted:
    """The answer whether the key was there, and its value."""

    present: bool
    value: str | None


@dataclass(frozen=True, slots=True)
class Listing:
    """Keys with their values, in the order of the lookup."""

    entries: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class WindowListing:
    """Windows or sessions with their values, in the order of the view; sessions of one key and end by their start."""

    entries: tuple[WindowEntry, ...]


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
class NextEntry:
    """The next entry of an open view; None: the view has ended."""

    entry: Pair | WindowEntry | None


@dataclass(frozen=True, slots=True)
class Counted:
    """The number of keys in the underlying store."""

    entries: int


@dataclass(frozen=True, slots=True)
class Shared:
    """The bytes of one thread's cache."""

    bytes: int


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The missing answer of a step that, under a variant, never ends or throws an error unknown to the protocol."""

    reason: str


Answer = (
    Failed
    | Unanswered
    | Done
    | Offered
    | Lookup
    | Deleted
    | Listing
    | WindowListing
    | Used
    | ThreadCounters
    | NamespaceCounters
    | Value
    | NextEntry
    | Counted
    | Shared
)


@dataclass(frozen=True, slots=True)
class Context:
    """The context that a write carried; None for each part that it did not carry."""

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
    """One call of a listener: its entries, and the answers of its steps."""

    ns: str
    entries: tuple[Handed, ...]
    inner: tuple[Answer, ...] = ()


@dataclass(frozen=True, slots=True)
class Forward:
    """One entry that a store forwarded downstream, and the answers of the steps there.

    `old` is the value that was forwarded before, None without one. Only a store with old values has it. `start` is that
    of a window or a session, and `end` that of a session.
    """

    store: str
    key: str
    value: str | None
    inner: tuple[Answer, ...] = ()
    old: str | None | Absent = ABSENT
    start: int | Absent = ABSENT
    end: int | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of a step with the calls that it made, in the order in which they began."""

    answer: Answer
    flushed: tuple[Call, ...] = ()
    forwarded: tuple[Forward, ...] = ()
