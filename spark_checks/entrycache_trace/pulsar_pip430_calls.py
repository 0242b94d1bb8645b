"""The calls that a recorded trace shows, in their order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from entrycache_protocol.errors import UsageError
from entrycache_protocol.strict_json import parse_json

TraceRow = Mapping[str, Any]


class EntryPosition(NamedTuple):
    """A position of a cache."""

    cache: str
    ledger: int
    entry: int


class Insert(NamedTuple):
    """An entry was offered; `expected_reads` None: it carries no count, or, where it was refused, no row says."""

    place: EntryPosition
    size_bytes: int
    expected_reads: int | None
    refused: bool


class UncachedAdd(NamedTuple):
    """An entry was added to its ledger while nobody wanted it cached."""

    place: EntryPosition
    size_bytes: int


class Lookup(NamedTuple):
    """A position was looked up without asking storage; `counted`: it was cached, and carried a count."""

    place: EntryPosition
    hit: bool
    counted: bool


class Read(NamedTuple):
    """Neighbouring positions were read; those missed were fetched from storage.

    `expected_reads` is the count of the fills, 0 where they were not to be cached, None where nothing was missed and
    so none shows. `sizes` are bytes by entry. `hold` names what was read until it is released; None: at once.
    """

    first: EntryPosition
    last_entry: int
    expected_reads: int | None
    sizes: Mapping[int, int]
    hold: int | None


class Release(NamedTuple):
    """What was read under this name was released."""

    hold: int


class Delivery(NamedTuple):
    """Expected reads of these positions were done."""

    places: tuple[EntryPosition, ...]


class ExpectRead(NamedTuple):
    """One more read of a position is expected."""

    place: EntryPosition


class Expire(NamedTuple):
    """A time pass was called for, with this age."""

    older_than_nanos: int


class Evict(NamedTuple):
    """A size pass was called for."""

    size_bytes: int


class Cycle(NamedTuple):
    """The scheduled passes ran."""


class RunScheduled(NamedTuple):
    """The size pass that an insert had asked for ran."""


class Remove(NamedTuple):
    """Entries left by a call: `cause` of their rows, the lowest and the highest of them."""

    cause: str
    first: EntryPosition
    last: EntryPosition


class Close(NamedTuple):
    """A cache was removed."""

    cache: str


class Cursor(NamedTuple):
    """A cursor came, moved or left: the op of its row."""

    op: str
    cache: str
    cursor: str
    position: tuple[int, int] | None


class Configure(NamedTuple):
    """Settings changed: the whole configuration after it."""

    config: Mapping[str, Any]


CallEvent = (
    Insert | UncachedAdd | Lookup | Read | Release | Delivery | ExpectRead | Expire | Evict | Cycle | RunScheduled
    | Remove | Close | Cursor | Configure
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    """What happened at one moment; `seq` is that of its first row."""

    seq: int
    ts_ns: int
    event: CallEvent


OFFER_OPS: Final = frozenset({"INSERT", "REJECT", "SKIP"})
CONSEQUENCE_OPS: Final = frozenset(
    {"SNAPSHOT", "METRICS", "END", "CACHE_OPEN", "TOMBSTONE", "EVICT", "REQUEUE", "PASS_END"}
)
"""Rows that follow from something else, or only tell."""


def extract_calls(rows: Iterable[TraceRow]) -> Iterator[Call]:
    """The calls of one broker's rows, given in the order of `seq`; the first CONFIG is none."""
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
        hold = seq if holds.read(seq, group) else None
        events = _read_events(rows, hold)
    else:
        for row in group:
            holds.follow(row)
        events = _call_events(rows, holds)
    for event in events:
        yield Call(seq, ts_ns, event)


def _call_events(rows: list[TraceRow], holds: ReadHolds) -> Iterator[CallEvent]:
    """The events of the rows of one call; a call has one kind, except that passes may follow it."""
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
        hold = holds.released(rows)
        yield Delivery(tuple(map(_position, rows))) if hold is None else Release(hold)
    elif op == "EXPECT":
        yield from (ExpectRead(_position(row)) for row in rows)
    elif op == "PASS_BEGIN":
        yield _pass_event(rows[0])
    elif op == "REMOVE":
        places = [_position(row) for row in rows if row["op"] == op]
        closed = any(row["op"] == "CACHE_CLOSE" for row in rows)
        yield Close(places[0].cache) if closed else Remove(cause, min(places), max(places))
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
    asked = [row for row in rows if row["op"] in {"HIT", "MISS"}]
    offered = [row for row in rows if row["op"] in OFFER_OPS]
    sizes = {_position(row): row["size_bytes"] for row in (*asked, *offered) if row["size_bytes"] is not None}
    missed = any(row["op"] == "MISS" for row in asked)
    count: int | None = next((row["expected_reads"] for row in offered if row["op"] == "INSERT"), None)
    if count is None and missed and not any(row["cause"] == "DISABLED" for row in offered):
        count = 0
    if asked[0]["cause"] == "REPLAY":
        count = 0
    run: list[EntryPosition] = []
    for place in (*map(_position, asked), None):
        if run and (place is None or place[:2] != run[-1][:2] or place.entry != run[-1].entry + 1):
            known = {each.entry: sizes[each] for each in run if each in sizes}
            yield Read(run[0], run[-1].entry, count, known, hold)
            run = []
        if place is not None:
            run.append(place)


# --- holds
# Which reads of a trace were held, and which rows release them.


class ReadHolds:
    """Follows the stays of entries through a trace, and the reads that are not released yet.

    A release lowers the count of each entry that was read, is still there and carries a count. So a read is held if at
    its end such an entry has no delivery, and rows of deliveries release the oldest read for which they are all of it.
    """

    def __init__(self) -> None:
        self._counted: set[int] = set()
        self._open: dict[int, frozenset[int]] = {}

    def read(self, call: int, rows: Sequence[TraceRow]) -> bool:
        """Whether the read of this call, all of whose rows are given, is held; it is known by `call`."""
        read: set[int] = set()
        done: set[int] = set()
        for row in rows:
            self.follow(row)
            if row["life"] is None:
                continue
            if row["op"] == "HIT" or (row["op"] == "INSERT" and row["cause"] == "FILL"):
                read.add(row["life"])
            elif row["op"] == "READ_DONE":
                done.add(row["life"])
        if done or not read & self._counted:
            return False
        self._open[call] = frozenset(read)
        return True

    def follow(self, row: TraceRow) -> None:
        """See whether an entry came, left, or carries a count."""
        life = row["life"]
        if life is None:
            return
        if row["op"] in {"EVICT", "REMOVE"}:
            self._counted.discard(life)
        elif row["expected_reads"] is not None:
            self._counted.add(life)

    def released(self, rows: Sequence[TraceRow]) -> int | None:
        """The read that these deliveries release, if they are just what a release would write."""
        done = {row["life"] for row in rows}
        for call, read in self._open.items():
            if read & self._counted == done:
                del self._open[call]
                return call
        return None


# --- checks
# What the rows of a trace must say before their calls can be made once more.

POSITION_COLUMNS: Final = ("cache", "ledger_id", "entry_id")
NEEDED_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("INSERT", "REJECT", "SKIP", "HIT", "MISS", "READ_DONE", "EXPECT", "REMOVE"), POSITION_COLUMNS),
    **dict.fromkeys(("CURSOR_ADD", "CURSOR_MOVE", "CURSOR_REMOVE"), ("cache", "cursor")),
    "CACHE_CLOSE": ("cache",),
    "PASS_BEGIN": ("cause", "bound"),
}
"""The columns that an event of each kind must have."""


def check_rows(rows: Sequence[Mapping[str, Any]], where: str) -> None:
    """Hold one broker's rows to what a simulation needs of them.

    Raises:
        UsageError: a column is null that must not be, time goes back, or a later CONFIG is no JSON object.
    """
    before_ns = rows[0]["ts_ns"] if rows else 0
    for row in rows:
        seq, op = row["seq"], row["op"]
        missing = next((name for name in NEEDED_COLUMNS.get(op, ()) if row[name] is None), None)
        if missing is not None:
            raise UsageError(f"{where}, seq {seq}: {op} without {missing}")
        if row["ts_ns"] < before_ns:
            raise UsageError(f"{where}, seq {seq}: time goes back from {before_ns} to {row['ts_ns']}")
        before_ns = row["ts_ns"]
        if op == "CONFIG":
            parse_object(row["value"], f"{where}, seq {seq}: CONFIG")


def parse_object(text: str | None, where: str) -> dict[str, Any]:
    """The JSON object in a text.

    Raises:
        UsageError: there is none.
    """
    try:
        value = parse_json(text or "")
    except ValueError as error:
        raise UsageError(f"{where} is no JSON object ({error})") from None
    if type(value) is not dict:
        raise UsageError(f"{where} is no JSON object")
    return value
