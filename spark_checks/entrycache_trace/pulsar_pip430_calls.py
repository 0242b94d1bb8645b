"""Extract the calls that the rows of a `pulsar-pip430` trace show, in their order.

`extract_calls` groups the rows of one broker by call and turns each group into `Call`s. A `Call` has a time and an
event (`Insert`, `Read`, `Expire` and so on): the request of the caller, not what the cache did. `ReadHolds` finds the
reads that were held and the rows that release them. `check_rows` checks that the rows have what the extraction needs. A
simulation makes the calls once more, `trace explain` writes them as a case, and the policy comparison takes its
requests from them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from entrycache_protocol import errors, strict_json

TraceRow = Mapping[str, Any]


class EntryPosition(NamedTuple):
    """A position in the cache of one managed ledger."""

    cache: str
    ledger: int
    entry: int


class Insert(NamedTuple):
    """The offer of an entry; `expected_reads` is None without a count, or if the offer was refused."""

    position: EntryPosition
    size_bytes: int
    expected_reads: int | None
    refused: bool


class UncachedAdd(NamedTuple):
    """The addition of an entry to its ledger while no reader wanted it cached."""

    position: EntryPosition
    size_bytes: int


class Lookup(NamedTuple):
    """The lookup of a position without storage; `counted` says that the cached entry carried a count."""

    position: EntryPosition
    hit: bool
    counted: bool


class Read(NamedTuple):
    """The read of neighbouring positions; those that missed came from storage.

    Attributes:
        first: The first position.
        last_entry: The last entry of the same ledger.
        expected_reads: The count of the fills, 0 if they were not to be cached, None if nothing missed.
        sizes: The bytes of entries, as far as rows show them.
        hold: The name of the read until its release; None if it was released at once.
    """

    first: EntryPosition
    last_entry: int
    expected_reads: int | None
    sizes: Mapping[int, int]
    hold: int | None


class Release(NamedTuple):
    """The release of a held read."""

    hold: int


class Delivery(NamedTuple):
    """The delivery of positions that expected reads."""

    positions: tuple[EntryPosition, ...]


class ExpectRead(NamedTuple):
    """The announcement of one more read of a position."""

    position: EntryPosition


class Expire(NamedTuple):
    """The request for a time pass with this age."""

    older_than_nanos: int


class Evict(NamedTuple):
    """The request for a size pass."""

    size_bytes: int


class Cycle(NamedTuple):
    """A run of the periodic passes."""


class RunScheduled(NamedTuple):
    """A run of the size pass that an insert had lookups for."""


class Remove(NamedTuple):
    """The removal of entries by a call: the cause in their rows, and the lowest and the highest position."""

    cause: str
    first: EntryPosition
    last: EntryPosition


class Close(NamedTuple):
    """The removal of a cache."""

    cache: str


class Cursor(NamedTuple):
    """The arrival, move or departure of a cursor; `op` is the op of its row."""

    op: str
    cache: str
    cursor: str
    position: tuple[int, int] | None


class Configure(NamedTuple):
    """A change of settings, with the whole configuration after it."""

    config: Mapping[str, Any]


CallEvent = (
    Insert | UncachedAdd | Lookup | Read | Release | Delivery | ExpectRead | Expire | Evict | Cycle | RunScheduled
    | Remove | Close | Cursor | Configure
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    """One call at one moment; `seq` is that of its first row."""

    seq: int
    ts_ns: int
    event: CallEvent


OFFER_OPS: Final = frozenset({"INSERT", "REJECT", "SKIP"})
CONSEQUENCE_OPS: Final = frozenset(
    {"SNAPSHOT", "METRICS", "END", "CACHE_OPEN", "TOMBSTONE", "EVICT", "REQUEUE", "PASS_END"}
)
"""The events that follow from others, or that only report."""


def extract_calls(rows: Iterable[TraceRow]) -> Iterator[Call]:
    """Yield the calls of one broker's rows, which come in the order of `seq`. The first CONFIG is no call."""
    group: list[TraceRow] = []
    holds = ReadHolds()
    started = False
    for row in rows:
        if row["op"] == "CONFIG" and not started:
            started = True
            continue
        if group and _call_id(row) != _call_id(group[0]):
            yield from _group_calls(group, holds)
            group = []
        group.append(row)
    if group:
        yield from _group_calls(group, holds)


def _call_id(row: TraceRow) -> int:
    for name in ("call_id", "pass_id", "seq"):
        if row[name] is not None:
            return int(row[name])
    raise AssertionError("a row without seq")


def _position(row: TraceRow) -> EntryPosition:
    return EntryPosition(row["cache"], row["ledger_id"], row["entry_id"])


def _group_calls(group: list[TraceRow], holds: ReadHolds) -> Iterator[Call]:
    rows = [row for row in group if row["op"] not in CONSEQUENCE_OPS]
    if not rows:
        for row in group:
            holds.follow(row)
        return
    seq, ts_ns = rows[0]["seq"], rows[0]["ts_ns"]
    if rows[0]["cause"] in {"READ", "REPLAY"}:
        hold = seq if holds.follow_read(seq, group) else None
        events = _read_events(rows, hold)
    else:
        for row in group:
            holds.follow(row)
        events = _call_events(rows, holds)
    for event in events:
        yield Call(seq, ts_ns, event)


def _call_events(rows: list[TraceRow], holds: ReadHolds) -> Iterator[CallEvent]:
    """Yield the events of the rows of one call. A call has one kind, except that passes may follow it."""
    op, cause = rows[0]["op"], rows[0]["cause"]
    if cause == "NOT_WANTED":
        yield UncachedAdd(_position(rows[0]), rows[0]["size_bytes"] or 0)
    elif op in OFFER_OPS:
        row = rows[0]
        yield Insert(_position(row), row["size_bytes"] or 0, row["expected_reads"], op != "INSERT")
    elif op in {"HIT", "MISS"}:
        for row in rows:
            if row["op"] in {"HIT", "MISS"}:
                yield Lookup(_position(row), row["op"] == "HIT", row["expected_reads"] is not None)
    elif op == "READ_DONE":
        hold = holds.match_release(rows)
        yield Delivery(tuple(map(_position, rows))) if hold is None else Release(hold)
    elif op == "EXPECT":
        yield from (ExpectRead(_position(row)) for row in rows)
    elif op == "PASS_BEGIN":
        yield _pass_event(rows[0])
    elif op == "REMOVE":
        positions = [_position(row) for row in rows if row["op"] == op]
        closed = any(row["op"] == "CACHE_CLOSE" for row in rows)
        yield Close(positions[0].cache) if closed else Remove(cause, min(positions), max(positions))
    elif op == "CACHE_CLOSE":
        yield Close(rows[0]["cache"])
    elif op.startswith("CURSOR_"):
        row = rows[0]
        at = None if row["ledger_id"] is None else (row["ledger_id"], row["entry_id"])
        yield Cursor(op, row["cache"], row["cursor"], at)
    elif op == "CONFIG":
        yield Configure(json.loads(rows[0]["value"] or "{}"))


def _pass_event(row: TraceRow) -> CallEvent:
    if row["origin"] == "CYCLE":
        return Cycle()
    if row["origin"] == "TRIGGER":
        return RunScheduled()
    return Expire(row["ts_ns"] - row["bound"]) if row["cause"] == "TIME" else Evict(row["bound"])


def _read_events(rows: list[TraceRow], hold: int | None) -> Iterator[CallEvent]:
    lookups = [row for row in rows if row["op"] in {"HIT", "MISS"}]
    offered = [row for row in rows if row["op"] in OFFER_OPS]
    sizes = {_position(row): row["size_bytes"] for row in (*lookups, *offered) if row["size_bytes"] is not None}
    missed = any(row["op"] == "MISS" for row in lookups)
    count: int | None = next((row["expected_reads"] for row in offered if row["op"] == "INSERT"), None)
    if count is None and missed and not any(row["cause"] == "DISABLED" for row in offered):
        count = 0
    if lookups[0]["cause"] == "REPLAY":
        count = 0
    run: list[EntryPosition] = []
    for position in (*map(_position, lookups), None):
        if run and (position is None or position[:2] != run[-1][:2] or position.entry != run[-1].entry + 1):
            known_sizes = {each.entry: sizes[each] for each in run if each in sizes}
            yield Read(run[0], run[-1].entry, count, known_sizes, hold)
            run = []
        if position is not None:
            run.append(position)


class ReadHolds:
    """The reads of a trace that are not released yet.

    A release lowers the count of each entry that was read, is still cached and carries a count. So a read is held if
    such an entry has no delivery at the end of the read. Rows of deliveries release the oldest read whose entries they
    cover exactly.
    """

    def __init__(self) -> None:
        self._counted: set[int] = set()
        self._open: dict[int, frozenset[int]] = {}

    def follow_read(self, call: int, rows: Sequence[TraceRow]) -> bool:
        """Follow all rows of the read of a call, and return whether it is held; `call` becomes its name."""
        read: set[int] = set()
        delivered: set[int] = set()
        for row in rows:
            self.follow(row)
            if row["life"] is None:
                continue
            if row["op"] == "HIT" or (row["op"] == "INSERT" and row["cause"] == "FILL"):
                read.add(row["life"])
            elif row["op"] == "READ_DONE":
                delivered.add(row["life"])
        if delivered or not read & self._counted:
            return False
        self._open[call] = frozenset(read)
        return True

    def follow(self, row: TraceRow) -> None:
        """Update which cached entries carry a count."""
        life = row["life"]
        if life is None:
            return
        if row["op"] in {"EVICT", "REMOVE"}:
            self._counted.discard(life)
        elif row["expected_reads"] is not None:
            self._counted.add(life)

    def match_release(self, rows: Sequence[TraceRow]) -> int | None:
        """Return the read that these deliveries release, if they are exactly the rows of a release."""
        delivered = {row["life"] for row in rows}
        for call, read in self._open.items():
            if read & self._counted == delivered:
                del self._open[call]
                return call
        return None


POSITION_COLUMNS: Final = ("cache", "ledger_id", "entry_id")
NEEDED_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("INSERT", "REJECT", "SKIP", "HIT", "MISS", "READ_DONE", "EXPECT", "REMOVE"), POSITION_COLUMNS),
    **dict.fromkeys(("CURSOR_ADD", "CURSOR_MOVE", "CURSOR_REMOVE"), ("cache", "cursor")),
    "CACHE_CLOSE": ("cache",),
    "PASS_BEGIN": ("cause", "bound"),
}
"""The columns that each event must have."""


def check_rows(rows: Sequence[Mapping[str, Any]], where: str) -> None:
    """Check that one broker's rows have what a simulation needs.

    Raises:
        UsageError: a required column is null, time goes back, or a later CONFIG is no JSON object.
    """
    before_ns = rows[0]["ts_ns"] if rows else 0
    for row in rows:
        seq, op = row["seq"], row["op"]
        missing = next((name for name in NEEDED_COLUMNS.get(op, ()) if row[name] is None), None)
        if missing is not None:
            raise errors.UsageError(f"{where}, seq {seq}: {op} without {missing}")
        if row["ts_ns"] < before_ns:
            raise errors.UsageError(f"{where}, seq {seq}: time goes back from {before_ns} to {row['ts_ns']}")
        before_ns = row["ts_ns"]
        if op == "CONFIG":
            parse_object(row["value"], f"{where}, seq {seq}: CONFIG")


def parse_object(text: str | None, where: str) -> dict[str, Any]:
    """Parse the JSON object in a text.

    Raises:
        UsageError: the text is no JSON object.
    """
    try:
        value = strict_json.parse_json(text or "")
    except ValueError as error:
        raise errors.UsageError(f"{where} is no JSON object ({error})") from None
    if type(value) is not dict:
        raise errors.UsageError(f"{where} is no JSON object")
    return value
