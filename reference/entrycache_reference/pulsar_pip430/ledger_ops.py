"""The operations of managed ledgers and of what their reads need.

Level `ledger` is a managed ledger with its cursors, `limits` permits for reads, `pending` the table of pending reads,
and `inflight` reads by cursors that overlap in time.
"""

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from entrycache_reference.pulsar_pip430 import outcomes
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import (
    ABSENT,
    Absent,
    AskNumber,
    Bytes,
    CacheName,
    CursorName,
    EntryPosition,
    HoldName,
    LedgerBound,
    ReadName,
    Reads,
    RequestName,
)


class Dispatcher(Enum):
    """The dispatcher of a subscription: only one of Key_Shared expects a replayed entry to be read again."""

    SHARED = "shared"
    KEY_SHARED = "key_shared"


@dataclass(frozen=True, slots=True)
class Append:
    """Append an entry to a managed ledger. The first one opens the cache; entry 0 of a later ledger rolls over."""

    name: ClassVar[str] = "append"
    level: ClassVar[str] = "ledger"
    rule: ClassVar[Rule] = Rule.LEDGER_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Appended,)
    cache: CacheName
    pos: EntryPosition
    size: Bytes


@dataclass(frozen=True, slots=True)
class CursorOpen:
    """Open a cursor at `pos`; it is active. A durable one begins at the first entry and is moved to `pos`."""

    name: ClassVar[str] = "cursor_open"
    level: ClassVar[str] = "ledger"
    rule: ClassVar[Rule] = Rule.LEDGER_15
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Done,)
    cache: CacheName
    cursor: CursorName
    pos: EntryPosition
    durable: bool = True


@dataclass(frozen=True, slots=True)
class CursorRead:
    """Read at most `max_entries` entries from the read position on, past ends of ledgers and acknowledged entries."""

    name: ClassVar[str] = "cursor_read"
    level: ClassVar[str] = "ledger"
    rule: ClassVar[Rule] = Rule.LEDGER_3
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Served,)
    cache: CacheName
    cursor: CursorName
    max_entries: Reads
    hold: HoldName | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class CursorSeek:
    """Set the read position; at or below the mark-delete position it becomes the position after that."""

    name: ClassVar[str] = "cursor_seek"
    level: ClassVar[str] = "ledger"
    rule: ClassVar[Rule] = Rule.LEDGER_14
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Done,)
    cache: CacheName
    cursor: CursorName
    pos: EntryPosition


@dataclass(frozen=True, slots=True)
class CursorReset:
    """Set the read position, and the mark-delete position before it; forget the acknowledgements."""

    name: ClassVar[str] = "cursor_reset"
    level: ClassVar[str] = "ledger"
    rule: ClassVar[Rule] = Rule.LEDGER_9
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Done,)
    cache: CacheName
    cursor: CursorName
    pos: EntryPosition


@dataclass(frozen=True, slots=True)
class MarkDelete:
    """Acknowledge all entries up to `pos`."""

    name: ClassVar[str] = "mark_delete"
    level: ClassVar[str] = "ledger"
    rule: ClassVar[Rule] = Rule.LEDGER_10
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Done,)
    cache: CacheName
    cursor: CursorName
    pos: EntryPosition


@dataclass(frozen=True, slots=True)
class Ack:
    """Acknowledge one entry."""

    name: ClassVar[str] = "ack"
    level: ClassVar[str] = "ledger"
    rule: ClassVar[Rule] = Rule.LEDGER_11
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Done,)
    cache: CacheName
    cursor: CursorName
    pos: EntryPosition


@dataclass(frozen=True, slots=True)
class Activate:
    """Make a cursor active."""

    name: ClassVar[str] = "activate"
    level: ClassVar[str] = "ledger"
    rule: ClassVar[Rule] = Rule.LEDGER_15
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Done,)
    cache: CacheName
    cursor: CursorName


@dataclass(frozen=True, slots=True)
class Deactivate:
    """Make a cursor inactive."""

    name: ClassVar[str] = "deactivate"
    level: ClassVar[str] = "ledger"
    rule: ClassVar[Rule] = Rule.LEDGER_14
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Done,)
    cache: CacheName
    cursor: CursorName


@dataclass(frozen=True, slots=True)
class CursorClose:
    """Close a cursor; its name is free again."""

    name: ClassVar[str] = "cursor_close"
    level: ClassVar[str] = "ledger"
    rule: ClassVar[Rule] = Rule.LEDGER_14
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Done,)
    cache: CacheName
    cursor: CursorName


@dataclass(frozen=True, slots=True)
class ReplayAdd:
    """Release one held entry that is to be replayed; dispatcher "key_shared" expects one read more of it first."""

    name: ClassVar[str] = "replay_add"
    level: ClassVar[str] = "ledger"
    rule: ClassVar[Rule] = Rule.LEDGER_9
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.InFlight,)
    hold: HoldName
    pos: EntryPosition
    dispatcher: Dispatcher


@dataclass(frozen=True, slots=True)
class ReplayRead:
    """Read these positions again, one by one; acknowledged ones are left out."""

    name: ClassVar[str] = "replay_read"
    level: ClassVar[str] = "ledger"
    rule: ClassVar[Rule] = Rule.LEDGER_8
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Served,)
    cache: CacheName
    cursor: CursorName
    positions: tuple[EntryPosition, ...]
    hold: HoldName | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class DeleteLedger:
    """Delete a ledger that is not the current one, as trimming does."""

    name: ClassVar[str] = "delete_ledger"
    level: ClassVar[str] = "ledger"
    rule: ClassVar[Rule] = Rule.LEDGER_17
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)
    cache: CacheName
    ledger: LedgerBound


@dataclass(frozen=True, slots=True)
class CheckBacklogs:
    """Flag the durable cursors whose backlogs are long and alike, so that their reads are cached."""

    name: ClassVar[str] = "check_backlogs"
    level: ClassVar[str] = "ledger"
    rule: ClassVar[Rule] = Rule.LEDGER_12
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Done,)
    cache: CacheName


@dataclass(frozen=True, slots=True)
class RunInvalidations:
    """Run the invalidation that is due, if one is; only one that waits for this call is due between two steps."""

    name: ClassVar[str] = "run_invalidations"
    level: ClassVar[str] = "ledger"
    rule: ClassVar[Rule] = Rule.LEDGER_14
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)
    cache: CacheName


@dataclass(frozen=True, slots=True)
class CursorState:
    """Ask for the positions of a cursor, and whether it is active."""

    name: ClassVar[str] = "cursor_state"
    level: ClassVar[str] = "ledger"
    rule: ClassVar[Rule] = Rule.LEDGER_10
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.CursorAt,)
    cache: CacheName
    cursor: CursorName


@dataclass(frozen=True, slots=True)
class Acquire:
    """Ask for permits for a read, and wait if they are not free."""

    name: ClassVar[str] = "acquire"
    level: ClassVar[str] = "limits"
    rule: ClassVar[Rule] = Rule.LIMIT_4
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Permitted,)
    id: RequestName
    permits: Bytes


@dataclass(frozen=True, slots=True)
class GiveBack:
    """Give the permits of a request back; who waits may be served."""

    name: ClassVar[str] = "give_back"
    level: ClassVar[str] = "limits"
    rule: ClassVar[Rule] = Rule.LIMIT_5
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Decided,)
    id: RequestName


@dataclass(frozen=True, slots=True)
class LimiterState:
    """Ask how many permits are free, and how many requests wait."""

    name: ClassVar[str] = "limiter"
    level: ClassVar[str] = "limits"
    rule: ClassVar[Rule] = Rule.LIMIT_7
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Permits,)


class StorageAnswerKind(Enum):
    """The answer of storage, if it is not a number of entries.

    `busy` is a refusal because of too many requests, `fail` any other error.
    """

    ALL = "all"
    FAIL = "fail"
    BUSY = "busy"


@dataclass(frozen=True, slots=True)
class Fetch:
    """Read a range of a ledger from storage for a reader, without a cache, and share what is asked for already."""

    name: ClassVar[str] = "fetch"
    level: ClassVar[str] = "pending"
    rule: ClassVar[Rule] = Rule.INFLIGHT_2
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.InFlight,)
    read: ReadName
    first: EntryPosition
    last: EntryPosition


@dataclass(frozen=True, slots=True)
class ReadBegin:
    """Begin what `cursor_read` does; `read` names the read, and when it has ended, the hold of its entries."""

    name: ClassVar[str] = "read_begin"
    level: ClassVar[str] = "inflight"
    rule: ClassVar[Rule] = Rule.INFLIGHT_5
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.InFlight,)
    cache: CacheName
    cursor: CursorName
    read: ReadName
    max_entries: Reads


@dataclass(frozen=True, slots=True)
class ReplayBegin:
    """Begin what `replay_read` does; `read` names it, and when it has ended, the hold of its entries."""

    name: ClassVar[str] = "replay_begin"
    level: ClassVar[str] = "inflight"
    rule: ClassVar[Rule] = Rule.INFLIGHT_10
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.InFlight,)
    cache: CacheName
    cursor: CursorName
    read: ReadName
    positions: tuple[EntryPosition, ...]


@dataclass(frozen=True, slots=True)
class StorageAnswer:
    """Let storage answer an ask: with all its entries, with only the first of them, or with an error."""

    name: ClassVar[str] = "storage_answer"
    level: ClassVar[str] = "inflight"
    rule: ClassVar[Rule] = Rule.INFLIGHT_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.InFlight,)
    ask: AskNumber
    answer: StorageAnswerKind | Reads
