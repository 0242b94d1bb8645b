"""The configuration of a run: settings, variants, and the constants that never change.

`Config` is what a run starts with; its defaults are those of Pulsar 4.2. Five of its values are `Settings`: `configure`
changes them while the run goes on, so the state holds the current ones. `Variants` names how the behaviour of releases
differs; its defaults are the specification. Each variant is an enum whose first member is the default behaviour.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, NamedTuple

from entrycache_reference.vocabulary import COUNT_MAX, INTEGER_MAX, Span

Size = Annotated[int, Span(0, INTEGER_MAX)]
Requeues = Annotated[int, Span(0, COUNT_MAX)]
Backlog = Annotated[int, Span(0, COUNT_MAX)]
Fraction = Annotated[float, Span(0, 1)]


class RequeueBudget(Enum):
    """Variant `requeue_budget` (R-REQUEUE-5): the requeues that use up the budget of expected reads."""

    SHARED = "shared"
    SPLIT = "split"


class CountFloor(Enum):
    """Variant `count_floor` (R-COUNT-8): the value at which a count stops falling, if any."""

    NONE = "none"
    ZERO = "zero"


class ZeroReads(Enum):
    """Variant `zero_reads` (R-INSERT-7, R-READ-13): the meaning of 0 expected reads of a new entry."""

    UNCOUNTED = "uncounted"
    COUNTED = "counted"


class DuplicateCount(Enum):
    """Variant `duplicate_count` (R-INSERT-8): the count of a cached entry after a duplicate was offered."""

    KEPT = "kept"
    REPLACED = "replaced"


class SizePassRounds(Enum):
    """Variant `size_pass_rounds` (R-REQUEUE-9): the rounds in which a size pass spares entries."""

    BUDGET = "budget"
    ONE = "one"


class LimiterOrder(Enum):
    """Variant `limiter_order` (R-LIMIT-2): whether a request that fits is granted while others wait."""

    FIFO = "fifo"
    OVERTAKING = "overtaking"


class LimiterTimeout(Enum):
    """Variant `limiter_timeout` (R-LIMIT-6): whether the requests behind one that timed out are served at once."""

    SERVES = "serves"
    LEAVES = "leaves"


class DisabledLimit(Enum):
    """Variant `disabled_limit` (R-LIMIT-1): whether reads take permits while caching is disabled."""

    KEPT = "kept"
    IGNORED = "ignored"


class Replay(Enum):
    """Variant `replay` (R-LEDGER-8): the reads by which a replay gets its positions."""

    SINGLE = "single"
    GROUPED = "grouped"


class ReadEnd(Enum):
    """Variant `read_end` (R-LEDGER-3): whether a read ends at the entry that was the last one when it was asked for."""

    WANTED = "wanted"
    LAST_CONFIRMED = "last-confirmed"


class AckedWindow(Enum):
    """Variant `acked_window` (R-LEDGER-3): where a read goes on whose window holds only acknowledged entries."""

    PASSED = "passed"
    RUN_PASSED = "run-passed"


class DeletedAcks(Enum):
    """Variant `deleted_acks` (R-LEDGER-12): whether acknowledged entries of deleted ledgers shorten a backlog."""

    FORGOTTEN = "forgotten"
    SUBTRACTED = "subtracted"


class DueEverything(Enum):
    """Variant `due_everything` (R-LEDGER-14): what becomes of a waiting drop of everything when another is due."""

    HIGHEST = "highest"
    REPLACED = "replaced"


class InnerAsk(Enum):
    """Variant `inner_ask` (R-INFLIGHT-2): the ask that a cursor waits for, of several between the ends of a range."""

    FIRST = "first"
    LONGEST = "longest"


class FailedRead(Enum):
    """Variant `failed_read` (R-INFLIGHT-9): whether entries that are given back use up expected reads."""

    UNCOUNTED = "uncounted"
    COUNTED = "counted"


class ShortAnswer(Enum):
    """Variant `short_answer` (R-INFLIGHT-11): the entries that a read delivers after a short answer of storage."""

    UNBROKEN = "unbroken"
    AS_IT_COMES = "as-it-comes"


class Storage(Enum):
    """The time at which storage answers a read: within the step, or when `storage_answer` is called."""

    AT_ONCE = "at-once"
    HELD = "held"


class Invalidation(Enum):
    """The time of an invalidation that is due: within the step, or when `run_invalidations` is called."""

    AT_ONCE = "at-once"
    MANUAL = "manual"


class Eviction(Enum):
    """The time of a triggered size pass: within the insert, or when `run_scheduled` is called."""

    INLINE = "inline"
    MANUAL = "manual"


class Settings(NamedTuple):
    """The settings that are effective now."""

    max_size_bytes: int
    watermark: float
    ttl_nanos: int
    max_requeues: int
    extend_recently_accessed: bool


@dataclass(frozen=True, slots=True)
class Variants:
    """The differences between releases; the defaults are the specification."""

    requeue_budget: RequeueBudget = RequeueBudget.SHARED
    count_floor: CountFloor = CountFloor.NONE
    zero_reads: ZeroReads = ZeroReads.UNCOUNTED
    duplicate_count: DuplicateCount = DuplicateCount.KEPT
    size_pass_rounds: SizePassRounds = SizePassRounds.BUDGET
    replay: Replay = Replay.SINGLE
    limiter_order: LimiterOrder = LimiterOrder.FIFO
    limiter_timeout: LimiterTimeout = LimiterTimeout.SERVES
    disabled_limit: DisabledLimit = DisabledLimit.KEPT
    read_end: ReadEnd = ReadEnd.WANTED
    acked_window: AckedWindow = AckedWindow.PASSED
    deleted_acks: DeletedAcks = DeletedAcks.FORGOTTEN
    due_everything: DueEverything = DueEverything.HIGHEST
    inner_ask: InnerAsk = InnerAsk.FIRST
    failed_read: FailedRead = FailedRead.UNCOUNTED
    short_answer: ShortAnswer = ShortAnswer.UNBROKEN


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration that a run starts with; the defaults are those of Pulsar 4.2.

    `max_size_bytes` 0 disables caching for the whole run. `grace_millis` None means twice the time to live, in whole
    milliseconds. The three settings of backlogs act in `check_backlogs`; `min_backlog_cursors` 0 switches it off.
    `max_reads_in_flight_bytes` 0 means that reads need no permits, and `acquire_timeout_millis` 0 that none times out.
    Reads by cursors take permits while storage is held.
    """

    max_size_bytes: Size = 134_217_728
    watermark: Fraction = 0.9
    ttl_nanos: Size = 1_000_000_000
    max_requeues: Requeues = 5
    extend_recently_accessed: bool = True
    evict_by_expected_reads: bool = True
    evict_by_mark_deleted: bool = False
    grace_millis: Size | None = None
    storage_entry_size: Annotated[int, Span(1, INTEGER_MAX)] = 100
    eviction: Eviction = Eviction.INLINE
    storage: Storage = Storage.AT_ONCE
    min_backlog_cursors: Backlog = 0
    min_backlog_entries: Backlog = 1000
    max_backlog_between: Backlog = 1000
    max_reads_in_flight_bytes: Size = 0
    acquire_timeout_millis: Size = 60_000
    acquire_queue: Annotated[int, Span(1, COUNT_MAX)] = 50_000
    invalidation: Invalidation = Invalidation.AT_ONCE
    variants: Variants = Variants()

    @property
    def settings(self) -> Settings:
        """Return the settings at the start of the run."""
        return Settings(
            self.max_size_bytes,
            self.watermark,
            self.ttl_nanos,
            self.max_requeues,
            self.extend_recently_accessed,
        )

    @property
    def effective_grace_millis(self) -> int:
        """Return the grace period in milliseconds, with its default filled in."""
        return 2 * self.ttl_nanos // 1_000_000 if self.grace_millis is None else self.grace_millis
