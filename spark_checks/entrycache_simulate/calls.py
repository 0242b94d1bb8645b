"""The calls that a recorded trace shows, in their order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from entrycache_simulate.holds import Holds

Row = Mapping[str, Any]


class Place(NamedTuple):
    """A position of a cache."""

    cache: str
    ledger: int
    entry: int


class Insert(NamedTuple):
    """An entry was offered; `expected_reads` None: it carries no count, or, where it was refused, no row says."""

    place: Place
    size_bytes: int
    expected_reads: int | None
    refused: bool


class Unwanted(NamedTuple):
    """An entry was added to its ledger while nobody wanted it cached."""

    place: Place
    size_bytes: int


class Lookup(NamedTuple):
    """A position was looked up without asking storage; `counted`: it was cached, and carried a count."""

    place: Place
    hit: bool
    counted: bool


class Read(NamedTuple):
    """Neighbouring positions were read; those missed were fetched from storage.

    `expected_reads` is the count of the fills, 0 where they were not to be cached, None where nothing was missed and
    so none shows. `sizes` are bytes by entry. `hold` names what was read until it is released; None: at once.
    """

    first: Place
    last_entry: int
    expected_reads: int | None
    sizes: Mapping[int, int]
    hold: int | None


class Released(NamedTuple):
    """What was read under this name was released."""

    hold: int


class Delivered(NamedTuple):
    """Expected reads of these positions were done."""

    places: tuple[Place, ...]


class Expected(NamedTuple):
    """One more read of a position is expected."""

    place: Place


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
    first: Place
    last: Place


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


Event = (
    Insert | Unwanted | Lookup | Read | Released | Delivered | Expected | Expire | Evict | Cycle | RunScheduled
    | Remove | Close | Cursor | Configure
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    """What happened at one moment; `seq` is that of its first row."""

    seq: int
    ts_ns: int
    event: Event


OFFERED: Final = frozenset({"INSERT", "REJECT", "SKIP"})
OWN: Final = frozenset({"SNAPSHOT", "METRICS", "END", "CACHE_OPEN", "TOMBSTONE", "EVICT", "REQUEUE", "PASS_END"})
"""Rows that follow from something else, or only tell."""


def calls_of(rows: Iterable[Row]) -> Iterator[Call]:
    """The calls of one broker's rows, given in the order of `seq`; the first CONFIG is none."""
    group: list[Row] = []
    holds = Holds()
    started = False
    for row in rows:
        if row["op"] == "CONFIG" and not started:
            started = True
            continue
        if group and _call_id(row) != _call_id(group[0]):
            yield from _calls(group, holds)
            group = []
        group.append(row)
    if group:
        yield from _calls(group, holds)


def _call_id(row: Row) -> int:
    for name in ("call_id", "pass_id", "seq"):
        if row[name] is not None:
            return int(row[name])
    raise AssertionError("a row without seq")


def _place(row: Row) -> Place:
    return Place(row["cache"], row["ledger_id"], row["entry_id"])


def _calls(group: list[Row], holds: Holds) -> Iterator[Call]:
    rows = [row for row in group if row["op"] not in OWN]
    if not rows:
        for row in group:
            holds.follow(row)
        return
    seq, ts_ns = rows[0]["seq"], rows[0]["ts_ns"]
    if rows[0]["cause"] in {"READ", "REPLAY"}:
        hold = seq if holds.read(seq, group) else None
        events = _reads(rows, hold)
    else:
        for row in group:
            holds.follow(row)
        events = _events(rows, holds)
    for event in events:
        yield Call(seq, ts_ns, event)


def _events(rows: list[Row], holds: Holds) -> Iterator[Event]:
    """The events of the rows of one call; a call has one kind, except that passes may follow it."""
    op, cause = rows[0]["op"], rows[0]["cause"]
    if cause == "NOT_WANTED":
        yield Unwanted(_place(rows[0]), rows[0]["size_bytes"] or 0)
    elif op in OFFERED:
        row = rows[0]
        yield Insert(_place(row), row["size_bytes"] or 0, row["expected_reads"], op != "INSERT")
    elif op in {"HIT", "MISS"}:
        for row in rows:
            if row["op"] in {"HIT", "MISS"}:
                yield Lookup(_place(row), row["op"] == "HIT", row["expected_reads"] is not None)
    elif op == "READ_DONE":
        hold = holds.released(rows)
        yield Delivered(tuple(map(_place, rows))) if hold is None else Released(hold)
    elif op == "EXPECT":
        yield from (Expected(_place(row)) for row in rows)
    elif op == "PASS_BEGIN":
        yield _pass(rows[0])
    elif op == "REMOVE":
        places = [_place(row) for row in rows if row["op"] == op]
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


def _pass(row: Row) -> Event:
    if row["origin"] == "CYCLE":
        return Cycle()
    if row["origin"] == "TRIGGER":
        return RunScheduled()
    return Expire(row["ts_ns"] - row["bound"]) if row["cause"] == "TIME" else Evict(row["bound"])


def _reads(rows: list[Row], hold: int | None) -> Iterator[Event]:
    asked = [row for row in rows if row["op"] in {"HIT", "MISS"}]
    offered = [row for row in rows if row["op"] in OFFERED]
    sizes = {_place(row): row["size_bytes"] for row in (*asked, *offered) if row["size_bytes"] is not None}
    missed = any(row["op"] == "MISS" for row in asked)
    count: int | None = next((row["expected_reads"] for row in offered if row["op"] == "INSERT"), None)
    if count is None and missed and not any(row["cause"] == "DISABLED" for row in offered):
        count = 0
    if asked[0]["cause"] == "REPLAY":
        count = 0
    run: list[Place] = []
    for place in (*map(_place, asked), None):
        if run and (place is None or place[:2] != run[-1][:2] or place.entry != run[-1].entry + 1):
            known = {each.entry: sizes[each] for each in run if each in sizes}
            yield Read(run[0], run[-1].entry, count, known, hold)
            run = []
        if place is not None:
            run.append(place)
