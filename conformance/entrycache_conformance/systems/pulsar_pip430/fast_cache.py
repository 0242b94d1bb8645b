"""Our fast cache of `pulsar-pip430` as a subject.

`Adapter` turns operations into calls of the cache, the limiter, the table of pending reads and the managed ledgers, and
results into outcomes, without any cache logic. An `Instance` also turns a wrong argument into a refusal. Time is
virtual, and payloads count how many of them are still referred to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from entrycache_conformance.systems.reference import all_fault_subjects, fault_subjects
from entrycache_fast import BrokerCache, Row, StoredEntry
from entrycache_fast import ReadResult as FastServed
from entrycache_faults.fast.pulsar_pip430 import FAULTS as CACHE_FAULTS
from entrycache_faults.reference.pulsar_pip430.subjects import SUBJECTS
from entrycache_protocol.system import LocalSubject, index_ops
from entrycache_reference.pulsar_pip430 import ops, outcomes
from entrycache_reference.pulsar_pip430.config import Config, Invalidation, Storage
from entrycache_reference.pulsar_pip430.step import UNMANAGED
from entrycache_reference.vocabulary import ABSENT, CacheName, Position, ReadName, RequestName

if TYPE_CHECKING:
    from entrycache_fast.limiter import Decision, ReadLimiter
    from entrycache_fast.managed_ledger import ManagedLedgers
    from entrycache_fast.managed_reads import Progress
    from entrycache_fast.pending_reads import Ask, Ended, PendingReads

MISSED: Final = outcomes.Hit(False)
HIT_WITHOUT_TOKEN: Final = outcomes.Hit(True)
INSERTED: Final = outcomes.Inserted(True)
NOT_INSERTED: Final = outcomes.Inserted(False)
EXISTING: Final = outcomes.Existing(True)
NOT_EXISTING: Final = outcomes.Existing(False)
DONE: Final = outcomes.Done()
NOTHING: Final = object()
"""The result of a lookup that misses; no payload is this object."""


class VirtualClock:
    """A clock that moves only by an explicit call."""

    __slots__ = ("now_nanos",)

    def __init__(self) -> None:
        self.now_nanos = 0

    def read(self) -> int:
        """Return the present time."""
        return self.now_nanos


class Payload:
    """The payload of an entry: a token, and the knowledge that somebody still refers to it.

    CPython destroys an object with its last reference, so the live payloads are those that are referred to.
    """

    __slots__ = ("owner", "token")

    def __init__(self, owner: Payloads, token: int) -> None:
        self.owner = owner
        self.token = token
        owner.live += 1

    def __del__(self) -> None:
        self.owner.live -= 1


class Payloads:
    """The payloads of one run. Storage holds one for every position, whose token is the entry number."""

    def __init__(self, storage_entry_size: int) -> None:
        self.live = 0
        self._storage_entry_size = storage_entry_size

    def stored(self, cache: str, ledger: int, entry: int) -> StoredEntry:
        """Return what storage holds at a position."""
        return StoredEntry(self._storage_entry_size, Payload(self, entry))


class Adapter:
    """The operations as calls of the cache, one method per operation."""

    def __init__(
        self,
        cache: BrokerCache,
        clock: VirtualClock,
        payloads: Payloads,
        limiter: ReadLimiter,
        pending: PendingReads,
        managed: ManagedLedgers,
        is_held: bool,
    ) -> None:
        self.cache = cache
        self.permits = limiter
        self.pending = pending
        self.managed = managed
        self.is_held = is_held
        self.clock = clock
        self.payloads = payloads

    def leaked(self) -> int:
        """End all reads, release all holds, clear all caches, and return the number of payloads that are left."""
        self.managed.end_reads()
        for hold in self.cache.holds:
            self.managed.release(hold)
        for name in self.cache.names:
            self.cache.clear(name)
        return self.payloads.live

    def functions(self) -> dict[type[ops.Op], Callable[[Any], outcomes.Outcome]]:
        """Return the function of each operation: a method, or a call of a managed ledger that answers nothing."""
        managed = self.managed
        return {
            ops.Insert: self.insert,
            ops.Get: self.get,
            ops.GetRange: self.get_range,
            ops.Exists: self.exists,
            ops.RemoveRange: self.remove_range,
            ops.Clear: self.clear,
            ops.Usage: self.usage,
            ops.Observe: self.observe,
            ops.Advance: self.advance,
            ops.Expire: self.expire,
            ops.Evict: self.evict,
            ops.MarkRead: self.mark_read,
            ops.ExpectRead: self.expect_read,
            ops.Cycle: self.cycle,
            ops.RunScheduled: self.run_scheduled,
            ops.Configure: self.configure,
            ops.InvalidateBefore: self.invalidate_before,
            ops.InvalidateLedger: self.invalidate_ledger,
            ops.RemoveCache: self.remove_cache,
            ops.Metrics: self.metrics,
            ops.Read: self.read,
            ops.ReadOne: self.read_one,
            ops.Release: self.release,
            ops.CursorAdd: self.cursor_add,
            ops.CursorMove: self.cursor_move,
            ops.CursorRemove: self.cursor_remove,
            ops.CursorRank: self.cursor_rank,
            ops.Slowest: self.slowest,
            ops.Cursors: self.cursors,
            ops.ShouldCache: self.should_cache,
            ops.Append: self.append,
            ops.CursorOpen: done(lambda op: managed.open_cursor(op.cache, op.cursor, op.pos, op.durable)),
            ops.CursorRead: self.cursor_read,
            ops.CursorSeek: done(lambda op: managed.seek(op.cache, op.cursor, op.pos)),
            ops.CursorReset: done(lambda op: managed.reset(op.cache, op.cursor, op.pos)),
            ops.MarkDelete: done(lambda op: managed.mark_delete(op.cache, op.cursor, op.pos)),
            ops.Ack: done(lambda op: managed.ack(op.cache, op.cursor, op.pos)),
            ops.Activate: done(lambda op: managed.activate(op.cache, op.cursor)),
            ops.Deactivate: done(lambda op: managed.deactivate(op.cache, op.cursor)),
            ops.CursorClose: done(lambda op: managed.close_cursor(op.cache, op.cursor)),
            ops.ReplayAdd: self.replay_add,
            ops.ReplayRead: self.replay_read,
            ops.DeleteLedger: self.delete_ledger,
            ops.CheckBacklogs: done(lambda op: managed.check_backlogs(op.cache)),
            ops.RunInvalidations: lambda op: outcomes.Removed(*managed.run_invalidations(op.cache)),
            ops.CursorState: self.cursor_state,
            ops.ReadBegin: self.read_begin,
            ops.ReplayBegin: self.replay_begin,
            ops.Acquire: self.acquire,
            ops.GiveBack: self.give_back,
            ops.LimiterState: self.limiter,
            ops.Fetch: self.fetch,
            ops.StorageAnswer: self.storage_answer,
        }

    def insert(self, op: ops.Insert) -> outcomes.Outcome:
        """Insert an entry; None stands for no payload."""
        ledger, entry = op.pos
        payload = None if op.token is ABSENT else Payload(self.payloads, op.token)
        expected_reads = None if op.expected_reads is ABSENT else op.expected_reads
        done = self.cache.insert(op.cache, ledger, entry, op.size, payload, expected_reads)
        return INSERTED if done else NOT_INSERTED

    def get(self, op: ops.Get) -> outcomes.Outcome:
        """Look an entry up; a hit carries its payload."""
        ledger, entry = op.pos
        payload: Any = self.cache.get(op.cache, ledger, entry, NOTHING)
        if payload is NOTHING:
            return MISSED
        return HIT_WITHOUT_TOKEN if payload is None else outcomes.Hit(True, (payload.token,))

    def get_range(self, op: ops.GetRange) -> outcomes.Outcome:
        """Look a range up; tokens are returned if every entry found carries one."""
        entries = self.cache.get_range(op.cache, op.first, op.last)
        return outcomes.Hits(positions([at for at, _ in entries]), tokens([payload for _, payload in entries]) or None)

    def exists(self, op: ops.Exists) -> outcomes.Outcome:
        """Return whether the position is cached."""
        return EXISTING if self.cache.exists(op.cache, *op.pos) else NOT_EXISTING

    def remove_range(self, op: ops.RemoveRange) -> outcomes.Outcome:
        """Remove a range and return the number and bytes removed."""
        return outcomes.Removed(*self.cache.remove_range(op.cache, op.first, op.last, op.last_inclusive))

    def clear(self, op: ops.Clear) -> outcomes.Outcome:
        """Clear a cache and return the number and bytes removed."""
        return outcomes.Removed(*self.cache.clear(op.cache))

    def usage(self, op: ops.Usage) -> outcomes.Outcome:
        """Return the usage of one cache, or of all."""
        return outcomes.Used(*self.cache.usage(None if op.cache is ABSENT else op.cache))

    def observe(self, op: ops.Observe) -> outcomes.Outcome:
        """Return the whole state."""
        state = self.cache.observe()
        caches = {
            CacheName(name): outcomes.CacheView(view.size_bytes, tuple(Position(*at) for at in view.entries))
            for name, view in state.caches.items()
        }
        queue = tuple(
            outcomes.SlotView(CacheName(slot.cache), Position(*slot.position), *slot[2:])  # the same fields follow
            for slot in state.queue
        )
        return outcomes.Observed(state.now_nanos, state.size_bytes, caches, queue, state.tombstones)

    def advance(self, op: ops.Advance) -> outcomes.Outcome:
        """Advance the clock of this adapter, and refuse to turn it back."""
        if op.nanos < 0:
            raise ValueError(f"time does not go back by {op.nanos}")
        self.clock.now_nanos += op.nanos
        if self.is_held:
            return outcomes.Decided(None, *progress_of(self.managed.expire()))
        return decided(self.permits.expire())

    def expire(self, op: ops.Expire) -> outcomes.Outcome:
        """Run a time pass and return the number and bytes removed."""
        return outcomes.Removed(*self.cache.expire(None if op.older_than_nanos is ABSENT else op.older_than_nanos))

    def evict(self, op: ops.Evict) -> outcomes.Outcome:
        """Run a size pass and return the number and bytes removed."""
        return outcomes.Removed(*self.cache.evict(op.bytes))

    def mark_read(self, op: ops.MarkRead) -> outcomes.Outcome:
        """Mark an entry as read and return its count."""
        return outcomes.Counted(self.cache.mark_read(op.cache, *op.pos))

    def expect_read(self, op: ops.ExpectRead) -> outcomes.Outcome:
        """Expect a read of an entry and return its count."""
        return outcomes.Counted(self.cache.expect_read(op.cache, *op.pos))

    def cycle(self, op: ops.Cycle) -> outcomes.Outcome:
        """Run both passes and return what they removed."""
        return outcomes.Removed(*self.cache.cycle())

    def run_scheduled(self, op: ops.RunScheduled) -> outcomes.Outcome:
        """Run the scheduled pass and return what it removed."""
        return outcomes.Removed(*self.cache.run_scheduled())

    def configure(self, op: ops.Configure) -> outcomes.Outcome:
        """Change settings; an absent setting stays."""
        self.cache.configure(
            max_size_bytes=None if op.max_size_bytes is ABSENT else op.max_size_bytes,
            watermark=None if op.watermark is ABSENT else op.watermark,
            ttl_nanos=None if op.ttl_nanos is ABSENT else op.ttl_nanos,
            max_requeues=None if op.max_requeues is ABSENT else op.max_requeues,
            extend_recently_accessed=(None if op.extend_recently_accessed is ABSENT else op.extend_recently_accessed),
        )
        return DONE

    def invalidate_before(self, op: ops.InvalidateBefore) -> outcomes.Outcome:
        """Invalidate a prefix and return the number and bytes removed."""
        return outcomes.Removed(*self.cache.invalidate_before(op.cache, op.pos))

    def invalidate_ledger(self, op: ops.InvalidateLedger) -> outcomes.Outcome:
        """Invalidate a ledger and return the number and bytes removed."""
        return outcomes.Removed(*self.cache.invalidate_ledger(op.cache, op.ledger))

    def remove_cache(self, op: ops.RemoveCache) -> outcomes.Outcome:
        """Remove a cache."""
        self.cache.remove_cache(op.cache)
        return DONE

    def metrics(self, op: ops.Metrics) -> outcomes.Outcome:
        """Return the counters in the order of the outcome."""
        return outcomes.Counters(*self.cache.metrics())

    def read(self, op: ops.Read) -> outcomes.Outcome:
        """Read a range and return what was handed over."""
        hold = None if op.hold is ABSENT else op.hold
        return served_outcome(self.cache.read(op.cache, op.first, op.last, op.expected_reads, hold))

    def read_one(self, op: ops.ReadOne) -> outcomes.Outcome:
        """Read one entry and return what was handed over."""
        return served_outcome(self.cache.read_one(op.cache, *op.pos, None if op.hold is ABSENT else op.hold))

    def release(self, op: ops.Release) -> outcomes.Outcome:
        """Release a hold and return the number of its positions."""
        released, progress = self.managed.release(op.hold)
        return outcomes.Released(released, *progress_of(progress))

    def cursor_add(self, op: ops.CursorAdd) -> outcomes.Outcome:
        """Add a cursor."""
        self.cache.cursor_add(op.cache, op.cursor, op.pos)
        return DONE

    def cursor_move(self, op: ops.CursorMove) -> outcomes.Outcome:
        """Move a cursor."""
        self.cache.cursor_move(op.cache, op.cursor, op.pos)
        return DONE

    def cursor_remove(self, op: ops.CursorRemove) -> outcomes.Outcome:
        """Remove a cursor and return whether it was a member."""
        return outcomes.CursorRemoved(self.cache.cursor_remove(op.cache, op.cursor))

    def cursor_rank(self, op: ops.CursorRank) -> outcomes.Outcome:
        """Return the rank of a cursor."""
        return outcomes.Ranked(self.cache.cursor_rank(op.cache, op.cursor))

    def slowest(self, op: ops.Slowest) -> outcomes.Outcome:
        """Return the lowest tracked position."""
        lowest = self.cache.slowest(op.cache)
        return outcomes.SlowestAt(None if lowest is None else Position(*lowest))

    def cursors(self, op: ops.Cursors) -> outcomes.Outcome:
        """Return the number of members."""
        return outcomes.Members(self.cache.cursors(op.cache))

    def should_cache(self, op: ops.ShouldCache) -> outcomes.Outcome:
        """Return whether an entry that is added now should be cached."""
        return outcomes.Wanted(self.cache.should_cache(op.cache))

    def acquire(self, op: ops.Acquire) -> outcomes.Outcome:
        """Ask the limiter for permits; while storage is held, the reads of cursors do that."""
        if self.is_held:
            raise ValueError("storage is held; expected reads of cursors alone to take permits")
        return outcomes.Permitted(self.permits.acquire(op.id, op.permits))

    def give_back(self, op: ops.GiveBack) -> outcomes.Outcome:
        """Give permits back, and return whom that serves."""
        return decided(self.permits.give_back(op.id))

    def limiter(self, op: ops.LimiterState) -> outcomes.Outcome:
        """Return the free permits and the number of those who wait."""
        return outcomes.Permits(self.permits.free, self.permits.waiting)

    def fetch(self, op: ops.Fetch) -> outcomes.Outcome:
        """Begin a read of a range, and return what it asks of storage."""
        if self.is_held:
            raise ValueError("storage is held; expected reads of cursors alone")
        if op.first.ledger != op.last.ledger:
            raise ValueError(f"expected a range of one ledger, got {op.first} and {op.last}")
        return in_flight(self.pending.read(op.read, *op.first, op.last.entry), [])

    def storage_answer(self, op: ops.StorageAnswer) -> outcomes.Outcome:
        """Answer an ask with payloads or with positions for entries, and return the reads that it ends."""
        is_error = op.answer in {ops.StorageAnswerKind.FAIL, ops.StorageAnswerKind.BUSY}
        table = self.managed if self.is_held else self.pending
        ask = next((ask for ask in table.asks if ask.number == op.ask), None)
        if ask is None:
            raise ValueError(f"no ask {op.ask} is open")
        length = ask.last - ask.first + 1
        if isinstance(op.answer, int) and not 0 < op.answer < length:
            raise ValueError(f"expected fewer entries than the {length} of the ask, got {op.answer}")
        if is_error:
            is_busy = op.answer is ops.StorageAnswerKind.BUSY
            if self.is_held:
                return outcomes.InFlight(*progress_of(self.managed.fail(op.ask, is_busy)))
            return in_flight([], self.pending.fail(op.ask, is_busy))
        given = range(ask.first, ask.last + 1)[: op.answer if isinstance(op.answer, int) else None]
        if self.is_held:
            values = [Payload(self.payloads, at) for at in given]
            return outcomes.InFlight(*progress_of(self.managed.answer(op.ask, values)))
        return in_flight([], self.pending.answer(op.ask, [Position(ask.ledger, at) for at in given]))

    def append(self, op: ops.Append) -> outcomes.Outcome:
        """Append an entry to a managed ledger."""
        payload = Payload(self.payloads, op.pos.entry)
        return outcomes.Appended(*self.managed.append(op.cache, *op.pos, op.size, payload))

    def cursor_read(self, op: ops.CursorRead) -> outcomes.Outcome:
        """Read from a cursor while storage answers at once."""
        hold = None if op.hold is ABSENT else op.hold
        return served_outcome(self.managed.read(op.cache, op.cursor, op.max_entries, hold))

    def replay_add(self, op: ops.ReplayAdd) -> outcomes.Outcome:
        """Release a held entry that is to be replayed."""
        expects_read = op.dispatcher is ops.Dispatcher.KEY_SHARED
        return outcomes.InFlight(*progress_of(self.managed.replay_add(op.hold, op.pos, expects_read)))

    def replay_read(self, op: ops.ReplayRead) -> outcomes.Outcome:
        """Read positions again while storage answers at once."""
        hold = None if op.hold is ABSENT else op.hold
        return served_outcome(self.managed.replay(op.cache, op.cursor, op.positions, hold))

    def delete_ledger(self, op: ops.DeleteLedger) -> outcomes.Outcome:
        """Delete a ledger, and return what left the cache."""
        return outcomes.Removed(*self.managed.delete_ledger(op.cache, op.ledger))

    def cursor_state(self, op: ops.CursorState) -> outcomes.Outcome:
        """Return the positions of a cursor, and whether it is active."""
        at = self.managed.cursor_state(op.cache, op.cursor)
        return outcomes.CursorAt(Position(*at.read), Position(*at.mark_delete), at.active)

    def read_begin(self, op: ops.ReadBegin) -> outcomes.Outcome:
        """Begin a read while storage is held."""
        progress = self.managed.begin_read(op.cache, op.cursor, op.read, op.max_entries)
        return outcomes.InFlight(*progress_of(progress))

    def replay_begin(self, op: ops.ReplayBegin) -> outcomes.Outcome:
        """Begin a replay while storage is held."""
        progress = self.managed.begin_replay(op.cache, op.cursor, op.read, op.positions)
        return outcomes.InFlight(*progress_of(progress))


def done(call: Callable[[Any], None]) -> Callable[[Any], outcomes.Outcome]:
    """Return an operation that makes a call and answers nothing."""

    def answer(op: Any) -> outcomes.Outcome:
        call(op)
        return DONE

    return answer


def progress_of(
    progress: Progress,
) -> tuple[tuple[outcomes.SentAsk, ...] | None, tuple[outcomes.EndedRead, ...] | None]:
    """Return what a step has asked of storage, and the reads that it has ended, as parts of an outcome."""
    asks = [outcomes.SentAsk(*ask, CacheName(cache)) for cache, ask in progress.asks]
    done = [
        outcomes.EndedRead(ReadName(str(name)), error=outcomes.ReadError.READ_FAILED)
        if entries is None
        else outcomes.EndedRead(ReadName(str(name)), positions([position for position, _ in entries]))
        for name, entries in sorted(progress.ended, key=lambda one: str(one.name))
    ]
    return tuple(asks) or None, tuple(done) or None


def in_flight(asks: list[Ask], ended: list[Ended]) -> outcomes.Outcome:
    """Return what is asked of storage, and the reads that have ended, as an outcome."""
    done = [
        outcomes.EndedRead(ReadName(str(name)), error=outcomes.ReadError.READ_FAILED)
        if entries is None
        else outcomes.EndedRead(ReadName(str(name)), tuple(position for _, position in entries))
        for name, entries in sorted(ended, key=lambda one: str(one.name))
    ]
    return outcomes.InFlight(tuple(outcomes.SentAsk(*ask) for ask in asks) or None, tuple(done) or None)


def decided(decisions: list[Decision]) -> outcomes.Outcome:
    """Return the decisions of the limiter as an outcome."""
    return outcomes.Decided(tuple((RequestName(str(name)), permits) for name, permits in decisions) or None)


def positions(pairs: Sequence[tuple[int, int]]) -> tuple[Position, ...]:
    """Return positions of the cache as positions of an outcome."""
    return tuple(Position(*at) for at in pairs)


def tokens(payloads: Sequence[Any]) -> tuple[int, ...] | None:
    """Return the tokens if every entry carries one."""
    carried = tuple(payload.token for payload in payloads if payload is not None)
    return carried if len(carried) == len(payloads) else None


def served_outcome(served: FastServed) -> outcomes.Outcome:
    """Return what a read handed over as an outcome."""
    return outcomes.Served(positions(served.hits), positions(served.fills), tokens(served.values))


DECLARATION: Final[dict[str, Any]] = {
    "ops": [*index_ops(ops.OPS)],
    "variants": {"requeue_budget": "shared"},
    "introspection": ["now", "bytes", "caches", "queue", "tombstones", "requeues"],
    "payload": True,
    "leaks": True,
}
"""The offer of the fast cache as in a start; every key of the configuration varies."""

REFUSAL: Final = outcomes.Refused(outcomes.ErrorKind.ILLEGAL_ARGUMENT)


class Instance:
    """An instance of the fast cache: a function from an operation to its outcome.

    The cache answers a wrong argument with ValueError, which becomes a refusal. Any other error goes to the caller.
    """

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter
        self._functions = adapter.functions()

    def __call__(self, op: ops.Op) -> outcomes.Outcome:
        """Return the outcome of one operation."""
        try:
            if type(op) in UNMANAGED and getattr(op, "cache", None) in self.adapter.managed.names:
                return REFUSAL
            return self._functions[type(op)](op)
        except ValueError:
            return REFUSAL

    def leaked(self) -> int:
        """Return the payloads that are still referred to after everything is released and cleared; it ends the run."""
        return self.adapter.leaked()


def open_cache(
    config: Config,
    cache_type: type[BrokerCache] = BrokerCache,
    on_row: Callable[[Row], None] | None = None,
) -> Instance:
    """Open an empty instance at time 0."""
    from entrycache_fast.limiter import ReadLimiter  # noqa: PLC0415  # a failure of another subject needs it not
    from entrycache_fast.managed_ledger import ManagedLedgers  # noqa: PLC0415  # neither this
    from entrycache_fast.pending_reads import PendingReads  # noqa: PLC0415  # nor this

    clock = VirtualClock()
    limiter = ReadLimiter(
        config.max_reads_in_flight_bytes, config.acquire_timeout_millis, config.acquire_queue, clock.read
    )
    payloads = Payloads(config.storage_entry_size)
    cache = cache_type(
        max_size_bytes=config.max_size_bytes,
        ttl_nanos=config.ttl_nanos,
        max_requeues=config.max_requeues,
        extend_recently_accessed=config.extend_recently_accessed,
        watermark=config.watermark,
        eviction=config.eviction.value,
        evict_by_expected_reads=config.evict_by_expected_reads,
        evict_by_mark_deleted=config.evict_by_mark_deleted,
        grace_millis=config.grace_millis,
        storage_entry_size=config.storage_entry_size,
        storage=payloads.stored,
        clock=clock.read,
        on_row=on_row,
        requeue_budget=config.variants.requeue_budget.value,
    )
    is_held = config.storage is Storage.HELD
    managed = ManagedLedgers(
        cache,
        lambda cache, ledger, entry: Payload(payloads, entry),
        is_held,
        limiter,
        config.min_backlog_cursors,
        config.min_backlog_entries,
        config.max_backlog_between,
        config.invalidation is Invalidation.MANUAL,
    )
    return Instance(Adapter(cache, clock, payloads, limiter, PendingReads(), managed, is_held))


FAST: Final = LocalSubject(
    DECLARATION, open_cache, open_with_rows=lambda config, on_row: open_cache(config, on_row=on_row)
)
"""The fast cache as a subject."""


OFFER_OF_FAULTS: Final = {
    "ops": list(index_ops(ops.OPS)),
    "introspection": DECLARATION["introspection"],
    "payload": True,
}
"""The offer of a faulty reference: it follows no variant and counts no leaks."""

FAULTS: Final = all_fault_subjects(fault_subjects(SUBJECTS, OFFER_OF_FAULTS), DECLARATION, open_cache, CACHE_FAULTS)
"""The seeded faults as subjects by name: those of the reference, and those of the fast cache."""


__all__ = ["DECLARATION", "FAST", "BrokerCache", "Instance", "open_cache"]
