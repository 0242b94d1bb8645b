"""The rows of `pulsar-pip430`: the events of a broker's cache with one removal queue.

`EVENTS` says which columns each event needs and may have. The meanings of the columns and the recorder are those of any
cache of managed ledgers, in `entrycache_trace.recording`. `write_case_trace` records the steps of a case. A step of the
reference reports the rows of the cache only; `ReadRows` adds the rows of reads, asks and permits, which the states
before and after the step show. The states around the parts of a step show between which rows of the cache the limiter
decided: a PERMIT precedes what it permits.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.ledger import next_append
from entrycache_reference.pulsar_pip430.ledger_cursors import next_chunk, positions_to_replay
from entrycache_reference.pulsar_pip430.pending_reads import given_entries, waits_of
from entrycache_reference.pulsar_pip430.state import Ask, Limiter, RangeRequest, Row, State
from entrycache_reference.pulsar_pip430.storage_reads import estimated_bytes
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import HoldName, Position
from entrycache_trace import files
from entrycache_trace.recording import (
    LEDGER_COLUMN_MEANINGS,
    ONLY_BROKER,
    AddedColumns,
    CaseStep,
    Recorder,
    ReportedRow,
    TraceWriter,
)
from entrycache_trace.schema import EventFormat, TraceFormat

READ_COLUMN_MEANINGS: Final = {
    "entry_id": "the position: its entry; for CURSOR rows, the cursor's new position; for ASK and ANSWER the first "
    "entry",
    "tail_no": "the number of the slot that the event gave the entry, from 0, in the queue's own order; for PERMIT the "
    "number of the place that a waiting request gets",
    "ticket": "the number of the slot that was taken; for PERMIT that of the request which waits no longer; null "
    "says that it did not wait, if another PERMIT has a ticket",
    "bound": "in a time pass the cutoff; in a size pass the bytes still to free before the event; for PERMIT the "
    "permits that the request was for",
    "read_id": "the `seq` of the READ_BEGIN of the read, its own there",
    "ask_id": "the `seq` of the ASK that brought the entry, its own there",
    "last_entry_id": "the last entry of the range that is asked for, or that came",
    "permits": "bytes: for TAKEN those that are granted, for QUEUED and REFUSED those that are requested, for GIVEN "
    "those that are given back",
}
"""The meanings of the columns in rows of reads that overlap in time."""

POSITION_COLUMNS: Final = ("cache", "ledger_id", "entry_id")
ENTRY_COLUMNS: Final = (*POSITION_COLUMNS, "life", "size_bytes")
STATE_COLUMNS: Final = ("expected_reads", "requeues", "accessed", "stamp_ns")
PASS_COLUMNS: Final = ("bound", "max_requeues", "extend_accessed")

EVENTS: Final = (
    EventFormat("CONFIG", (), "the first row, and each change of a setting", ("value",)),
    EventFormat(
        "SNAPSHOT",
        ("OPEN", "ROTATE", "END"),
        "one row for each slot of the removal queue, head to tail: after the first CONFIG of a trace that does not "
        "begin empty, at each rotation of a file, before END; a dead slot has no entry",
        (),
        (*ENTRY_COLUMNS, *STATE_COLUMNS, "tail_no"),
    ),
    EventFormat("CACHE_OPEN", (), "a managed ledger's cache is used for the first time", ("cache",)),
    EventFormat("CACHE_CLOSE", (), "the cache is removed; the rows of its entries come before", ("cache",)),
    EventFormat(
        "INSERT",
        ("ADD", "FILL"),
        "an entry enters: added by a producer, or filled by a read from storage",
        ENTRY_COLUMNS,
        ("expected_reads", "requeues", "accessed", "new_stamp_ns", "tail_no", "cursor", "ask_id"),
    ),
    EventFormat("REJECT", ("DUPLICATE",), "the position was cached already", POSITION_COLUMNS, ("size_bytes",)),
    EventFormat(
        "SKIP", ("DISABLED", "FULL", "NOT_WANTED"), "the entry is not cached", POSITION_COLUMNS, ("size_bytes",)
    ),
    EventFormat(
        "HIT",
        ("GET", "READ", "REPLAY"),
        "a requested entry is cached and served from the cache",
        (*POSITION_COLUMNS, "life"),
        ("size_bytes", *STATE_COLUMNS, "cursor", "read_id"),
    ),
    EventFormat(
        "MISS",
        ("GET", "READ", "REPLAY"),
        "a requested entry is not cached; a lookup of a range writes its hits only. With `ask_id` it is no "
        "lookup: storage has given the entry",
        POSITION_COLUMNS,
        ("size_bytes", "cursor", "ask_id"),
    ),
    EventFormat(
        "READ_DONE",
        ("DELIVERED", "REMOVED", "REJECTED"),
        "a count of expected reads falls: a delivery, the cached copy's own release, a rejected duplicate (no `life`)",
        ("ledger_id", "entry_id"),
        ("cache", "life", "size_bytes", *STATE_COLUMNS, "ask_id", "read_id"),
    ),
    EventFormat(
        "EXPECT",
        (),
        "a count of expected reads grows by one",
        (*POSITION_COLUMNS, "life"),
        ("size_bytes", *STATE_COLUMNS),
    ),
    EventFormat(
        "PASS_BEGIN",
        ("TIME", "SIZE"),
        "a pass begins; a pass that does nothing may be left out with its end",
        ("pass_id", "bound"),
        ("origin", "max_requeues", "extend_accessed", "trigger_bytes", "target_bytes"),
    ),
    EventFormat(
        "REQUEUE",
        ("ACCESSED", "EXPECTED_READS"),
        "the pass puts the entry at the head back to the tail; ACCESSED if both causes hold",
        (*POSITION_COLUMNS, "life", "pass_id"),
        ("size_bytes", *STATE_COLUMNS, "new_stamp_ns", *PASS_COLUMNS, "tail_no", "head_no", "ticket"),
    ),
    EventFormat(
        "EVICT",
        ("TIME", "SIZE"),
        "the pass removes the entry",
        (*ENTRY_COLUMNS, "pass_id"),
        (*STATE_COLUMNS, *PASS_COLUMNS, "head_no", "ticket"),
    ),
    EventFormat(
        "TOMBSTONE",
        ("TIME", "SIZE"),
        "the pass drops a slot whose entry had left already",
        ("pass_id",),
        ("life", *PASS_COLUMNS, "head_no", "ticket"),
    ),
    EventFormat(
        "PASS_END",
        ("TIME", "SIZE"),
        "the pass ends; `stamp_ns` is that of the entry at the head, `tail_no` and `head_no` count the slots numbered "
        "and dequeued so far",
        ("pass_id",),
        ("origin", "stamp_ns", *PASS_COLUMNS, "trigger_bytes", "target_bytes", "tail_no", "head_no"),
    ),
    EventFormat(
        "REMOVE",
        ("RANGE", "CLEAR", "CURSOR", "LEDGER", "CLOSE"),
        "an entry leaves by a call; a queue that unlinks its slot at once gives `ticket`",
        ENTRY_COLUMNS,
        (*STATE_COLUMNS, "ticket"),
    ),
    EventFormat("CURSOR_ADD", (), "a cursor becomes active", ("cache", "cursor"), ("ledger_id", "entry_id")),
    EventFormat("CURSOR_MOVE", (), "a cursor has a new position", ("cache", "cursor"), ("ledger_id", "entry_id")),
    EventFormat("CURSOR_REMOVE", (), "a cursor is no longer active", ("cache", "cursor")),
    EventFormat(
        "READ_BEGIN",
        (),
        "a cursor begins a read or a replay",
        ("cache", "read_id"),
        ("cursor",),
    ),
    EventFormat(
        "ASK",
        (),
        "one read of storage is sent, for the entries from `entry_id` to `last_entry_id` of one ledger",
        (*POSITION_COLUMNS, "last_entry_id", "ask_id"),
        ("cursor", "read_id"),
    ),
    EventFormat(
        "ANSWER",
        ("ALL", "FAIL", "BUSY", "SHORT"),
        "storage answers an ask; the rows of the entries that the answer brings come after it. SHORT: only the first "
        "entries came, up to `last_entry_id`; BUSY: too many requests",
        (*POSITION_COLUMNS, "cause", "last_entry_id", "ask_id"),
    ),
    EventFormat(
        "READ_END",
        ("DONE", "FAILED"),
        "a read ends; what it has got is released later",
        ("cache", "read_id"),
        ("cursor",),
    ),
    EventFormat(
        "PERMIT",
        ("TAKEN", "QUEUED", "REFUSED", "GIVEN"),
        "bytes of reads in flight are granted, asked for in vain (the request waits, or is refused), or given back, "
        "with a row for each grant that comes back. What is permitted comes after its row. A request that waited is "
        "TAKEN, or REFUSED once it has timed out, with the `ticket` of its place in the queue",
        ("cause", "permits"),
        ("bound", "tail_no", "ticket", "read_id"),
    ),
    EventFormat("LEDGER_DELETE", (), "a ledger is deleted; the rows of its entries come after", ("cache", "ledger_id")),
    EventFormat("METRICS", (), "the current counters", ("value",)),
    EventFormat("END", (), "the last row: entries, bytes, slots", (), ("value",)),
)

FORMAT: Final = TraceFormat(EVENTS, {**LEDGER_COLUMN_MEANINGS, **READ_COLUMN_MEANINGS}, "R-REQUEUE-1")


# ---------- the rows of a case

PlannedRow = tuple[ReportedRow, AddedColumns]

_BEGINNING: Final = frozenset({"cursor_read", "replay_read", "read_begin", "replay_begin"})
"""The operations that begin a read by a cursor; the first two also end it."""

_AT_ONCE: Final = frozenset({"cursor_read", "replay_read"})

_ANSWER_CAUSES: Final = {"all": "ALL", "fail": "FAIL", "busy": "BUSY"}
"""The causes of answers by their names; an answer that is a number of entries is SHORT."""


class ReadRows:
    """The rows of reads in flight and of permits, step by step, with what they need from earlier steps."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._reads: dict[str, int] = {}
        self._readers: dict[str, str] = {}
        self._asks: dict[int, int] = {}
        self._brought: dict[tuple[str, Position], int] = {}
        self._wanted: dict[str, int] = {}
        self._decided: set[tuple[str, int]] = set()
        self._granted: str | None = None
        self._attributed: set[tuple[str, str, Position]] = set()
        self._places: dict[Any, int] = {}
        self._place_no = 0

    def record(self, step: CaseStep, before: State | None) -> None:
        """Record the rows of a step; `before` is the state before it, if the reference took it."""
        outcome = step.outcome_json()
        if before is None or step.state is None or "error" in outcome:
            self._recorder.call(step.rows)
            return
        self._recorder.call_with(self._rows(step, before, outcome), getattr(step.op, "cursor", None))

    def _rows(self, step: CaseStep, before: State, outcome: Mapping[str, Any]) -> Iterator[PlannedRow]:
        op, after, old = step.op, step.state, before
        bytes_now = before.size_bytes
        read_id = self._recorder.seq
        if op.name in _BEGINNING:
            if op.name not in _AT_ONCE:
                self._reads[op.read], self._readers[op.read] = read_id, op.cursor
                self._wanted[op.read] = getattr(op, "max_entries", 0)
            yield _row("READ_BEGIN", None, after, bytes_now, cache=op.cache, cursor=op.cursor), {"read_id": read_id}
        if op.name == "delete_ledger":
            yield _row("LEDGER_DELETE", None, after, bytes_now, cache=op.cache, ledger_id=op.ledger), {}
        answered = before.pending.asks.get(op.ask) if op.name == "storage_answer" else None
        if answered is not None and answered.cache is not None:
            yield self._answer(op, answered, before, after)
        moments = _rows_with_states(step, before)
        states = [before, *(state for _, state in moments), after]
        self._granted = None
        self._attributed.clear()
        for at, (row, state) in enumerate(moments):
            yield from self._permits(op, old, state, bytes_now)
            old, bytes_now = state, row.bytes_after
            reader = self._reader(row, states[: at + 2], states[at + 1 :])
            yield self._cache_row(row, op, before, answered, reader, read_id)
        refused = self._refused(op, outcome, before, after, bytes_now)
        full = int(self._recorder.setting("acquire_queue"))
        if len(old.limiter.waiting) >= full:
            yield from refused
        yield from self._permits(op, old, after, bytes_now)
        if len(old.limiter.waiting) < full <= len(after.limiter.waiting):
            yield from refused
        for number in range(before.pending.sent, after.pending.sent):
            ask = after.pending.asks[number]
            if ask.cache is not None:
                yield self._ask(number, ask, after, bytes_now)
        for one in outcome.get("done") or ():
            if one["read"] in self._reads:
                yield self._end(
                    one, before, op, _row("READ_END", "FAILED" if "error" in one else "DONE", after, bytes_now)
                )
        if op.name in _AT_ONCE:
            row = _row("READ_END", "DONE", after, bytes_now, cache=op.cache, cursor=op.cursor)
            yield row, {"read_id": read_id}
        self._forget_released(after)

    def _forget_released(self, after: State) -> None:
        """Forget the reads that have ended and hold nothing: other reads and holds may have their names."""
        for name in [name for name in self._reads if name not in after.pending.of_cursors]:
            if HoldName(name) not in after.holds:
                del self._reads[name]
        self._brought = {(name, pos): ask for (name, pos), ask in self._brought.items() if name in self._reads}
        self._decided = {(name, number) for name, number in self._decided if name in self._reads}

    def _answer(self, op: Any, ask: Ask, before: State, after: State) -> PlannedRow:
        """Return the row of an answer, and note to which reads it brings which entries."""
        given = given_entries(ask, op.answer)
        for waiter in ask.waiting:
            read = before.pending.of_cursors[waiter.read]
            parts = (wait for cached in read.ranges for wait in waits_of(cached))
            wait = next(part for part in parts if (part.ask, part.first) == (op.ask, waiter.first))
            for pos in given:
                if wait.first <= pos.entry <= wait.last:
                    self._brought[waiter.read, pos] = self._asks[op.ask]
        name = op.answer if isinstance(op.answer, int) else op.answer.value
        cause = _ANSWER_CAUSES.get(name, "SHORT") if isinstance(name, str) else "SHORT"
        last = given[-1].entry if cause == "SHORT" else ask.last
        where = {"cache": ask.cache, "ledger_id": ask.ledger, "entry_id": ask.first}
        row = _row("ANSWER", cause, after, before.size_bytes, **where)
        return row, {"ask_id": self._asks[op.ask], "last_entry_id": last}

    def _ask(self, number: int, ask: Ask, after: State, bytes_now: int) -> PlannedRow:
        self._asks[number] = self._recorder.seq
        where = {"cache": ask.cache, "ledger_id": ask.ledger, "entry_id": ask.first, "cursor": ask.cursor}
        own = {"ask_id": self._recorder.seq, "last_entry_id": ask.last, "read_id": self._reads[ask.waiting[0].read]}
        return _row("ASK", None, after, bytes_now, **where), own

    def _reader(self, row: Any, until: Sequence[State], since: Sequence[State]) -> str | None:
        """Return the read that a row is for, in a step that goes on with reads; None: that of its operation, or none.

        The states since a HIT show who holds the entry, and those until a READ_DONE show who did. What a read got and
        gave back at once no state shows: that is the read which was granted permits last.
        """
        if row.cause not in ("READ", "REPLAY", "DELIVERED") or row.op not in ("HIT", "READ_DONE"):
            return None
        pos = Position(row.ledger_id, row.entry_id)
        states = since if row.op == "HIT" else until[::-1]
        for old, new in pairwise(states):
            for name in self._reads:
                if (
                    _count_position(new, name, pos) > _count_position(old, name, pos)
                    and (row.op, name, pos) not in self._attributed
                ):
                    self._attributed.add((row.op, name, pos))
                    return name
        return self._granted

    def _cache_row(
        self, row: Any, op: Any, state: State, answered: Ask | None, reader: str | None, read_id: int
    ) -> PlannedRow:
        """Return a row of the cache with the read and the ask that it belongs to."""
        if reader is not None:
            pos = Position(row.ledger_id, row.entry_id)
            own = {"read_id": self._reads[reader]}
            if row.op == "HIT":
                return row._replace(cursor=self._readers[reader]), own
            return row, {**own, "ask_id": self._brought.get((reader, pos))}
        if row.op == "MISS" and row.cache in state.managed:
            size = state.managed[row.cache].sizes[row.ledger_id][row.entry_id]
            return row._replace(size_bytes=size), {} if answered is None else {"ask_id": self._asks[op.ask]}
        if answered is not None and row.op == "INSERT":
            return row._replace(cursor=answered.cursor), {"ask_id": self._asks[op.ask]}
        if op.name in _BEGINNING and (row.op == "HIT" or (row.op, row.cause) == ("READ_DONE", "DELIVERED")):
            return row, {"read_id": read_id}
        return row, {}

    def _end(self, ended: Mapping[str, Any], before: State, op: Any, row: Row) -> PlannedRow:
        read = before.pending.of_cursors.get(ended["read"], op)
        return row._replace(cache=read.cache, cursor=read.cursor), {"read_id": self._reads[ended["read"]]}

    def _permits(self, op: Any, before: State, after: State, bytes_now: int) -> Iterator[PlannedRow]:
        """Yield the rows of what the limiter decided between two states.

        First some requests time out. Whenever permits come back the waiting are served, and new requests come last.
        """
        old, new = before.limiter, after.limiter
        if old is new:
            return
        waited = {one.name: one.permits for one in old.waiting}
        waiting = {one.name: one.permits for one in new.waiting}
        timed_out = self._timed_out(op, old, new, after.now_nanos)
        served = [name for name in waited if name not in waiting and name not in timed_out]
        free = old.free

        def row(cause: str, name: Any, request: int | None, **own: int | None) -> PlannedRow:
            if isinstance(name, RangeRequest):
                self._decided.add(name)
            return _row("PERMIT", cause, after, bytes_now, bound=request), {**own, "read_id": self._read_of(name)}

        def serve(least_free: int) -> Iterator[PlannedRow]:
            nonlocal free
            while served and min(waited[served[0]], self._limit) <= max(free, least_free):
                name = served.pop(0)
                granted = min(waited[name], self._limit)
                yield row("TAKEN", name, waited[name], permits=granted, ticket=self._places.pop(name))
                self._granted = name.read if isinstance(name, RangeRequest) else None
                free -= granted
                if name not in new.out:  # it was granted, failed and gave back in this step
                    yield row("GIVEN", name, None, permits=granted)
                    free += granted

        for name in timed_out:
            yield row("REFUSED", name, waited[name], permits=waited[name], ticket=self._places.pop(name))
        yield from serve(0)
        for name, permits in old.out.items():
            if new.out.get(name) != permits:
                yield row("GIVEN", name, None, permits=permits)
                free += permits
                yield from serve(0)
        yield from serve(self._limit)
        for name, permits in new.out.items():
            if name not in waited and old.out.get(name) != permits:
                request = permits if permits < self._limit else getattr(op, "permits", None)
                yield row("TAKEN", name, request, permits=permits)
                self._granted = name.read if isinstance(name, RangeRequest) else None
        for name, permits in waiting.items():
            if name not in waited:
                self._places[name] = self._place_no
                self._place_no += 1
                yield row("QUEUED", name, permits, permits=permits, tail_no=self._places[name])

    def _refused(
        self, op: Any, outcome: Mapping[str, Any], before: State, after: State, bytes_now: int
    ) -> Iterator[PlannedRow]:
        """Yield the rows of requests that found the queue full. No state shows them, only that a read has ended."""
        if op.name == "acquire" and outcome.get("permits") == 0:
            yield _row("PERMIT", "REFUSED", after, bytes_now, bound=op.permits), {"permits": op.permits}
        if before.limiter.free == self._limit == 0:
            return
        if op.name == "replay_begin" and op.read in after.pending.of_cursors:
            wanted = positions_to_replay(before, op)
            is_single = after.pending.of_cursors[op.read].requests == len(wanted)
            for pos in self._undecided(op, wanted, after) if is_single else ():
                permits = estimated_bytes(after.managed[op.cache], pos, pos)
                row = _row("PERMIT", "REFUSED", after, bytes_now, bound=permits)
                yield row, {"permits": permits, "read_id": self._reads[op.read]}
        for one in outcome.get("done") or ():
            name = one["read"]
            if name not in self._reads:
                continue
            read = before.pending.of_cursors.get(name, op)
            for first, last in self._refused_ranges(op, name, read, one, before, after):
                permits = estimated_bytes(after.managed[read.cache], first, last)
                row = _row("PERMIT", "REFUSED", after, bytes_now, bound=permits)
                yield row, {"permits": permits, "read_id": self._reads[name]}

    def _refused_ranges(
        self, op: Any, name: str, read: Any, ended: Mapping[str, Any], before: State, after: State
    ) -> list[tuple[Position, Position]]:
        """Return the ranges of an ended read whose requests were refused.

        A read by a cursor has ended with such a range if it moves in this step, or begins in it, and does not end
        where it wanted to. A replay that fails as it begins was granted all but those positions.
        """
        if op.name == "replay_begin" and name == op.read and "error" in ended:
            return [(pos, pos) for pos in self._undecided(op, positions_to_replay(before, op), after)]
        most = self._wanted.get(name, 0) - len(ended.get("entries") or ())
        managed = after.managed[read.cache]
        cursor = managed.cursors[read.cursor]
        has_moved = cursor.read != before.managed[read.cache].cursors[read.cursor].read
        if most <= 0 or not (has_moved or name == getattr(op, "read", None)):
            return []
        chunk = None
        while cursor.read < next_append(managed) and (chunk is None or not chunk.wanted):
            chunk = next_chunk(managed, cursor, most, Config())
            cursor = cursor._replace(read=chunk.after)
        return [(chunk.wanted[0], chunk.wanted[-1])] if chunk is not None and chunk.wanted else []

    def _undecided(self, op: Any, wanted: Sequence[Position], after: State) -> list[Position]:
        """Return the positions of a replay that were not granted permits, and do not wait for them."""
        waiting = {one.name for one in after.limiter.waiting}
        known = {*self._decided, *after.limiter.out, *waiting}
        return [pos for number, pos in enumerate(wanted) if RangeRequest(op.read, number) not in known]

    @property
    def _limit(self) -> int:
        return int(self._recorder.setting("max_reads_in_flight_bytes"))

    def _read_of(self, name: Any) -> int | None:
        """Return the id of the read that requests permits; a request of `acquire` has none."""
        return self._reads.get(name.read) if isinstance(name, RangeRequest) else None

    def _timed_out(self, op: Any, old: Limiter, new: Limiter, now_nanos: int) -> list[Any]:
        """Return the requests that an `advance` has failed: those at the head that have waited for long enough."""
        timeout = self._recorder.setting("acquire_timeout_millis")
        remaining = {one.name for one in new.waiting} | new.out.keys()
        ages = ((one.name, now_nanos // 1_000_000 - one.since_nanos // 1_000_000) for one in old.waiting)
        return [name for name, age in ages if op.name == "advance" and name not in remaining and 0 < timeout <= age]


def _rows_with_states(step: CaseStep, before: State) -> list[tuple[Any, State]]:
    """Return the rows of a step, each with the state in which the cache reported it, as far as its parts show it."""
    reported = [(row, part.pre) for part in step.parts for row in part.step.rows]
    moments: list[tuple[Any, State]] = []
    at = 0
    for row in step.rows:
        if at < len(reported) and reported[at][0][1:] == row[1:]:  # the first column is a rule of the reference
            before = reported[at][1]
            at += 1
        moments.append((row, before))
    return moments


def _count_position(state: State, name: str, pos: Position) -> int:
    """Return how often a read holds a position."""
    return sum(one.slot.pos == pos for one in state.holds.get(HoldName(name), ()))


def _row(op: str, cause: str | None, state: State, bytes_now: int, **columns: Any) -> Row:
    """Return a row that is not about a cached entry; no rule of the reference makes it."""
    return Row(Rule.INFLIGHT_1, op, cause, state.now_nanos, bytes_now, manager_bytes=bytes_now, **columns)


def write_case_trace(
    out: Path, metadata: files.Metadata, config: Mapping[str, object], calls: Sequence[CaseStep]
) -> int:
    """Write the trace of a case and return the number of its events."""
    recorder = TraceWriter(out, metadata).recorder(ONLY_BROKER, config)
    rows = ReadRows(recorder)
    states = [call.state for call in calls]
    first = State(0, states[0].settings, {}, (), 0) if states and states[0] is not None else None
    for call, before in zip(calls, [first, *states[:-1]], strict=False):
        rows.record(call, before)
    recorder.close()
    return recorder.seq
